#!/bin/sh
# build.sh LEVEL UNROLL MACHINE: compiles matmul in the current folder.
flags="$1 -march=$3"
if [ "$2" = true ]; then flags="$flags -funroll-loops"; fi
exec cc $flags -o matmul matmul.c
