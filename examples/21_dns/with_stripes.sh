#!/bin/sh
# with_stripes.sh STRIPING COUNT SIZE PROGRAM WORD…: runs a program; if STRIPING is set, its new files have COUNT stripes of SIZE.
striping=$1 count=$2 size=$3
shift 3
if [ "$striping" = set ]; then
  if ! lfs getstripe -d . >/dev/null 2>&1; then
    echo "the folder of the run is on a file system without striping ($(stat -f -c %T .))" >&2
    exit 1
  fi
  lfs setstripe -c "$count" -S "$size" . || exit 1
fi
exec "$@"
