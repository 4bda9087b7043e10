"""A program that takes and prints what OSU's do, with each algorithm of each MPI."""

import csv
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from culmen.bench.collectives.points import Protocol
from culmen.bench.conversation import LostError, RefusedError
from culmen.bench.suites.measured import measure_points
from culmen.bench.suites.programs import Program, program_in
from culmen.launch.mpi import find_launcher
from harness import HANGS_S, culmen

from culmen import InputError

pytestmark = pytest.mark.either("mpi")

SIZES = [8, 16, 1000]


@pytest.fixture
def suite(mpi, tmp_path):
    compiler = shutil.which(f"mpicc.{mpi}")
    if compiler is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no mpicc.{mpi}")
    folder = tmp_path / "osu/libexec"
    folder.mkdir(parents=True)
    source = Path(__file__).with_name("suite_program.c")
    for name in ("bcast", "reduce", "allreduce", "reduce_scatter"):
        flags = [] if name == "bcast" else [f"-D{name.upper()}"]
        subprocess.run([compiler, "-O1", *flags, source, "-o", folder / f"osu_{name}"], check=True)
    return tmp_path / "osu"


def measured(mpi, suite, repetitions=20, collective="bcast", ranks=2, sizes=SIZES, algorithms=()):
    launcher, protocol = find_launcher(mpi), Protocol(0.05, 0.5, repetitions, HANGS_S)
    known = launcher.mpi.collectives.algorithms(collective, ranks)
    algorithms = [each for each in known if each.name in algorithms] or known[:3]
    return measure_points(suite, launcher, collective, ranks, algorithms, sizes, protocol, 1)


def test_a_suite_measures_each_algorithm(mpi, suite):
    points = measured(mpi, suite)
    assert [point.size for point in points] == 3 * SIZES
    assert len({point.algorithm.name for point in points}) == 3
    for point in points:
        assert (point.unavailable, len(point.visits)) == ("", 1)
        assert 0 < point.visits[0][0] < HANGS_S


@pytest.mark.parametrize("repetitions", [0, 20])
def test_sizes_that_the_suite_does_not_measure_are_unavailable(mpi, suite, repetitions):
    points = measured(mpi, suite, repetitions, "reduce", sizes=[0, 1, 2, 4, 6, 8, 16])
    for point in points:
        if point.size in (4, 8, 16):
            assert (point.unavailable, bool(point.visits)) == ("", True)
        else:
            said = f"osu_reduce does not measure {point.size} byte{'' if point.size == 1 else 's'}"
            assert (point.unavailable, point.visits) == (said, [])


def test_the_size_of_a_reduce_scatter_is_the_part_of_a_rank(mpi, suite):
    points = measured(mpi, suite, 20, "reduce_scatter", 3, [2, 4, 8, 1000])
    assert {point.size for point in points if point.visits} == {4, 8, 1000}
    assert {point.unavailable for point in points if not point.visits} == {
        "osu_reduce_scatter does not measure 2 bytes"
    }
    program = Program(suite / "osu_reduce_scatter", "reduce_scatter")
    assert [program.own_size(size, 3) for size in (4, 8)] == [12, 24]


def test_without_a_number_it_is_launched_until_it_is_exact_or_the_time_is_over(mpi, suite):
    points = measured(mpi, suite, 0)
    assert all(len(point.visits) >= 6 for point in points)
    assert all(point.is_exact(Protocol(0.05)) or point.spent_s >= 0.5 for point in points)


