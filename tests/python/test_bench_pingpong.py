"""The routes of ``culmen bench pingpong`` between two nodes, and what they are compared with."""

import pytest
from culmen.bench.conversation import RefusedError
from culmen.bench.parts import for_evaluators
from culmen.bench.pingpong import measured as measuring
from culmen.bench.pingpong import routes
from culmen.bench.pingpong.figures import pingpong_page, rows_of
from culmen.bench.pingpong.measured import Header, Sized, Table, write_samples
from culmen.cli.work.pingpong import _remarks, plan_of
from culmen.launch.mpi import Launcher, LauncherError, load

OPENMPI = next(mpi for mpi in load() if mpi.title == "Open MPI 4")


@pytest.fixture(autouse=True)
def only_open_mpi(monkeypatch):
    def find(name):
        if name != "openmpi":
            raise LauncherError(f"there is no {name}")
        return Launcher("mpirun.openmpi", OPENMPI)

    monkeypatch.setattr(routes, "find_launcher", find)


def test_between_nodes_an_mpi_is_compared_with_tcp_between_nodes(tmp_path):
    measured = {
        Header("raw/tcp", "raw", 1, 2): 2e-6,
        Header("openmpi/raw-tcp+node", "TCP on ib0", 2, 1): 50e-6,
        Header("openmpi+node", "Open MPI 4.1.4", 2, 1): 47e-6,
        Header("openmpi+core", "Open MPI 4.1.4", 1, 2): 3e-6,
        Header("mpich+node", "MPICH 4.0.2", 2, 1): 60e-6,
    }
    for header, t in measured.items():
        write_samples(tmp_path / f"{header.route.replace('/', '-')}.csv", header, [Sized([[t]] * 9, size=8)], "")
    found = Table(sorted(tmp_path.glob("*.csv")))
    assert {row[0]: row[2] for row in rows_of(found)} == {
        "raw/tcp": "+0 µs",
        "openmpi/raw-tcp+node": "+0 µs",
        "openmpi+node": "-3 µs",
        "openmpi+core": "+1 µs",
        "mpich+node": "–",
    }
    assert found.interfaces == {"openmpi/raw-tcp+node": "ib0"}
    assert "openmpi/raw-tcp+node" in pingpong_page(found)


@pytest.mark.parametrize(
    ("names", "mapping", "nodes", "there"),
    [
        (None, None, 1, set()),
        ("openmpi", "core", 1, set()),
        (None, None, 2, {"openmpi/raw-tcp"}),
        ("openmpi", "core,node", 1, {"openmpi/raw-tcp+node"}),
        ("raw/tcp,openmpi/raw-tcp", None, 1, {"openmpi/raw-tcp"}),
    ],
)
def test_tcp_is_measured_between_nodes_if_ranks_can_be_on_two(names, mapping, nodes, there):
    plan = plan_of(names, "8", (0.05, 0.1, 0), None, mapping, here=False, nodes=nodes)
    assert {name for name in plan.routes if "raw-tcp" in name} == there
    for name in plan.routes:
        assert routes.route_named(name).name == name


def test_noise_and_missing_comparisons_are_said(tmp_path):
    visits = {"raw/unix": [[1e-6]] * 9, "openmpi": [[5e-4 * k] for k in range(1, 10)], "mpich": [[3e-6]] * 2}
    for route, times in visits.items():
        path = tmp_path / f"{route.replace('/', '-')}.csv"
        write_samples(path, Header(route, "x", 1, 2), [Sized(times, size=8)], "")
    found = Table(sorted(tmp_path.glob("*.csv")))
    for repetitions, cure in ((0, "--seconds"), (9, "--repetitions")):
        plan = plan_of("raw/unix,openmpi", "8", (0.05, 0.1, repetitions), None, here=False)
        compared, inexact = _remarks(found, plan)
        assert compared.startswith('"–" means that TCP without MPI was not measured')
        assert inexact.startswith(
            "The medians of 2 of 3 points are less exact than ± 5 %, for example mpich with 8 B; "
        )
        assert inexact.endswith(f"give a larger {cure}")
    write_samples(tmp_path / "raw-tcp.csv", Header("raw/tcp", "x", 1, 2), [Sized([[2e-6]] * 9, size=8)], "")
    exact = Table([tmp_path / "raw-tcp.csv", tmp_path / "raw-unix.csv"])
    assert _remarks(exact, plan) == []


def test_the_starts_of_ranks_are_in_the_time_that_a_measurement_takes():
    plan = plan_of("raw,openmpi", "8", (0.05, 0.1, 0), None, here=False)
    ranks = sum(name.startswith("openmpi") for name in plan.routes)
    assert plan.left_s(0) == pytest.approx(0.1 * len(plan.routes) + 3 * ranks)
    assert plan.left_s(3) == pytest.approx(3.1 * ranks)


def test_a_machine_without_mpi_is_said(monkeypatch):
    def none(name):
        raise LauncherError(f"there is no {name}")

    assert not plan_of("raw", "8", (0.05, 0.1, 0), None).without_mpi
    monkeypatch.setattr(routes, "find_launcher", none)
    plan = plan_of(None, "8", (0.05, 0.1, 0), None)
    assert [name.partition("/")[0] for name in plan.routes] == ["raw"] * 3
    assert plan.without_mpi.startswith("No MPI was found on PATH")


class Limited:
    """A route that refuses large messages."""

    name, version = "raw/tcp", "raw"

    def open(self, *_):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def nodes(self):
        return 1, 2

    def time_messages(self, size, calls):
        if size > 1000:
            raise RefusedError("cannot be sent at once")
        return [1e-6] * calls


def test_a_size_that_is_refused_leaves_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "route_named", lambda _: Limited())
    for_evaluators(tmp_path)
    given = {"route": "raw/tcp", "sizes": "1,8,2048,64", "buffer_bytes": 0, "timeout_s": 10}
    _, sizes = measuring.measure({**given, "interval": 0.05, "budget_s": 0.01, "repetitions": 0})
    assert sizes["sizes"] == 3
    found = Table([measuring.samples_file("raw/tcp", tmp_path)])
    assert list(found.points["raw/tcp"]) == [1, 8, 64]
    assert found.unavailable == {"raw/tcp": "messages of 2K: cannot be sent at once"}
