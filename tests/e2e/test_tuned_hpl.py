"""`culmen tune hpl` with a program that prints what HPL prints, and with Debian's hpcc."""

import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from culmen.tune.command.tuner import NOTHING_NEW
from culmen.tune.hpl import measured
from culmen.tune.hpl.dat import LINES, Dat, read_dat
from culmen.tune.hpl.measured import run_once
from culmen.tune.hpl.output import HplError
from culmen.tune.hpl.program import find_program
from culmen.tune.hpl.space import calculator
from harness import CULMEN, HANGS_S, culmen, environment, wait_for

import culmen as package

# GFLOPS by NB and BCAST; as fast as it starts, whatever N is.
FAKE = """#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ] || exit 0
line() { sed -n "$1p" HPL.dat | cut -d' ' -f1; }
n=$(line 6); nb=$(line 8); bcast=$(line 23)
echo run >> RUNS
before
gflops=$(( 100 - (nb - 128) * (nb - 128) / 400 - 5 * bcast ))
echo "WR11C2R4 $n $nb 1 2 0.01 ${gflops}.0e+00"
echo "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 0.0044729 ...... VERDICT"
"""
BCASTS = ("1ring", "1ringM", "2ring", "2ringM", "long", "longM")
QUICK = ("--minutes", "0.2", "--rounds", "3")


def write(folder, before=":", verdict="PASSED"):
    text = FAKE.replace("RUNS", str(folder / "runs")).replace("VERDICT", verdict)
    (folder / "xhpl").write_text(text.replace("before", before, 1))
    (folder / "xhpl").chmod(0o755)


def tune(folder, *words):
    return culmen("tune", "hpl", "--program", "./xhpl", *QUICK, *words, cwd=folder)


def runs_of(folder):
    return len((folder / "runs").read_text().splitlines())


def test_better_settings_are_found_written_and_judged(tmp_path):
    write(tmp_path)
    done = tune(tmp_path, "--only", "nb,bcast", "--price", "1")
    assert done.returncode == 0, done.stderr
    assert "Use the new settings" in done.stdout
    assert "benchmarks before HPL" not in done.stdout
    assert "as web calculators choose them, because there is no HPL.dat here" in done.stdout
    assert "Left out: the MPI, the compiler and its flags; --build FOLDER" in done.stdout
    assert "Left out: TCP buffers, because the ranks of one machine" in done.stdout
    assert "The runs took" in done.stdout
    assert re.search(
        r"Compared with the shipped file: \+.* GFLOPS, interval of 95 %: \+", " ".join(done.stdout.split())
    )
    result = json.loads((tmp_path / "tune-hpl" / "result.json").read_text())
    assert result["use"] == "best_found"
    best = result["best_found"]
    speed = 100 - (best["nb"] - 128) ** 2 // 400 - 5 * BCASTS.index(best["bcast"])
    assert speed >= 85, f"{best}: the calculators' settings reach 85 without any search"
    dat = read_dat(tmp_path / "tune-hpl" / "HPL.dat")
    assert (dat.nb, dat.bcast) == ((best["nb"],), (BCASTS.index(best["bcast"]),))
    assert dat.n[0] % dat.nb[0] == 0
    assert "culmen tune hpl" in (tmp_path / "tune-hpl" / "tuning.html").read_text()


def test_the_same_command_continues_and_repeats_nothing(tmp_path):
    write(tmp_path, before="sleep 0.1")
    words = [*CULMEN, "tune", "hpl", "--program", "./xhpl", *QUICK, "--only", "nb"]
    process = subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    search = tmp_path / "tune-hpl" / "search.db"
    wait_for(search.exists, "the search")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=HANGS_S)
    assert process.returncode == 75, out
    assert "the same command continues" in out
    before = runs_of(tmp_path)
    known = (tmp_path / "tune-hpl" / "known.json").read_text()
    done = tune(tmp_path, "--only", "nb")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tune-hpl" / "known.json").read_text() == known
    after = runs_of(tmp_path)
    assert after > before
    again = tune(tmp_path, "--only", "nb")
    assert (again.returncode, done.stdout.count(NOTHING_NEW), again.stdout.count(NOTHING_NEW)) == (0, 0, 1)
    assert runs_of(tmp_path) == after, "a third command only shows the result"
    other = tune(tmp_path, "--only", "nb,depth")
    assert other.returncode == 2
    assert "write --overwrite" in other.stderr


