"""``culmen bench pingpong`` with and without MPI."""

import csv
import os
import shutil
import subprocess
import uuid
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from culmen.bench.conversation import LostError, RefusedError
from culmen.bench.pingpong.figures import rows_of
from culmen.bench.pingpong.measured import Header, Sized, Table, summary_of, write_samples
from culmen.bench.pingpong.routes import RAW, mapped, routes_named
from culmen.bench.sampling import Interval
from culmen.launch.launcher import cores
from harness import HANGS_S, culmen

from culmen import InputError

pytestmark = pytest.mark.either("mpi")

QUICK = ("--sizes", "0,1,100,70000", "--seconds", "0.05", "--interval", "0.5")

# Wraps MPI_Recv: one message of many is wrong.
BROKEN = """
#include <mpi.h>
int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  static int calls;
  int code = PMPI_Recv(data, count, type, from, tag, comm, status);
  if (count == 5000 && ++calls == 7) ((char*)data)[count - 1] ^= 1;
  return code;
}
"""


def bytes_on_loopback() -> int:
    """Also those of other programs."""
    (line,) = (line for line in Path("/proc/net/dev").read_text().splitlines() if line.split(":")[0].strip() == "lo")
    return int(line.partition(":")[2].split()[0])


def rows_in(folder):
    with (folder / "out/pingpong.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("kind", RAW)
@pytest.mark.parametrize("buffer_bytes", [0, 5000])
def test_each_size_travels_without_mpi(kind, buffer_bytes):
    (route,) = routes_named((f"raw/{kind}",))
    with route.open(buffer_bytes, HANGS_S) as conversation:
        for size in (0, 1, 4096, 3_000_000, 5):
            times = conversation.time_messages(size, 7)
            assert len(times) == 7
            assert min(times) >= 0
        for size, calls in ((-1, 1), (2**31, 1), (8, 0), (8, 10**6)):
            with pytest.raises(RefusedError, match="cannot be sent at once"):
                conversation.time_messages(size, calls)
        assert len(conversation.time_messages(8, 3)) == 3


def test_each_size_of_the_buffers_is_a_route(tmp_path):
    words = ("--routes", "raw", "--buffer", "16K,1M", *QUICK, "--output", "out", "--quiet")
    done = culmen("bench", "pingpong", *words, cwd=tmp_path, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr
    names = {f"raw/{kind}{size}" for kind in ("tcp", "unix") for size in ("", "+16K", "+1M")}
    assert {row["route"] for row in rows_in(tmp_path)} == names | {"raw/shm"}


def test_each_transport_of_an_mpi_carries_messages(mpi):
    ways = [route for route in routes_named((mpi,)) if "ofi" not in route.name]  # some machines have no provider
    assert len(ways) >= (1 if ways[0].launcher.mpi.title == "MPICH 5" else 3), "that from PyPI has one network module"
    for route in ways:
        with route.open(0, HANGS_S) as conversation:
            conversation.time_messages(8, 1)
            before = bytes_on_loopback()
            assert len(conversation.time_messages(2_000_000, 50)) == 50
            through_network = bytes_on_loopback() - before
            if "tcp" in route.name:
                assert through_network > 2 * 50 * 2_000_000
            with pytest.raises(RefusedError, match="cannot be sent at once"):
                conversation.time_messages(8, 0)


@pytest.mark.parametrize("mapping", ["core", "socket", "node"])
def test_a_mapping_binds_each_process_to_a_core(mpi, mapping):
    if cores() < 2:
        pytest.skip("there is one core")
    mark = f"CULMEN_TEST_MARK={uuid.uuid4()}"
    (route,) = mapped(routes_named((mpi,))[:1], (mapping,), here=False)  # one node does for the binding
    assert route.name == f"{mpi}+{mapping}"
    with replace(route, environment=dict([mark.split("=")])).open(0, HANGS_S) as conversation:
        conversation.time_messages(8, 1)
        bound = [os.sched_getaffinity(pid) for pid in processes_with(mark)]
    assert [len(cpus) for cpus in bound] == [1, 1]
    assert bound[0] != bound[1]


def processes_with(mark):
    """The ranks of the benchmark that have it in their environment."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            marked = mark.encode() in (folder / "environ").read_bytes().split(b"\0")
            if marked and "mpibench" in (folder / "exe").readlink().name:
                yield int(folder.name)


def test_a_wrong_message_is_noticed(mpi, tmp_path, monkeypatch):
    compiler = shutil.which(f"mpicc.{mpi}")
    if compiler is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no mpicc.{mpi}")
    (tmp_path / "broken.c").write_text(BROKEN)
    subprocess.run([compiler, "-c", "-fPIC", "broken.c"], cwd=tmp_path, check=True)
    subprocess.run(["cc", "-shared", "broken.o", "-o", "libbroken.so"], cwd=tmp_path, check=True)
    monkeypatch.setenv("LD_PRELOAD", str(tmp_path / "libbroken.so"))
    with routes_named((mpi,))[0].open(0, HANGS_S) as conversation:
        assert len(conversation.time_messages(4999, 10)) == 10
        with pytest.raises(RefusedError, match="a message is wrong"):
            conversation.time_messages(5000, 10)


def test_all_is_measured_drawn_and_not_measured_again(mpi, tmp_path):
    words = ("bench", "pingpong", "--routes", f"raw,{mpi}", *QUICK, "--output", "out")
    done = culmen(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    rows = rows_in(tmp_path)
    found = {(row["route"], row["size"]) for row in rows if row["time_s"]}
    assert {(route, size) for route in ("raw/tcp", "raw/shm", mpi) for size in ("0", "1", "100", "70000")} <= found
    assert "Wrote out/pingpong.csv and out/pingpong.html" in done.stdout
    assert "Signature" in (tmp_path / "out/pingpong.html").read_text()
    again = culmen(*words, cwd=tmp_path)
    assert again.returncode == 0
    assert "routes are in out/pingpong.db; to measure again, write --overwrite" in again.stdout
    assert rows_in(tmp_path) == rows


@pytest.mark.slow
def test_a_transport_that_is_not_there_is_said_and_the_others_stay(mpi, tmp_path, monkeypatch):
    """The variables that choose it are those of the user's environment, too."""
    variable = {"openmpi": ("OMPI_MCA_pml", "nonesuch"), "mpich": ("UCX_TLS", "nonesuch")}[mpi]
    done = culmen(
        "bench", "pingpong", "--routes", f"raw/unix,{mpi}", *QUICK, "--output", "out",
        cwd=tmp_path, **dict([variable]),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    assert f"{mpi} is not available: the ranks ended" in done.stdout
    assert "raw/unix" in {row["route"] for row in rows_in(tmp_path)}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--routes", "raw/pigeon"], "--routes: there is no route 'raw/pigeon' here"),
        (["--sizes", "x"], "--sizes: 'x' is neither a size such as"),
        (["--buffer", "big"], "--buffer: 'big' is neither a size such as"),
    ],
)
def test_wrong_input_gets_one_sentence(tmp_path, words, says):
    done = culmen("bench", "pingpong", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"culmen: {says}")
    assert done.stderr.count("\n") == 1


def test_half_of_the_throughput_is_found():
    points = {
        size: Interval(t, t, t) for size, t in {1: 1e-6, 1000: 2e-6, 8000: 8e-6, 10_000: 11e-6, 20_000: 25e-6}.items()
    }
    found = summary_of(points)
    assert (found.latency_s, found.rate_at, found.half_size) == (1e-6, 8000, 1000)
    assert found.rate == pytest.approx(1e9)


def test_what_an_mpi_costs_is_compared_with_tcp(tmp_path):
    for route, t in (("raw/tcp", 2e-6), ("mpich", 3e-6)):
        write_samples(tmp_path / f"{route.replace('/', '-')}.csv", Header(route, "1"), [Sized([[t]] * 9, size=1)], "")
    write_samples(tmp_path / "openmpi.csv", Header("openmpi", ""), [], "no answer")
    found = Table(sorted(tmp_path.glob("*.csv")))
    assert {row[0]: row[2] for row in rows_of(found)} == {"raw/tcp": "+0 µs", "mpich": "+1 µs"}
    assert found.unavailable == {"openmpi": "no answer"}
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match="is no table of"):
        Table([tmp_path / "a.csv"])


def test_a_program_that_ends_is_an_error_of_the_route():
    (route,) = routes_named(("raw/tcp",))
    with route.open(0, HANGS_S) as conversation:
        conversation._process.kill()
        with pytest.raises(LostError):
            conversation.time_messages(8, 1)
