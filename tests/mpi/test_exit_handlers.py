"""Exit handlers of the MPI run in each rank. MPICH 5 tells its launcher there that the rank has left MPI. The launcher
ends the other ranks if one leaves without this."""

import subprocess

import pytest
from harness import culmen, write_study

LIBRARY = r"""
#include <stdio.h>
#include <stdlib.h>

__attribute__((destructor)) static void end(void) {
  const char *folder = getenv("CULMEN_TEST_ENDS"), *rank = getenv("PMI_RANK");
  if (folder == NULL || rank == NULL) return;
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, rank);
  FILE* const file = fopen(path, "w");
  if (file != NULL) fclose(file);
}
"""


@pytest.mark.parametrize("team", [[], ["--team-size", "2"]], ids=["native", "teams"])
def test_ranks_of_mpich_leave_with_exit_handlers(tmp_path, team):
    (tmp_path / "ends.c").write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "ends.c", "-o", "ends.so"], cwd=tmp_path, check=True)
    ends = tmp_path / "ends"
    ends.mkdir()
    write_study(tmp_path, 20)
    if team:
        model = tmp_path / "model.py"
        model.write_text(model.read_text().replace("def f(p)", "def f(p, comm)"))
    words = ("launch", "-n", 5, "--mpi", "mpich", "run", "study.toml", *team)
    done = culmen(*words, cwd=tmp_path, LD_PRELOAD=str(tmp_path / "ends.so"), CULMEN_TEST_ENDS=str(ends))
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in ends.iterdir()) == list("01234")
