#!/bin/sh
# with_buffer.sh BUFFERED PROGRAM WORD…: runs a program; if BUFFERED is true, its small reads and writes are buffered.
buffered=$1
shift
if [ "$buffered" = true ]; then exec culmen iobuf -- "$@"; fi
exec "$@"
