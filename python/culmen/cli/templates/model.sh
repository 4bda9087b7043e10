#!/bin/sh
# NAME.toml minimizes the value: the last word that this program prints. Each parameter is an environment variable.
# It runs in a folder of its own; your files are in "$CULMEN_STUDY_FOLDER".
# %.17g prints all digits: culmen computes derivatives from small differences of values.
awk -v x="$x" -v y="$y" 'BEGIN { printf "%.17g\n", (1 - x)^2 + 100 * (y - x * x)^2 }'
