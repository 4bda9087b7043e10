"""``culmen autotune`` when an algorithm becomes slow, under both MPIs. No scheduled comparison comes in these calls."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT
from culmen.launch.programs import own_library
from culmen.tune.autotune.tuned import Choice, read_tuning
from harness import HANGS_S, ROOT
from profiles import AS_ROOT, built

pytestmark = pytest.mark.either("mpi")

_AGAIN = 100_000
_CHANGE_AT, _CALLS = 3600, 5700  # windows of 512 calls: five are the reference; two in a row must differ
_LIBRARY = {"openmpi": "libmpi.so.slow", "mpich": "libmpich.so.slow"}  # as the tuner finds the MPI


def slow_algorithms(mpi: str, folder: Path) -> Path:
    library = folder / _LIBRARY[mpi]
    source = Path(__file__).with_name("slow_algorithms.c")
    command = [f"mpicc.{mpi}", "-O1", "-shared", "-fPIC", source, "-ldl", "-o", library]
    subprocess.run(command, check=True)
    return library


def tuned_at_end(mpi: str, folder: Path, collective: str, first: str, **settings: str) -> tuple[str, Choice]:
    """The choice before the change, and the last one. first: the algorithms that are slow before it."""
    words = ["2" if word == "RANKS" else word for word in built(mpi, folder, "drifting_program.c")]
    libraries = [own_library(f"autotune_{find_launcher(mpi).mpi.module}"), slow_algorithms(mpi, folder)]
    variables = {
        "LD_PRELOAD": ":".join(map(str, libraries)),
        **{"CULMEN_TUNING_DUMP": "drift.tuning", "CULMEN_TUNING_COLLECTIVES": collective},
        **{"CULMEN_TUNING_RECHECK": str(_AGAIN), "CULMEN_TUNING_SAME_TYPES": "1"},
        **{"CHANGE_AT": str(_CHANGE_AT), "SLOW_FIRST": first},
        **settings,
    }
    before = ["env", *(f"{name}={value}" for name, value in variables.items())]
    command = [*words[:-1], *before, words[-1], collective, str(_CALLS)]
    environment = os.environ | AS_ROOT
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=HANGS_S)
    assert done.returncode == 0, done.stdout + done.stderr
    (choice,) = read_tuning(folder / "drift.tuning").choices
    assert choice.calls in (_CALLS, _CALLS - 1)  # nonblocking calls count from the first blocking call on
    return done.stdout.strip(), choice


@pytest.mark.parametrize("collective", ["bcast", "ibcast"])
@pytest.mark.parametrize("first", ["usual", "others"])
def test_a_choice_that_becomes_slow_is_replaced(mpi, tmp_path, collective, first):
    before, last = tuned_at_end(mpi, tmp_path, collective, first)
    assert before == ("before: other" if first == "usual" else "before: usual")
    assert (last.algorithm == DEFAULT) == (first == "usual"), last


def test_a_reduction_keeps_its_choice(mpi, tmp_path):
    before, last = tuned_at_end(mpi, tmp_path, "allreduce", "usual")
    assert before == "before: other" and last.algorithm != DEFAULT


def test_no_drift_is_noticed_if_choices_are_not_checked(mpi, tmp_path):
    before, last = tuned_at_end(mpi, tmp_path, "bcast", "usual", CULMEN_TUNING_RECHECK="0")
    assert before == "before: other" and last.algorithm != DEFAULT


def test_noise_begins_few_comparisons(mpi, tmp_path):
    """With made-up times, as of more ranks than cores, of bursts and of phases."""
    compiler = shutil.which(f"mpicc.{mpi}")
    if compiler is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no mpicc.{mpi}")
    sources = [Path(__file__).with_name("drift_program.c"), ROOT / "src/mpiprobe/autotune/drift.c"]
    subprocess.run([compiler, "-O1", f"-I{ROOT / 'src'}", *sources, "-lm", "-o", "drift"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "drift", "show"], capture_output=True, text=True, timeout=HANGS_S)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
