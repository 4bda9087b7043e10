"""Output of benchmark suites."""

from collections import Counter

import pytest
from culmen.bench.conversation import LostError, RefusedError
from culmen.bench.suites import measured
from culmen.bench.suites.results import Result, benchmarks_in
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT, Algorithm
from harness import ROOT

from culmen import InputError

FILES = ROOT / "tests/data/suites"


def read(name: str):
    [found] = benchmarks_in((FILES / name).read_text(), name)
    return found


def test_osu_prints_means():
    found = read("osu_7.3_bcast.txt")
    assert (found.suite, found.version, found.collective, found.ranks) == ("OSU", "7.3", "bcast", None)
    assert [each.size for each in found.results] == [2**k for k in range(21)]
    assert found.results[0] == Result(1, pytest.approx(13.52e-6))


def test_osu_prints_all_columns_if_asked_for():
    found = read("osu_6.2_allreduce_full.txt")
    assert len(found.results) == 6
    seconds = [pytest.approx(1e-6 * t) for t in (1181.07, 1168.71, 1188.92)]
    assert found.results[0] == Result(100_000, *seconds, calls=100)


def test_lines_of_other_programs_do_not_count():
    found = read("osu_5.8_allreduce_with_noise.txt")
    assert (found.version, found.collective) == ("5.8", "allreduce")
    assert [each.size for each in found.results] == [2**k for k in range(2, 21)]
    assert found.results[-1].mean_s == pytest.approx(2066.89e-6)


@pytest.mark.parametrize("name", ["base", "tune", "val"])
def test_imb_prints_ranks_and_calls(name):
    found = read(f"imb_2021.11_bcast_{name}.txt")
    assert (found.suite, found.version, found.collective, found.ranks) == ("IMB", "2021.11", "bcast", 8)
    assert [each.size for each in found.results] == [0] + [2**k for k in range(21)]
    assert all(each.least_s <= each.mean_s <= each.most_s for each in found.results)
    assert all(each.calls == 100 for each in found.results)


IMB_BARRIER = """
#---------------------------------------------------
# Benchmarking Barrier
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.24         0.26         0.25

#---------------------------------------------------
# Benchmarking Reduce_scatter
# #processes = 4
#---------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            4         1000         0.05         2.49         1.11
"""
OSU_BARRIER = "# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n             3.25\n"
OSU_ALLTOALL = "# OSU MPI All-to-All Personalized Exchange Latency Test v6.2\n# Size  Avg Latency(us)\n1  2.5\n"


def test_a_barrier_has_no_size():
    barrier, other = benchmarks_in(IMB_BARRIER, "here")
    assert (barrier.collective, barrier.ranks, barrier.version) == ("barrier", 2, "")
    assert barrier.results == [Result(0, *(pytest.approx(t) for t in (0.25e-6, 0.24e-6, 0.26e-6)), calls=1000)]
    assert (other.collective, other.ranks, other.results[0].size) == ("reduce_scatter", 4, 4)
    [barrier] = benchmarks_in(OSU_BARRIER, "here")
    assert (barrier.collective, barrier.results) == ("barrier", [Result(0, pytest.approx(3.25e-6))])


def test_osus_titles_are_known():
    [found] = benchmarks_in(OSU_ALLTOALL, "here")
    assert (found.collective, found.results) == ("alltoall", [Result(1, pytest.approx(2.5e-6))])


@pytest.mark.parametrize("text", ["", "hello\n1 2 3\n", "# OSU MPI Bandwidth Test v7.3\n# Size Bandwidth\n1 2\n"])
def test_other_output_is_one_sentence(text):
    with pytest.raises(InputError, match=r"^log\.txt is not the output of a collective benchmark"):
        benchmarks_in(text, "log.txt")


@pytest.mark.parametrize("failure", [LostError("no answer"), RefusedError("no memory")])
def test_a_launch_that_fails_later_keeps_what_was_measured(monkeypatch, tmp_path, failure):
    default, other = Algorithm(DEFAULT, {}), Algorithm("chain", {})
    launches = Counter()

    def run(_program, _launcher, _ranks, algorithm, sizes, *_):
        launches[algorithm.name] += 1
        if launches[algorithm.name] > 2:
            raise failure
        return {size: Result(size, 1e-6) for size in sizes}, {}

    monkeypatch.setattr(measured, "program_in", lambda *_: None)
    monkeypatch.setattr(measured, "run", run)
    points = measured.measure_points(
        tmp_path, find_launcher("openmpi"), "bcast", 2, [default, other], [8, 64], measured.Protocol(), 1
    )
    visits = {(point.algorithm.name, point.size): len(point.visits) for point in points}
    lost = 0 if isinstance(failure, LostError) else 2
    assert visits == {(DEFAULT, 8): 2, (DEFAULT, 64): 2, ("chain", 8): lost, ("chain", 64): lost}
