/* bare_spawn PROGRAM COUNT WIDTH: starts PROGRAM COUNT times by posix_spawn, WIDTH at a time, and waits for each. One
 * JSON line: programs a second. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 4 || atol(argv[2]) < 1 || atol(argv[3]) < 1) {
    fprintf(stderr, "usage: bare_spawn PROGRAM COUNT WIDTH\n");
    return 2;
  }
  const long count = atol(argv[2]), width = atol(argv[3]);
  char* words[] = {argv[1], NULL};
  const double begin = now_s();
  long started = 0, ended = 0;
  while (ended < count) {
    if (started < count && started - ended < width) {
      pid_t pid;
      if (posix_spawn(&pid, argv[1], NULL, NULL, words, environ) != 0) return 1;
      started++;
      continue;
    }
    int status;
    if (waitpid(-1, &status, 0) < 0 || status != 0) return 1;
    ended++;
  }
  printf("{\"rate\": %.1f, \"count\": %ld}\n", (double)count / (now_s() - begin), count);
  return 0;
}
