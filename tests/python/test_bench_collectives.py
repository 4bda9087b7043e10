"""The tables and the winners of ``culmen bench collectives``."""

import csv
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from bench_tables import TIMES, complaint, few_visits, figures_of, page_of, plan, table_of
from culmen.bench.collectives import environment, samples, winners
from culmen.bench.collectives.measured import is_verified
from culmen.bench.collectives.points import Point, Protocol
from culmen.bench.collectives.samples import Header, Samples, Table
from culmen.bench.conversation import _reason, short_version
from culmen.bench.parts import join, write_parquet
from culmen.cli.work.collectives import _remarks
from culmen.launch.mpi.collectives import DEFAULT, Algorithm


def test_the_winner_is_faster_beyond_doubt(tmp_path):
    found = Table([table_of(tmp_path, TIMES, unavailable=["tree"])])
    won = winners.winners(found)
    assert [(w.size, w.name) for w in won] == [(8, "binomial"), (16, "binomial"), (32, DEFAULT)]
    assert won[0].gain == pytest.approx(2, rel=0.03)
    assert won[0].least_gain < won[0].gain < won[0].most_gain
    lines = winners.rows_of(won)
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


def test_a_winner_is_found_in_the_rounds_that_both_share(tmp_path):
    """Another program stalls all calls of the first rounds. The baseline has spent its time then."""
    path = tmp_path / "bcast-4.csv"
    stalled = [[1e-2 * (1 + k / 10)] for k in range(6)]
    calm = {DEFAULT: [[1e-5]] * 30, "chain": [[1e-7]] * 60, "tree": [[0.5e-5]] * 30}
    for visits, name in (
        ({DEFAULT: stalled, "chain": stalled + calm["chain"]}, DEFAULT),
        ({DEFAULT: stalled + calm[DEFAULT], "tree": stalled + calm["tree"]}, "tree"),
        ({DEFAULT: [[3.2e-07], *stalled[1:]], "chain": [[3.1e-7]] + [[1e-7]] * 60}, DEFAULT),
        ({DEFAULT: [[1e-5]] * 6, "tree": [[0.5e-5]] * 6 + stalled}, "tree"),
    ):
        points = [Samples(each, 8, times, [False] * len(times), True, "") for each, times in visits.items()]
        samples.write_samples(path, Header("openmpi", "4", "bcast", 4), points)
        (won,) = winners.winners(Table([path]))
        assert won.name == name
        assert won.gain == pytest.approx(2 if name == "tree" else 1)


def test_a_warm_up_of_one_algorithm_alone_hides_no_winner(tmp_path):
    path = tmp_path / "bcast-4.csv"
    points = [
        Samples(DEFAULT, 8, [[1e-5]] * 8, [False] * 8, True, ""),
        Samples("tree", 8, [[0.5e-5]] * 20, [True] * 5 + [False] * 15, True, ""),
    ]
    samples.write_samples(path, Header("openmpi", "4", "bcast", 4), points)
    (won,) = winners.winners(Table([path]))
    assert (won.name, won.gain) == ("tree", pytest.approx(2))


@pytest.mark.parametrize(
    ("load", "cores", "ranks", "busy"),
    [(11.6, 2, 2, True), (0.3, 2, 2, False), (0.3, 2, 4, False), (2.4, 4, 2, False), (2.6, 4, 2, True)],
)
def test_a_busy_machine_is_named(load, cores, ranks, busy):
    said = environment.was_busy({"load": [load, 1, 1], "cores": cores}, ranks)
    assert bool(said) == busy
    assert not busy or said.startswith(f"The load was {load} on {cores} cores when the measurement began: ")
    for damaged in ({}, {"load": [], "cores": 2}, {"load": "x", "cores": 2}, {"load": None, "cores": None}):
        assert environment.was_busy(damaged, ranks) == ""


def test_without_the_baseline_a_winner_needs_evidence_too(tmp_path):
    path = tmp_path / "bcast-4.csv"
    noisy = [[1e-5]] * 6 + [[3e-5]] * 6
    visits = {"chain": noisy, "tree": [*noisy[1:], [3.1e-5]], "linear": [[9e-5]] * 12}
    points = [Samples(name, 8, times, [False] * 12, True, "") for name, times in visits.items()]
    samples.write_samples(path, Header("openmpi", "4", "bcast", 4), points)
    found = Table([path])
    assert (winners.winners(found), winners.unclear(found, [])) == ([], 1)
    assert "no algorithm is clearly the fastest at 1 point" in " ".join(_remarks(found, winners.winners(found), plan()))
    assert page_of(found)
    assert winners.winners(found, "linear")[0].gain > 2
    samples.write_samples(path, Header("openmpi", "4", "bcast", 4), points[1:])
    assert winners.winners(Table([path]))[0].name == "tree"


