"""`culmen tune hpl --build`: HPL from sources, with several MPIs, compilers and flags."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.linked import module_linked_by
from culmen.report.reading import read
from culmen.tune.command.tuner import spent_s
from culmen.tune.hpl.building import RECORD, build, place_of, seconds_in
from culmen.tune.hpl.compilers import compilers_named, words_for_blas
from culmen.tune.hpl.dat import Dat
from culmen.tune.hpl.measured import run_once
from culmen.tune.hpl.program import find_program
from culmen.tune.hpl.recipe import Recipe, Sources, mpis_named
from culmen.tune.hpl.space import calculator
from harness import HANGS_S, culmen
from hpl_sources import pack_hpl, write_hpl
from kernel_files import kernel_limits

from culmen import InputError

QUICK = ("--minutes", "0.3", "--rounds", "3", "--compilers", "gcc")


def tune(folder, *words, **variables):
    return culmen("tune", "hpl", *QUICK, *words, cwd=folder, timeout=HANGS_S, **variables)


def result_in(folder):
    return json.loads((folder / "tune-hpl" / "result.json").read_text())


@pytest.mark.slow
def test_the_best_flags_are_found_and_builds_are_kept(tmp_path):
    pack_hpl(tmp_path / "hpl-2.3.tar.gz")
    flags = "-O1,-O1 -DSPEED=90,-DBROKEN"
    words = ("--build", "hpl-2.3.tar.gz", "--mpis", "openmpi", "--flags", flags, "--only", "flags")
    done = tune(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert "Left out: the build with openmpi, gcc, -DBROKEN. make ended with exit code 2:" in done.stdout
    assert "these flags are not for this program; all that it printed is in" in done.stdout
    result = result_in(tmp_path)
    assert result["best_found"] == {"flags": "-O1 -DSPEED=90"}
    records = (tmp_path / "tune-hpl" / "builds").glob(f"*/{RECORD}")
    build_s = [json.loads(record.read_text())["seconds"] for record in records]
    run_s = spent_s([*(tmp_path / "tune-hpl").glob("*.db")])
    assert result["spent_s"] == pytest.approx(sum(build_s) + run_s)
    assert len(build_s) == 3
    assert "The builds and runs took " in done.stdout
    assert "-O1 -DSPEED=90" in Path(result["program"]).with_name(RECORD).read_text()
    assert result["cases"][0]["settings"]["flags"] == "-O1", "the first build is the present one"
    again = tune(tmp_path, *words)
    assert again.returncode == 0, again.stderr
    assert "Built before: openmpi, gcc, -O1 -DSPEED=90" in again.stdout
    assert "Built:" not in again.stdout
    assert result_in(tmp_path)["cases"] == result["cases"]


@pytest.mark.slow
def test_each_mpi_runs_its_own_build(tmp_path):
    """Each with the launcher of its MPI: otherwise, the grid of two ranks would be too large."""
    write_hpl(tmp_path / "hpl")
    words = ("--build", "hpl", "--mpis", "openmpi,mpich", "--flags", "-O1", "--only", "mpi", "--ranks", "2")
    done = tune(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert "Open MPI 4, MPICH 4 on" in done.stdout
    rows = [line for line in done.stdout.splitlines() if line.startswith("first run")]
    assert any("MPICH 4" in row for row in rows)
    assert all("gcc" in row and "-O1" in row for row in rows)
    assert "failed" not in done.stdout
    assert "mpi" in result_in(tmp_path)["best_found"]


@pytest.mark.slow
def test_buffers_of_sockets_are_searched_if_messages_use_them(tmp_path):
    write_hpl(tmp_path / "hpl")
    words = ("--build", "hpl", "--mpis", "openmpi", "--flags", "-O1", "--only", "tcp_buffers", "--ranks", "2")
    kernel_limits(tmp_path / "sys", 4_194_304)
    done = tune(tmp_path, *words, "--", "--mca", "btl", "tcp,self", CULMEN_PROC_SYS=str(tmp_path / "sys"))
    assert done.returncode == 0, done.stderr
    assert "Left out: TCP buffers" not in done.stdout
    assert result_in(tmp_path)["present"] == {"tcp_buffers": 0}
    found = read(tmp_path / "tune-hpl" / "search.db")
    for row in np.flatnonzero(found.feasible):
        more = 20 if found.named(int(row))["tcp_buffers"] >= 262_144 else 0
        assert found.columns["gflops"][row] == pytest.approx(46 + more), "the words reach the ranks"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--build", "nothing"], "--build nothing: there is no such file or folder"),
        (["--build", "."], "the folder of the results lies in ."),
        (["--build", "hpl", "--compilers", "no-cc"], "--compilers no-cc: there is no such program on PATH"),
        (["--build", "hpl", "--mpis", "no-mpi"], "--mpis no-mpi: there is no MPI 'no-mpi'"),
        (["--build", "hpl", "--flags", ","], "--flags: the list is empty"),
        (["--build", "hpl", "--flags", "-DBROKEN", "--mpis", "openmpi"], "no build of hpl succeeded"),
        (["--build", "hpl", "--program", "xhpl"], "--program and --build are both given"),
        (["--build", "hpl", "--mpis", "openmpi,mpich", "--", "-x", "A"], "words after -- are for one mpiexec"),
        (["--build", "hpl", "--flags", "-O1", "--mpis", "openmpi", "--fix", "flags=-O9"], "there is no such build"),
        (["--mpis", "openmpi"], "--compilers says how to build HPL"),
    ],
)
def test_wrong_options_of_a_build_are_sentences(tmp_path, words, message):
    write_hpl(tmp_path / "hpl")
    (tmp_path / "xhpl").touch()
    done = tune(tmp_path, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.fixture
def recipe():
    found = mpis_named("openmpi").items()
    return Recipe(*next(iter(found)), compilers_named("gcc")[0], "-O1", tuple(words_for_blas(None)))


def built(path, recipe, folder):
    return build(Sources.at(path, folder), recipe, folder, lambda _: None)


def test_a_build_is_repeated_if_its_sources_changed(tmp_path, recipe):
    sources = write_hpl(tmp_path / "hpl")
    first, anew = built(sources, recipe, tmp_path / "builds")
    assert anew
    assert built(sources, recipe, tmp_path / "builds") == (first, False)
    (sources / "source.c").write_text((sources / "source.c").read_text() + "\n/* changed */\n")
    other, anew = built(sources, recipe, tmp_path / "builds")
    assert anew
    assert other != first
    first.write_bytes(b"damaged")
    shutil.rmtree(other.parent)
    assert built(sources, recipe, tmp_path / "builds")[1]


def test_the_time_of_builds_is_kept(tmp_path, recipe):
    sources, broken = write_hpl(tmp_path / "hpl"), replace(recipe, flags="-DBROKEN")
    program, _ = built(sources, recipe, tmp_path / "builds")
    once = seconds_in(program.parent)
    assert once > 0
    built(sources, recipe, tmp_path / "builds")
    assert seconds_in(program.parent) == once, "the program is not built again"
    spent = [0.0]
    for _ in range(2):
        with pytest.raises(InputError, match="these flags are not for this program"):
            built(sources, broken, tmp_path / "builds")
        spent.append(seconds_in(place_of(Sources.at(sources, tmp_path / "builds"), broken, tmp_path / "builds")))
    assert 0 < spent[1] < spent[2], "each build counts, also if it fails"


def test_objects_of_an_earlier_build_are_not_taken(tmp_path, recipe):
    sources = write_hpl(tmp_path / "hpl")
    folder = sources / "bin" / "culmen"
    folder.mkdir(parents=True)
    (folder / "xhpl.o").write_text("no object")
    program, _ = built(sources, recipe, tmp_path / "builds")
    assert module_linked_by(program) == "openmpi"
    assert (folder / "xhpl.o").exists(), "the user's files stay as they are"


def test_sources_with_configure_are_built_and_run(tmp_path, recipe):
    program, _ = built(write_hpl(tmp_path / "hpl", by_configure=True), recipe, tmp_path / "builds")
    found = find_program(program)
    run = run_once(found, calculator(1, found.present_blas), 700, 1, Dat(), HANGS_S, tmp_path)
    assert (run.n, run.nb, run.gflops) == (700, 192, 46.0)


@pytest.fixture
def hpcc_sources(tmp_path):
    """As Debian has them. apt-get uses lists in a folder of the test, so that the machine's own stay as they are."""
    folder = tmp_path / "apt"
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "parts").mkdir()
    for file in Path("/etc/apt/sources.list.d").glob("*.sources"):
        text = file.read_text().replace("Types: deb\n", "Types: deb-src\n")
        (folder / "parts" / file.name).write_text(text)
    apt = ["apt-get", "-qq", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={folder}/parts"]
    apt += ["-o", f"Dir::State::Lists={folder}/lists"]
    for words in (["update"], ["source", "--download-only", "hpcc"]):
        subprocess.run([*apt, *words], cwd=folder, capture_output=True, timeout=HANGS_S, check=False)
    found = next(folder.glob("hpcc_*.orig.tar.gz"), None)
    if found is None:
        pytest.skip("apt-get source cannot fetch the sources of Debian's hpcc here")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_the_sources_of_hpc_challenge_are_built_and_run(mpi, hpcc_sources, tmp_path):
    launcher = find_launcher(mpi)
    compiler = compilers_named("gcc")[0]
    program, _ = built(hpcc_sources, Recipe(mpi, launcher, compiler, "-O2", tuple(words_for_blas(None))), tmp_path)
    found = find_program(program)
    assert found.launcher.mpi.name == mpi
    run = run_once(found, {**calculator(2, found.present_blas), "nb": 64}, 300, 2, Dat(), HANGS_S, tmp_path)
    assert (run.n, run.nb, run.p * run.q, run.passed) == (300, 64, 2, True)
    assert os.access(program, os.X_OK)
