"""Profiles of programs that make more kinds of calls than a profile has room for."""

import json
import re

import pytest
from culmen.profile.recorded import read_folder
from harness import culmen
from profiles import AS_ROOT, built, profiled

pytestmark = pytest.mark.either("mpi")

COMMUNICATORS = 600


@pytest.fixture
def said(mpi, tmp_path):
    """The output for kinds_program.c, whose profile is in the folder ``out``."""
    done = profiled(tmp_path, built(mpi, tmp_path, "kinds_program.c"), 2, str(COMMUNICATORS), COLUMNS="300")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_calls_without_room_keep_their_number_bytes_and_time(said, tmp_path):
    ranks = read_folder(tmp_path / "out")
    for rank in ranks:
        calls = [each for each in rank.calls if each.function == "MPI_Bcast"]
        assert sum(each.calls for each in calls) == 21 * COMMUNICATORS
        assert sum(each.bytes for each in calls) == (2**21 - 1) * COMMUNICATORS
    assert ranks[1].in_mpi > ranks[1].thread_s / 2  # it waits for five sixths of the run
    assert "The program is not MPI-bound" not in said
    assert "MPI_Allreduce (further calls) takes most of that time" in said
    share = re.search(r"They take (\d+)% of the time in MPI. `culmen tune app` does not tune them.", said)
    assert share is not None
    assert int(share[1]) > 50  # as above


@pytest.mark.parametrize("more", [[], ["--direct"]])
def test_a_tuner_says_which_share_it_leaves_out(mpi, tmp_path, more):
    command = built(mpi, tmp_path, "kinds_program.c")
    words = ["2" if word == "RANKS" else word for word in command]
    done = culmen("tune", "app", *more, "--", *words, str(COMMUNICATORS), cwd=tmp_path, **AS_ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    share = re.search(r"Collectives with (\d+)% of the time in MPI are not tuned", done.stdout)
    assert share is not None
    assert int(share[1]) > 50  # rank 1 waits for most of the run
    assert "No other collective that culmen can tune takes 1% of the run" in done.stdout


def test_the_page_and_its_parts_name_the_calls_without_room(said, tmp_path):
    shown = culmen("profile", "report", "out", "--json", cwd=tmp_path)
    read = json.loads(shown.stdout)
    further = [calls for calls in read["calls"] if calls["communicator"] == "further calls"]
    assert {calls["function"] for calls in further} == {"MPI_Bcast", "MPI_Barrier", "MPI_Allreduce"}
    assert all(calls[key] is None for calls in further for key in ("ranks", "peer", "least_bytes", "most_bytes"))
    number = sum(rank["further_calls"] for rank in read["ranks"])
    assert number == sum(calls["calls"] for calls in further)
    remark = f"The profile had no room for the communicators, sizes and peers of {number} calls."
    assert remark in said
    for option in (("--communicators", "self/*"), ("--sizes", "1K"), ("--functions", "Comm_dup")):
        part = culmen("profile", "report", "out", *option, cwd=tmp_path, COLUMNS="300")
        assert "The chosen calls take" in part.stdout
        assert remark in part.stdout
    assert culmen("profile", "report", "out", "--sizes", "1K", "--html", cwd=tmp_path).returncode == 0
    assert remark in (tmp_path / "out/profile.html").read_text()
