"""Calls with the MPI's own choice, after ``culmen autotune`` has tried others, under both MPIs."""

import os
import re
import subprocess

import pytest
from culmen.tune.autotune.tuned import read_tuning
from harness import HANGS_S
from profiles import AS_ROOT, built
from test_autotune import tuned

pytestmark = pytest.mark.either("mpi")
RANKS = 3


def test_calls_with_the_usual_choice_are_as_without_the_tuner(mpi, tmp_path):
    """The MPI copies as often from process to process, and between all calls its variables have their own values."""
    words = built(mpi, tmp_path, "path_program.c", "-rdynamic")
    bare = subprocess.run(
        [str(RANKS) if word == "RANKS" else word for word in words],
        **{"cwd": tmp_path, "env": {**os.environ, **AS_ROOT}, "timeout": HANGS_S},
        capture_output=True,
        text=True,
        check=True,
    )
    done = tuned(tmp_path, words, RANKS, "--max-bytes", "500K", "--output", "path.tuning")
    assert done.returncode == 0, done.stdout + done.stderr
    choices = read_tuning(tmp_path / "path.tuning").choices
    assert [(choice.collective, choice.size) for choice in choices] == [("bcast", 1 << 18)]
    usual, own = (re.search(r"1 variables, 0 changed, \d+ copies", said.stdout) for said in (bare, done))
    assert usual and own and usual[0] == own[0], bare.stdout + done.stdout
