#!/bin/sh
culmen resume fit.db --listen wss://127.0.0.1:7443 --token-file token.txt
