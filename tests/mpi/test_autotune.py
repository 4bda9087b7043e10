"""``culmen autotune`` with real programs, under both MPIs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from culmen.bench.conversation import RefusedError
from culmen.bench.session import Session
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT
from culmen.launch.programs import own_library
from culmen.tune.autotune.tuned import Choice, Tuning, read_tuning
from harness import HANGS_S, ROOT, culmen
from profiles import AS_ROOT, built, of_mpi4py, started

pytestmark = pytest.mark.either("mpi")

ALL_KINDS = {
    *("barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv", "allgather"),
    *("allgatherv", "alltoall", "alltoallv", "scan", "exscan", "reduce_scatter", "reduce_scatter_block"),
}
LIBRARY = {"openmpi": "libmpi.so.slow", "mpich": "libmpich.so.slow"}  # as the tuner finds the MPI
UNDER_OPEN_MPI = ALL_KINDS - {"gatherv", "scatterv"}  # it has one algorithm


def tuned(tmp_path: Path, words: list[str], ranks: int, *options: object, **variables: str):
    words = [str(ranks) if word == "RANKS" else word for word in words]
    command = (*options, "--", *words)
    return culmen("autotune", *command, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT, **variables)


@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.slow), 3, pytest.param(4, marks=pytest.mark.slow)])
def test_results_stay_right_while_algorithms_change(mpi, tmp_path, ranks):
    words = built(mpi, tmp_path, "tuned_program.c")
    done = tuned(tmp_path, [*words, "40"], ranks, "--output", "first.tuning")
    assert done.returncode == 0 and "0 wrong" in done.stdout, done.stdout + done.stderr
    tuning = read_tuning(tmp_path / "first.tuning")
    assert tuning.ranks == ranks and not tuning.off
    explored = {choice.collective for choice in tuning.choices if choice.communicator == "world"}
    assert explored >= (UNDER_OPEN_MPI if mpi == "openmpi" else ALL_KINDS)
    assert {choice.communicator for choice in tuning.choices} >= {"world", "world/dup 1"}
    loaded = tuned(tmp_path, [*words, "4"], ranks, "--load", "first.tuning")
    assert loaded.returncode == 0 and "0 wrong" in loaded.stdout, loaded.stdout + loaded.stderr
    assert "was made with" not in loaded.stderr
    other = tuned(tmp_path, [*words, "4"], ranks + 1, "--load", "first.tuning")
    said = f"culmen: {tmp_path / 'first.tuning'} was made with {ranks} ranks, but here are {ranks + 1}: "
    assert other.returncode == 0 and other.stderr.count(said) == 1, other.stdout + other.stderr


@pytest.mark.parametrize("command", ["autotune", "profile"])
def test_errors_that_a_program_handles_stay_its_own(mpi, tmp_path, command):
    words = ["2" if word == "RANKS" else word for word in built(mpi, tmp_path, "wrong_calls_program.c")]
    bare = subprocess.run(words, capture_output=True, text=True, env=os.environ | AS_ROOT, timeout=HANGS_S, check=True)
    classes = re.findall(r"^.+: \d+$", bare.stdout, re.MULTILINE)
    of_ended = 3 if mpi == "mpich" else 0
    assert len(classes) - of_ended in (3 * 12, 3 * 13)
    done = culmen(command, "--", *words, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line for line in done.stdout.splitlines() if line in classes] == classes


def written(path: Path, like: Tuning, *choices: Choice) -> Path:
    lines = ["culmen-tuning\t1", f"mpi\t{like.mpi}", f"ranks\t{like.ranks}", "processor\tany"]
    for choice in choices:
        words = ("communicator", choice.communicator, str(choice.ranks), choice.members)
        lines.append("\t".join(word for word in words if word))
        lines.append(f"{choice.collective}\t{choice.size}\t{choice.algorithm}\t1\t1\t1")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_algorithm_of_the_file_runs_from_the_first_call_on(mpi, tmp_path):
    """As the MPI's own functions say, or because the MPI refuses what cannot run."""
    launcher, ranks = find_launcher(mpi), 3
    known = launcher.mpi.collectives
    variables = {"LD_PRELOAD": str(own_library(f"autotune_{launcher.mpi.module}"))}
    dump = tmp_path / "dump.tuning"
    with Session(launcher, ranks, HANGS_S, {**variables, "CULMEN_TUNING_DUMP": str(dump)}) as session:
        session.time("bcast", 0, 1500, 0, 100, 0)
    tuning = read_tuning(dump)
    (where,) = {choice.communicator for choice in tuning.choices if choice.collective == "bcast"}
    loads = {**variables, "CULMEN_TUNING_LOAD": str(tmp_path / "chosen.tuning"), "CULMEN_TUNING_REFUSES": "1"}
    for algorithm in known.algorithms("bcast", ranks):
        if algorithm.name in known.of["bcast"].get("splits_counts", []):
            continue
        choice = Choice(where, ranks, "bcast", 1024, algorithm.name, 0, 0, 0)
        written(tmp_path / "chosen.tuning", tuning, choice)
        with Session(launcher, ranks, HANGS_S, loads) as session:
            try:
                _, functions = session.time("bcast", 0, 1500, 0, 20, 0)
            except RefusedError:
                assert known.refuses and algorithm.name != DEFAULT
                continue
        if algorithm.function:
            assert algorithm.function in functions
    if known.refuses:
        choice = Choice(where, ranks, "alltoall", 1024, "pairwise_sendrecv_replace", 0, 0, 0)
        written(tmp_path / "chosen.tuning", tuning, choice)
        with Session(launcher, ranks, HANGS_S, loads) as session:
            session.check("alltoall", 0, 500, 0)
            with pytest.raises(RefusedError):
                session.check("alltoall", 0, 1500, 0)
        with Session(launcher, ranks, HANGS_S, {**loads, "CULMEN_TUNING_REFUSES": ""}) as session:
            session.check("alltoall", 0, 1500, 0)  # although the session asks MPICH for errors


