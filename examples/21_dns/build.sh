#!/bin/sh
# build.sh [LEVEL [VECTORS [FAST_MATH]]]: compiles dns in the current folder, for this width of vectors, by $MPICC or mpicc.
machine=$(uname -m)
if [ "$machine" = x86_64 ]; then usual=sse2; else usual=native; fi
level=${1:--O2} vectors=${2:-$usual} fast_math=${3:-false}
if [ "$machine" != x86_64 ] && [ "$vectors" != native ]; then
  echo "build.sh: $vectors is of x86-64 processors, and this one is $machine; in [space], write vectors = { value = \"native\" }" >&2
  exit 1
fi
needs() { grep -qw "$1" /proc/cpuinfo || { echo "build.sh: this processor has no $1, which $vectors needs" >&2; exit 1; }; }
case $vectors in
  sse2) flags="-march=x86-64" ;;
  avx) needs avx; flags="-march=x86-64 -mavx" ;;
  avx2) needs avx2; needs fma; flags="-march=x86-64 -mavx2 -mfma" ;;
  avx512) needs avx512f; flags="-march=x86-64 -mavx512f -mfma -mprefer-vector-width=512" ;;
  native) flags="-march=native" ;;
  *) echo "build.sh: $vectors must be sse2, avx, avx2, avx512 or native" >&2; exit 2 ;;
esac
if [ "$fast_math" = true ]; then flags="$flags -ffast-math -fno-finite-math-only"; fi # the checks must see NaN
exec "${MPICC:-mpicc}" -std=gnu11 "$level" $flags -fopenmp -o dns main.c flow.c transform.c droplets.c files.c -lfftw3 -lm
