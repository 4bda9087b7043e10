"""The options, the statistics and the tables of ``culmen bench collectives``."""

import csv
import json
import math
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from culmen.bench.collectives import figures, samples, winners
from culmen.bench.collectives.measured import Starts
from culmen.bench.collectives.plan import Plan, collectives_named, ranks_of, roots_named
from culmen.bench.collectives.points import Point, Protocol
from culmen.bench.collectives.samples import Header, Samples, Table
from culmen.bench.conversation import _reason, short_version
from culmen.bench.mappings import flags_of, mappings_of
from culmen.bench.parts import join, write_parquet
from culmen.bench.sampling import LEAST_VISITS, interval, warm_up
from culmen.bench.words import beside, shown_size, sizes_of
from culmen.cli.work.collectives import _remarks, plan_of
from culmen.launch import allocation
from culmen.launch.mpi import Launcher, load
from culmen.launch.mpi.collectives import DEFAULT, Algorithm
from culmen.report.style import GREY

from culmen import InputError

OPENMPI = next(mpi for mpi in load() if mpi.title == "Open MPI 4")
INTEL = next(mpi for mpi in load() if mpi.title == "Intel MPI")
MPICH = next(mpi for mpi in load() if mpi.title == "MPICH 4")


def complaint(call, *arguments):
    with pytest.raises(InputError) as raised:
        call(*arguments)
    return str(raised.value)


