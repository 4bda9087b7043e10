"""Profiles of a program that knows its own traffic, and of programs that go wrong."""

import subprocess
import sys

import pytest
from culmen.launch.mpi import find_launcher
from culmen.profile.recorded import read_folder
from harness import culmen
from profiles import AS_ROOT, built, counted, flags_of, of_mpi4py, profiled, started, traffic_of

pytestmark = pytest.mark.either("mpi")


@pytest.fixture
def traffic(mpi, tmp_path) -> list[str]:
    return built(mpi, tmp_path, "traffic_program.c")


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_profile_says_what_the_program_knows(traffic, tmp_path, ranks):
    done = profiled(tmp_path, traffic, ranks)
    assert done.returncode == 0, done.stderr
    profile = read_folder(tmp_path / "out")
    assert [rank.rank for rank in profile] == list(range(ranks))
    assert counted(profile) == traffic_of(ranks)
    for rank in profile:
        in_mpi = sum(each.seconds for each in rank.calls)
        assert 0 < in_mpi <= rank.seconds
        assert all(0 < each.least_s * each.calls <= each.seconds * 1.001 for each in rank.calls)
        assert all(each.seconds <= each.most_s * each.calls * 1.001 for each in rank.calls)
        assert rank.further_calls == 0
    assert f"{ranks} ranks on 1 node" in " ".join(done.stdout.split())
    assert "MPI_Allreduce" in done.stdout
    again = culmen("profile", "report", "out", cwd=tmp_path)
    assert again.stdout.strip() in done.stdout


def test_peers_mean_the_same_under_each_mpi(traffic, tmp_path):
    profiled(tmp_path, traffic, 2)
    peers = {(each.function, each.peer) for each in read_folder(tmp_path / "out")[0].calls}
    assert {("MPI_Send", -1), ("MPI_Isend", 1), ("MPI_Bcast", 1), ("MPI_Reduce", 0), ("MPI_Allreduce", -1)} <= peers


def test_the_programs_exit_code_is_kept(traffic, tmp_path):
    assert profiled(tmp_path, traffic, 2, "three").returncode == 3


def test_a_crash_leaves_what_was_counted(traffic, tmp_path):
    done = profiled(tmp_path, traffic, 2, "crash")
    assert done.returncode != 0
    profile = read_folder(tmp_path / "out")
    crashed = next(rank for rank in profile if rank.rank == 1)
    assert crashed.seconds is None
    assert counted([crashed])["MPI_Sendrecv", "world"] == (10, 640)
    assert "did not reach MPI_Finalize" in " ".join(done.stdout.split())


def test_a_former_profile_is_not_overwritten(traffic, tmp_path):
    assert profiled(tmp_path, traffic, 2).returncode == 0
    done = profiled(tmp_path, traffic, 2)
    assert done.returncode == 2
    assert done.stderr == "culmen: out has a profile already; choose another folder, or remove it\n"


def test_a_folder_that_cannot_be_made_is_said(traffic, tmp_path):
    (tmp_path / "file").write_text("")
    done = profiled(tmp_path, traffic, 2, folder="file/out")
    assert done.returncode == 2
    assert done.stderr == "culmen: the folder file/out cannot be made: Not a directory; choose another --output\n"


BINDINGS = {"mpif.h": 0, "mpi": 1, "mpi_f08": 2}


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize(("ranks", "words"), [(3, []), (2, ["threads"])])
def test_calls_from_fortran_are_counted_once(mpi, tmp_path, binding, ranks, words):
    flags = ["-cpp", "-fallow-argument-mismatch", f"-DBINDING={BINDINGS[binding]}"]
    done = profiled(tmp_path, built(mpi, tmp_path, "traffic_program.F90", *flags), ranks, *words)
    assert done.returncode == 0, done.stderr
    profile = read_folder(tmp_path / "out")
    assert [rank.rank for rank in profile] == list(range(ranks))
    assert counted(profile) == traffic_of(ranks)


def test_a_function_that_the_program_wraps_itself_is_counted(mpi, tmp_path):
    words = built(mpi, tmp_path, "traffic_program.c", "-DOWN_BARRIER")
    assert profiled(tmp_path, words, 2).returncode == 0
    assert counted(read_folder(tmp_path / "out")) == traffic_of(2)


MPI4PY = """
import numpy
from mpi4py import MPI

numbers = numpy.ones(1000)
for _ in range(10):
    MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, numbers)
MPI.COMM_WORLD.Barrier()
"""


def test_mpi4py_is_counted_whatever_names_it_calls(mpi, tmp_path):
    (tmp_path / "script.py").write_text(MPI4PY)
    done = profiled(tmp_path, [*started(mpi), sys.executable, "script.py"], 2, **of_mpi4py(mpi))
    assert done.returncode == 0, done.stderr
    profile = read_folder(tmp_path / "out")
    assert counted(profile) == {("MPI_Allreduce", "world"): (20, 160_000), ("MPI_Barrier", "world"): (2, 0)}
    assert profile[0].program.endswith("script.py")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "a command after -- is missing; example: culmen profile -- mpiexec -n 4 ./app"),
        (["no-such-program"], "the program 'no-such-program' was not found; write the path of a program after --"),
        (["true"], "'true' names neither a launcher of an MPI that culmen knows nor a program that links one"),
    ],
)
def test_wrong_words_are_one_sentence(words, said, tmp_path):
    done = culmen("profile", "--", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"culmen: {said}")
    assert len(done.stderr.splitlines()) == 1


def test_a_program_with_an_address_sanitizer_needs_its_library_first(mpi, tmp_path):
    words = built(mpi, tmp_path, "traffic_program.c", "-fsanitize=address")
    done = profiled(tmp_path, words, 2)
    assert done.returncode == 2
    assert f"{words[-1]} was built with -fsanitize=address" in " ".join(done.stderr.split())
    library = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    done = profiled(tmp_path, words, 2, LD_PRELOAD=library, ASAN_OPTIONS="detect_leaks=0")
    assert done.returncode == 0, done.stderr
    assert counted(read_folder(tmp_path / "out")) == traffic_of(2)


def test_a_program_that_is_no_launcher_is_not_run_to_find_its_mpi(tmp_path):
    program = tmp_path / "mpi_mine"
    program.write_text("#!/bin/sh\necho run >>runs\n")
    program.chmod(0o755)
    done = culmen("profile", "--", program, cwd=tmp_path)
    assert done.returncode == 0 and "it did not call MPI_Init" in done.stderr, done.stderr
    assert (tmp_path / "runs").read_text() == "run\n", "only the profile runs it"


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        ("true", 0, "the program ended with exit code 0 and left no profile: it did not call MPI_Init"),
        ("false", 1, "the program ended with exit code 1 before MPI_Init and left no profile; see its messages above"),
    ],
)
def test_a_program_without_mpi_is_said(mpi, tmp_path, program, code, said):
    """It keeps its own exit code."""
    launcher = find_launcher(mpi).program
    for _ in range(10):
        done = culmen("profile", "--", launcher, *flags_of(mpi), "-n", 2, program, cwd=tmp_path, **AS_ROOT)
        if done.returncode != 128 + 13:  # SIGPIPE of MPICH's launcher if both end at once, also without culmen
            break
    assert done.returncode == code
    own = [line for line in done.stderr.splitlines() if line.startswith("culmen: ")]
    assert len(own) == 1
    assert said in own[0]
    assert not [*tmp_path.glob("profile-*")], "an empty folder"
