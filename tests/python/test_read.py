"""culmen.read: a store as arrays."""

import io
import math
import time

import numpy as np
import pyarrow.parquet
import pytest
from culmen.report.build import report
from culmen.report.export import write_csv, write_parquet
from store_builder import BEGUN_S, build

import culmen
from culmen import _core

SPACE = {
    "x": {"type": "real", "lower": -5.0, "upper": 5.0},
    "n": {"type": "integer", "lower": 1.0, "upper": 9.0},
}
CONFIGURATION = {"name": "built", "seed": 1, "space": SPACE, "evaluator": {"python": "m.py:f"}}


@pytest.fixture
def store(tmp_path):
    candidates = [[0.5, 1.0], [1.5, 2.0], [2.5, 3.0], [3.5, 4.0], [4.5, 5.0]]
    outcomes = {
        0: {"value": 4.0, "extras": {"mass": 0.25}, "worker": 1},
        2: {"value": 1.0, "violation": 0.5, "extras": {"width": 3.0}, "attempt": 1},
        3: {"status": "timed out", "message": "took longer than 1 s", "epoch": 2, "duration_s": 1.0},
        1: {"value": 2.0, "worker": 3, "at_s": BEGUN_S + 99},
    }
    return build(
        tmp_path / "s.db", candidates, outcomes, told=[2, 0, 3, 1], cancelled=(4,), configuration=CONFIGURATION
    )


def test_columns_hold_every_evaluation_that_was_asked(store):
    columns = _core.Store.read(str(store)).columns()
    assert columns["evaluation"].tolist() == [0, 1, 2, 3, 4]
    assert columns["x"].tolist() == [[0.5, 1.0], [1.5, 2.0], [2.5, 3.0], [3.5, 4.0], [4.5, 5.0]]
    assert columns["status"].tolist() == [0, 0, 0, 3, -1]
    assert [_core.STATUSES[code] for code in (0, 3)] == ["ok", "timed out"]
    assert columns["told"].tolist() == [1, 3, 0, 2, -1]
    assert columns["cancelled"].tolist() == [0, 0, 0, 0, 1]
    assert columns["worker"].tolist() == [1, 3, 0, 0, -1]
    assert columns["epoch"].tolist() == [1, 1, 1, 2, -1]
    assert columns["attempt"].tolist() == [0, 0, 1, 0, -1]
    assert columns["at_s"][1] == BEGUN_S + 99
    assert columns["violation"][:4].tolist() == [0, 0, 0.5, 0]
    assert np.isnan(columns["value"][3:]).all()
    assert columns["extras"]["mass"][0] == 0.25
    assert np.isnan(columns["extras"]["width"][[0, 1, 3, 4]]).all()
    assert columns["values"].shape == (5, 0)


def test_several_values_are_columns_also_where_some_outcomes_have_fewer(tmp_path):
    outcomes = {0: {"values": [1.0, 2.0]}, 1: {"values": [3.0, 4.0, 5.0]}, 2: {"status": "failed"}}
    path = build(tmp_path / "s.db", [[0.0]] * 3, outcomes)
    values = _core.Store.read(str(path)).columns()["values"]
    assert values.shape == (3, 3)
    assert values[0, :2].tolist() == [1, 2]
    assert math.isnan(values[0, 2])
    assert values[1].tolist() == [3, 4, 5]
    assert np.isnan(values[2]).all()


def test_arrays_outlive_the_store(store):
    opened = _core.Store.read(str(store))
    x = opened.columns()["x"]
    del opened
    assert x.sum() == 27.5


def test_an_empty_store_has_empty_columns(tmp_path):
    table = culmen.read(build(tmp_path / "s.db", [], {}, configuration=CONFIGURATION))
    assert len(table) == 0
    assert table.best is None
    assert table.columns["value"].tolist() == []


def test_a_call_that_names_nobody_is_damage(tmp_path):
    path = build(tmp_path / "s.db", [[1.0]], {0: {"value": 1.0}}, told=[0], cancelled=(7,))
    with pytest.raises(culmen.StoreError, match="evaluation 7 was told, but was never asked for"):
        culmen.read(path)


def test_columns_are_called_as_the_user_calls_them(store):
    table = culmen.read(store)
    assert list(table.columns) == [
        *("evaluation", "status", "x", "n", "value", "mass", "width"),
        *("violation", "at_s", "duration_s", "worker", "epoch", "attempt", "told"),
    ]
    assert table.columns["status"].tolist() == ["ok", "ok", "ok", "timed out", "cancelled"]
    assert table.columns["n"].tolist() == [1, 2, 3, 4, 5]
    assert table.columns["n"].dtype.kind == "i"


def test_the_best_is_feasible_and_told(store):
    table = culmen.read(store)
    assert table.best == 1
    assert table.order.tolist() == [2, 0, 3, 1]
    assert table.named(1) == {"x": 1.5, "n": 2}


