"""Points of ``culmen bench`` that failed: the same command measures them again."""

import pytest
from culmen.bench.jobs.asked import Cluster, Task, Wanted
from culmen.bench.kept import remove_rounds
from culmen.bench.measuring import End, measure_in
from culmen.bench.study import PointStudy, left_in, outcomes_in, rounds
from culmen.cli.work.submit import run_jobs
from culmen.launch.scheduler.job import Partition, Phase, Place
from culmen.launch.scheduler.site import Site
from culmen.run.progress.figures import Words
from culmen.run.progress.monitor import make_monitor

from culmen import InputError
from culmen.base import machine

POINTS = [{"n": n} for n in (1, 2, 3)]
EVALUATOR = """
from pathlib import Path

def measure(p):
    if Path(p["fault"]).exists() and p["n"] in map(int, Path(p["fault"]).read_text().split(",")):
        raise OSError("no space left")
    return float(p["n"])
"""


@pytest.fixture(params=[False, True], ids=["here", "scratch"])
def measure(request, tmp_path, monkeypatch):
    """Measures what is missing. ``fails``: the points that fail. ``done``: of each call, the points from before."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.py").write_text(EVALUATOR)
    fault, done = tmp_path / "fault", []

    seen = []

    def begin(before):
        done.append(before)
        monitor = make_monitor(False, Words("points measured", best=""))
        monitor.update = lambda progress: seen.append((progress.evaluations, progress.budget))
        return monitor

    def study_of(store):
        return PointStudy("culmen bench points", POINTS, {"fault": str(fault)}, "points.py:measure", 60, store)

    def measured(fails="", at_most=None, overwrite=False, folder=tmp_path):
        fault.write_text(fails or "0")
        scratch = tmp_path if request.param else None
        return measure_in(folder, "x.db", study_of, 3, "points", begin, overwrite, False, scratch, at_most)

    measured.done, measured.study_of, measured.store, measured.seen = done, study_of, tmp_path / "x.db", seen
    return measured


def test_the_option_that_differs_is_named(measure):
    assert measure() is End.WHOLE
    fixed = {"fault": "elsewhere"}
    other = PointStudy("culmen bench points", POINTS, fixed, "points.py:measure", 60, measure.store)
    with pytest.raises(InputError, match=r"x\.db holds other points; .* \(parameter fault: value .* there, .* here\)$"):
        other.open()


@pytest.mark.parametrize("fact", [{"cpu": "Cray-1"}, {"cpus": 4096}, {"memory_gib": 0.5}])
def test_measurements_of_two_machines_are_not_mixed(measure, monkeypatch, fact):
    assert measure(at_most=1) is End.ENOUGH
    here = machine.here()
    monkeypatch.setattr(machine, "here", lambda: {**here, "host": "next", **fact})
    [value] = fact.values()
    with pytest.raises(InputError, match=f"the first measurements were made on .* but this is next .*{value}"):
        measure()
    assert measure(overwrite=True) is End.WHOLE
    monkeypatch.setattr(machine, "here", lambda: {**here, "host": "a twin", **fact})
    assert measure() is End.WHOLE, "nothing is left to measure"


def test_points_that_failed_are_measured_again_until_none_fails(measure, capfd):
    store = measure.store
    assert left_in(store, 3) == (3, 0)
    assert measure(fails="1,3") is End.WHOLE
    assert left_in(store, 3) == (0, 2)
    measured, failures = outcomes_in(store, "n")
    assert (measured, [each["count"] for each in failures]) == ([(2,)], [2])
    assert measure(fails="3") is End.WHOLE
    assert left_in(store, 3) == (0, 1)
    assert sorted(outcomes_in(store, "n")[0]) == [(1,), (2,)]
    assert measure() is End.WHOLE
    assert left_in(store, 3) == (0, 0)
    assert sorted(outcomes_in(store, "n")[0]) == [(1,), (2,), (3,)]
    assert outcomes_in(store, "n")[1] == []
    assert measure.done == [0, 1, 2]
    capfd.readouterr()
    assert measure() is End.WHOLE
    assert measure.done == [0, 1, 2], "nothing is missing"
    assert f"All 3 points are in {store}" in capfd.readouterr().out


def test_the_progress_of_a_second_round_counts_the_points_of_the_first(measure):
    assert measure(fails="2,3") is End.WHOLE
    assert measure.seen[-1] == (3, 3)
    measure.seen.clear()
    assert measure() is End.WHOLE
    assert measure.seen and all(evaluations >= 1 and budget == 3 for evaluations, budget in measure.seen)
    assert measure.seen[-1] == (3, 3)


def test_a_second_round_is_continued_and_removed_with_the_first(measure):
    assert measure(fails="1,2,3") is End.WHOLE
    assert measure(at_most=1) is End.ENOUGH
    assert left_in(measure.store, 3) == (2, 0)
    assert len(measure.study_of(measure.store).last_round().points) == 3
    assert measure() is End.WHOLE
    assert left_in(measure.store, 3) == (0, 0)
    assert len(rounds(measure.store)) == 2
    assert measure(overwrite=True, fails="2") is End.WHOLE
    assert (len(rounds(measure.store)), left_in(measure.store, 3)) == (1, (0, 1))
    assert measure() is End.WHOLE
    measure.store.unlink()
    remove_rounds(measure.store)
    assert not list(measure.store.parent.glob("x*.db")), "also those of a store that was removed by hand"


class Here:
    """A scheduler whose jobs run at once."""

    name = title = "here"

    def __init__(self, measure):
        self.measure, self.jobs, self.fails = measure, 0, ""

    def script(self, request):
        return "#!/bin/sh\n"

    def submit(self, script, request):
        self.jobs += 1
        self.measure(fails=self.fails, folder=script.parent)
        return str(self.jobs)

    def place(self, job):
        return Place(Phase.ENDED, "FAILED", exit_code=1)

    def cancel_command(self, job):
        return f"end {job}"


def test_a_job_is_submitted_for_the_points_that_failed(measure, tmp_path, capfd):
    scheduler = Here(measure)
    cluster = Cluster(Wanted("here"), scheduler, [Partition("main", True, True, 1, 1, 2, 2)], Site())
    concluded = []

    def conclude(folders, _output, end):
        ((place,),) = (folders,)
        concluded.append((end, len(outcomes_in(place / "x.db")[0])))
        return 0

    task = Task(
        "points", ["bench"], 1, "x.db", "points", 3, 3.0, lambda store: measure.study_of(store).missing(), conclude
    )
    for fails, jobs, measured in (("1,3", 1, 1), ("1", 2, 2), ("", 3, 3), ("", 3, 3)):
        scheduler.fails = fails
        assert run_jobs(task, cluster, tmp_path / "out", overwrite=False, quiet=False) == 0
        assert scheduler.jobs == jobs
        assert concluded[-1] == (End.WHOLE, measured)
    said = capfd.readouterr().out
    assert ", 1 of 3 points before): " in said
    assert "All 3 points are in " in said
