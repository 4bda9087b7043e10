"""Samples of the time that ranks wait for others."""

import json
import os
import re
import subprocess
from collections import Counter

import pytest
from culmen.profile.recorded import read_folder
from harness import culmen
from profiles import AS_ROOT, built, counted, traffic_of

pytestmark = pytest.mark.either("mpi")

ROUNDS = 40  # as in imbalance_program.c
FUNCTIONS = ("MPI_Allreduce", "MPI_Bcast", "MPI_Recv", "MPI_Neighbor_allgather")


def profiled(tmp_path, words, ranks, period, *more):
    command = [str(ranks) if word == "RANKS" else word for word in words]
    out = ("--output", "out", "--imbalance", period, "--", *command, *more)
    return culmen("profile", *out, cwd=tmp_path, **AS_ROOT)


@pytest.mark.parametrize(("ranks", "period"), [(2, 1), (3, 10)])
def test_waiting_is_told_from_moving(mpi, tmp_path, ranks, period):
    done = profiled(tmp_path, built(mpi, tmp_path, "imbalance_program.c"), ranks, period, period)
    assert done.returncode == 0, done.stderr
    profile = read_folder(tmp_path / "out")
    for rank in profile:
        sampled = {each.function: each.sampled for each in rank.calls if each.sampled}
        expected = dict.fromkeys(("MPI_Allreduce", "MPI_Neighbor_allgather"), ROUNDS // period)
        expected |= {"MPI_Bcast": ROUNDS // period} if rank.rank < 2 else {}
        assert {name: n for name, n in sampled.items() if name != "MPI_Recv"} == expected
        assert all(0 <= each.waited_s <= each.sampled_s <= each.seconds for each in rank.calls)
    received = [each for each in profile[1].calls if each.function == "MPI_Recv"]
    assert sum(each.sampled for each in received) == ROUNDS // period
    late_s = [float(word) for word in re.search(r"late (\S+) (\S+) (\S+) (\S+)", done.stdout).groups()]
    for function, least_s in zip(FUNCTIONS, late_s, strict=True):
        # A sample begins after the program has looked at its clock, and ends after the late rank has come.
        assert sum(each.waited_s for each in profile[1].calls if each.function == function) >= least_s / 2
    assert sum(late_s) > 0  # on a busy machine, rank 0 may not be the late one in a few samples
    text = " ".join(done.stdout.split())
    assert "waiting" in text
    # On a busy machine, functions whose few samples were fast are not named.
    assert re.search(r"In MPI_[^.]*, ranks wait for late ranks for about ", text)
    calls = (2 * ranks + 3) * ROUNDS
    read = json.loads(culmen("profile", "report", "out", "--json", cwd=tmp_path).stdout)
    assert sum(each["sampled"] for each in read["calls"]) == calls // period
    assert culmen("profile", "report", "out", "--html", cwd=tmp_path).returncode == 0
    assert "wait for late ranks" in (tmp_path / "out/profile.html").read_text()


def test_functions_in_turns_all_have_samples(mpi, tmp_path):
    rounds, functions, period = 100, 4, 10  # as in turns_program.c
    done = profiled(tmp_path, built(mpi, tmp_path, "turns_program.c"), 2, period)
    assert done.returncode == 0, done.stderr
    for rank in read_folder(tmp_path / "out"):
        sampled = Counter()
        for each in rank.calls:
            sampled[each.function] += each.sampled
        assert sampled.total() == rounds * functions // period
        for function in ("MPI_Allreduce", "MPI_Barrier", "MPI_Bcast", "MPI_Reduce"):
            assert sampled[function] >= rounds // period // 2, function


# On rank 1, the folder of the profile is full.
ONE_IS_FULL = """
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] || exec "$@"
exec unshare --mount sh -c 'mount -t tmpfs -o size=64k tmpfs "$CULMEN_PROFILE_DIR" && exec "$@"' sh "$@"
"""


def test_a_rank_without_a_profile_takes_part_in_samples(mpi, tmp_path):
    if subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no private mount can be made here")
    *words, program = built(mpi, tmp_path, "turns_program.c")
    done = profiled(tmp_path, [*words, "sh", "-c", ONE_IS_FULL, "sh", program], 3, 1)
    assert done.returncode == 0, done.stderr
    assert [rank.rank for rank in read_folder(tmp_path / "out")] == [0, 2]


@pytest.mark.parametrize("period", [1, 2, 5])
def test_samples_change_no_counts(mpi, tmp_path, period):
    done = profiled(tmp_path, built(mpi, tmp_path, "traffic_program.c"), 3, period)
    assert done.returncode == 0, done.stderr
    assert counted(read_folder(tmp_path / "out")) == traffic_of(3)


@pytest.mark.parametrize("source", ["communicators_program.c", "functions_program.F90"])
def test_samples_do_not_stop_a_program(mpi, tmp_path, source):
    done = profiled(tmp_path, built(mpi, tmp_path, source), 3, 1)
    assert done.returncode == 0, done.stderr


def test_without_samples_nothing_is_said_of_waiting(mpi, tmp_path):
    words = [("2" if word == "RANKS" else word) for word in built(mpi, tmp_path, "imbalance_program.c")]
    done = culmen("profile", "--", *words, cwd=tmp_path, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    assert "waiting" not in done.stdout
    assert not any(each.sampled for rank in read_folder(tmp_path / "profile-1") for each in rank.calls)


@pytest.mark.parametrize("given", ["0", "few"])
def test_a_wrong_number_is_one_sentence(given, tmp_path):
    done = culmen("profile", "--imbalance", given, "--", "mpiexec", "true", cwd=tmp_path)
    assert done.returncode == 2
    assert "--imbalance" in done.stderr
    assert len(done.stderr.splitlines()) == 1