def test_a_maximized_objective_has_the_users_sign(tmp_path):
    objectives = {"cost": "minimize", "gain": "maximize"}
    path = build(
        tmp_path / "s.db", [[0.0, 1.0]], {0: {"values": [1.0, -2.0]}},
        configuration={**CONFIGURATION, "objectives": objectives},
    )  # fmt: skip
    columns = culmen.read(path).columns
    assert (columns["cost"][0], columns["gain"][0]) == (1, 2)


def test_a_name_that_is_taken_gets_its_kind_in_front(tmp_path):
    space = {"status": SPACE["x"], "value": SPACE["x"]}
    path = build(
        tmp_path / "s.db", [[0.0, 1.0]], {0: {"value": 3.0, "extras": {"value": 4.0, "told": 5.0}}},
        configuration={**CONFIGURATION, "space": space},
    )  # fmt: skip
    columns = culmen.read(path).columns
    kept = {name: column[0] for name, column in columns.items() if name.startswith(("param", "obj", "extra", "value"))}
    assert kept == {"parameter.status": 0, "value": 1, "objective.value": 3, "extra.value": 4, "extra.told": 5}


def test_the_store_of_a_program_has_numbered_parameters(tmp_path):
    table = culmen.read(build(tmp_path / "s.db", [[1.0, 2.0]], {0: {"value": 1.0}}))
    assert table.named(0) == {"x0": 1.0, "x1": 2.0}


def test_starts_of_a_master_are_told(store):
    starts = _core.Store.read(str(store)).starts()
    assert [(s["epoch"], s["host"], s["pid"]) for s in starts] == [(1, "node7", 4711), (2, "node7", 4711)]


def test_a_real_store_reads_as_its_run_told(tmp_path):
    path = tmp_path / "fit.db"
    result = culmen.minimize(
        lambda p: (p["x"] ** 2, {"twice": 2 * p["x"]}), {"x": (-5, 5)}, budget=60, workers=2, store=path, seed=3
    )
    table = culmen.read(path)
    assert len(table.order) == 60
    assert table.named(table.best) == result.best
    assert table.values[table.best, 0] == result.value
    assert np.allclose(table.extras["twice"], 2 * table.x[:, 0])
    assert table.configuration["seed"] == 3
    assert table.configuration["machine"]["python"]
    assert abs(table.at_s.min() - time.time()) < 3600
    figure = result.plot()
    assert [trace.name for trace in figure.data] == ["evaluation", "best so far"]


def test_the_report_of_a_lambda_has_the_name_of_its_store(tmp_path):
    store = tmp_path / "decay.db"
    culmen.minimize(lambda p: p["x"], {"x": (0, 1)}, budget=3, workers=1, store=store)
    assert "<title>decay</title>" in report(culmen.read(store))


@pytest.fixture
def mixed(tmp_path):
    """Choices, truth, and a depth that only the kernel "poly" has."""
    space = {
        "kernel": {"type": "categorical", "choices": ["rbf", "poly"]},
        "order": {"type": "ordinal", "choices": [1, 2.5, 4]},
        "fast": {"type": "boolean"},
        "depth": {"type": "real", "lower": 1.0, "upper": 9.0, "active_when": 'kernel == "poly"'},
    }
    candidates = [[0.0, 1.0, 1.0, 5.0], [1.0, 2.0, 0.0, 3.5]]
    outcomes = {0: {"value": 1.0}, 1: {"value": 2.0}}
    return culmen.read(build(tmp_path / "mixed.db", candidates, outcomes, configuration={"name": "m", "space": space}))


def test_choices_and_truth_are_their_own_values_and_what_is_not_active_is_none(mixed):
    columns = mixed.columns
    assert columns["kernel"].tolist() == ["rbf", "poly"]
    assert columns["order"].tolist() == [2.5, 4]
    assert columns["fast"].tolist() == [True, False]
    assert columns["depth"].tolist() == [None, 3.5]
    assert mixed.active.tolist() == [[True, True, True, False], [True] * 4]
    assert mixed.named(0) == {"kernel": "rbf", "order": 2.5, "fast": True}


def test_a_mixed_space_is_exported_and_drawn(mixed, tmp_path):
    out = io.StringIO()
    write_csv(mixed, out)
    assert [line.split(",")[2:6] for line in out.getvalue().splitlines()] == [
        ["kernel", "order", "fast", "depth"],
        ["rbf", "2.5", "true", ""],
        ["poly", "4", "false", "3.5"],
    ]
    write_parquet(mixed, str(tmp_path / "mixed.parquet"))
    rows = pyarrow.parquet.read_table(tmp_path / "mixed.parquet").to_pylist()
    assert [rows[0][name] for name in ("kernel", "order", "fast", "depth")] == ["rbf", 2.5, True, None]
    page = report(mixed)
    assert "not active" in page
    assert "Without the categorical parameter kernel." in page
