/* NAME.toml minimizes this function. Compile it again after each change:
 *   cc -O2 -shared -fPIC -I"$(culmen include)" -o NAME.so NAME.c -lm
 */
#include <culmen/evaluator.h>

/* c->x holds the parameters in the order of [space]. In C++, write extern "C" before int. */
int value(const culmen_candidate* c, culmen_result* r) {
  const double x = c->x[0], y = c->x[1];
  return culmen_set_value(r, (1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x));
}
