/* The C ABI of an evaluator in a shared library: write one function of this type, name it in the study file as
 * "lib.so:symbol".
 *
 *   #include <culmen/evaluator.h>
 *   int sphere(const culmen_candidate* c, culmen_result* r) {
 *     double s = 0;
 *     for (size_t i = 0; i < c->size; i++) s += c->x[i] * c->x[i];
 *     return culmen_set_value(r, s);
 *   }
 *
 * Return 0 for success; anything else makes the evaluation `failed` with that code (and the text of culmen_set_error,
 * if any). With isolation = "process" (the default) a crash is an outcome of that evaluation alone. The function is
 * called from one thread at a time in each process.
 */
#ifndef CULMEN_EVALUATOR_H
#define CULMEN_EVALUATOR_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define CULMEN_EVALUATOR_ABI 1

typedef struct culmen_candidate {
  uint32_t abi;             /* CULMEN_EVALUATOR_ABI of the caller; fields are only ever added at the end */
  uint32_t attempt;         /* 0 for the first try */
  uint64_t evaluation;      /* number of the evaluation in the study */
  size_t size;              /* number of parameters */
  const double* x;          /* size values, in the order of the study's space, in the parameters' own units */
  const char* const* names; /* size names */
} culmen_candidate;

typedef struct culmen_result {
  uint32_t abi;
  void* self;
  int (*set_value)(void* self, double value);
  int (*set_residuals)(void* self, const double* residuals, size_t n); /* copied */
  int (*set_extra)(void* self, const char* name, double value);        /* copied */
  int (*set_error)(void* self, const char* text);                      /* copied */
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
