/* Two processes come back from loading it. */
#include <unistd.h>

#include "culmen/worker/core/evaluator.h"

__attribute__((constructor)) static void copy(void) {
  if (fork() < 0) _exit(1);
}

int first(const culmen_candidate* c, culmen_result* r) { return culmen_set_value(r, c->x[0]); }