def test_points_without_an_interval_are_said(tmp_path):
    found, said = few_visits(tmp_path), "1 point has too few blocks for an interval, so the table cannot name a faster "
    cures = [
        ({"protocol": Protocol(repetitions=3)}, "give a larger --repetitions"),
        ({"protocol": Protocol(repetitions=3), "suite": "osu"}, "leave out --repetitions"),
        ({}, "give a larger --seconds"),
    ]
    for given, cure in cures:
        (remark,) = _remarks(found, winners.winners(found), plan(**given))
        assert remark == f"{said}algorithm there; {cure}"


def test_an_algorithm_that_did_not_run_cannot_win(tmp_path):
    found = Table([table_of(tmp_path, TIMES, verified=["binomial"])])
    assert {w.name for w in winners.winners(found)} == {DEFAULT}
    alone = Table([table_of(tmp_path, {("binomial", 8): 1e-6}, verified=["binomial"])])
    assert winners.winners(alone) == []
    assert page_of(alone)


def test_a_refusal_proves_nothing_about_messages_without_data():
    """MPICH refuses an algorithm that cannot run, but returns at once if there are no data."""
    chain = Algorithm("chain", {})
    assert is_verified(Point(algorithm=chain, size=1), "bcast", refuses=True)
    assert not is_verified(Point(algorithm=chain, size=0), "bcast", refuses=True)
    assert is_verified(Point(algorithm=chain, size=0), "barrier", refuses=True)
    assert is_verified(Point(algorithm=chain, size=0), "ibarrier", refuses=True)
    assert not is_verified(Point(algorithm=chain, size=0), "barrier", refuses=False)
    assert is_verified(Point(size=0), "bcast", refuses=True), "the MPI's own choice"
    assert is_verified(Point(algorithm=chain, size=0, is_shown=True), "ibcast", refuses=False)


def test_late_and_cold_calls_stay_in_the_file_only(tmp_path):
    visits = [[9.0, 9.0]] * 8 + [[1.0, -5.0]] * 8  # half of them, as many as can be cold
    path = tmp_path / "bcast-2.csv"
    points = [Samples("chain", 8, visits, [True] * 8 + [False] * 8, True, "")]
    samples.write_samples(path, Header("mpich", "MPICH 4.0.2", "bcast", 2), points)
    ((key, found),) = Table([path]).points.items()
    assert key == ("mpich", "bcast", 2, 8, "chain")
    assert found.calls == 32
    assert tuple(found.interval) == (1.0, 1.0, 1.0)
    both = tmp_path / "both.csv"
    join([path, path], both, samples.COLUMNS)
    assert len(both.read_text().splitlines()) == 65


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
    drawn = [figure.key for figure in figures_of(Table(paths))]
    assert "map-openmpi-root-0-bcast" in drawn
    assert not [key for key in drawn if re.search(r"[^\w.-]", key)]
    assert "partitions" not in page_of(Table(paths))


def test_several_versions_are_told_apart_by_name(tmp_path):
    points = [Samples(DEFAULT, 8, [[1e-5]] * 9, [False] * 9, True, "")]
    paths = []
    for mpi, version in (("openmpi", "Open MPI 4.1.4"), ("openmpi", "Open MPI 4.1.6"), ("mpich", "MPICH 4.0.2")):
        paths.append(tmp_path / f"{version}.csv")
        samples.write_samples(paths[-1], Header(mpi, version, "bcast", 4), points)
    assert {key.mpi for key in Table(paths).points} == {"openmpi/4.1.4", "openmpi/4.1.6", "mpich"}
    assert {key.mpi for key in Table(paths[:1]).points} == {"openmpi"}
    assert "partitions" not in page_of(Table(paths))


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
    assert [line[0] for line in winners.rows_of(winners.winners(Table(paths)))] == ["openmpi/fat", "openmpi/thin"]
    drawn = {figure.key: figure for figure in figures_of(Table(paths))}
    assert [line["name"] for line in drawn["ranks-partitions-bcast"].data] == ["openmpi/fat", "openmpi/thin"]
    assert "size-openmpi-fat-bcast" in drawn
    assert not [key for key in drawn if re.search(r"[^\w.-]", key)]
    assert "bcast, partitions: time against message size" in page_of(Table(paths))
    assert "partitions" not in page_of(Table(paths[:1]))
    assert paths[0].read_text().splitlines()[1].startswith("openmpi,4,bcast,default,2,3,4,8,0,")


def test_other_tables_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    assert complaint(Table, [path]) == f"{path} is no table of `culmen bench collectives`"
    assert "No such file" in complaint(Table, [Path("nowhere.csv")])


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