def test_a_search_stops_when_more_runs_do_not_pay(tmp_path):
    """A run takes longer than all that can be saved of four seconds."""
    write(tmp_path)
    words = ("--only", "nb", "--use-hours", "0.001", "--minutes", "2")
    done = tune(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    told = len(package.read(tmp_path / "tune-hpl" / "search.db").order)
    assert f"The search stopped after {told} runs, because more runs do not pay: one more run takes" in done.stdout
    runs = runs_of(tmp_path)
    again = tune(tmp_path, *words)
    assert f"The search stopped after {told} runs" in again.stdout
    assert runs_of(tmp_path) == runs
    result = json.loads((tmp_path / "tune-hpl" / "result.json").read_text())
    assert result["search_ended"]["stopped"]
    assert result["worth"]["spent_h"] > 0


@pytest.mark.parametrize(
    ("before", "verdict", "message"),
    [
        (":", "FAILED", "HPL calls the residual 0.0044729 FAILED; a wrong result is no result"),
        ("echo no licence; exit 0", "PASSED", "has no result for N = 1000; its last line is: no licence"),
        ("echo '>>> cannot open file HPL.dat <<<' >&2; exit 3", "PASSED", "HPL ended with exit code"),
    ],
)
def test_a_program_without_a_result_is_a_sentence(tmp_path, before, verdict, message):
    write(tmp_path, before=before, verdict=verdict)
    done = tune(tmp_path)
    assert done.returncode == 2
    assert "HPL failed with the present settings" in done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "HplError" not in done.stderr


def test_a_program_that_is_not_hpl_is_a_sentence_and_leaves_no_folder(tmp_path):
    done = culmen("tune", "hpl", "--program", "/bin/true", *QUICK, cwd=tmp_path)
    assert done.returncode == 2
    said = "/true printed nothing; is it HPL? Give the path of xhpl or hpcc with --program"
    assert said in " ".join(done.stderr.split())
    assert "HplError" not in done.stderr
    done = culmen("tune", "hpl", "--program", "/bin/true", "--only", "nb,gird", cwd=tmp_path)
    assert done.returncode == 2
    assert "gird" in done.stderr
    assert not list(tmp_path.iterdir())


def test_settings_with_a_wrong_result_are_left_out(tmp_path):
    write(tmp_path, before='[ "$bcast" = 0 ] && { echo "WR 1000"; exit 0; }')
    (tmp_path / "HPL.dat").write_text(Dat().text())
    done = tune(tmp_path, "--only", "nb,bcast", "--present", "HPL.dat")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "tune-hpl" / "result.json").read_text())["best_found"]["bcast"] != "1ring"


@pytest.mark.slow
def test_random_search_of_equal_time_is_compared(tmp_path):
    write(tmp_path)
    words = ("--only", "nb,bcast,pfact,rfact", "--compare-random")
    done = tune(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "tune-hpl" / "result.json").read_text())
    cases = {case["name"]: case["gflops"] for case in result["cases"]}
    if "random search" in cases:  # unless it found the same
        assert "Compared with a random search of equal time:" in done.stdout
        assert len(cases["random search"]) == 3
    before = runs_of(tmp_path)
    again = tune(tmp_path, *words)
    assert again.returncode == 0, again.stderr
    assert runs_of(tmp_path) == before, "the random search is not repeated"


