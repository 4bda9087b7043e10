"""``culmen tune placement`` on several nodes."""

import json
import re
import shutil

import pytest

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# The fewer ranks a node has, the shorter is a run.
PROGRAM = "#!/bin/sh\nsleep ${OMPI_COMM_WORLD_LOCAL_SIZE:-$MPI_LOCALNRANKS}\n"


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_the_same_ranks_are_spread_over_more_nodes(nodes, mpi, tmp_path):
    (tmp_path / "app").write_text(PROGRAM)
    (tmp_path / "app").chmod(0o755)
    [file] = nodes.hosts(mpi, tmp_path, 2).values()
    launcher = f"mpiexec.{mpi}"
    words = (launcher, "--hostfile" if mpi == "openmpi" else "-f", file, "-n", "4", "./app")
    options = ("--runs", "12", "--rounds", "3", "--time-limit", "60")
    done = nodes.run(
        mpi, shutil.which("culmen"), "tune", "placement", *options, "--", *words, cwd=tmp_path, **AS_ROOT
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^  nodes: (1, )?2, 4$", done.stdout, re.MULTILINE), "it depends on the cores of this machine"
    line = done.stdout.rstrip().splitlines()[-1]
    assert "-n 4 " in line and ("ppr:1:" if mpi == "openmpi" else "-ppn 1") in line
    plan = json.loads((tmp_path / "tune-placement" / "plan.json").read_text())
    assert (plan["nodes"], plan["ranks"]) == (2, 2), "as typed, a node gets two ranks"
