"""Collectives with one rule for all message sizes, because the ranks of a call may not see the same size."""

import csv
import os
import re
import subprocess

import pytest
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT
from culmen.tune.rules.composed import Made
from culmen.tune.rules.made import can_hold, one_for_all_sizes, rules_of
from culmen.tune.rules.reader import environment_for
from culmen.tune.rules.texts import texts_of
from culmen.tune.rules.tried import Expected, not_as_expected
from harness import HANGS_S, culmen
from profiles import AS_ROOT, built

RANKS, SIZES = 3, (8, 4096)
# Under MPICH, with 3 ranks: see "needs" in its data file.
NOT_REACHED = {("alltoallv", "pairwise_sendrecv_replace"), ("scan", "smp"), ("allgatherv", "recursive_doubling")}


@pytest.fixture
def launcher(mpi):
    found = find_launcher(mpi)
    if not found.mpi.collectives.rules_file:
        pytest.skip(f"culmen writes no rules for {found.mpi.title}")
    return found


def collectives(launcher):
    known = launcher.mpi.collectives
    there = [name for name in known.names if can_hold(name, known)]
    return [name for name in there if one_for_all_sizes(name, known) or name.endswith("v")]


def write(launcher, folder, name):
    """Rules for the algorithm with this place among those of each collective."""
    known = launcher.mpi.collectives
    chosen = {}
    for collective in collectives(launcher):
        names = [one.name for one in known.safe_algorithms(collective, RANKS)[1:]]
        usable = [one for one in names if (collective, one) not in NOT_REACHED]
        chosen[collective] = usable[name % len(usable)]
    path = folder / known.rules_name
    rules = rules_of({of: {RANKS: [(size, one) for size in SIZES]} for of, one in chosen.items()}, known)
    path.write_text(texts_of(Made(rules), launcher, ["a test"]).rules)
    return path, chosen


@pytest.mark.parametrize("number", range(3))
def test_the_rule_holds_at_each_size_and_with_unlike_arguments(launcher, mpi, tmp_path, number):
    rules, chosen = write(launcher, tmp_path, number)
    assert {"gather", "scatter", "scan", "exscan", "alltoallv"} <= {*chosen}
    expected = [Expected(of, RANKS, size, one) for of, one in chosen.items() for size in SIZES]
    assert not_as_expected(launcher, rules, expected) == {}
    words = [str(RANKS) if word == "RANKS" else word for word in built(mpi, tmp_path, "unlike_arguments_program.c")]
    environment = os.environ | AS_ROOT | environment_for(launcher.mpi.collectives, rules)
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=HANGS_S, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "0 wrong"), done.stdout + done.stderr


@pytest.mark.parametrize("mpi", ["openmpi", pytest.param("mpich", marks=pytest.mark.slow)], indirect=True)
def test_one_algorithm_is_chosen_for_all_sizes(launcher, mpi, tmp_path):
    words = ("--collectives", "gather,exscan", "--ranks", "2", "--sizes", "8,1K", "--seconds", "0.05", "--mpi", mpi)
    done = culmen("tune", "cluster", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search("one rule holds for all message sizes of (exscan and )?gather", " ".join(done.stdout.split()))
    folder = tmp_path / "tune-cluster"
    with (folder / "choices.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    chosen = {(row["collective"], row["algorithm"]) for row in rows}
    assert len(rows) == 4 and len(chosen) == 2
    expected = [Expected(r["collective"], 2, int(r["size"]), r["algorithm"]) for r in rows if r["algorithm"] != DEFAULT]
    assert not_as_expected(launcher, folder / launcher.mpi.collectives.rules_name, expected) == {}
    page = (folder / "tuning.html").read_text()
    assert "Collectives without rules" in page and "one rule holds for all message sizes" in page
    said = culmen("tune", "lint", folder / launcher.mpi.collectives.rules_name, "--mpi", mpi, cwd=tmp_path)
    assert said.returncode == 0, said.stdout + said.stderr