def test_the_command_measures_with_a_suite(mpi, suite, tmp_path):
    words = ["--with", "osu", "--collectives", "bcast", "--ranks", 2, "--sizes", "8-32", "--repetitions", 20]
    done = culmen("bench", "collectives", *words, "--mpi", mpi, cwd=tmp_path, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "bench-collectives/collectives.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {int(row["size"]) for row in rows} == {8, 16, 32}
    assert {row["algorithm"] for row in rows if row["time_s"]} >= {"default", "binomial"}
    assert all(float(row["time_s"]) > 0 for row in rows if not row["unavailable"])
    assert {row["verified"] for row in rows if row["time_s"]} == {"1"}
    assert "unverified" not in done.stdout


# If a rank has fewer numbers than there are ranks, Open MPI's ring runs recursive doubling instead.
@pytest.mark.parametrize("mpi", ["openmpi"])
def test_open_mpi_verifies_each_size_of_each_algorithm(mpi, suite):
    points = measured(mpi, suite, 20, "allreduce", sizes=[4, 8, 1024], algorithms=("ring", "recursive_doubling"))
    assert all(point.visits for point in points)
    assert {(point.algorithm.name, point.size) for point in points if not point.verified} == {("ring", 4)}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--with", "none"], "culmen: --with: there is no folder "),
        (["--with", "."], "has neither a program osu_bcast nor IMB-MPI1"),
        (["--with", "osu", "--root", 1], "culmen: --root: the programs of --with choose the root themselves"),
    ],
)
def test_wrong_words_are_one_sentence(words, said, mpi, suite, tmp_path):
    (tmp_path / "empty").mkdir()
    words = [*words, "--collectives", "bcast", "--mpi", mpi]
    done = culmen("bench", "collectives", *words, cwd=tmp_path / ("empty" if "." in words else ""))
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_program_that_fails_is_said(mpi, suite, monkeypatch):
    monkeypatch.setenv("SUITE_FAILS", "1")
    with pytest.raises(RefusedError, match="osu_bcast ended with exit code 3"):
        measured(mpi, suite)


def test_a_program_that_hangs_ends(mpi, suite):
    (suite / "libexec/osu_bcast").write_text("#!/bin/sh\nsleep 1000\n")
    algorithms = (launcher := find_launcher(mpi)).mpi.collectives.algorithms("bcast", 2)[:1]
    with pytest.raises(LostError, match="osu_bcast took longer than 1 s"):
        measure_points(suite, launcher, "bcast", 2, algorithms, SIZES, Protocol(timeout_s=1), 1)


IMB_OUTPUT = """#!/bin/sh
cat <<'END'
#    Intel (R) MPI Benchmarks {version}, MPI-1 part
# Benchmarking Reduce_scatter
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            4           20         0.05         2.49         1.11
END
"""


@pytest.mark.parametrize("version", ["2018 Update 1", "2019 Update 6", "2021.3"])
def test_an_old_imb_with_another_size_is_refused(mpi, tmp_path, version):
    program = tmp_path / "IMB-MPI1"
    program.write_text(IMB_OUTPUT.format(version=version))
    program.chmod(0o755)
    if version.startswith("2018"):
        with pytest.raises(RefusedError, match="IMB-MPI1 2018 Update 1 measures reduce_scatter by another size"):
            measured(mpi, tmp_path, collective="reduce_scatter", sizes=[4])
    else:
        assert all(point.visits for point in measured(mpi, tmp_path, collective="reduce_scatter", sizes=[4]))


def test_other_output_is_said(mpi, suite):
    (suite / "libexec/osu_bcast").write_text("#!/bin/sh\necho hello\n")
    with pytest.raises(RefusedError, match="what osu_bcast prints is not the output"):
        measured(mpi, suite)


def test_a_folder_without_programs_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="has neither a program osu_reduce nor IMB-MPI1"):
        program_in(tmp_path, "reduce")
    with pytest.raises(InputError, match="there is no folder"):
        program_in(tmp_path / "none", "reduce")
    (tmp_path / "IMB-MPI1").write_text("")
    (tmp_path / "IMB-MPI1").chmod(0o755)
    assert program_in(tmp_path, "reduce") == Program(tmp_path / "IMB-MPI1", "reduce")


def test_imb_gets_the_sizes_in_a_file(tmp_path):
    [words] = Program(tmp_path / "IMB-MPI1", "bcast").launches(6, [0, 8, 1000], 50, tmp_path)
    assert words[1:-1] == ["bcast", "-iter", "50", "-iter_policy", "off", "-npmin", "6", "-msglen"]
    assert Path(words[-1]).read_text() == "0\n8\n1000\n"


def test_osu_gets_ranges_of_doubled_sizes(tmp_path):
    launches = Program(tmp_path / "osu_bcast", "bcast").launches(6, [1, 2, 4, 6, 12, 1000], 50, tmp_path)
    assert [words[-1] for words in launches] == ["1:4", "6:12", "1000:1000"]
    assert Program(tmp_path / "osu_barrier", "barrier").launches(6, [0], 50, tmp_path)[0][-1] == "-f"
