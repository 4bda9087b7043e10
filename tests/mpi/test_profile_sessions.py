"""Programs that begin MPI by sessions, which know their own traffic."""

import subprocess
from collections import Counter

import pytest
from culmen.launch.mpi import find_launcher
from culmen.profile.recorded import read_folder
from harness import HANGS_S, culmen, environment
from profiles import AS_ROOT, built, counted

RANKS = 3


@pytest.fixture
def run(mpi, tmp_path):
    if find_launcher(mpi).mpi.title == "Open MPI 4":
        pytest.skip("Open MPI 4 has no sessions")
    program = built(mpi, tmp_path, "sessions_program.c")

    def start(way, *options, number=RANKS):
        words = [str(number) if word == "RANKS" else word for word in program]
        env = environment(**AS_ROOT)
        alone = subprocess.run([*words, way], env=env, capture_output=True, text=True, timeout=HANGS_S)
        if way != "killed" and "Segmentation fault" in alone.stdout + alone.stderr:
            pytest.skip("this MPI crashes when a session begins after the last one has ended")
        if way == "groups" and alone.returncode != 0:
            pytest.skip("this MPI makes no communicator of a part of a session's ranks")
        done = culmen(
            "profile", *options, "--output", "out", "--", *words, way, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT
        )
        codes = {done.returncode, alone.returncode}
        # MPICH's launcher combines the signals of all ranks; it depends on timing which of them it kills itself.
        assert len(codes) == 1 or (way == "killed" and 0 not in codes), done.stderr
        assert done.stdout.count("done") == alone.stdout.count("done")
        return done.stdout, read_folder(tmp_path / "out")

    return start


def traffic(*tags: str, whole: int = RANKS) -> Counter:
    """Of one session for each tag."""
    out = {}
    for tag in tags:
        of = f"from_group {tag}"
        out |= {
            ("MPI_Comm_create_from_group", ""): (len(tags) * whole, 0),
            ("MPI_Allreduce", of): (3 * whole, 120 * whole),
            ("MPI_Comm_split", of): (whole, 0),
            ("MPI_Comm_free", of): (whole, 0),
        }
        for colour, ranks in ((0, 2), (1, 1)):
            half = f"{of}/split 1 colour {colour}"
            out |= {("MPI_Bcast", half): (ranks, 8 * ranks), ("MPI_Comm_free", half): (ranks, 0)}
    return out


def test_a_program_with_a_session_has_a_profile(run):
    said, ranks = run("one")
    assert f"{RANKS} ranks on 1 node" in said
    assert "s after MPI_Session_init" in " ".join(said.split())
    assert counted(ranks) == traffic("solver")
    assert [rank.rank for rank in ranks] == list(range(RANKS))
    for rank in ranks:
        assert rank.by_session
        assert rank.size == RANKS
        assert 0 < rank.in_mpi < rank.seconds


def test_sessions_one_after_another_are_one_profile(mpi, run):
    if find_launcher(mpi).mpi.title == "MPICH 5":
        pytest.skip("this MPI sometimes hangs by itself when a session begins after the last one has ended")
    _, ranks = run("again")
    assert counted(ranks) == traffic("solver", "solver 2", "solver 3")
    assert all(rank.seconds for rank in ranks)


def test_groups_with_one_tag_have_names_of_their_own(run):
    _, ranks = run("groups")
    barriers = {name: calls for (function, name), (calls, _) in counted(ranks).items() if function == "MPI_Barrier"}
    assert barriers == {f"from_group pair{which}": 2 for which in (" ranks 0-1", " ranks 1-2", " 2 ranks 0-1")}


def test_sessions_of_two_libraries_are_one_profile(run):
    said, ranks = run("nested")
    expected = traffic("first", "second") | {
        ("MPI_Comm_create_from_group", ""): (3 * RANKS, 0),
        ("MPI_Barrier", "from_group alone"): (RANKS, 0),
        ("MPI_Comm_free", "from_group alone"): (RANKS, 0),
    }
    assert counted(ranks) == expected
    assert all(rank.seconds for rank in ranks)
    assert "did not reach" not in said


@pytest.mark.parametrize("way", ["both", "before"])
def test_a_session_of_a_library_goes_with_mpi_init(run, way):
    _, ranks = run(way)
    number = 2 if way == "both" else 1
    assert counted(ranks) == traffic("library") | {("MPI_Barrier", "world"): (number * RANKS, 0)}
    for rank in ranks:
        assert rank.by_session == (way == "before")
        assert rank.seconds


def test_a_program_may_leave_its_session_open(run):
    """One rank: the launcher may kill ranks whose neighbours have ended so."""
    _, [rank] = run("open", number=1)
    assert counted([rank])["MPI_Allreduce", "from_group solver"] == (3, 120)
    assert rank.by_session
    assert rank.seconds


def test_a_crash_leaves_what_was_counted_before_it(run):
    _, ranks = run("killed")
    for rank in ranks:
        calls = counted([rank])
        assert calls["MPI_Allreduce", "from_group solver"] == (3, 120)


def test_waits_are_measured_in_sessions_too(run):
    _, ranks = run("one", "--imbalance", "1")
    sampled = [calls for rank in ranks for calls in rank.calls if calls.function == "MPI_Allreduce"]
    assert sum(calls.sampled for calls in sampled) == 3 * RANKS
