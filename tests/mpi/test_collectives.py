"""``culmen bench collectives`` with real ranks of both MPIs."""

import csv
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from culmen.bench.collectives.measured import measure_points, points_of
from culmen.bench.collectives.points import Protocol
from culmen.bench.conversation import LostError, RefusedError
from culmen.bench.session import Ranks, Session
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT, Algorithm
from harness import HANGS_S, ROOT, Running, culmen, store_is_ready, summary, wait_for

from culmen import InputError

SMALL = (
    "--collectives",
    "bcast,barrier",
    "--ranks",
    "2,3",
    "--sizes",
    "8,1K",
    "--seconds",
    "0.05",
    "--interval",
    "0.5",
)

HERE = Path(__file__).parent
CULMEN_BUILD = Path(os.environ.get("CULMEN_BUILD", ROOT / "build/release"))
WRONG = ("ibcast", "tsp_scatterv_recexch_allgatherv")  # of MPICH 4.0 with 3 ranks
DRIFT_S = 0.02  # by which the clocks are wrong without a correction

# Wraps MPI_Bcast: its result is wrong, or one rank never comes back.
BROKEN = """
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (getenv("HANG") && rank == 1) for (;;) pause();
  static int calls;
  ++calls;
  const int is_right = getenv("LATE") ? calls < atoi(getenv("LATE")) : getenv("EARLY") && calls > 1;
  int code = PMPI_Bcast(data, count, type, root, comm);
  if (rank != root && count > 0 && !is_right) ((char*)data)[count - 1] ^= 1;
  return code;
}
"""


@pytest.fixture
def launcher(mpi):
    return find_launcher(mpi)


@pytest.fixture
def broken(mpi, tmp_path, monkeypatch):
    compiler = shutil.which(f"mpicc.{mpi}")
    if compiler is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no mpicc.{mpi}")
    (tmp_path / "broken.c").write_text(BROKEN)
    library = tmp_path / "libbroken.so"
    subprocess.run([compiler, "-c", "-fPIC", "broken.c"], cwd=tmp_path, check=True)
    # Without the MPI: the library is loaded into culmen's own processes, too.
    subprocess.run(["cc", "-shared", "broken.o", "-o", str(library)], cwd=tmp_path, check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))


@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.slow), 3, pytest.param(4, marks=pytest.mark.slow)])
def test_each_algorithm_gives_right_results_or_is_refused(launcher, ranks):
    known = launcher.mpi.collectives
    refused = []
    with Session(launcher, ranks, HANGS_S) as session:
        for collective in known.measurable:
            for algorithm in known.algorithms(collective, ranks):
                for size in (0, 1, 7, 1000, 40_000):
                    communicator = session.choose(collective, algorithm)
                    try:
                        session.check(collective, communicator, size, (size + 1) % ranks)
                    except RefusedError as error:
                        wrong = "wrong" in str(error)
                        assert not wrong or (collective, algorithm.name) == WRONG, (collective, algorithm.name, size)
                        refused.append((collective, algorithm.name))
    assert DEFAULT not in {name for _, name in refused}
    assert not refused or known.refuses
    assert (("allgather", "recursive_doubling") in refused) == (known.refuses and ranks == 3)


@pytest.mark.parametrize("ranks", [pytest.param(3, marks=pytest.mark.slow), 4])
def test_the_algorithm_that_was_asked_for_ran(launcher, ranks):
    """By the functions of the MPI's library, where it shows them; 3 ranks are too few or odd for some algorithms."""
    known = launcher.mpi.collectives
    protocol = Protocol(repetitions=4)
    ran = {}
    with Ranks(launcher, ranks, HANGS_S) as launched:
        for collective in ("bcast", "allgather", "allreduce", "reduce", "alltoall"):
            algorithms = known.algorithms(collective, ranks)
            points = points_of(collective, algorithms, [20_000])
            measure_points(launched, collective, points, protocol, seed=1)
            for point in points:
                assert point.unavailable or sum(map(len, point.in_time)) >= 4
                ran[collective, point.algorithm.name] = point.verified and not point.unavailable
    assert ran["bcast", "binomial"]
    assert ran["allreduce", "recursive_doubling"]
    assert ran["allgather", "ring"]
    assert ran["allgather", "recursive_doubling"] == (ranks == 4), "for 3 ranks another algorithm runs"


