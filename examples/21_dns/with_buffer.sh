#!/bin/sh
# with_buffer.sh BUFFERED SIZE READ_AHEAD PROGRAM WORD…: runs a program; if BUFFERED is true, the files of droplets are buffered.
buffered=$1 size=$2 read_ahead=$3
shift 3
if [ "$buffered" = true ]; then
  exec culmen iobuf --files 'droplets-*' --size "$size" --read-ahead "$read_ahead" -- "$@"
fi
exec "$@"
