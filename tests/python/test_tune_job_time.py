"""The time that a job of a tuning asks for: it covers the rest of the search, and the comparison after it."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from culmen.bench.jobs.asked import Cluster, Wanted
from culmen.bench.jobs.folder import JobFolder
from culmen.bench.jobs.job import Job
from culmen.bench.jobs.submitting import request_for
from culmen.launch.scheduler.job import Partition
from culmen.launch.scheduler.site import read_site
from culmen.tune.command import tuner
from culmen.tune.command.line import Wanted as Line
from culmen.tune.command.recipe import recipe_of
from culmen.tune.command.submitted import task_for, task_for_line
from culmen.tune.hpl import submitted as hpl
from culmen.tune.hpl.options import Options
from culmen.tune.hpl.plan import Known, Plan
from culmen.tune.hpl.runs import CHECK, FOUND, KNOWN, SEARCH
from culmen.tune.hpl.scaling import Curve

import culmen

pytestmark = pytest.mark.no_numbers

PRESENT = "present.db"
MAIN = Partition("main", True, True, 4, 4, 8, 8)


@pytest.fixture
def asked_s(tmp_path, monkeypatch):
    """asked_s(make, …): the time of the job, from a function that makes its task from a cluster and a folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    cluster = Cluster(Wanted("slurm"), None, [MAIN], read_site(None))

    def time_of(make):
        task = make(cluster, tmp_path)
        job = Job(JobFolder(tmp_path / "main"), MAIN)
        return request_for(task, cluster, job, task.missing(job.folder.path / task.store)).time_s

    (tmp_path / "main").mkdir()
    return time_of


def runs_in(store, count):
    culmen.minimize(lambda p: p["x"], {"x": (0.0, 1.0)}, budget=count, store=store)


def line_of(runs, rounds):
    def make(cluster, folder):
        wanted = Line(None, False, runs, rounds, 100.0, None)
        return task_for_line("io", wanted, [], ["./app"], folder, cluster, lambda *_: 0)

    return make


def test_a_comparison_that_starts_again_has_its_whole_time(asked_s, tmp_path):
    for store, count in ((PRESENT, 1), (SEARCH, 20), ("comparison.db", 30)):
        runs_in(tmp_path / "main" / store, count)
    assert asked_s(line_of(20, 11)) >= 3 * 11 * 100.0, "another number of rounds replaces the former runs"


def test_the_rest_of_a_search_has_the_time_of_its_runs(asked_s, tmp_path):
    whole_s = asked_s(line_of(20, 3))
    runs_in(tmp_path / "main" / PRESENT, 1)
    runs_in(tmp_path / "main" / SEARCH, 15)
    assert (5 + 9) * 100.0 <= asked_s(line_of(20, 3)) <= whole_s - 15 * 100.0


@pytest.mark.parametrize("stop", [{"wall_time_s": 7200.0}, {"wall_time_s": 7200.0, "evaluations": 100_000}])
def test_a_search_with_a_limit_of_time_has_this_time(asked_s, tmp_path, stop):
    tables = {
        "name": "app",
        "space": {"n": {"type": "integer", "lower": 1, "upper": 9, "initial": 3}},
        "evaluator": {"command": ["true", "{n}"], "time_limit_s": 10.0},
        "stop": stop,
    }
    recipe = recipe_of(tables, tmp_path / "app.toml")
    time_s = asked_s(lambda cluster, folder: task_for(recipe, tmp_path / "app.toml", [], folder, cluster, lambda *_: 0))
    assert 7200 + 31 * 10 <= time_s <= 2 * 7200


def test_a_search_that_builds_has_time_for_its_builds(asked_s, tmp_path):
    tables = {
        "name": "app",
        "space": {"n": {"type": "integer", "lower": 1, "upper": 9, "initial": 3}},
        "evaluator": {"command": ["true", "{n}"], "time_limit_s": 10.0},
    }

    def time_s(**build):
        recipe = recipe_of(tables | build, tmp_path / "app.toml")
        file = tmp_path / "app.toml"
        return asked_s(lambda cluster, folder: task_for(recipe, file, [], folder, cluster, lambda *_: 0))

    assert time_s(build={"command": ["make"]}) >= time_s() + 900.0


def hpl_with(**options):
    return lambda cluster, _folder: hpl.task_for(Options(**options), [], cluster, lambda *_: 0)


def test_hpl_asks_for_its_comparison_although_earlier_runs_took_all_of_the_time(asked_s, tmp_path, monkeypatch):
    folder, hour = tmp_path / "main", 3600.0
    known = Known(Plan(2000, 0.5 * hour, 4000, 9000, 20000, 60.0), {}, [], {"present": Curve(1e-10, 0.0)}, 0.1)
    (folder / KNOWN).write_text(known.text(""))
    (folder / FOUND).write_text(json.dumps({"finalists": [], "ended": None}))
    for store in (SEARCH, CHECK):
        runs_in(folder / store, 2)
    monkeypatch.setattr(tuner, "read", lambda _store: SimpleNamespace(duration_s=np.array([hour])))
    assert 0.35 * hour <= asked_s(hpl_with(minutes=60)) <= hour
    by_size = hpl_with(minutes=1, size=9000, rounds=5)
    assert asked_s(by_size) >= 5 * 2 / 3 * 9000**3 * 1e-10, "the user's size needs more than a share of the minutes"


def test_hpl_asks_for_the_rest_of_its_search(asked_s, tmp_path):
    whole_s = asked_s(hpl_with(minutes=60))
    assert whole_s >= 3600
    assert asked_s(hpl_with(minutes=60, compare_random=True)) >= 3600 * 1.6
