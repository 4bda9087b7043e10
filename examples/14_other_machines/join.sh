#!/bin/sh
FINGERPRINT=$1  # the run has printed it
culmen worker wss://127.0.0.1:7443 --study fit.toml --token-file token.txt --fingerprint "$FINGERPRINT"
