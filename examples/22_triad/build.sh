#!/bin/sh
# build.sh COMPILER LEVEL MACHINE: compiles triad in the current folder.
exec "$1" "$2" "-march=$3" -fopenmp -o triad triad.c
