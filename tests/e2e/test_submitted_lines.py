"""`--submit local` of `culmen tune placement`, `culmen tune io` and `culmen tune hpl`."""

import json
import shlex

import pytest
from harness import culmen

pytestmark = pytest.mark.no_numbers

APP = """#!/bin/sh
echo run >> "$(dirname "$0")/runs"
echo "rate = ${OMP_NUM_THREADS:-1}"
"""
FAKE_HPL = """#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ] || exit 0
line() { sed -n "$1p" HPL.dat | cut -d' ' -f1; }
n=$(line 6); nb=$(line 8)
echo "WR11C2R4 $n $nb 1 2 0.01 $(( 100 - (nb - 128) * (nb - 128) / 1000 )).0e+00"
echo "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 0.0044729 ...... PASSED"
"""
FIGURE = ("--figure", r"rate = (\S+)", "--maximize", "--runs", "4", "--rounds", "3")
PLACEMENT = ("tune", "placement", "--threads", "1,2", *FIGURE, "--submit", "local", "--time", "30")
HPL = ("tune", "hpl", "--program", "./xhpl", "--minutes", "0.1", "--rounds", "3", "--fix", "depth=1")
IO = ("tune", "io", *FIGURE, "--iobuf", "--submit", "local", "--time", "30")


@pytest.fixture
def folder(tmp_path):
    for name, text in (("app", APP), ("xhpl", FAKE_HPL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def runs_in(folder):
    return (folder / "runs").read_text().count("run")


def test_a_placement_is_tuned_in_a_job_and_collected_once(folder):
    done = culmen(*PLACEMENT, "--", "./app", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Submitted job" in done.stdout
    assert "14 of 14 runs at most" in done.stdout
    assert "Use the new settings: 100.0 % more rate" in done.stdout
    lines = done.stdout.splitlines()
    assert lines[lines.index("Use this line:") + 1].strip() == "OMP_NUM_THREADS=2 ./app"
    found = json.loads((folder / "tune-placement/result.json").read_text())
    assert found["best_found"]["threads"] == 2
    assert (folder / "tune-placement/tuning.html").exists()
    runs = runs_in(folder)
    again = culmen(*PLACEMENT, "--", "./app", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert "Submitted job" not in again.stdout
    assert "OMP_NUM_THREADS=2 ./app" in again.stdout
    assert runs_in(folder) == runs


@pytest.mark.slow
def test_another_command_in_the_same_folder_is_a_sentence_until_overwrite(folder):
    assert culmen(*PLACEMENT, "--", "./app", cwd=folder).returncode == 0
    done = culmen(*PLACEMENT, "--", "./app", "2", cwd=folder)
    assert done.returncode != 0
    assert "is of another command or machine; give another --output, or write --overwrite" in done.stdout
    done = culmen(*PLACEMENT, "--overwrite", "--", "./app", "2", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "OMP_NUM_THREADS=2 ./app 2" in done.stdout


@pytest.mark.slow
def test_the_settings_of_files_are_tuned_in_a_job(folder):
    (folder / "data").mkdir()
    done = culmen(*IO, "--folder", "data", "--", "./app", "{folder}", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Keep this line:\n  ./app data" in done.stdout
    assert json.loads((folder / "tune-io/result.json").read_text())["use"] == "present"
    assert not list((folder / "data").iterdir())


@pytest.mark.slow
def test_hpl_is_tuned_in_a_job(folder):
    done = culmen(*HPL, "--only", "nb", "--fix", "swap=mix", "--submit", "local", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100 of 100 % of the time" in done.stdout
    assert "settings " in done.stdout and "present " in done.stdout
    assert f"Run it in {folder}/tune-hpl/local: " in done.stdout
    assert json.loads((folder / "tune-hpl/result.json").read_text())["cases"]
    job = (folder / "tune-hpl/local/job.sh").read_text()
    assert "--fix depth=1 --fix swap=mix" in job
    assert (folder / "tune-hpl/local/HPL.dat").exists()
    again = culmen(*HPL, "--only", "nb", "--fix", "swap=mix", "--submit", "local", cwd=folder)
    assert again.returncode == 0
    assert "Submitted job" not in again.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("placement", "--runs", "4", "--rounds", "3"),
        ("io", "--iobuf", "--runs", "4", "--time-limit", "2.5"),
        ("hpl", "--minutes", "7.5"),
    ],
)
def test_a_dry_run_prints_the_script_alone(folder, words):
    name, *options = words
    after = ["--map-by", "core"] if name == "hpl" else ["./app", "a b", "{folder}"]
    known = ["--time", "10"] if "--time-limit" not in options and name != "hpl" else []
    done = culmen("tune", *words, "--submit", "local", "--dry-run", *known, "--", *after, cwd=folder)
    assert done.returncode == 0, done.stderr
    command = done.stdout.partition("exec timeout")[2].replace("\\\n", " ")
    typed = shlex.split(command)
    at = typed.index(name)
    assert typed[at - 1] == "tune"
    assert typed[at + 1 : typed.index("--output")] == options
    assert typed[typed.index("--") + 1 :] == after
    assert typed[typed.index("--output") + 1] == f"{folder}/tune-{name}/local"
    assert "--submit" not in typed
    assert "--time" not in typed
    assert not list(folder.glob("tune-*"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("placement", "--submit", "local", "--", "./app"), "write --time, or --time-limit"),
        (("placement", "--submit", "local", "--time", "1"), "a command after -- is missing"),
        (("placement", "--submit", "local", "--topology", "pack:2", "--", "./app"), "--topology describes another"),
        (("io", "--submit", "local", "--time", "1"), "a command after -- is missing"),
        (("io", "--nodes", "2", "--", "./app"), "--nodes is an option of a job; add --submit slurm"),
        (("hpl", "--partition", "main"), "--partition is an option of a job; add --submit slurm"),
        (("hpl", "--submit", "local", "--partition", "main"), "there is no partition 'main' here"),
    ],
)
def test_wrong_options_of_a_job_are_a_sentence(folder, words, says):
    done = culmen("tune", *words, cwd=folder)
    assert done.returncode == 2, done.stdout
    assert says in " ".join(done.stderr.split())
    assert not list(folder.glob("tune-*"))


WRONG_HPL = {
    "--program nothing": "--program nothing: there is no such program; give the path of xhpl or hpcc",
    "--program app --build .": "--program and --build are both given; remove one of them",
    "--build nothing": "--build nothing: there is no such file or folder",
    "--mpis openmpi": "--mpis says how to build HPL; give its sources with --build FOLDER",
    "--build sources --mpis opnempi": "--mpis opnempi: culmen knows no such MPI; did you mean 'openmpi'?",
    "--fix blas=opnblas": "--fix blas=opnblas: culmen knows no such BLAS; did you mean 'openblas'?",
    "--fix mpi=nothing": "--fix mpi=nothing: culmen knows no such MPI; there are ",
    "--fix nb": "--fix nb: write NAME=VALUE, such as nb=192",
    "--fix grid=1000x1000": "--fix grid=1000x1000: this needs 1000000 ranks, but there are ",
    "--fix binding=cores": "--fix binding=cores: write one of default, none, core, socket",
    "--only nbb": "there is no parameter 'nbb' of HPL; did you mean 'nb'?",
    "--only nb --fix nb=64": "nothing is left to search; fix fewer parameters, or name more with --only",
    "--ranks 100000": "--ranks 100000: there are ",
    "--memory 120%": "--memory 120%: write a share of at most 100%, such as 80%, or a size such as 16G",
    "--memory 16": "--memory 16: write a share of at most 100%, such as 80%, or a size such as 16G",
    "--memory 1G --size 50000": "--size 50000 needs 19 GiB of memory, but there are 1 GiB for it",
    "--present nothing.dat": "nothing.dat cannot be read: No such file or directory",
    "--present app": "app has 3 lines; an input file of HPL has 31",
}


@pytest.mark.parametrize("words", WRONG_HPL)
def test_wrong_options_of_hpl_are_a_sentence_before_any_job(folder, words):
    (folder / "sources").mkdir()
    done = culmen("tune", "hpl", "--submit", "local", *words.split(), cwd=folder)
    assert done.returncode == 2, done.stdout
    assert WRONG_HPL[words] in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not list(folder.glob("tune-*"))


def test_runs_with_the_largest_n_need_a_time_limit(folder):
    done = culmen("tune", "hpl", "--program", "./xhpl", "--verify", "--submit", "local", cwd=folder)
    assert done.returncode == 2
    assert "--verify needs --time: before the first runs, culmen cannot know" in done.stderr
