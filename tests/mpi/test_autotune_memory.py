"""``culmen autotune --memory``, under both MPIs."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from culmen.launch.programs import own_library
from culmen.tune.autotune.tuned import read_tuning
from harness import HANGS_S
from profiles import AS_ROOT, built
from test_autotune import tuned

pytestmark = pytest.mark.either("mpi")
COMMUNICATORS, CALLS = 12, 60
_MOST_BYTES = 1000  # for each communicator that is left alone


def test_communicators_without_memory_are_left_alone_and_counted(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "many_program.c"), str(COMMUNICATORS), str(CALLS)]
    options = ("--collectives", "bcast", "--memory", "300K", "--output", "some.tuning")
    done = tuned(tmp_path, words, 2, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    tuning = read_tuning(tmp_path / "some.tuning")
    chosen = {choice.communicator for choice in tuning.choices}
    assert 0 < tuning.left_out < COMMUNICATORS and len(chosen) + tuning.left_out == COMMUNICATORS
    assert f"{tuning.left_out} communicators kept the MPI's own choices" in done.stdout


def test_the_first_communicator_without_memory_is_named_if_there_is_no_table(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "many_program.c"), str(COMMUNICATORS), str(CALLS)]
    assert tuned(tmp_path, words, 2, "--output", "all.tuning").returncode == 0
    done = tuned(tmp_path, words, 2, "--load", "all.tuning", "--memory", "0")
    assert done.returncode == 0 and done.stderr.count("is used up") == 1, done.stderr
    assert "the communicator 'world', and perhaps further ones, keep the MPI's own choices" in done.stderr


def heap_bytes(words: list[str], folder: Path, communicators: int, **variables: str) -> int:
    command = ["2" if word == "RANKS" else word for word in (*words, str(communicators), "3")]
    environment = {**os.environ, **AS_ROOT, **variables}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=HANGS_S
    )
    found = re.search(r"heap (\d+)", done.stdout)
    assert found, done.stdout
    return int(found[1])


def test_a_communicator_that_is_left_alone_takes_hardly_any_memory(mpi, tmp_path):
    words = built(mpi, tmp_path, "many_program.c")
    library = own_library(f"autotune_{find_launcher(mpi).mpi.module}")
    with_tuner = {"LD_PRELOAD": str(library), "CULMEN_TUNING_MEMORY": "0"}
    tuned_bytes = heap_bytes(words, tmp_path, 200, **with_tuner) - heap_bytes(words, tmp_path, 100, **with_tuner)
    bare_bytes = heap_bytes(words, tmp_path, 200) - heap_bytes(words, tmp_path, 100)
    assert tuned_bytes - bare_bytes < 100 * _MOST_BYTES
