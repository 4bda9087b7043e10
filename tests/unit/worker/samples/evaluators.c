/* One function for each way in which an evaluation can end. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "culmen/worker/core/evaluator.h"

int chatty(const culmen_candidate* c, culmen_result* r) {
  if (c->x[1] == 2) printf("x is %g\n", c->x[0]);
  return culmen_set_value(r, 1);
}

int sphere(const culmen_candidate* c, culmen_result* r) {
  double sum = 0;
  for (size_t i = 0; i < c->size; i++) sum += c->x[i] * c->x[i];
  culmen_set_extra(r, "attempt", c->attempt);
  culmen_set_extra(r, c->names[0], (double)c->evaluation);
  return culmen_set_value(r, sum);
}

int noop(const culmen_candidate* c, culmen_result* r) { return culmen_set_value(r, c->x[0]); }

int residuals(const culmen_candidate* c, culmen_result* r) { return culmen_set_residuals(r, c->x, c->size); }

int process_id(const culmen_candidate* c, culmen_result* r) {
  (void)c;
  return culmen_set_value(r, getpid());
}

/* Two processes return. */
int forks(const culmen_candidate* c, culmen_result* r) {
  if (fork() < 0) return 1;
  return culmen_set_value(r, c->x[0]);
}

/* The number of forks that a signal ended. One that the signal does not end gets SIGALRM in a minute. */
int ends_forks(const culmen_candidate* c, culmen_result* r) {
  const int stops[] = {SIGTERM, SIGHUP, SIGUSR1, SIGINT};
  int ended = 0;
  (void)c;
  for (int i = 0; i < 100; i++) {
    const int stop = stops[i % 4];
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
      alarm(60);
      for (;;) pause();
    }
    kill(child, stop);
    waitpid(child, &status, 0);
    ended += WIFSIGNALED(status) && WTERMSIG(status) == stop;
  }
  return culmen_set_value(r, ended);
}

int null_pointer(const culmen_candidate* c, culmen_result* r) {
  volatile int* nowhere = NULL;
  fprintf(stderr, "about to look at nowhere\n");
  *nowhere = (int)c->size;
  return culmen_set_value(r, 0);
}

int aborts(const culmen_candidate* c, culmen_result* r) {
  (void)c;
  (void)r;
  abort();
}

int leaves(const culmen_candidate* c, culmen_result* r) {
  (void)c;
  (void)r;
  exit(3);
}

/* Hangs for the first try only. */
int hangs(const culmen_candidate* c, culmen_result* r) {
  if (c->attempt == 0) {
    for (;;) pause();
  }
  return culmen_set_value(r, 1);
}

int not_a_number(const culmen_candidate* c, culmen_result* r) {
  (void)c;
  return culmen_set_value(r, NAN);
}

int says_nothing(const culmen_candidate* c, culmen_result* r) {
  (void)c;
  (void)r;
  return 0;
}

int fails(const culmen_candidate* c, culmen_result* r) {
  (void)c;
  culmen_set_error(r, "the mass is negative");
  return 7;
}

int fails_silently(const culmen_candidate* c, culmen_result* r) {
  (void)c;
  (void)r;
  return 9;
}

int damages_channel(const culmen_candidate* c, culmen_result* r) {
  (void)c;
  const char rubbish[64] = "this is not a frame, and its length says something absurd";
  if (write(3, rubbish, sizeof rubbish) < 0) return 1;
  return culmen_set_value(r, 0);
}
