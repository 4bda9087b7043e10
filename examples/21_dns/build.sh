#!/bin/sh
# build.sh [LEVEL [VECTORS [MPICC]]]: compiles dns in the current folder. VECTORS: sse2, avx, avx2, avx512 or native.
level=${1:--O2} vectors=${2:-sse2} mpicc=${3:-mpicc}
case $vectors in
  sse2) flags="-march=x86-64" ;;
  avx) flags="-march=x86-64 -mavx" ;;
  avx2) flags="-march=x86-64-v3" ;;
  avx512) flags="-march=x86-64-v4 -mprefer-vector-width=512" ;;
  native) flags="-march=native" ;;
  *) echo "build.sh: $vectors must be sse2, avx, avx2, avx512 or native" >&2; exit 2 ;;
esac
exec "$mpicc" -std=gnu11 "$level" $flags -fopenmp -o dns main.c flow.c transform.c droplets.c files.c -lfftw3 -lm
