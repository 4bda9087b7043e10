/* A function in C for a shared library. */
#include <culmen/evaluator.h>

int rosenbrock(const culmen_candidate* c, culmen_result* r) {
  double value = 0;
  for (size_t i = 0; i + 1 < c->size; i++) {
    const double a = 1 - c->x[i], b = c->x[i + 1] - c->x[i] * c->x[i];
    value += a * a + 100 * b * b;
  }
  return culmen_set_value(r, value);
}
