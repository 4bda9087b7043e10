"""`culmen tune app` with a program whose rows and columns call collectives."""

import csv
import re

import pytest
from culmen.launch.mpi import find_launcher
from harness import HANGS_S, culmen
from profiles import AS_ROOT, built


@pytest.mark.parametrize("mpi", ["openmpi", pytest.param("mpich", marks=pytest.mark.slow)], indirect=True)
def test_rows_and_columns_are_tuned_as_the_program_has_them(mpi, tmp_path):
    known = find_launcher(mpi).mpi
    if not known.collectives.rules_file:
        pytest.skip(f"culmen writes no tuning files for {known.title}")
    words = ["4" if word == "RANKS" else word for word in built(mpi, tmp_path, "rows_program.c")]
    command = ("tune", "app", "--seconds", 0.02, "--rounds", 3, "--", *words, "300")
    done = culmen(*command, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT, COLUMNS="200")
    assert done.returncode == 0, done.stdout + done.stderr
    row = r"^(\w+) +(world.*?) \(2 of them\) +(\d+) +(\d+) +(\d+) +\d+\.\d% *$"
    listed = set(re.findall(row, done.stdout, re.MULTILINE))
    possible = {
        ("allreduce", "world/cart 1/cart_sub 1", "2", "1", "64"),
        ("bcast", "world/split 1", "2", "1", "8192"),
    }
    assert listed and listed <= possible, done.stdout  # on a busy machine, one of them can take nearly all of the time
    with (tmp_path / "tune-app/choices.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["collective"], row["ranks"], row["nodes"], row["ppn"]) for row in rows} == {
        (name, "2", "1", "2") for name, *_ in listed
    }
    sizes = {"allreduce": {"64", "128"}, "bcast": {"8192", "16384"}}
    assert {(row["collective"], row["size"]) for row in rows} == {
        (name, size) for name, *_ in listed for size in sizes[name]
    }
    verdict = r"All points keep the default|% ± .*(faster|slower|%); \d of \d points keeps? the default"
    assert re.search(verdict, done.stdout), done.stdout