def test_choices_are_the_fastest_that_are_told_from_noise(mpi, tmp_path):
    """With made-up times. In two of a hundred studies, noise may still win; the program allows more."""
    compiler = shutil.which(f"mpicc.{mpi}")
    if compiler is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no mpicc.{mpi}")
    own = [ROOT / "src/mpiprobe/autotune" / name for name in ("cells.c", "drift.c", "race.c")]
    sources = [Path(__file__).with_name("cells_program.c"), *own]
    subprocess.run([compiler, "-O1", f"-I{ROOT / 'src'}", *sources, "-lm", "-o", "cells"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "cells"], capture_output=True, text=True, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_a_file_with_rules_is_said_to_win(mpi, tmp_path):
    (tmp_path / "own.rules").write_text("0\n")
    rules = {"OMPI_MCA_coll_tuned_dynamic_rules_filename": str(tmp_path / "own.rules")}
    words = [*built(mpi, tmp_path, "broadcasts_program.c"), "1000", "60"]
    done = tuned(tmp_path, words, 2, "--output", "none.tuning", **rules)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing was tuned: Open MPI takes the algorithms from a file" in done.stdout


def test_settings_leave_out_what_they_say(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "tuned_program.c"), "30"]  # two broadcasts of 400 bytes in each round
    options = (
        "--collectives",
        "bcast,allreduce",
        "--min-bytes",
        "64",
        "--max-bytes",
        "1K",
        "--communicators",
        "world,wrld*",
    )
    done = tuned(tmp_path, words, 2, *options, "--reproducible", "--output", "part.tuning")
    assert done.returncode == 0 and "0 wrong" in done.stdout, done.stdout + done.stderr
    choices = read_tuning(tmp_path / "part.tuning").choices
    assert {(choice.collective, choice.communicator) for choice in choices} == {("bcast", "world")}
    assert {choice.size for choice in choices} == {256}
    assert done.stderr.count("on a communicator named 'wrld*' (CULMEN_TUNING_COMMUNICATORS)") == 1
    assert "named 'world'" not in done.stderr


PYTHON = """
from mpi4py import MPI

for _ in range(50):
    assert MPI.COMM_WORLD.bcast(MPI.COMM_WORLD.rank) == 0
"""


def test_a_program_that_may_have_several_threads_is_tuned_if_that_is_safe(mpi, tmp_path):
    """Under MPICH only if the user says that there is one."""
    pytest.importorskip("mpi4py")
    (tmp_path / "program.py").write_text(PYTHON)
    words = [*started(mpi), sys.executable, "program.py"]
    variables = of_mpi4py(mpi)
    done = tuned(tmp_path, words, 2, "--output", "none.tuning", **variables)
    assert done.returncode == 0, done.stderr
    assert ("several threads may call MPI at a time" in done.stdout) == (mpi == "mpich"), done.stdout
    found = {choice.collective for choice in read_tuning(tmp_path / "none.tuning").choices}
    assert found == (set() if mpi == "mpich" else {"bcast"})
    done = tuned(tmp_path, words, 2, "--output", "some.tuning", "--one-thread", **variables)
    assert done.returncode == 0, done.stderr
    assert {choice.collective for choice in read_tuning(tmp_path / "some.tuning").choices} == {"bcast"}


def test_communicators_that_are_made_later_keep_the_usual_algorithms(mpi, tmp_path):
    """Open MPI reads the variables when it ends MPI_Comm_idup, in any call of any rank."""
    done = tuned(tmp_path, built(mpi, tmp_path, "idup_program.c"), 3, "--output", "idup.tuning")
    assert done.returncode == 0 and "0 wrong" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_threads_that_call_at_the_same_time_are_tuned(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "threads_program.c", "-pthread"), "120"]
    done = tuned(tmp_path, words, 3, "--output", "threads.tuning")
    assert done.returncode == 0 and "0 wrong" in done.stdout, done.stdout + done.stderr
    choices = read_tuning(tmp_path / "threads.tuning").choices
    assert {choice.communicator for choice in choices} >= {f"world/dup {number}" for number in (1, 2, 3)}
    loaded = tuned(tmp_path, [*words[:-1], "4"], 3, "--load", "threads.tuning")
    assert loaded.returncode == 0 and "0 wrong" in loaded.stdout, loaded.stdout + loaded.stderr


