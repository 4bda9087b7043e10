"""The grid, the arithmetic and the plots of ``culmen bench transport``."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from culmen.bench.transport import figures, grid
from culmen.bench.transport.grid import Grid
from culmen.bench.transport.point import COSTS, TRANSPORTS, Point, PointMeasured
from culmen.bench.transport.rows import Row, Rows, Value, difference, read_csv, write_csv
from culmen.cli.work.transport import compare_transports, grid_of

from culmen import InputError

ALONE = Row(Point("ws", 1, 0.01), "sleep", PointMeasured(200, 2.2, 2.0, 0.01, 220, 2.5))
FOUR = Row(Point("ws", 4, 0.01), "sleep", PointMeasured(800, 2.5, 8.0, 0.01, 1000, 4.0))
FOUR_BY_MPI = Row(Point("mpi", 4, 0.01), "sleep", PointMeasured(800, 2.0, 8.0, 0.01, 1000, 4.0))


def options(**given):
    names = ("workers", "durations", "transports", "repetitions", "io_threads", "mpi")
    fixed = {"cost": "sleep", "seconds": 0.5, "peers": [], "quick": False}
    return grid_of(**{**dict.fromkeys(names), **fixed, **given})


def complaint(call, *arguments):
    with pytest.raises(InputError) as raised:
        call(*arguments)
    return str(raised.value)


def synthetic(points, factor=1.0):
    """As if each evaluation took 1 ms more than it should."""
    for p in points:
        items = 100 * p.workers
        whole = factor * 100 * (p.evaluation_s + 0.001) * (1 + 0.01 * p.repetition) * (1 if p.prefetch else 1.2)
        yield Row(p, "sleep", PointMeasured(items, whole, items * p.evaluation_s, p.evaluation_s, items, whole + 1))


def test_the_efficiency_in_the_steady_state():
    assert FOUR.measured.rate == pytest.approx(320)
    assert FOUR.measured.efficiency(4) == pytest.approx(0.8)
    assert Rows([ALONE, FOUR]).efficiency(FOUR.point) == pytest.approx((0.8, 0))


def test_the_efficiency_of_the_whole_run_and_the_speed_up_need_one_worker():
    rows = Rows([ALONE, FOUR])
    assert rows.speed_up(FOUR.point) == pytest.approx((3.52, 0))
    assert rows.speed_up(ALONE.point) == (1, 0)
    assert rows.efficiency_of_run(FOUR.point) == pytest.approx((0.6875, 0))
    assert Rows([FOUR]).speed_up(FOUR.point) is None
    assert Rows([FOUR]).efficiency_of_run(FOUR.point) is None


def test_a_peer_that_measures_no_whole_run_has_no_efficiency_of_it():
    rows = Rows(replace(row, measured=replace(row.measured, whole_s=0.0)) for row in (ALONE, FOUR))
    assert rows.efficiency_of_run(FOUR.point) is None


def test_the_gain_is_the_time_of_the_reference_over_the_time_minus_one():
    rows = Rows([FOUR, FOUR_BY_MPI])
    assert rows.gain(FOUR_BY_MPI.point, FOUR.point) == pytest.approx((0.25, 0))
    assert rows.gain(FOUR.point, FOUR_BY_MPI.point) == pytest.approx((-0.2, 0))
    assert rows.gain(FOUR.point, replace(FOUR.point, workers=9)) is None


def test_the_difference_is_a_share_of_the_time_of_the_first_machine():
    slower = replace(FOUR, measured=replace(FOUR.measured, steady_s=3.0))
    assert difference(Rows([FOUR]), Rows([slower]), FOUR.point).mean == pytest.approx(0.2)


def test_a_mean_has_the_standard_error_of_its_repetitions():
    assert Value.of([1.0, 2.0, 3.0]) == pytest.approx((2.0, 1 / 3**0.5))
    assert Value.of([1.0]) == (1.0, 0.0)
    assert Value(8.0, 0.4).over(Value(4.0, 0.2)) == pytest.approx((2.0, 2 * (2 * 0.05**2) ** 0.5))
    again = replace(FOUR, point=replace(FOUR.point, repetition=2), measured=replace(FOUR.measured, steady_s=2.0))
    assert Rows([FOUR, again]).efficiency(FOUR.point) == pytest.approx((0.9, 0.1))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1ms", (0.001,)),
        ("100ms, 10ms,1 s", (0.01, 0.1, 1.0)),
        ("50us,.5s", (5e-5, 0.5)),
        ("10ms,10ms", (0.01,)),
    ],
)
def test_durations_have_units(text, seconds):
    assert grid.durations_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize(("seconds", "text"), [(5e-5, "50 us"), (0.001, "1 ms"), (0.1, "100 ms"), (10, "10 s")])
def test_durations_are_written_with_their_unit(seconds, text):
    assert grid.shown_duration(seconds) == text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"durations": "10"}, "--durations: '10' is not a duration; write a number and us, ms or s, such as 10ms"),
        ({"durations": "0ms"}, "--durations: 0ms is outside the range from 1us to 3600s"),
        ({"durations": ","}, "--durations is empty; write a list such as 1ms,10ms"),
        ({"workers": "8,x"}, "--workers: 'x' is not a whole number from 1 to 65536"),
        ({"io_threads": "0"}, "--io-threads: '0' is not a whole number from 1 to 256"),
        (
            {"transports": "mailbx"},
            "--transports: there is no transport 'mailbx'; did you mean 'mailbox'?; there are mailbox, mpi, wss, ws, "
            "tcp, tcp-per-item",
        ),
        ({"cost": "nap"}, "--cost nap: it must be sleep, busy or lognormal"),
        ({"peers": [Path("none.py")]}, "--peer none.py: there is no such Python file"),
    ],
)
def test_a_wrong_option_gets_one_sentence(given, says):
    assert complaint(lambda: options(**given)) == says


def test_a_grid_that_this_machine_cannot_measure_is_refused(monkeypatch):
    says = complaint(options(transports="mpi", mpi="no-such-mpi").check)
    assert says.startswith("--transports: mpi cannot be measured: ")
    assert "no-such-mpi" in says
    monkeypatch.setattr("resource.getrlimit", lambda _which: (64, 300))
    says = (
        "--workers 400: this needs 500 open files, but the limit here is 300; give at most 200 workers, or raise the "
    )
    assert complaint(options(transports="ws", workers="400").check) == f"{says}limit (ulimit -Hn)"
    options(transports="ws", workers="200").check()


def test_each_repetition_has_all_points_in_an_order_of_its_own():
    points = Grid(repetitions=2).points()
    first, second = points[: len(points) // 2], points[len(points) // 2 :]
    assert {p.repetition for p in first} == {1}
    assert {p.repetition for p in second} == {2}
    of_first = [replace(p, repetition=0) for p in first]
    of_second = [replace(p, repetition=0) for p in second]
    assert set(of_first) == set(of_second)
    assert len(set(of_first)) == len(of_first)
    assert of_first != of_second
    assert Grid(repetitions=2).points() == points
    assert {p.workers for p in points} == {1, 2, 8, 32}
    assert {p.transport for p in points if not p.prefetch} == {"mpi"}
    assert {(p.transport, p.workers) for p in points if p.io_threads > 1} == {("wss", 32)}


def test_a_table_is_read_as_it_was_written(tmp_path):
    rows = Rows(synthetic(Grid(repetitions=2).points()))
    write_csv(rows, tmp_path / "transport.csv")
    assert read_csv(tmp_path / "transport.csv").rows == rows.rows


def test_a_table_has_both_efficiencies(tmp_path):
    path = tmp_path / "transport.csv"
    write_csv(Rows([ALONE, FOUR]), path)
    _, four = csv.DictReader(path.open())
    assert (float(four["efficiency"]), float(four["efficiency_of_run"])) == pytest.approx((0.8, 0.6875))
    write_csv(Rows([FOUR]), path)
    assert next(csv.DictReader(path.open()))["efficiency_of_run"] == ""


def test_the_page_has_the_six_figures():
    rows = Rows(synthetic(Grid().points()))
    other = Rows(synthetic(Grid().points(), factor=1.1))
    page = figures.transport_page(rows, other, ("a.csv", "b.csv"))
    drawn = json.loads(re.search(r'id="figures">(.*?)</script>', page)[1])
    keys = ["speed-up-tcp", "speed-up-websocket", "gain-mpi", "gain-prefetch", "io-threads", "compared"]
    assert [figure["key"] for figure in drawn][:6] == keys
    for figure in drawn:
        assert page.count(f'id="{figure["key"]}"') == 1
        assert figure["data"]
    ideal = drawn[0]["data"][-1]
    assert (ideal["name"], ideal["x"], ideal["y"]) == ("ideal", [1, 32], [1, 32])
    prefetch = drawn[3]["data"][0]
    assert prefetch["y"] == pytest.approx([figures.symmetric_log(0.2)] * 4)
    assert drawn[5]["data"][0]["y"] == pytest.approx([figures.symmetric_log(0.1)] * 4)
    assert {line["name"].split(",")[0] for line in drawn[6]["data"]} == set(TRANSPORTS)


def test_without_a_transport_its_figures_are_left_out():
    page = figures.transport_page(Rows(synthetic(Grid(transports=("mailbox",)).points())))
    keys = [figure["key"] for figure in json.loads(re.search(r'id="figures">(.*?)</script>', page)[1])]
    assert keys == ["gain-prefetch", "efficiency-0_001", "efficiency-0_01", "efficiency-0_1"]


def test_the_symmetric_logarithm_is_linear_within_one_per_cent():
    assert [figures.symmetric_log(x) for x in (0, 0.005, -0.005, 0.01, 0.1, -1, 10)] == pytest.approx(
        [0, 0.5, -0.5, 1, 2, -3, 4]
    )


def test_tables_that_do_not_match_are_refused(tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    write_csv(Rows([FOUR]), a)
    write_csv(Rows([FOUR_BY_MPI]), b)
    says = f"{a} and {b} have no point in common; measure the same grid on both machines"
    assert complaint(compare_transports, a, b, tmp_path) == says
    write_csv(Rows([replace(FOUR, cost="busy")]), b)
    says = f"{a} was measured with --cost sleep, but {b} with busy; use the same"
    assert complaint(compare_transports, a, b, tmp_path) == says
    b.write_text("x,y\n1,2\n")
    says = f"{b} is no table of `culmen bench transport`; give its transport.csv"
    assert complaint(compare_transports, a, b, tmp_path) == says
    b.write_text(a.read_text().replace("800", "many"))
    assert f"{b} is damaged" in complaint(compare_transports, a, b, tmp_path)
    b.unlink()
    assert complaint(compare_transports, a, b, tmp_path) == f"{b} cannot be read: No such file or directory"


def test_two_tables_are_compared(tmp_path, capsys):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    write_csv(Rows([FOUR]), a)
    write_csv(Rows([replace(FOUR, measured=replace(FOUR.measured, steady_s=3.0))]), b)
    assert compare_transports(a, b, tmp_path) == 0
    assert "1 points in common; the times differ by 20 % on average" in capsys.readouterr().out
    assert "6. Difference between a.csv and b.csv" in (tmp_path / "compare.html").read_text()


def test_the_costs_and_the_transports_are_those_of_the_help():
    from culmen.cli.commands import load

    options = {name: o for o in load("bench").commands["transport"].params for name in o.opts}
    assert options["--cost"].metavar.split("|") == list(COSTS)
    assert all(name in options["--transports"].help for name in TRANSPORTS)
