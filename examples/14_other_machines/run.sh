#!/bin/sh
culmen run fit.toml --listen wss://127.0.0.1:7443 --token-file token.txt
