"""``culmen bench transport`` starts launches of its own."""

import csv

import pytest
from harness import culmen

pytestmark = pytest.mark.either("mpi")


def test_ranks_are_measured_like_other_workers(mpi, tmp_path):
    grid = ("--transports", "mpi,ws", "--workers", "2", "--durations", "2ms", "--repetitions", "1")
    words = (*grid, "--seconds", "0.05", "--io-threads", "1", "--mpi", mpi, "--output", "out")
    done = culmen("bench", "transport", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    with (tmp_path / "out/transport.csv").open(newline="") as file:
        rows = [(row["transport"], row["workers"], row["prefetch"]) for row in csv.DictReader(file)]
    alike = {(name, workers, "True") for name in ("mpi", "ws") for workers in ("1", "2")}
    assert sorted(rows) == sorted(alike | {("mpi", "1", "False"), ("mpi", "2", "False")})
    page = (tmp_path / "out/transport.html").read_text()
    assert "3. Gain of MPI over WebSocket" in page
    assert "4. Gain of prefetch" in page
