// The world of this process: the ranks with one MPI_COMM_WORLD. A command may start several worlds, one after another
// or at a time. The launcher tells them apart. The profile does not ask MPI for this, because a rank without the
// library would not answer.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mpiprobe/record.h"

/// FNV-1a, also over the end of the text.
static uint64_t hashed(uint64_t hash, const char* text) {
  do hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
  while (*text++ != '\0');
  return hash;
}

/// Of the first variable if it is set, with the second one.
static uint64_t of_variables(const char* first, const char* second) {
  const char *const one = getenv(first), *const other = getenv(second);
  if (one == NULL) return 0;
  return hashed(hashed(UINT64_C(0xcbf29ce484222325), one), other != NULL ? other : "");
}

static ssize_t read_words(pid_t process, char* words, size_t room) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)process);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? 0 : read(fd, words, room - 1);
  if (fd >= 0) close(fd);
  words[n > 0 ? n : 0] = '\0';
  return n;
}

/// MPICH's launcher starts a proxy on each node. The words of all proxies name the launcher's address, and which of the
/// launcher's worlds it is.
static uint64_t of_proxy(void) {
  static const char* const options[] = {"--control-port", "--upstream-host", "--upstream-port", "--pgid"};
  const char* const socket = getenv("PMI_FD");
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (socket == NULL || getsockopt(atoi(socket), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return 0;
  char words[4096];
  const ssize_t n = read_words(peer.pid, words, sizeof words);
  uint64_t hash = 0;
  for (const char* word = words; word < words + n; word += strlen(word) + 1) {
    for (unsigned k = 0; k < sizeof options / sizeof *options; ++k) {
      const char* const value = word + strlen(word) + 1;
      if (strcmp(word, options[k]) == 0 && value < words + n) hash = hashed(hashed(hash, word), value);
    }
  }
  return hash;
}

uint64_t probe_world_name(void) {
  uint64_t name = of_variables("PMIX_NAMESPACE", "OMPI_MCA_orte_precondition_transports");
  if (name == 0) name = of_proxy();
  if (name == 0) name = of_variables("PMI_JOBID", "");
  return name != 0 ? name : of_variables("SLURM_JOB_ID", "SLURM_STEP_ID");
}