def test_nonblocking_collectives_are_measured_with_their_algorithms(mpi, tmp_path):
    words = ("--collectives", "iallreduce,ibarrier,alltoallw", "--ranks", "3", "--sizes", "8", "--repetitions", "3")
    done = culmen("bench", "collectives", *words, "--mpi", mpi, "--output", "out", cwd=tmp_path, timeout=HANGS_S)
    assert done.returncode == 0, done.stdout + done.stderr
    with (tmp_path / "out/collectives.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if not row["unavailable"]]
    verified = {(row["collective"], row["algorithm"]): row["verified"] for row in rows}
    forced = {"openmpi": ("iallreduce", "ring"), "mpich": ("iallreduce", "sched_naive")}[mpi]
    assert verified[forced] == "1"
    assert all(verified[name, DEFAULT] == "1" for name in ("iallreduce", "ibarrier", "alltoallw"))
    assert "this MPI does not show which algorithm ran" not in " ".join(done.stdout.split())


def test_each_root_is_measured_where_there_is_one(launcher):
    own = [Algorithm(DEFAULT, {})]
    with Ranks(launcher, 3, HANGS_S) as launched:
        for collective, roots in (("bcast", [0, 2]), ("gather", [0, 2]), ("allreduce", [0])):
            points = points_of(collective, own, [8], roots=(0, 2))
            measure_points(launched, collective, points, Protocol(repetitions=2), seed=1)
            assert [point.root for point in points] == roots
            assert all(sum(map(len, point.in_time)) >= 2 for point in points)


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_an_algorithm_is_not_combined_with_others_on_several_nodes(launcher, monkeypatch):
    """MPICH treats the four ranks as two nodes. The algorithm needs an element for each rank. The combinations call it
    with two ranks, so that two elements are enough for them."""
    monkeypatch.setenv("MPIR_CVAR_NUM_CLIQUES", "2")
    known = launcher.mpi.collectives
    with Session(launcher, 4, HANGS_S) as session:
        for collective, name in (("allreduce", "reduce_scatter_allgather"), ("reduce", "reduce_scatter_gather")):
            own, forced = (one for one in known.algorithms(collective, 4) if one.name in (DEFAULT, name))
            with pytest.raises(RefusedError):
                session.check(collective, session.choose(collective, forced), 8, 0)
            session.check(collective, session.choose(collective, forced), 16, 0)
            session.check(collective, session.choose(collective, own), 8, 0)


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_an_algorithm_that_ends_the_ranks_is_left_out(launcher):
    careless = replace(launcher.mpi.collectives, powers_of_two_only=[])
    algorithms = careless.algorithms("reduce_scatter", 3)
    with Ranks(launcher, 3, HANGS_S) as launched:
        points = points_of("reduce_scatter", algorithms, [8, 64])
        measure_points(launched, "reduce_scatter", points, Protocol(repetitions=2), seed=1)
    why = {point.algorithm.name: point.unavailable for point in points}
    assert why["noncommutative"].startswith("the ranks ended: Assertion failed")
    assert not why[DEFAULT]
    assert not why["pairwise"]


def test_clocks_that_drift_apart_do_not_count(launcher, mpi, tmp_path, monkeypatch):
    """The ranks get clocks of their own, as on several machines."""
    program = tmp_path / "mpibench"
    sources = [*(ROOT / "src/mpibench").glob("*.c"), CULMEN_BUILD / "mpibench/counters.c", HERE / "drifting_clock.c"]
    wraps = "-Wl,--wrap=clock_gettime,--wrap=MPI_Comm_split_type"
    flags = ["-O1", "-w", "-ldl", f"-I{ROOT / 'src/mpibench'}", wraps]
    subprocess.run([f"mpicc.{mpi}", *map(str, sources), *flags, "-o", str(program)], check=True)
    monkeypatch.setattr("culmen.bench.session.own_program", lambda _name: program)
    with Session(launcher, 2, HANGS_S) as session:
        time.sleep(DRIFT_S / 0.01)  # the clock shows no event: this is how long it drifts
        times, _ = session.time("bcast", 0, 8, 0, 50, 0.0)
    assert 0 < statistics.quantiles(times, n=10)[0] < DRIFT_S / 2, "most ranks may wait for a CPU"


def test_what_was_measured_stays_if_the_ranks_end(launcher, monkeypatch):
    measure, visits = Session.time, []

    def measure_or_die(*words):
        if len(visits) == 9:
            raise LostError("the ranks ended")
        visits.append(words)
        return measure(*words)

    monkeypatch.setattr(Session, "time", measure_or_die)
    own = [Algorithm(DEFAULT, {})]
    with Ranks(launcher, 2, HANGS_S) as launched:
        points = points_of("bcast", own, [8, 64, 512])
        measure_points(launched, "bcast", points, Protocol(repetitions=10**6), seed=1)
    assert sorted(len(point.visits) for point in points) == [0, 3, 3]
    assert [point.unavailable for point in points if not point.visits] == ["the ranks ended"]
    assert not any(point.unavailable for point in points if point.visits)


def test_ranks_that_load_another_version_than_the_launchers_are_refused(launcher):
    newer = replace(launcher, mpi=replace(launcher.mpi, title="MPI 99"))
    with pytest.raises(InputError, match=r"is MPI 99, but its ranks load .*; build culmen where the mpicc of MPI 99"):
        Session(newer, 2, HANGS_S).__enter__()


def test_wrong_results_are_noticed(launcher, broken):
    with Session(launcher, 2, HANGS_S) as session:
        session.check("allreduce", 0, 64, 0)
        with pytest.raises(RefusedError, match="a result is wrong"):
            session.check("bcast", 0, 64, 0)


def test_wrong_results_of_repeated_calls_are_noticed(launcher, broken, monkeypatch):
    monkeypatch.setenv("LATE", "6")
    with Session(launcher, 2, HANGS_S) as session:
        for collective in launcher.mpi.collectives.names:
            if collective != "bcast":
                session.repeat(collective, 0, 64, 0, 3)
        session.repeat("bcast", 0, 64, 0, 3)
        with pytest.raises(RefusedError, match="a result is wrong"):
            session.repeat("bcast", 0, 64, 0, 3)
        with pytest.raises(RefusedError, match="a result is wrong"):
            session.repeat("bcast", 0, 64, 0, 1)


def test_a_wrong_result_of_the_first_of_several_calls_is_noticed(launcher, broken, monkeypatch):
    monkeypatch.setenv("EARLY", "1")
    with Session(launcher, 2, HANGS_S) as session, pytest.raises(RefusedError, match="a result is wrong"):
        session.repeat("bcast", 0, 64, 0, 3)


@pytest.mark.parametrize(("ranks", "sizes"), [(2, "1 4 7 8"), (6, "1 4 7 8"), (60, "1 4"), (300, "4")])
def test_a_lost_or_exchanged_contribution_is_noticed(mpi, tmp_path, ranks, sizes):
    sources = [HERE / "wrong_results.c", ROOT / "src/mpibench/operations.c"]
    flags = ["-O2", "-w", f"-I{ROOT / 'src/mpibench'}", "-o", str(tmp_path / "wrong")]
    subprocess.run([f"mpicc.{mpi}", *map(str, sources), *flags], check=True)
    done = subprocess.run([tmp_path / "wrong", str(ranks), *sizes.split()], check=True, capture_output=True, text=True)
    assert done.stdout == ""


@pytest.mark.either("mpi")
def test_a_collective_with_wrong_results_only_is_a_failure(mpi, tmp_path, broken):
    words = ("--collectives", "bcast,barrier", "--algorithms", "default", "--ranks", "2", "--sizes", "8", "--quiet")
    words = ("bench", "collectives", *words, "--repetitions", "6", "--mpi", mpi, "--output", "out")
    done = culmen(*words, cwd=tmp_path, timeout=HANGS_S)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout == "culmen: bcast could not be measured with 2 ranks: a result is wrong (1 launch in all)\n"
    assert {row["collective"] for row in rows_in(tmp_path) if not row["unavailable"]} == {"barrier"}


@pytest.mark.either("mpi")
def test_ranks_that_hang_are_given_up(launcher, broken, monkeypatch):
    monkeypatch.setenv("HANG", "1")
    with Session(launcher, 2, HANGS_S) as session:
        session._timeout_s = 1.0  # only now: on a busy machine, the start takes longer
        with pytest.raises(LostError, match="no answer within 1 s"):
            session.check("bcast", 0, 64, 0)
        process = session._process
    assert process.returncode is not None


def test_wrong_commands_are_refused_and_the_ranks_go_on(launcher):
    with Session(launcher, 2, HANGS_S) as session:
        for words, says in [
            (("nothing", 0, 8, 0), "there is no such collective"),
            (("bcast", 5, 8, 0), "there is no such communicator"),
            (("bcast", 0, 8, 2), "there is no such root"),
            (("bcast", 0, 2**31, 0), "the message is too large"),
            (("bcast", 0, -1, 0), "the message is too large"),
        ]:
            with pytest.raises(RefusedError, match=says):
                session.check(*words)
        with pytest.raises(RefusedError, match="that many calls"):
            session.time("bcast", 0, 8, 0, 10**6, 0.0)
        with pytest.raises(RefusedError, match="the variable cannot be written"):
            session._ask("set no_such_variable 1")
        assert len(session.time("bcast", 0, 8, 0, 5, 0.0)[0]) == 5


def rows_in(folder):
    with (folder / "out/collectives.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def state_of(folder):
    done = culmen("status", "out/collectives.db", "--json", cwd=folder)
    return json.loads(done.stdout) if done.returncode == 0 else {}


@pytest.mark.either("mpi")
def test_collectives_are_measured_drawn_and_not_measured_again(mpi, tmp_path):
    words = ("bench", "collectives", *SMALL, "--mpi", mpi, "--output", "out")
    done = culmen(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    rows = rows_in(tmp_path)
    timed = [row for row in rows if row["time_s"]]
    assert {(row["mpi"], row["collective"], row["ranks"]) for row in timed} == {
        (mpi, collective, ranks) for collective in ("bcast", "barrier") for ranks in ("2", "3")
    }
    assert {row["size"] for row in timed if row["collective"] == "bcast"} == {"8", "1024"}
    assert {row["algorithm"] for row in timed} >= {"default", "binomial"}
    assert all(0 < float(row["time_s"]) < HANGS_S for row in timed)
    for row in rows:
        assert bool(row["time_s"]) != bool(row["unavailable"])
    assert "bcast" in done.stdout
    assert "Wrote out/collectives.csv and out/collectives.html" in done.stdout
    assert "the fastest algorithm" in (tmp_path / "out/collectives.html").read_text()
    environment = json.loads((tmp_path / "out/environment.json").read_text())
    assert environment["versions"] == [rows[0]["version"]]
    again = culmen(*words, "--parquet", cwd=tmp_path)
    assert again.returncode == 0
    assert pq.read_metadata(tmp_path / "out/collectives.parquet").num_rows == len(rows)
    assert "All 4 launches are in out/collectives.db" in again.stdout
    assert rows_in(tmp_path) == rows
    other = culmen(*words, "--sizes", "16", cwd=tmp_path)
    assert (other.returncode, "holds other points; give another folder" in other.stderr) == (2, True)


@pytest.mark.either("mpi")
def test_samples_of_another_version_or_machine_are_not_continued(mpi, tmp_path):
    words = ("bench", "collectives", *SMALL, "--collectives", "barrier", "--mpi", mpi, "--output", "out")
    first = culmen(*words, "--at-most", "1", cwd=tmp_path)
    assert first.returncode == 0, first.stderr + first.stdout
    file, about = tmp_path / "out/samples/barrier-3.csv", tmp_path / "out/environment.json"
    rows, described = file.read_text(), json.loads(about.read_text())
    version, host = rows_in(tmp_path)[0]["version"], described["host"]
    for place, text, other, here in (
        (file, rows.replace(version, "Open MPI 1.2.3"), "Open MPI 1.2.3", version),
        (about, json.dumps(described | {"host": "elsewhere"}), "the machine elsewhere", host),
    ):
        before = place.read_text()
        place.write_text(text)
        done = culmen(*words, cwd=tmp_path)
        assert done.returncode == 2, done.stdout
        assert re.search(
            f"^culmen: .*out has samples of {other}, but this .*{re.escape(here)}; give another", done.stderr
        )
        assert "write --overwrite" in done.stderr
        place.write_text(before)
    written = about.read_text()
    done = culmen(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert about.read_text() == written, "only before the first launch"
    assert {row["ranks"] for row in rows_in(tmp_path)} == {"2", "3"}


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
@pytest.mark.either("mpi")
def test_an_interrupted_measurement_is_continued(mpi, tmp_path):
    words, store = ("bench", "collectives", *SMALL, "--mpi", mpi, "--output", "out"), tmp_path / "out/collectives.db"
    with Running(*words, cwd=tmp_path) as run:
        wait_for(lambda: store_is_ready(store) and summary(store)["told"] >= 1, "one launch")
        run.process.send_signal(signal.SIGINT)
        code = run.process.wait()
    before = state_of(tmp_path)["told"]
    assert code == (0 if before == 4 else 75)
    done = culmen(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert before == 4 or f"4 launches, {before} of them before" in done.stdout
    assert len({(row["collective"], row["ranks"]) for row in rows_in(tmp_path)}) == 4


@pytest.mark.either("mpi")
@pytest.mark.slow
def test_a_launch_that_fails_is_said_and_the_others_stay(mpi, tmp_path, broken, monkeypatch):
    monkeypatch.setenv("HANG", "1")
    words = ("--collectives", "bcast,barrier", "--ranks", "2", "--sizes", "8", "--seconds", "0.05", "--timeout", "2")
    done = culmen("bench", "collectives", *words, "--mpi", mpi, "--output", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert "1 of 2 launches failed: " in done.stdout
    assert "no answer within 2 s" in done.stdout
    assert {row["collective"] for row in rows_in(tmp_path)} == {"barrier"}
    assert "To measure the failed launches again, type the same command." in done.stdout
    monkeypatch.delenv("LD_PRELOAD")
    again = culmen("bench", "collectives", *words, "--mpi", mpi, "--output", "out", cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "2 launches, 1 of them before" in again.stdout
    assert {row["collective"] for row in rows_in(tmp_path)} == {"bcast", "barrier"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--collectives", "bcst"], "--collectives: there is no collective 'bcst'"),
        (["--algorithms", "fast"], "--algorithms of "),
        (["--ranks", "1"], "--ranks: '1' is neither a number from 2 to 4096 nor a range such as 2-48 or 2-48:2"),
        (["--mpi", "lam"], "no collectives can be measured: there is no MPI 'lam'"),
    ],
)
def test_wrong_input_gets_one_sentence_and_measures_nothing(tmp_path, words, says):
    done = culmen("bench", "collectives", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"culmen: {says}")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
