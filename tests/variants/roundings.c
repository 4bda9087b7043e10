/* If it is preloaded, libm rounds as another one might. Of the results that are not exact, about every fourth is moved
   by one unit in the last place. The number in the environment variable CULMEN_ROUNDINGS decides which ones.
   tools/variants builds it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Finalizer of splitmix64. */
static uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint64_t seed(void) {
  static uint64_t value;
  static int known;
  if (!known) {
    const char* text = getenv("CULMEN_ROUNDINGS");
    value = text ? strtoull(text, NULL, 10) : 0;
    known = 1;
  }
  return value;
}

/* The same arguments give the same result, as in any libm. */
static double moved(double x, double y, double result) {
  const uint64_t bits = bits_of(result);
  const int exact = !(bits & 0xffffff);
  if (!isnormal(result) || exact) return result;
  const uint64_t chance = mixed(bits_of(x) + mixed(bits_of(y) + 0x9e3779b97f4a7c15u * (seed() + 1)));
  if (chance % 4 != 0) return result;
  const uint64_t near = chance & 4 ? bits + 1 : bits - 1;
  double out;
  memcpy(&out, &near, sizeof out);
  return out;
}

#define OF_ONE(name)                                               \
  double name(double x) {                                          \
    static double (*real)(double);                                 \
    if (!real) real = (double (*)(double))dlsym(RTLD_NEXT, #name); \
    return moved(x, 0, real(x));                                   \
  }
#define OF_TWO(name)                                                       \
  double name(double x, double y) {                                        \
    static double (*real)(double, double);                                 \
    if (!real) real = (double (*)(double, double))dlsym(RTLD_NEXT, #name); \
    return moved(x, y, real(x, y));                                        \
  }

OF_ONE(exp)
OF_ONE(exp2)
OF_ONE(expm1)
OF_ONE(log)
OF_ONE(log2)
OF_ONE(log10)
OF_ONE(log1p)
OF_ONE(sin)
OF_ONE(cos)
OF_ONE(tan)
OF_ONE(asin)
OF_ONE(acos)
OF_ONE(atan)
OF_ONE(sinh)
OF_ONE(cosh)
OF_ONE(tanh)
OF_ONE(erf)
OF_ONE(erfc)
OF_ONE(tgamma)
OF_ONE(lgamma)
OF_ONE(cbrt)
OF_TWO(pow)
OF_TWO(atan2)
OF_TWO(hypot)

void sincos(double x, double* sine, double* cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
