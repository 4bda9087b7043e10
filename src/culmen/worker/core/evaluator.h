/* The C interface for functions in a shared library.
 *
 * Write a function of the type culmen_evaluator. Name it in the study file: library = "libsphere.so:sphere".
 *
 *   #include <culmen/evaluator.h>
 *   int sphere(const culmen_candidate* c, culmen_result* r) {
 *     double s = 0;
 *     for (size_t i = 0; i < c->size; i++) s += c->x[i] * c->x[i];
 *     return culmen_set_value(r, s);
 *   }
 *
 * The function calls culmen_set_value once. In two cases, it calls another function instead. For a fit, it calls
 * culmen_set_residuals. With [objectives], it calls culmen_set_extra once for each objective. These functions copy the
 * arrays and texts that they receive. You can free or change the arrays and texts after the call.
 *
 * x contains one number for each parameter. For a choice, the number is its index in the list of choices, from 0. For a
 * boolean, the number is 0 or 1. For an inactive parameter, the number is NaN.
 *
 * The function returns 0 for success. Any other number means that the evaluation failed. The message of the failure
 * contains this number. If the function calls culmen_set_error, the message also contains the text of this call.
 *
 * By default, a crash counts as one failed evaluation, and the study continues. In each process, only one thread at a
 * time calls the function.
 */
#ifndef CULMEN_EVALUATOR_H
#define CULMEN_EVALUATOR_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define CULMEN_EVALUATOR_ABI 2

typedef struct culmen_candidate {
  uint32_t abi;             /* value of CULMEN_EVALUATOR_ABI in culmen; later versions add fields only at the end */
  uint32_t attempt;         /* 0 for the first attempt, 1 for the first repetition */
  uint64_t evaluation;      /* number of the evaluation in the study */
  size_t size;              /* number of parameters */
  const double* x;          /* values of the parameters, in the order of the study file */
  const char* const* names; /* names of the parameters */
  int communicator;         /* with --team-size: MPI_Comm_f2c(communicator) is the communicator of the team */
  int team_size;            /* number of ranks in the team; 0 without --team-size, and there is no communicator */
} culmen_candidate;

typedef struct culmen_result {
  uint32_t abi;
  void* self;
  int (*set_value)(void* self, double value);
  int (*set_residuals)(void* self, const double* residuals, size_t n);
  int (*set_extra)(void* self, const char* name, double value);
  int (*set_error)(void* self, const char* text);
} culmen_result;

typedef int (*culmen_evaluator)(const culmen_candidate* candidate, culmen_result* result);

static inline int culmen_set_value(culmen_result* r, double value) { return r->set_value(r->self, value); }
static inline int culmen_set_residuals(culmen_result* r, const double* v, size_t n) {
  return r->set_residuals(r->self, v, n);
}
static inline int culmen_set_extra(culmen_result* r, const char* name, double value) {
  return r->set_extra(r->self, name, value);
}
static inline int culmen_set_error(culmen_result* r, const char* text) { return r->set_error(r->self, text); }

#ifdef __cplusplus
}
#endif
#endif
