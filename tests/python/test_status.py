"""The output of `culmen status` about a store."""

import json
from types import SimpleNamespace

import pytest
from culmen.base.text import counts
from culmen.cli.work import summary
from culmen.cli.work.status import show_status
from culmen.fit.errors import ParameterError
from culmen.store.opening import Opened
from store_builder import build

import culmen
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
    assert (state(**told)["waiting"], state(**told)["proposed"]) == (3, 0)
    running = state(owned=True, owner="pid 7", **told)
    assert counts(running["told"], running["limit"], running["waiting"], running["proposed"]) == (
        "30, 3 more are stored and wait for an earlier one, 7 proposed"
    )
    assert counts(30, 100) == "30/100"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ", 39/s"),
        ({"wall_s": 62.0}, ", 40/s since the first worker joined, after 37 s"),
        ({"served_s": 0.0}, ""),
    ],
)
def test_the_rate_counts_from_the_first_worker(changes, said):
    assert summary._rate(SimpleNamespace(**({"wall_s": 25.5, "served_s": 25.0} | changes)), 1000) == said


def test_an_open_run_says_how_busy_its_workers_were():
    assert summary._busy(SimpleNamespace(evaluated_s=40.0, present_s=50.0)) == "80% of their time"
    assert summary._busy(SimpleNamespace(evaluated_s=0.0, present_s=0.0)) is None


COST_AND_GAIN = {"cost": "minimize", "gain": "maximize"}


def with_front(path, outcomes, objectives=COST_AND_GAIN):
    """A store; its objectives are minimized there. Its parameter is x = 0, 1, ..."""
    space = {"x": {"type": "real", "lower": 0.0, "upper": 100.0}}
    candidates = [[float(i)] for i in range(len(outcomes))]
    return build(
        path,
        candidates,
        dict(enumerate(outcomes)),
        configuration={"name": "s", "space": space, "objectives": objectives},
    )


def test_the_front_of_several_objectives_has_its_size_and_the_best_in_each(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CULMEN_PROGRESS", "none")
    outcomes = [{"values": [float(i), -(10.0 + i)]} for i in range(30)]
    outcomes += [{"values": [50.0, -20.0]}, {"values": [-9.0, -99.0], "violation": 1.0}, {"status": "failed"}]
    path = with_front(tmp_path / "s.db", outcomes)
    show_status(path, True, False, None)
    front = json.loads(capsys.readouterr().out)["front"]
    assert front["size"] == 30
    assert front["best"] == {
        "cost": {"evaluation": 0, "params": {"x": 0.0}, "values": {"cost": 0.0, "gain": 10.0}},
        "gain": {"evaluation": 29, "params": {"x": 29.0}, "values": {"cost": 29.0, "gain": 39.0}},
    }
    members = [member["evaluation"] for member in front["members"]]
    assert (len(members), members[0], members[-1]) == (12, 0, 29)
    show_status(path, False, False, None)
    shown = capsys.readouterr().out
    assert "Pareto front: 30 candidates (12 of 30 shown)" in " ".join(shown.split())
    assert "best value" not in shown
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if line.startswith("│")]
    assert rows[0] == ["0", "10", "0", "cost"]
    assert rows[11] == ["29", "39", "29", "gain"]


def test_the_best_in_an_objective_is_shown_wherever_it_stands_on_the_front(tmp_path):
    rng = [(i * 7919) % 1009 for i in range(400)]
    outcomes = [{"values": [float(i), 400.0 - i, float(rng[i])]} for i in range(400)]
    path = with_front(tmp_path / "s.db", outcomes, dict.fromkeys("abc", "minimize"))
    front = summary.state_of(Opened(path))["front"]
    assert front["best"]["c"]["evaluation"] == min(range(400), key=rng.__getitem__)
    assert front["best"]["c"] in front["members"]


def test_the_front_in_a_store_is_the_front_of_the_result(tmp_path):
    path = tmp_path / "s.db"
    result = culmen.minimize(
        lambda p: {"a": p["x"] ** 2, "b": (p["x"] - 1) ** 2 + p["y"], "c": -p["y"]},
        {"x": (-2, 2), "y": (0, 1)},
        objectives={"a": "minimize", "b": "minimize", "c": "maximize"},
        budget=60,
        store=path,
    )
    front = summary.state_of(Opened(path))["front"]
    assert front["size"] == len(result.front)
    assert front["best"]["c"]["values"]["c"] == max(trade.values["c"] for trade in result.front)


@pytest.mark.parametrize("objectives", [COST_AND_GAIN, {"cost": "minimize"}])
def test_there_is_no_front_of_one_objective_or_of_failures(objectives, tmp_path):
    outcomes = [{"status": "failed", "message": "no"}] if len(objectives) > 1 else [{"value": 1.0}]
    state = summary.state_of(Opened(with_front(tmp_path / "s.db", outcomes, objectives)))
    assert state["front"] is None
    assert summary.views(state)


def test_beside_one_error_a_value_is_rounded_to_that_one():
    p = ParameterError("a", 4.51234, error=0.12, scaled=0.039)
    assert (p.shown_value(alone=True), p.shown_value()) == ("4.51", "4.512")
