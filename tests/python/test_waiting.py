"""The end of a run says how long workers waited, and why. The report shows the longest evaluation."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from culmen.cli.work.waiting import waited
from culmen.report.build import report
from culmen.report.facts import standing
from culmen.report.timeline import occupation, timeline, totals
from culmen.store.opening import Opened
from store_builder import BEGUN_S, build

import culmen

RUN = {"generational": True, "workers": 4, "wall_s": 25.0, "evaluated_s": 40.0, "present_s": 100.0, "optimizer": "de"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "60% of their time; with generational = false they do not wait, but candidates depend on timing"),
        ({"generational": False}, None),
        ({"evaluated_s": 80.0}, None),
        ({"workers": 1}, None),
        ({"wall_s": 3.0, "present_s": 12.0, "evaluated_s": 4.8}, None),
        ({"wall_s": 1000.0, "present_s": 42.0}, None),  # they joined late
        (
            {"wall_s": 1000.0},
            "60% of their time; with generational = false they do not wait, but candidates depend on timing",
        ),
        ({"evaluations": 10_000}, None),  # of 4 ms each
        ({"optimizer": "pycma"}, None),  # which knows generations only
    ],
)
def test_a_long_run_says_how_long_its_workers_waited_for_each_other(changes, said):
    run = RUN | changes
    here = run.pop("evaluations", 1000)
    assert waited(SimpleNamespace(**run), here, None) == said


@pytest.mark.parametrize(
    ("longest", "evaluated_s", "said"),
    [
        (
            {"value": 1.0, "duration_s": 24.0},
            30.0,
            "70% of their time; evaluation 3 took 24 s (the median is 1 s), and the others waited for it; "
            "time_limit_s ends evaluations that take too long",
        ),
        (
            {"status": "timed out", "duration_s": 24.0},
            30.0,
            "70% of their time; evaluation 3 took 24 s, its time limit (the median is 1 s); a lower time_limit_s makes "
            "this wait shorter",
        ),
        (
            None,
            30.0,
            "70% of their time; evaluation 3 still ran when the run ended, after up to 24 s; if such an evaluation "
            "hangs, time_limit_s ends it",
        ),
        (
            {"value": 1.0, "duration_s": 3.0},
            9.0,
            "91% of their time; with generational = false they do not wait, but candidates depend on timing",
        ),
    ],
)
def test_the_advice_fits_the_reason(tmp_path, longest, evaluated_s, said):
    outcomes = {i: {"value": 1.0, "duration_s": 1.0} for i in range(7)} | {3: longest}
    outcomes = {i: outcome for i, outcome in outcomes.items() if outcome}
    path = build(tmp_path / "s.db", [[0.0]] * 7, outcomes)
    assert waited(SimpleNamespace(**(RUN | {"evaluated_s": evaluated_s})), 7, Opened(path)) == said


@pytest.fixture
def hung(tmp_path):
    """Two workers; worker 1 has been at evaluation 3 for 60 s."""
    rows = {i: {"value": 1.0, "worker": 0, "at_s": BEGUN_S + 4 + i, "duration_s": 1.0} for i in range(3)}
    table = culmen.read(build(tmp_path / "s.db", [[0.0]] * 4, rows))
    since_s = BEGUN_S + 3
    now_s = since_s + 60
    table.summary |= {"owned": True, "owner": "host, process 7", "running": (3, 1, since_s)}
    return SimpleNamespace(table=table, now_s=now_s)


def test_the_report_shows_the_evaluation_that_still_runs(hung, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: hung.now_s)
    total = totals(hung.table)
    assert (total.workers, total.wall_s, total.computed_s, total.running_s) == (2, 60, 3, 60)
    assert total.waited_s == 57
    shares = occupation(hung.table)
    width = shares.edges_s[1]
    assert shares.workers.tolist() == [0, 1]
    assert np.allclose(shares.running.sum(axis=1) * width, [0, 60])
    assert [trace["name"] for trace in timeline(hung.table).data] == ["computed", "still running"]
    facts = standing(hung.table)
    assert facts["oldest running"] == "evaluation 3, for 0:01:00, on worker 1"
    assert facts["workers"] == (
        "2: 2.5 % of their time for successful evaluations, 0 % for failed ones, 50 % for one that still runs, "
        "47.5 % waiting"
    )
    assert "evaluation 3, for 0:01:00, on worker 1" in report(hung.table)


def test_the_report_names_the_longest_evaluation(tmp_path):
    rows = {i: {"value": 1.0, "worker": 0, "at_s": BEGUN_S + 4 + i, "duration_s": 1.0} for i in range(3)}
    rows[1] = {"status": "timed out", "worker": 2, "at_s": BEGUN_S + 90, "duration_s": 80.0}
    facts = standing(culmen.read(build(tmp_path / "s.db", [[0.0]] * 4, rows)))
    assert facts["longest evaluation"] == "evaluation 1, 0:01:20, on worker 2, timed out (median of all: 1 s)"
    assert "oldest running" not in facts
