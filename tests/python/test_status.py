"""What `culmen status` makes of a store."""

from types import SimpleNamespace

import pytest
from culmen.base.text import counts
from culmen.cli.work import summary
from culmen.store.opening import Opened

from culmen import _core

EMPTY = {"owned": False, "owner": "", "finished": "", "best": None, "recommended": None, "failures": []}
COUNTS = {"asked": 0, "outcomes": 0, "told": 0}
FAILURES = [
    {"status": "failed", "count": 12, "first": 3, "message": "ValueError: negative mass\n  File model.py"},
    {"status": "timed out", "count": 1, "first": 7, "message": "took longer than 10 s"},
]


@pytest.fixture
def state(monkeypatch, tmp_path):
    def of(**changes):
        store = SimpleNamespace(
            name="study",
            fingerprint="",
            created_s=0.0,
            configuration="",
            log_is_missing=False,
            summary=lambda: {**EMPTY, **COUNTS, **changes},
            note=lambda _: "",
        )
        monkeypatch.setattr(_core.Store, "read", lambda _: store)
        (tmp_path / "study.db").touch()
        return summary.state_of(Opened(tmp_path / "study.db"))

    return of


@pytest.mark.parametrize(
    ("changes", "expected", "resumable"),
    [
        ({}, "stopped", True),
        ({"finished": "target"}, "finished (target reached)", False),
        ({"owned": True, "owner": "pid 7"}, "running (pid 7)", False),
        ({"owned": True, "owner": "pid 7", "finished": "target"}, "running (pid 7)", False),
    ],
)
def test_who_runs_a_study_comes_before_how_it_ended(state, changes, expected, resumable):
    seen = state(**changes)
    assert (seen["state"], seen["resumable"]) == (expected, resumable)


def test_failures_name_the_folder_of_their_first_example(state, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CULMEN_PROGRESS", "none")
    (tmp_path / "study.work" / "7").mkdir(parents=True)
    failures = state(failures=FAILURES)["failures"]
    assert [entry.get("folder") for entry in failures] == [None, str(tmp_path / "study.work" / "7")]
    summary.console().print(summary._failures_table(failures))
    shown = [" ".join(line.replace("│", " ").split()) for line in capsys.readouterr().out.splitlines()]
    assert "failed 12 3 ValueError: negative mass" in shown
    assert "timed out 1 7 took longer than 10 s (see study.work/7)" in shown


def test_evaluations_are_counted_as_the_progress_counts_them(state):
    told = {"asked": 40, "outcomes": 33, "told": 30}
    assert state(**told)["in_flight"] == 0
    running = state(owned=True, owner="pid 7", **told)
    assert counts(running["told"], running["limit"], running["in_flight"]) == "30, 7 in flight"
    assert counts(30, 100) == "30/100"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "60% of the time; with generational = false none waits, but candidates depend on timing"),
        ({"generational": False}, None),
        ({"evaluated_s": 80.0}, None),
        ({"workers": 1}, None),
        ({"wall_s": 3.0, "evaluated_s": 4.8}, None),
        ({"evaluations": 10_000}, None),  # of 4 ms each
        ({"optimizer": "pycma"}, None),  # which knows generations only
    ],
)
def test_a_long_run_says_how_long_its_workers_waited_for_each_other(changes, said):
    run = {"generational": True, "workers": 4, "wall_s": 25.0, "evaluated_s": 40.0, "optimizer": "de"} | changes
    here = run.pop("evaluations", 1000)
    assert summary._waited(SimpleNamespace(**run), here) == said