def test_the_final_choice_is_verified_with_the_n_of_the_input_file(tmp_path):
    """This program is as fast with each N."""
    write(tmp_path)
    (tmp_path / "HPL.dat").write_text(Dat(nb=(32,)).text())
    words = ("--only", "nb", "--present", "HPL.dat", "--memory", "1G", "--verify")
    done = tune(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    n = read_dat(tmp_path / "tune-hpl" / "HPL.dat").n[0]
    best = json.loads((tmp_path / "tune-hpl" / "result.json").read_text())["best_found"]["nb"]
    assert f"With N = {n} of the input file, one run took" in said
    found, present = (100 - (nb - 128) ** 2 // 400 - 5 * Dat().bcast[0] for nb in (best, 32))
    assert f"and reached {found} GFLOPS; the model expected" in said
    assert f"One run with the present settings and this N reached {present} GFLOPS." in said
    assert "this was not measured" not in said
    before = runs_of(tmp_path)
    again = tune(tmp_path, *words)
    assert again.returncode == 0, again.stderr
    assert runs_of(tmp_path) == before, "the runs are not repeated"


def test_memory_beside_the_matrix_is_measured(tmp_path):
    """Here it is that of another process below the launcher. That of this process does not count."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + 2**26
    write(tmp_path, before=f"{sys.executable} -c 'bytearray({used})[::4096] = bytes(({used} + 4095) // 4096)'")
    program = find_program(tmp_path / "xhpl")
    run = run_once(program, calculator(1, program.present_blas), 700, 1, Dat(), HANGS_S, tmp_path)
    assert used < run.rank_memory < used + 2**28
    assert run.other_memory == run.p * run.q * run.rank_memory - 8 * run.n**2
    write(tmp_path)
    run = run_once(program, calculator(1, program.present_blas), 700, 1, Dat(), HANGS_S, tmp_path)
    assert math.isnan(run.rank_memory)


def test_a_killed_run_was_probably_short_of_memory(tmp_path):
    write(tmp_path, before="kill -9 $$")
    program = find_program(tmp_path / "xhpl")
    with pytest.raises(HplError, match="memory was probably short"):
        run_once(program, calculator(1, program.present_blas), 700, 1, Dat(), HANGS_S, tmp_path)


def test_settings_that_need_more_memory_make_all_run_with_a_smaller_n(tmp_path):
    lack = '[ $nb -gt 100 ] && [ $n -gt 2800 ] && { echo "Memory allocation failed for A, x and b. Skip."; exit 0; }'
    write(tmp_path, before=lack)
    done = tune(tmp_path, "--only", "nb", "--size", "3000")
    assert done.returncode == 0, done.stderr
    assert "all run again with N = 2700" in done.stdout
    result = json.loads((tmp_path / "tune-hpl" / "result.json").read_text())
    assert {case["n"] for case in result["cases"]} == {3000, 2700}
    assert result["use"] == "best_found"
    assert "Not enough memory for N = 3000: present" in done.stdout
    needs_more = result["best_found"]["nb"] > 100  # a slow machine tries few values
    short = "present, best found. GFLOPS of the others: shipped file 90." if needs_more else "present. GFLOPS of the"
    assert f"With N = 3000, these did not get their memory: {short}" in done.stdout
    assert "GFLOPS with the largest N of each: present" in done.stdout
    assert read_dat(tmp_path / "tune-hpl" / "HPL.dat").n == (2700,)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--ranks", "5000"], "--ranks 5000: there are"),
        (["--size", "1500000"], "--size 1500000 needs"),
        (["--memory", "much"], "--memory much: write a share"),
        (["--fix", "blas=mkl"], "there is no 'mkl' on this machine"),
        (["--fix", "nb"], "write NAME=VALUE"),
        (
            ["--size", "1000", "--verify"],
            "--verify runs HPL with N of the input file, and --size gives all rounds this N",
        ),
        (["--only", "nbb"], "there is no parameter 'nbb' of HPL"),
        (["--present", "nothing.dat"], "nothing.dat cannot be read"),
        (["--only", "nb", "--fix", "nb=64"], "nothing is left to search"),
    ],
)
def test_wrong_options_are_sentences(tmp_path, words, message):
    write(tmp_path)
    done = tune(tmp_path, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_machine_without_hpl_is_told_how_to_get_one(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    done = subprocess.run(
        [*CULMEN, "tune", "hpl"], cwd=tmp_path, env={**environment(), "PATH": str(folder)}, capture_output=True,
        text=True, timeout=HANGS_S,
    )  # fmt: skip
    assert done.returncode == 2
    assert "apt-get install hpcc" in done.stderr


@pytest.fixture
def hpcc():
    path = shutil.which("hpcc")
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("hpcc is not on PATH")
    return path


def test_hpcc_runs_hpl_with_the_given_settings(hpcc, tmp_path):
    """hpcc reads its file twice; in between, culmen exchanges it, so that only HPL has this N."""
    program = find_program(Path(hpcc))
    settings = {**calculator(1, program.present_blas), "nb": 40, "pfact": "left", "bcast": "long", "depth": 0}
    run = run_once(program, settings, 700, 1, Dat(), HANGS_S, tmp_path)
    assert (run.n, run.nb, run.variant) == (700, 40, "WR04C2L4")
    assert run.passed
    with pytest.raises(HplError, match="ran longer than"):
        run_once(program, settings, 700, 1, Dat(), 0.01, tmp_path)
    assert not list(tmp_path.iterdir()), "the folders of runs are removed"


@pytest.mark.parametrize("late", [1, 3])
def test_a_run_of_hpcc_that_read_its_file_too_early_is_repeated(hpcc, tmp_path, monkeypatch, late):
    """The first runs never get the file for HPL."""
    program = find_program(Path(hpcc))
    settings = {**calculator(1, program.present_blas), "nb": 40}
    waits = []

    def wait(self, process, dat, until, *, usual=measured._Launched._wait):
        waits.append(dat)
        self._await(process, HANGS_S) if len(waits) <= late else usual(self, process, dat, until)

    monkeypatch.setattr(measured._Launched, "_wait", wait)
    if late == 1:
        assert run_once(program, settings, 700, 1, Dat(), HANGS_S, tmp_path).n == 700
    else:
        with pytest.raises(HplError, match="hpcc read its input file for N = 700 too early, 3 times"):
            run_once(program, settings, 700, 1, Dat(), HANGS_S, tmp_path)
    assert len(waits) == min(late + 1, 3)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_hpcc_is_tuned(tmp_path, hpcc):
    done = culmen(
        "tune", "hpl", "--program", hpcc, "--minutes", "0.1", "--rounds", "3", "--only", "nb", "--size", "300",
        "--quiet", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "tune-hpl" / "result.json").read_text())
    assert result["cases"][0]["n"] == 300
    assert all(value > 0 for case in result["cases"] for value in case["gflops"])
    file = tmp_path / "tune-hpl" / "hpccinf.txt"
    assert read_dat(file).n == (300,)
    assert len(file.read_text().splitlines()) == LINES + 5, "five lines for PTRANS"
    assert "hpcc runs 15 other benchmarks before HPL. With N = 300" in done.stdout
