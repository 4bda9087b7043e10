"""Functions that start processes and end them by signals. They return how many of these did not end in this way."""

import json
import subprocess
from pathlib import Path

from harness import culmen

LIBRARY = r"""
#define _GNU_SOURCE
#include <culmen/evaluator.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int ended_by(int status, int number) { return WIFSIGNALED(status) && WTERMSIG(status) == number; }

int cost(const culmen_candidate* candidate, culmen_result* result) {
  const int signals[] = {SIGTERM, SIGINT, SIGUSR1, SIGHUP};
  int survived = 0;
  for (int i = 0; i < 4; ++i) {
    int status;
    char command[50];
    const pid_t child = fork();
    if (child == 0) {
      kill(getpid(), signals[i]);
      _exit(0);
    }
    waitpid(child, &status, 0);
    survived += !ended_by(status, signals[i]);
    snprintf(command, sizeof command, "kill -%d $$; exit 0", signals[i]);
    char* words[] = {"sh", "-c", command, NULL};
    pid_t program;
    if (posix_spawnp(&program, "sh", NULL, NULL, words, environ) != 0) return 1;
    waitpid(program, &status, 0);
    survived += !ended_by(status, signals[i]);
  }
  (void)candidate;
  return culmen_set_value(result, survived);
}
"""
MODEL = """
import multiprocessing, os, signal, subprocess, time

HANGS_S = 60

def sleeps():
    time.sleep(600)

def square(x):
    return x * x

def terminated(p, *team):
    with_fork = multiprocessing.get_context("fork")
    child = with_fork.Process(target=sleeps)
    child.start()
    child.terminate()
    child.join(HANGS_S)
    child.kill()
    program = subprocess.Popen(["sleep", "600"])
    program.terminate()
    return (child.exitcode != -signal.SIGTERM) + (program.wait(HANGS_S) != -signal.SIGTERM)

def pooled(p, *team):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return sum(pool.map(square, range(3))) - 5

def forked(p, *team):
    survived = 0
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP):
        before = signal.signal(number, signal.SIG_DFL)
        signal.signal(number, before)
        child = os.fork()
        if child == 0:
            try:
                os.kill(os.getpid(), number)
                time.sleep(0)  # for SIGINT, whose handler raises an exception
            except KeyboardInterrupt:
                os._exit(-number)
            os._exit(0)
        survived += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) not in (-number, 256 - number)
    return survived
"""
EVALUATIONS = 20
STUDY = f"""
optimizer = "random"
[space]
x = {{ lower = 0, upper = 1 }}
[evaluator]
EVALUATOR
[stop]
evaluations = {EVALUATIONS}
"""


def write(folder: Path, evaluator: str) -> None:
    """study.toml and model.py, and libcost.so if the evaluator is a library."""
    (folder / "study.toml").write_text(STUDY.replace("EVALUATOR", evaluator))
    (folder / "model.py").write_text(MODEL)
    if "libcost.so" in evaluator:
        (folder / "cost.c").write_text(LIBRARY)
        include = culmen("include", cwd=folder).stdout.strip()
        words = ["cc", "-shared", "-fPIC", f"-I{include}", "-o", "libcost.so", "cost.c"]
        subprocess.run(words, cwd=folder, check=True)


def survivors(folder: Path) -> list[float | None]:
    """Of each evaluation."""
    rows = json.loads(culmen("export", "study.db", "--json", cwd=folder).stdout)
    return [row["value"] for row in rows]
