"""``culmen bench pingpong`` between two nodes, with MPI and by TCP alone."""

import csv
import shutil
import statistics

import pytest
from simulated_nodes import ONE_WAY_US

QUICK = ("--sizes", "8,64K", "--seconds", "0.3", "--interval", "0.2")


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_tcp_without_mpi_takes_the_line_of_the_mpi(nodes, mpi, tmp_path):
    words = ("bench", "pingpong", "--routes", f"{mpi}/raw-tcp,raw/tcp,{mpi}", "--mapping", "node", *QUICK)
    done = nodes.run(mpi, shutil.which("culmen"), *words, cwd=tmp_path, **nodes.hosts(mpi, tmp_path, 1))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{mpi}/raw-tcp+node used the network interface mpi0." in done.stdout
    with (tmp_path / "bench-pingpong/pingpong.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["time_s"] and row["warm_up"] == "0"]
    assert {row["nodes"] for row in rows if row["route"] == f"{mpi}/raw-tcp+node"} == {"2"}
    times = {
        route: statistics.median(float(row["time_s"]) for row in rows if (row["route"], row["size"]) == (route, "8"))
        for route in (f"{mpi}/raw-tcp+node", f"{mpi}+node", "raw/tcp")
    }
    print(f"\n  half round trips of 8 bytes in µs: { {route: round(1e6 * t, 1) for route, t in times.items()} }")
    assert times[f"{mpi}/raw-tcp+node"] > 1e-6 * ONE_WAY_US
    lines = [line.split() for line in done.stdout.splitlines()]
    compared = {line[0]: line[2] for line in lines if len(line) > 3 and line[3] == "µs"}
    assert compared[f"{mpi}/raw-tcp+node"] == compared["raw/tcp"] == "+0", done.stdout
    assert float(compared[f"{mpi}+node"])  # on a busy machine, it can have either sign