def test_validation_states_the_gains_of_runs_in_turns(mpi, tmp_path):
    """With the MPI's own choice, each of 150 broadcasts sleeps for 50 ms, so each tuned run is faster."""
    library, calls = tmp_path / LIBRARY[mpi], 150
    source = Path(__file__).with_name("slow_default.c")
    words = [*built(mpi, tmp_path, "broadcasts_program.c"), "1000", str(calls)]
    subprocess.run([f"mpicc.{mpi}", "-O1", "-shared", "-fPIC", source, "-ldl", "-o", library], check=True)
    slow = {"LD_PRELOAD": str(library), "SLOW_CALLS": str(tmp_path / "slow")}
    done = tuned(tmp_path, words, 2, "--validate", 3, "--output", "valid.tuning", **slow)
    assert done.returncode == 0, done.stdout + done.stderr
    kinds = [line.rpartition("of 3: ")[2] for line in done.stdout.splitlines() if "of 3: " in line]
    made = list(zip(["first", *kinds], map(int, (tmp_path / "slow").read_text().split()), strict=True))
    for what in ("without the tuner", "tuned while it runs", "tuned from the file"):
        assert kinds.count(what) == 3
    slow_calls = {kind: [number for other, number in made if other == kind] for kind in kinds}
    assert slow_calls["without the tuner"] == [calls] * 3
    assert max(slow_calls["tuned while it runs"]) < calls
    assert slow_calls["tuned from the file"] == [0] * 3
    for what in ("tuned while it runs", "tuned from the file"):
        (gain,) = re.findall(rf"^The program {what}.*?(\d+\.\d)% ± \d+\.\d% faster", done.stdout, re.MULTILINE)
        assert float(gain) > 0


def test_a_file_of_another_mpi_is_not_used(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "broadcasts_program.c"), "8", "10"]
    file = written(tmp_path / "other.tuning", Tuning("Open MPI v1.0", 2, "", "", []))
    done = tuned(tmp_path, words, 2, "--load", file)
    assert done.returncode == 0
    assert f"{file} was made with another version of the MPI (here: " in done.stderr


def test_wrong_words_are_one_sentence(tmp_path):
    def said(*words: object) -> str:
        done = culmen("autotune", *words, cwd=tmp_path)
        assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1, done.stderr
        return done.stderr

    assert "a command after -- is missing; example: culmen autotune -- mpiexec -n 4 ./app" in said()
    assert "names neither a launcher of an MPI" in said("--", "true")
    assert "the program 'nothing' was not found" in said("--", "nothing")
    assert "there is no collective 'bcats'; did you mean" in said("--collectives", "bcats", "--", "mpiexec", "true")
    assert "--min-bytes must be one size such as 100, 64K or 4M" in said("--min-bytes", "1-4", "--", "mpiexec", "true")
    (tmp_path / "there").write_text("x")
    assert "there exists already" in said("--output", "there", "--", "mpiexec", "true")
    assert "there is no tuning file of `culmen autotune`" in said("--load", "there", "--", "mpiexec", "true")
    assert "the tuning file gone cannot be read" in said("--load", "gone", "--", "mpiexec", "true")
    assert "leave out --load" in said("--load", "there", "--validate", 3, "--", "mpiexec", "true")
    assert "--recheck has no effect with --load" in said("--load", "there", "--recheck", 9, "--", "mpiexec", "true")


def test_a_program_that_does_not_call_mpi_leaves_a_sentence(mpi, tmp_path):
    done = tuned(tmp_path, [*started(mpi), "true"], 2)
    assert done.returncode == 2 and "left no tuning file" in done.stderr
    failed = tuned(tmp_path, [*started(mpi), "sh", "-c", "exit 7"], 2)
    assert failed.returncode == 7
    assert "ended with exit code 7 before MPI_Finalize; nothing was tuned" in failed.stderr


def test_the_variables_alone_do_the_same(mpi, tmp_path):
    """Without culmen's command: wrong values are said, and the usual ones hold."""
    words = [str(2) if word == "RANKS" else word for word in built(mpi, tmp_path, "broadcasts_program.c")]
    library = own_library(f"autotune_{find_launcher(mpi).mpi.module}")
    variables = {"LD_PRELOAD": str(library), "CULMEN_TUNING_DUMP": "own.tuning", "CULMEN_TUNING_REPETITIONS": "many"}
    environment = {**os.environ, **AS_ROOT, **variables}
    done = subprocess.run(
        [*words, "8", "60"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True, timeout=HANGS_S
    )
    assert "CULMEN_TUNING_REPETITIONS must be a whole number from 1 to 16, got 'many'; 3 is used" in done.stderr
    assert len(read_tuning(tmp_path / "own.tuning").choices) == 1
