"""`culmen tune app --direct` with real ranks: the program prints a number that depends on the algorithm alone."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from culmen.tune.app.direct import write_rules
from culmen.tune.app.writing import Choice
from culmen.tune.rules.file import read_rules
from culmen.tune.rules.reader import environment_for, reader_of_rules
from harness import HANGS_S, Running, culmen, wait_for
from profiles import AS_ROOT, built

CALLS, ROUNDS, FIGURE = "20", ("--rounds", "3"), ("--figure", r"order = (\S+)")
NAMES = ("default", "basic_linear", "nonoverlapping", "recursive_doubling")


@pytest.fixture
def words(tmp_path):
    return of_four("openmpi", tmp_path)


def of_four(mpi: str, folder: Path) -> list[str]:
    words = ["4" if word == "RANKS" else word for word in built(mpi, folder, "ordered_program.c")]
    return [*words, CALLS]


def direct(tmp_path: Path, words: list[str], *options: str):
    return culmen("tune", "app", "--direct", *options, "--", *words, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)


def printed(words: list[str], variables: dict[str, str]) -> int:
    environment = {**os.environ, **AS_ROOT, **variables}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=HANGS_S, check=True)
    return int(done.stdout.split()[-1])


def numbers_of(tmp_path: Path, words: list[str]) -> dict[str, int]:
    """Of each algorithm."""
    launcher = find_launcher("openmpi")
    known, rules = reader_of_rules(launcher), tmp_path / "each.conf"
    choice = Choice("allreduce", 4, 512, 1023, 1.0, NAMES)
    out = {}
    for name in NAMES:
        write_rules([choice], {choice.name: name}, launcher, ["a test"], rules)
        out[name] = printed(words, environment_for(known, rules))
    return out


def test_the_algorithm_with_the_best_figure_is_found_and_runs(tmp_path, words):
    of = numbers_of(tmp_path, words)
    assert min(of, key=of.__getitem__) == "nonoverlapping"
    done = direct(tmp_path, words, *FIGURE, *ROUNDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"allreduce with 4 ranks and 512 B to 1023 B: \S+% of the run, 4 algorithms", done.stdout)
    assert "Use the new settings:" in done.stdout and "culmen tune install tune-direct" in done.stdout
    exports = dict(re.findall(r"^    export (\w+)=(\S+)$", done.stdout, re.MULTILINE))
    assert printed(words, exports) == of["nonoverlapping"]
    rules = tmp_path / "tune-direct" / "openmpi-rules.conf"
    assert read_rules(rules).row("allreduce", 4, 512).algorithm == NAMES.index("nonoverlapping")
    assert not [*(tmp_path / "tune-direct").glob(".trial*")]
    again = direct(tmp_path, words, *FIGURE, *ROUNDS)
    assert again.returncode == 0 and "is used again" in again.stdout and "Use the new settings:" in again.stdout


@pytest.mark.slow
def test_an_algorithm_that_ends_the_program_is_named_and_the_default_stays(tmp_path, words):
    of = numbers_of(tmp_path, words)
    crashes = ("crash", str(of["nonoverlapping"]))
    done = direct(tmp_path, [*words, *crashes], *FIGURE, *ROUNDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Left out: nonoverlapping of allreduce with 4 ranks" in done.stdout
    assert "Keep what you have" in done.stdout and "export" not in done.stdout
    assert not (tmp_path / "tune-direct" / "openmpi-rules.conf").exists()


@pytest.mark.slow
def test_an_algorithm_that_hangs_is_ended_and_named(tmp_path, words):
    of = numbers_of(tmp_path, words)
    done = direct(tmp_path, [*words, "hang", str(of["nonoverlapping"])], *FIGURE, *ROUNDS, "--time-limit", "20")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Left out: nonoverlapping of allreduce with 4 ranks" in done.stdout
    assert "the program ran longer than 20 s" in done.stdout and "Keep what you have" in done.stdout


@pytest.mark.slow
def test_wall_time_is_tuned_without_a_figure(mpi, tmp_path):
    done = direct(tmp_path, of_four(mpi, tmp_path), *ROUNDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Present settings: wall time" in done.stdout and "failed" not in done.stdout
    assert re.search("Use the new settings|Keep what you have", done.stdout)
    rules = reader_of_rules(find_launcher(mpi)).rules_name
    is_used = "Use the new settings" in done.stdout
    assert (tmp_path / "tune-direct" / rules).exists() == is_used
    assert json.loads((tmp_path / "tune-direct" / "result.json").read_text())["objective"] == "wall time"


@pytest.mark.slow
def test_an_interrupted_search_continues(tmp_path, words):
    command = ("tune", "app", "--direct", *FIGURE, *ROUNDS, "--", *words)
    with Running(*command, cwd=tmp_path, **AS_ROOT) as running:
        wait_for(lambda: [*(tmp_path / "tune-direct").glob("rules/*/openmpi-rules.conf")], "a run with rules")
        running.process.send_signal(signal.SIGINT)
        code, _, errors = running.end()
    assert code == 75 and "the same command continues" in errors
    done = direct(tmp_path, words, *FIGURE, *ROUNDS)
    assert done.returncode == 0 and "Use the new settings:" in done.stdout, done.stdout + done.stderr


def test_a_figure_that_the_program_does_not_print_is_said(tmp_path, words):
    done = direct(tmp_path, words, "--figure", r"speed = (\S+)", *ROUNDS)
    assert done.returncode == 2 and "the program failed with the present settings" in done.stderr
    assert "Traceback" not in done.stderr
