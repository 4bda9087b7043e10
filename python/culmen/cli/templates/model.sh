#!/bin/sh
# What NAME.toml minimizes: each parameter is a variable; the last word printed is the value.
# It runs in a folder of its own; your files are in "$CULMEN_STUDY_FOLDER".
awk -v x="$x" -v y="$y" 'BEGIN { print (1 - x)^2 + 100 * (y - x * x)^2 }'
