"""Profiles of programs that end early, use unlike groups, or belong to another MPI; and what is advised."""

import json
import re
import signal
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from culmen.profile.recorded import read_folder
from harness import Running, culmen, wait_for
from profiles import AS_ROOT, built, profiled

from culmen import InputError

pytestmark = pytest.mark.either("mpi")


@pytest.fixture
def unlike(mpi, tmp_path):
    return built(mpi, tmp_path, "unlike_program.c")


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_reduction_between_unlike_groups_is_counted(unlike, tmp_path, ranks):
    done = profiled(tmp_path, unlike, ranks, "groups")
    assert done.returncode == 0, done.stderr
    found = {
        (rank.rank, calls.function): (calls.calls, calls.bytes)
        for rank in read_folder(tmp_path / "out")
        for calls in rank.calls
        if "educe_scatter" in calls.function
    }
    expected = 4 * (ranks - 1)  # of the sum of all counts, which is the same in both groups
    names = ("MPI_Reduce_scatter", "MPI_Reduce_scatter_block")
    assert found == {(rank, name): (1, expected) for rank in range(ranks) for name in names}


def test_calls_after_an_error_handler_that_jumped_are_counted(unlike, tmp_path):
    done = profiled(tmp_path, unlike, 2, "jump")
    assert done.returncode == 0, done.stderr
    assert calls_in(tmp_path / "out") == 2000


def test_the_shares_are_of_the_ranks_that_ended(unlike, tmp_path):
    done = profiled(tmp_path, unlike, 3, "abort")
    assert done.returncode != 0
    assert "did not reach MPI_Finalize" in done.stdout
    assert "of the time of all ranks" not in done.stdout
    shares = [float(share) for share in re.findall(r"([\d.]+)%", done.stdout.partition("On average")[0])]
    assert all(share <= 100 for share in shares)


def test_the_shortest_call_is_never_longer_than_the_longest(unlike, tmp_path):
    assert profiled(tmp_path, unlike, 2, "groups").returncode == 0
    said = culmen("profile", "report", "out", "--json", cwd=tmp_path)
    for calls in json.loads(said.stdout)["calls"]:
        assert 0 <= calls["least_s"] < 60


def test_a_program_of_another_mpi_is_refused(mpi, tmp_path):
    program = built("mpich" if mpi == "openmpi" else "openmpi", tmp_path, "unlike_program.c")[-1]
    done = profiled(tmp_path, [find_launcher(mpi).program, "-n", "2", program], 2)
    assert done.returncode == 2
    other = "mpich" if mpi == "openmpi" else "openmpi"
    assert f"was built for {other}, but" in done.stderr
    assert not list(tmp_path.glob("out/*.profile"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_ranks_and_leaves_the_profile(unlike, tmp_path, number):
    command = ["2" if word == "RANKS" else word for word in unlike]
    with Running("profile", "--output", "out", "--", *command, "sleep", cwd=tmp_path, **AS_ROOT) as run:
        wait_for(lambda: calls_in(tmp_path / "out") == 2000, "all calls of both ranks")
        run.process.send_signal(number)
        _, out, _ = run.end()
        wait_for(lambda: not run.processes(), "the end of all ranks")
    assert "`culmen profile report out` shows it again." in out
    assert calls_in(tmp_path / "out") == 2000


def calls_in(folder: Path) -> int:
    """Those of MPI_Allreduce."""
    if len(list(folder.glob("*.profile"))) < 2:
        return 0
    try:
        ranks = read_folder(folder)
    except InputError:
        return 0  # no rank has begun yet
    return sum(calls.calls for rank in ranks for calls in rank.calls if calls.function == "MPI_Allreduce")


def test_a_profile_without_calls_is_one_sentence(unlike, tmp_path):
    assert profiled(tmp_path, unlike, 2).returncode == 0
    for path in (tmp_path / "out").glob("*.profile"):
        data = bytearray(path.read_bytes())
        data[:8] = bytes(8)
        path.write_bytes(data)
    said = culmen("profile", "report", "out", cwd=tmp_path)
    assert said.returncode == 2
    assert said.stderr == (
        "culmen: out has no calls: no rank came to the end of MPI_Init; look at the program's messages\n"
    )


def test_the_advice_names_a_tuner_that_fits(mpi, unlike, tmp_path):
    # "partly" on a busy machine
    bound = r"The program is (partly )?MPI-bound\. MPI_Allreduce \(world\) takes most of that time"
    done = profiled(tmp_path, unlike, 2, "long", COLUMNS="200")
    assert re.search(bound, done.stdout), done.stdout
    assert "`culmen profile --imbalance 10 -- …` measures it." in done.stdout
    assert "Each rank calls MPI_Allreduce 20,000 times with messages of 8 to 15 B. That is often enough" in done.stdout
    has_rules = bool(find_launcher(mpi).mpi.collectives.rules_file)
    assert ("`culmen tune app -- …` looks for a faster algorithm" in done.stdout) == has_rules
    assert culmen("profile", "report", "out", "--html", cwd=tmp_path).returncode == 0
    page = (tmp_path / "out/profile.html").read_text()
    assert re.search(bound, page)
    assert "MPI takes " in page