def test_ranges_of_ranks_have_powers_of_two_and_what_lies_between():
    assert ranks_of("2-48") == (2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
    assert ranks_of("5-9:2,2") == (2, 5, 7, 9)
    assert ranks_of("5-11") == (5, 6, 8, 11)
    for wrong in ("1", "8-2", "two", "2-4:0", "2-5000", ""):
        assert complaint(ranks_of, wrong).startswith("--ranks")


def test_ranges_of_sizes_have_powers_of_two():
    assert sizes_of("0,100,4K") == (0, 100, 4096)
    assert sizes_of("3-20") == (3, 4, 8, 16, 20)
    assert sizes_of("1-4M")[-1] == 4 * 1024**2
    assert len(sizes_of("1-4M")) == 23
    assert [shown_size(size) for size in (0, 1000, 2048, 4 * 1024**2)] == ["0 B", "1000 B", "2 KiB", "4 MiB"]
    for wrong in ("-1", "8-2", "4T", "1-2-3", "3G", ""):
        assert complaint(sizes_of, wrong).startswith("--sizes")


def test_sizes_beside_others_are_measured_too():
    assert beside((0, 8, 64), 3) == (0, 3, 5, 8, 11, 61, 64, 67)
    assert beside((8, 64), 0) == (8, 64)


def test_roots_are_ranks():
    assert roots_named("0,3,0") == (0, 3)
    for wrong in ("-1", "first", "4096", ","):
        assert complaint(roots_named, wrong).startswith("--root")


def test_mappings_are_core_socket_or_node():
    assert mappings_of(None) == ("",)
    assert mappings_of("node,core") == ("node", "core")
    assert "did you mean 'core'" in complaint(mappings_of, "cores")
    assert complaint(mappings_of, "").startswith("--mapping")
    launcher = Launcher("mpirun", OPENMPI)
    assert flags_of(launcher, 10**4, "") == []
    assert "each rank needs a core, but 10000 ranks on a node have " in complaint(flags_of, launcher, 10**4, "core")
    assert "culmen does not know how Intel MPI maps" in complaint(flags_of, Launcher("mpirun", INTEL), 1, "core")


def plan(mpi=OPENMPI, **given):
    usual = {"collectives": ("bcast",), "ranks": (2, 4), "sizes": (8,)}
    return Plan(Launcher("mpirun", mpi), "default", **{**usual, **given})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"collectives": ("bcst",)}, "--collectives: there is no collective 'bcst'"),
        ({"algorithms": ("binomal",)}, "--algorithms of Open MPI 4: there is no algorithm 'binomal'"),
        (
            {"collectives": ("bcast", "alltoall"), "algorithms": ("knomial",)},
            "--algorithms: alltoall has none of these",
        ),
        ({"mappings": ("core",), "ranks": (4000,)}, "--mapping core: each rank needs a core"),
        ({"roots": (2,)}, "--root 2: it must be from 0 to 1"),
        ({"sizes": (2**30,)}, "--sizes 1073741824: 4 ranks exchange at most 536870911 bytes each"),
        ({"sizes": (2**20,), "ranks": (2000,)}, "--sizes 1048576: 2000 ranks need 8.39e+03 GB"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(given, says):
    text = complaint(plan(**given).check)
    assert says in text
    assert "\n" not in text


def test_an_mpi_whose_algorithms_are_unknown_is_refused():
    other = next(mpi for mpi in load() if mpi.collectives is None)
    assert "does not know yet how" in complaint(plan(other).check)


def test_data_files_name_each_algorithm_once():
    for mpi in (OPENMPI, MPICH):
        for name in mpi.collectives.names:
            algorithms = mpi.collectives.algorithms(name)
            assert algorithms[0].name == DEFAULT
            assert len({one.name for one in algorithms}) == len(algorithms) > 1
            assert len({tuple(one.variables.items()) for one in algorithms}) == len(algorithms)
            functions = [one.function for one in algorithms[1:]]
            assert not any(functions) or len(set(functions)) == len(functions)


def test_data_files_name_the_nonblocking_collectives_for_measurements_only():
    for mpi in (OPENMPI, MPICH):
        known = mpi.collectives
        blocking = {name for name in known.measurable if not name.startswith("i")}
        assert blocking > {"allgatherv", "gatherv", "scatterv", "alltoallv", "alltoallw"}
        assert {*known.measurable} == blocking | {f"i{name}" for name in blocking}
        assert not {*known.names} & {*known.further}
        assert not {*known.further} & {f"i{name}" for name in known.nonblocking}
        for name in {*known.measurable} - {*known.names}:
            algorithms = known.algorithms(name)
            assert algorithms[0].name == DEFAULT
            assert len({tuple(one.variables.items()) for one in algorithms}) == len(algorithms)
    numbers = [one.variables["MPIR_CVAR_IBCAST_INTRA_ALGORITHM"] for one in MPICH.collectives.algorithms("ibcast")]
    assert numbers == [0, 2, 3, 4, 5, 6, 7, 8]
    assert OPENMPI.collectives.keeps("bcast")
    assert not OPENMPI.collectives.keeps("ibcast")
    assert [one.name for one in OPENMPI.collectives.algorithms("igather")] == [DEFAULT]


def test_words_stand_for_groups_of_collectives():
    known = MPICH.collectives
    assert collectives_named("iscan,bcast,bcast", known) == ("iscan", "bcast")
    blocking, nonblocking = collectives_named("blocking", known), collectives_named("nonblocking", known)
    assert "alltoallw" in blocking
    assert "ialltoallv" in nonblocking
    assert {*blocking, *nonblocking} == {*collectives_named("all", known)} == {*known.measurable}


def test_algorithms_for_two_ranks_are_not_tried_with_more():
    names = [[one.name for one in OPENMPI.collectives.algorithms("allgather", ranks)] for ranks in (2, 3)]
    assert "two_proc" in names[0]
    assert "two_proc" not in names[1]


def noisy(rng, visits, calls=5, shift=0.05):
    """Visits whose calls share a disturbance; the median of all is 1."""
    return [list(np.exp(rng.normal(0, shift) + rng.normal(0, 0.01, calls))) for _ in range(visits)]


def test_intervals_enclose_the_median_as_often_as_they_say():
    rng = np.random.default_rng(5)
    found = [interval(noisy(rng, visits)) for visits in (LEAST_VISITS, 9, 20, 45) for _ in range(300)]
    inside = np.mean([each.low <= 1 <= each.high for each in found])
    assert inside > 0.93  # the binomial spread of 1200 trials around 0.95 is 0.0063
    assert np.mean([each.relative for each in found]) < 0.06


def test_few_visits_give_no_interval():
    assert math.isinf(interval([[1.0]] * (LEAST_VISITS - 1)).relative)


def test_slow_first_visits_are_warm_up():
    rng = np.random.default_rng(6)
    for cold in (3, 6):
        visits = [[3.0 - 0.2 * i] * 5 for i in range(cold)] + noisy(rng, 40)
        assert cold <= warm_up(visits) <= cold + 4
    assert np.mean([warm_up(noisy(rng, 40)) for _ in range(50)]) < 12
    assert warm_up(noisy(rng, LEAST_VISITS)) == 0


def test_a_point_is_measured_until_its_median_is_exact_or_its_time_is_over():
    protocol = Protocol(interval=0.01, budget_s=1.0)
    point = Point(algorithm=Algorithm("a", {}), size=8)
    assert not point.has_enough(protocol)
    point.visits = [[1.0], [1.1], [0.9], [1.0], [1.2], [0.8]]
    assert not point.has_enough(protocol)
    point.spent_s = 2.0
    assert point.has_enough(protocol)
    assert point.has_enough(Protocol(interval=0.5))
    assert not point.has_enough(Protocol(repetitions=7))
    assert point.next_calls(Protocol(repetitions=7)) == 1
    point.visits[-1] = [1e-6]
    assert (point.next_calls(Protocol()), point.next_calls(Protocol(most_calls=16))) == (100, 16)
    point.visits.append([-1.0])
    assert not point.has_enough(Protocol(repetitions=7)), "a rank was late"
    point.visits.append([1e-5, 4e-3, 4e-3, 1e-5])
    assert point.next_calls(Protocol()) == 100, "calls that another program interrupted"


@pytest.mark.parametrize("repetitions", [6, 7, 20, 100, 403])
@pytest.mark.parametrize("call_s", [1e-6, 1e-3, 1.0])
def test_a_number_of_repetitions_gives_enough_visits_for_an_interval(repetitions, call_s):
    point, protocol = Point(), Protocol(repetitions=repetitions)
    while not point.has_enough(protocol):
        point.visits.append([call_s] * point.next_calls(protocol))
    assert sum(map(len, point.visits)) == repetitions
    assert len(point.visits) >= LEAST_VISITS
    assert point.interval.exists


def test_ranks_that_are_late_too_often_start_behind_a_barrier():
    starts, point = Starts(windows=True), Point(algorithm=Algorithm("a", {}), size=8)
    for _ in range(30):
        starts.note(point, [1e-5] * 5)
    assert starts.windows
    assert point.window_s == pytest.approx(4e-5)
    for _ in range(31):
        starts.note(point, [-1e-5] * 5)
        assert point.window_s <= 1.3e-4
    assert not starts.windows


def table_of(tmp_path, times, collective="bcast", ranks=4, verified=(), unavailable=()):
    """``times``: by algorithm and size, of visits without noise but for 1 %."""
    rng = np.random.default_rng(7)
    points = [
        Samples(
            name,
            size,
            [[t * f for f in rng.normal(1, 0.01, 3)] for _ in range(12)],
            [False] * 12,
            name not in verified,
            "",
        )
        for (name, size), t in times.items()
    ]
    points += [Samples(name, 8, [], [], False, "cannot run") for name in unavailable]
    path = tmp_path / f"{collective}-{ranks}.csv"
    samples.write_samples(path, Header("openmpi", "Open MPI 4.1.4", collective, ranks), points)
    return path


TIMES = {
    (DEFAULT, 8): 1e-5, ("chain", 8): 2e-5, ("binomial", 8): 0.5e-5,
    (DEFAULT, 16): 1e-5, ("chain", 16): 2e-5, ("binomial", 16): 0.4e-5,
    (DEFAULT, 32): 1e-5, ("chain", 32): 1.001e-5, ("binomial", 32): 3e-5,
}  # fmt: skip


def test_the_winner_is_faster_beyond_doubt(tmp_path):
    found = Table([table_of(tmp_path, TIMES, unavailable=["tree"])])
    won = winners.winners(found)
    assert [(w.size, w.name) for w in won] == [(8, "binomial"), (16, "binomial"), (32, DEFAULT)]
    assert won[0].gain == pytest.approx(2, rel=0.03)
    assert won[0].least_gain < won[0].gain < won[0].most_gain
    lines = winners.rows_of(found)
    assert [line[2:5] for line in lines] == [["4", "8 B – 16 B", "binomial"], ["4", "32 B", DEFAULT]]
    assert [key.algorithm for key in found.unavailable] == ["tree"]


def test_an_inexact_algorithm_hides_no_winner(tmp_path):
    path = tmp_path / "bcast-4.csv"
    visits = {
        DEFAULT: [[1e-5]] * 12,
        "inexact": [[0.1e-5]] * 7 + [[5e-5]] * 5,
        "chain": [[0.5e-5]] * 12,
        "tree": [[0.6e-5]] * 12,
        "linear": [[2e-5]] * 12,
    }
    points = [Samples(name, 8, times, [False] * 12, True, "") for name, times in visits.items()]
    samples.write_samples(path, Header("openmpi", "4", "bcast", 4), points)
    (won,) = winners.winners(Table([path]))
    assert next(iter(Table([path]).algorithms(("openmpi", "bcast", 4, 8)))) == "inexact"
    assert (won.name, won.gain) == ("chain", pytest.approx(2))
    (won,) = winners.winners(Table([path]), "chain")
    assert won.name == "chain"


def few_visits(tmp_path):
    """A table whose first point has no interval."""
    path = tmp_path / "bcast-4.csv"
    points = [Samples(DEFAULT, size, [[1e-5]] * n, [False] * n, True, "") for size, n in ((8, 1), (16, 9))]
    samples.write_samples(path, Header("openmpi", "4", "bcast", 4), points)
    return Table([path])


def test_points_without_an_interval_are_said(tmp_path):
    found, said = few_visits(tmp_path), "1 point has too few blocks for an interval, so the table cannot name a faster "
    cures = [
        ({"protocol": Protocol(repetitions=3)}, "give a larger --repetitions"),
        ({"protocol": Protocol(repetitions=3), "suite": "osu"}, "leave out --repetitions"),
        ({}, "give a larger --seconds"),
    ]
    for given, cure in cures:
        (remark,) = _remarks(found, plan(**given))
        assert remark == f"{said}algorithm there; {cure}"


def test_points_without_an_interval_have_no_error_bars(tmp_path):
    figure = {each.key: each for each in figures._figures(few_visits(tmp_path))}["size-openmpi-bcast"]
    (line,) = figure.data
    assert (line["error_y"]["array"], line["error_y"]["arrayminus"]) == ([0, 0], [0, 0])


def test_an_algorithm_that_did_not_run_cannot_win(tmp_path):
    found = Table([table_of(tmp_path, TIMES, verified=["binomial"])])
    assert {w.name for w in winners.winners(found)} == {DEFAULT}
    alone = Table([table_of(tmp_path, {("binomial", 8): 1e-6}, verified=["binomial"])])
    assert winners.winners(alone) == winners.rows_of(alone) == []
    assert figures.collectives_page(alone)


def test_the_interval_is_looked_at_less_often_the_more_visits_there_are(monkeypatch):
    looks = []
    monkeypatch.setattr("culmen.bench.sampling.warm_up", lambda visits: looks.append(len(visits)) or 0)
    point = Point()
    for k in range(1000):
        point.visits.append([1.0 + (k * 0.618) % 1])
        assert not point.has_enough(Protocol(interval=1e-6, budget_s=1.0))
    assert len(looks) < 80
    assert looks[-1] > 900
    point.spent_s = 1.0
    assert point.has_enough(Protocol(interval=1e-6, budget_s=1.0))


def test_late_and_cold_calls_stay_in_the_file_only(tmp_path):
    visits = [[9.0, 9.0]] + [[1.0, -5.0]] * 8
    path = tmp_path / "bcast-2.csv"
    points = [Samples("chain", 8, visits, [True] + [False] * 8, True, "")]
    samples.write_samples(path, Header("mpich", "MPICH 4.0.2", "bcast", 2), points)
    ((key, found),) = Table([path]).points.items()
    assert key == ("mpich", "bcast", 2, 8, "chain")
    assert found.calls == 18
    assert tuple(found.interval) == (1.0, 1.0, 1.0)
    both = tmp_path / "both.csv"
    join([path, path], both, samples.COLUMNS)
    assert len(both.read_text().splitlines()) == 37


def test_tables_of_earlier_versions_lack_the_last_columns(tmp_path):
    path = table_of(tmp_path, {("chain", 8): 1e-5})
    old = tmp_path / "old.csv"
    old.write_text("\n".join(line.rpartition(",")[0] for line in path.read_text().splitlines()) + "\n")
    assert Table([old]).points == Table([path]).points
    both = tmp_path / "both.csv"
    join([old, path], both, samples.COLUMNS)
    assert {line.count(",") for line in both.read_text().splitlines()} == {len(samples.COLUMNS) - 1}
    assert Table([both]).points.keys() == Table([path]).points.keys()


def test_a_table_becomes_a_parquet_file(tmp_path):
    found = table_of(tmp_path, {("chain", 8): 1e-5}, unavailable=["tree, or none"])
    write_parquet(found, to := tmp_path / "a.parquet", samples.NUMBERS)
    rows = pq.read_table(to).to_pylist()
    with found.open(newline="") as file:
        texts = list(csv.DictReader(file))
    assert len(rows) == len(texts) == 37
    for row, text in zip(rows, texts, strict=True):
        assert {name: "" if value is None else value for name, value in row.items()} == {
            name: (float if name == "time_s" else int)(value) if name in samples.NUMBERS and value else value
            for name, value in text.items()
        }


def test_several_roots_are_told_apart_by_name(tmp_path):
    points = [Samples(DEFAULT, 8, [[t]] * 9, [False] * 9, True, "", root) for t, root in ((1e-5, 0), (2e-5, 3))]
    paths = [tmp_path / "bcast.csv", tmp_path / "allreduce.csv"]
    samples.write_samples(paths[0], Header("openmpi", "4", "bcast", 4), points)
    samples.write_samples(paths[1], Header("openmpi", "4", "allreduce", 4), points[:1])
    found = {(key.mpi, key.collective): of.interval.median for key, of in Table(paths).points.items()}
    expected = {("openmpi/root 0", "bcast"): 1e-5, ("openmpi/root 3", "bcast"): 2e-5, ("openmpi", "allreduce"): 1e-5}
    assert found == pytest.approx(expected)
    drawn = [figure.key for figure in figures._figures(Table(paths))]
    assert "map-openmpi-root-0-bcast" in drawn
    assert not [key for key in drawn if re.search(r"[^\w.-]", key)]
    assert "partitions" not in figures.collectives_page(Table(paths))


def test_several_versions_are_told_apart_by_name(tmp_path):
    points = [Samples(DEFAULT, 8, [[1e-5]] * 9, [False] * 9, True, "")]
    paths = []
    for mpi, version in (("openmpi", "Open MPI 4.1.4"), ("openmpi", "Open MPI 4.1.6"), ("mpich", "MPICH 4.0.2")):
        paths.append(tmp_path / f"{version}.csv")
        samples.write_samples(paths[-1], Header(mpi, version, "bcast", 4), points)
    assert {key.mpi for key in Table(paths).points} == {"openmpi/4.1.4", "openmpi/4.1.6", "mpich"}
    assert {key.mpi for key in Table(paths[:1]).points} == {"openmpi"}
    assert "partitions" not in figures.collectives_page(Table(paths))


def test_several_mappings_are_told_apart_by_name(tmp_path):
    points = [Samples(DEFAULT, 8, [[1e-5]] * 9, [False] * 9, True, "")]
    paths = [tmp_path / f"{mapping}.csv" for mapping in ("core", "node")]
    for path in paths:
        samples.write_samples(path, Header("openmpi", "4", "bcast", 4, mapping=path.stem), points)
    assert {key.mpi for key in Table(paths).points} == {"openmpi/core", "openmpi/node"}
    assert {key.mpi for key in Table(paths[1:]).points} == {"openmpi"}


def test_several_partitions_are_told_apart_by_name(tmp_path):
    paths = []
    for partition, t in (("thin", 1e-5), ("fat", 2e-5)):
        path = tmp_path / f"{partition}.csv"
        points = [Samples(DEFAULT, 8, [[t]] * 9, [False] * 9, True, "")]
        samples.write_samples(path, Header("openmpi", "4", "bcast", 4, 2, 3, partition), points)
        paths.append(path)
    assert {key.mpi for key in Table(paths).points} == {"openmpi/thin", "openmpi/fat"}
    assert {key.mpi for key in Table(paths[:1]).points} == {"openmpi"}
    assert [line[0] for line in winners.rows_of(Table(paths))] == ["openmpi/fat", "openmpi/thin"]
    drawn = {figure.key: figure for figure in figures._figures(Table(paths))}
    assert [line["name"] for line in drawn["ranks-partitions-bcast"].data] == ["openmpi/fat", "openmpi/thin"]
    assert "size-openmpi-fat-bcast" in drawn
    assert not [key for key in drawn if re.search(r"[^\w.-]", key)]
    assert "bcast, partitions: time against message size" in figures.collectives_page(Table(paths))
    assert "partitions" not in figures.collectives_page(Table(paths[:1]))
    assert paths[0].read_text().splitlines()[1].startswith("openmpi,4,bcast,default,2,3,4,8,0,")


@pytest.mark.parametrize(
    ("text", "tasks", "ranks"), [("4(x2),3", [4, 4, 3], 4), ("2", [2], 2), ("16(x3)", [16] * 3, 7), ("", [], 7)]
)
def test_ranks_fill_the_nodes_of_an_allocation(monkeypatch, text, tasks, ranks):
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", text)
    assert allocation.tasks_on_nodes() == tasks
    assert allocation.ranks_on_a_node(7) == ranks
    monkeypatch.delenv("SLURM_JOB_ID")
    assert allocation.ranks_on_a_node(7) == 7


def test_more_ranks_than_an_allocation_has_tasks_are_refused(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "1,2")
    assert complaint(plan().check) == (
        "--ranks 4: this allocation has room for 3 ranks; give fewer ranks, or allocate more tasks"
    )
    plan(ranks=(2, 3)).check()
    plan().check(here=False)


def test_other_tables_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    assert complaint(Table, [path]) == f"{path} is no table of `culmen bench collectives`"
    assert "No such file" in complaint(Table, [Path("nowhere.csv")])


def test_the_page_has_a_map_and_the_times(tmp_path):
    paths = [
        table_of(tmp_path, TIMES),
        table_of(tmp_path, TIMES, ranks=8),
        table_of(tmp_path, {(DEFAULT, 0): 1e-6}, "barrier"),
    ]
    text = figures.collectives_page(Table(paths))
    assert "bcast, openmpi: the fastest algorithm" in text
    assert "bcast, openmpi: time against message size" in text
    assert "barrier, openmpi: time against the number of ranks" in text
    assert not re.search("barrier, openmpi: the", text)
    json.dumps([figure.plain() for figure in figures._figures(Table(paths))], allow_nan=False)


def test_reasons_and_versions_are_short():
    stack = (
        "Other MPI error, error stack: internal_Allgather(133)....: MPI_Allgather(sendbuf=0x5, comm=0x84000005) failed "
        "MPID_Allgather(204)...:  MPIR_Allgather_impl(2044)...................: User set algorithm is not usable"
    )
    assert _reason(stack) == "User set algorithm is not usable"
    assert _reason(stack.partition("User")[0]) == "the MPI refuses the algorithm"
    assert _reason("a result is wrong") == "a result is wrong"
    assert short_version("Open MPI v4.1.4, package: Debian") == "Open MPI 4.1.4"
    assert short_version("MPICH Version: 4.0.2 MPICH Release") == "MPICH 4.0.2"


def test_wrong_options_name_the_option():
    for option in ("collectives", "ranks", "sizes", "algorithms", "baseline"):
        given = dict.fromkeys(("mpi", "collectives", "algorithms", "ranks", "sizes"))
        with pytest.raises(InputError) as raised:
            plan_of(**{**given, option: "foo"}, protocol=Protocol(), quick=False)
        assert f"--{option}" in str(raised.value)


def test_a_menu_shows_the_lines_of_one_number_of_ranks(tmp_path):
    found = Table([table_of(tmp_path, TIMES), table_of(tmp_path, TIMES, ranks=8)])
    drawn = {figure.key: figure for figure in figures._figures(found)}
    for key, labels in (
        ("size-openmpi-bcast", ["4 ranks", "8 ranks"]),
        ("ranks-openmpi-bcast", ["8 B", "16 B", "32 B"]),
    ):
        figure = drawn[key]
        menu = figure.layout["updatemenus"][0]
        assert [button["label"] for button in menu["buttons"]] == labels
        shown = [button["args"][1] for button in menu["buttons"]]
        assert {len(lines) for lines in shown} == {len(figure.data)}
        assert [sum(lines) for lines in zip(*shown, strict=True)] == [1] * len(figure.data)
        assert [line["visible"] for line in figure.data] == shown[menu["active"]]
        names = [line["name"] for line, visible in zip(figure.data, shown[0], strict=True) if visible]
        assert names == [DEFAULT, "binomial", "chain"]


def test_another_baseline_changes_the_table_and_the_grey_line(tmp_path):
    times = {(DEFAULT, 8): 4e-6, ("linear", 8): 8e-6, ("ring", 8): 2e-6}
    found = Table([table_of(tmp_path, times)])
    won = {name: winners.winners(found, name)[0] for name in (DEFAULT, "linear", "ring", "nowhere")}
    assert [won[name].name for name in won] == ["ring"] * 4
    assert won[DEFAULT].gain == pytest.approx(2, rel=0.05)
    assert won["linear"].gain == pytest.approx(4, rel=0.05)
    assert won["ring"].gain == 1
    assert not won["nowhere"].compared
    assert winners.headings("linear")[-1] == "times faster than linear"
    figure = {each.key: each for each in figures._figures(found, "linear")}["size-openmpi-bcast"]
    grey = [line["name"] for line in figure.data if line["line"]["color"] == GREY]
    assert grey == ["linear"]
    menu = figure.layout["updatemenus"][2]
    assert [button["label"] for button in menu["buttons"]][menu["active"]] == "baseline: linear"
    for number, button in enumerate(menu["buttons"]):
        assert [k for k, colour in enumerate(button["args"][0]["line.color"]) if colour == GREY] == [number]
    json.dumps(figure.plain(), allow_nan=False)


def test_bandwidths_are_drawn_against_size_and_ranks(tmp_path):
    times = {(DEFAULT, 0): 1e-6, (DEFAULT, 1000): 1e-6, (DEFAULT, 4000): 2e-6}
    found = Table([table_of(tmp_path, times), table_of(tmp_path, {(DEFAULT, 0): 1e-6}, "barrier")])
    drawn = {figure.key: figure for figure in figures._figures(found)}
    line = drawn["rate-size-openmpi-bcast"].data[0]
    assert line["x"] == [1000, 4000]
    assert line["y"] == pytest.approx([1000, 2000], rel=0.05)
    assert min(line["error_y"]["array"] + line["error_y"]["arrayminus"]) >= 0
    assert "rate-ranks-openmpi-bcast" in drawn
    assert not any("barrier" in key for key in drawn if key.startswith("rate"))


def test_each_of_many_algorithms_has_a_symbol_of_its_own(tmp_path):
    found = Table([table_of(tmp_path, {(f"way {k}", 8): 1e-6 for k in range(13)} | {(DEFAULT, 8): 1e-6})])
    figure = {each.key: each for each in figures._figures(found)}["size-openmpi-bcast"]
    assert len({line["marker"]["symbol"] for line in figure.data}) == 14
