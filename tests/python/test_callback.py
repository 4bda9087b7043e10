"""A program looks at the evaluations of its study: while it runs, and afterwards without a store."""

import pickle
import threading
import time

import numpy as np
import pytest
from culmen.store.opening import open_store
from harness import HANGS_S

import culmen

BOX = {"x": (-1, 1), "y": (-1, 1)}


def bowl(p):
    return (p["x"] - 0.3) ** 2 + p["y"] ** 2, {"twice": 2 * p["x"]}


def half_fails(p):
    if p["x"] > 0:
        raise ValueError("positive")
    return -p["x"]


def minimize(f=bowl, **given):
    given = {"optimizer": "random", "budget": 60, "workers": 2, **given}
    return culmen.minimize(f, BOX, **given)


def test_it_gets_every_evaluation_in_the_order_of_the_optimizer_and_in_the_callers_thread(tmp_path):
    seen, threads = [], set()

    def watch(evaluated):
        seen.append(evaluated)
        threads.add(threading.current_thread())

    result = minimize(half_fails, callback=watch, store=tmp_path / "s.db")
    assert threads == {threading.current_thread()}
    stored = culmen.read(tmp_path / "s.db")
    assert [e.evaluation for e in seen] == stored.evaluation[stored.order].tolist()
    assert [e.x for e in seen] == stored.x[stored.order].tolist()
    assert [e.evaluations for e in seen] == list(range(1, 61))
    failed = [e for e in seen if not e.ok]
    assert len(failed) == result.failed > 0
    assert all(e.status == "failed" and e.value is None and "positive" in e.message for e in failed)
    assert (seen[-1].best, seen[-1].best_value) == (result.best, result.value)
    assert seen[0].params == {"x": seen[0].x[0], "y": seen[0].x[1]}


def test_the_best_so_far_is_feasible_and_in_the_users_sign():
    seen = []
    result = minimize(
        lambda p: {"gain": p["x"], "stress": p["x"]},
        objectives={"gain": "maximize"},
        limits={"stress": {"upper": 0.0}},
        callback=seen.append,
    )
    feasible = [e.value for e in seen if e.violation == 0]
    assert 0 < len(feasible) < len(seen)
    assert seen[-1].best_value == result.value == max(feasible)
    since = next(e.evaluation for e in seen if e.violation == 0)
    best = [e.best_value for e in seen[since:]]
    assert best == sorted(best)


@pytest.mark.parametrize("way", [True, np.True_, StopIteration])
def test_it_stops_the_study(way, tmp_path):
    seen = []

    def watch(intermediate_result):  # the name of SciPy
        seen.append(intermediate_result)
        if len(seen) == 5:
            if way is StopIteration:
                raise StopIteration
            return way
        return None

    result = minimize(budget=10**9, callback=watch, store=tmp_path / "s.db")
    assert len(seen) == 5
    assert (result.reason, result.final) == ("callback", False)
    assert result.message == f"stopped by the callback after {result.evaluations} evaluations"
    assert result.best is not None
    several = []
    minimize(budget=result.evaluations + 7, callback=several.append, store=tmp_path / "s.db")
    assert [e.evaluations for e in several] == list(range(result.evaluations + 1, result.evaluations + 8))
    assert several[0].best_value <= result.value


def test_it_stops_a_study_that_has_ended_meanwhile_too(tmp_path):
    store = tmp_path / "s.db"

    def watch(evaluated):
        deadline = time.monotonic() + HANGS_S
        while not open_store(store).summary["finished"]:
            assert time.monotonic() < deadline, "the study has not ended"
        return evaluated.evaluations == 10

    result = minimize(budget=50, callback=watch, store=store)
    assert (result.reason, result.evaluations, result.final) == ("callback", 50, True)
    assert result.message == (
        "stopped by the callback; the study had already ended: limit of evaluations reached after 50 evaluations"
    )


def test_after_a_resume_an_infeasible_best_gives_way_to_a_feasible_one(tmp_path):
    """The feasible candidates have greater values than the infeasible start."""
    given = {"limits": {"s": {"upper": 0.0}}, "store": tmp_path / "s.db", "starts": [{"x": 1, "y": 0}]}

    def f(p):
        return -p["x"], {"s": p["x"]}

    seen = []
    first = minimize(f, budget=1, **given)
    result = minimize(f, budget=60, callback=seen.append, **given)
    assert first.violation > 0
    assert result.violation == 0
    assert (seen[-1].best, seen[-1].best_value) == (result.best, result.value)


def test_a_slow_one_still_gets_all_of_them():
    seen = []

    def watch(evaluated):
        if not seen:  # the study ends meanwhile, or nearly
            threading.Event().wait(0.5)
        seen.append(evaluated.evaluations)

    minimize(budget=3000, callback=watch)
    assert seen == list(range(1, 3001))


def test_what_it_returns_otherwise_changes_nothing():
    results = [minimize(callback=lambda e, value=value: value) for value in (None, 1, "stop", False)]
    assert {(r.reason, r.value) for r in results} == {("evaluations", minimize().value)}


def test_another_exception_ends_the_study_and_is_raised(tmp_path):
    def watch(evaluated):
        raise ZeroDivisionError("in a callback")

    with pytest.raises(ZeroDivisionError, match="in a callback"):
        minimize(budget=10**9, callback=watch, store=tmp_path / "s.db")
    told = len(culmen.read(tmp_path / "s.db").order)
    assert minimize(budget=told + 5, store=tmp_path / "s.db").evaluations == told + 5


def test_a_study_has_it_too(tmp_path):
    (tmp_path / "model.py").write_text("def f(p):\n    return p['x'] ** 2\n")
    study = '[space]\nx = { type = "real", lower = -1.0, upper = 1.0 }\n[evaluator]\npython = "model.py:f"\n'
    (tmp_path / "s.toml").write_text(f'{study}[stop]\nevaluations = 1000000\n[optimizer]\nname = "random"\n')
    study = culmen.Study.from_file(tmp_path / "s.toml", store=tmp_path / "s.db")
    assert study.run(callback=lambda e: e.evaluations == 3).reason == "callback"


@pytest.mark.parametrize(
    ("callback", "said"),
    [
        (3, "callback must be a function, got 3"),
        (
            lambda x, f: None,
            "callback: lambda x, f: takes 2 arguments, but culmen passes one; write lambda p: … p.value",
        ),
    ],
)
def test_what_cannot_be_called_is_refused_before_the_study(callback, said):
    with pytest.raises(culmen.InputError) as raised:
        minimize(callback=callback)
    assert str(raised.value).startswith(f"culmen.minimize: {said}")


def test_names_of_other_libraries_lead_to_ours():
    seen = []
    minimize(budget=1, callback=seen.append)
    with pytest.raises(AttributeError, match="an evaluation has no 'number'; here it is called 'evaluation'"):
        _ = seen[0].number
    with pytest.raises(AttributeError, match=r"an evaluation has no 'foo'; it has status, value, .*best_value$"):
        _ = seen[0].foo
    with pytest.raises(AttributeError, match="an evaluation has no 'fun'; here it is called 'value'"):
        _ = seen[0].fun


def test_the_evaluations_of_a_study_without_a_store_are_those_that_a_store_has(tmp_path):
    kept = minimize(half_fails).read()
    stored = minimize(half_fails, store=tmp_path / "s.db").read()
    assert list(kept.columns) == list(stored.columns)
    for name in ("evaluation", "status", "x", "y", "value", "told", "violation", "epoch", "attempt"):
        np.testing.assert_array_equal(kept.columns[name], stored.columns[name])
    assert kept.best == stored.best
    assert set(kept.columns["worker"]) <= {0, 1}
    assert (kept.columns["at_s"] > 1e9).all()
    assert [row["message"] for row in kept.outcomes()] == [row["message"] for row in stored.outcomes()]
    assert minimize().read().columns["twice"].shape == (60,)
    assert "Evaluations(half_fails: 60 asked, 60 told" in repr(kept)


def test_its_plot_needs_no_store():
    assert type(minimize().plot()).__name__ == "Figure"


def test_several_objectives_and_residuals_are_kept():
    objectives = {"a": "minimize", "b": "maximize"}
    kept = minimize(lambda p: {"a": p["x"], "b": p["y"]}, objectives=objectives).read()
    np.testing.assert_array_equal(kept.values, kept.x)
    fit = culmen.minimize(lambda p: [p["x"], p["y"], 1.0], BOX, result="residuals", budget=10).read()
    assert set(fit.residuals.tolist()) == {3}
    assert next(fit.outcomes())["residuals"][2] == 1.0


def test_a_copy_of_a_result_in_another_process_has_no_evaluations():
    copy = pickle.loads(pickle.dumps(minimize()))
    with pytest.raises(culmen.InputError, match="no evaluations: it comes from another process"):
        copy.read()


def test_only_the_latest_are_kept_in_the_memory_that_there_is(monkeypatch):
    from culmen.run import study

    monkeypatch.setattr(study, "_HISTORY_BYTES", 20_000)
    result = minimize(budget=2000)
    kept = result.read()
    assert 10 < len(kept) < 200
    assert kept.evaluation.tolist() == list(range(2000 - len(kept), 2000))
    assert kept.told.tolist() == kept.evaluation.tolist()


def test_arrays_of_one_number_are_bounds_and_starts():
    one = np.array([0.25])
    result = culmen.minimize(lambda p: (p["x"] - 0.25) ** 2, {"x": (-one, 2 * one)}, budget=5, starts=[{"x": one}])
    assert result.value == 0


def test_it_sees_fixed_parameters():
    seen = []
    result = culmen.minimize(
        lambda p: (p["a"] - 1) ** 2 + p["n"], {"n": (0, 9), "a": (-5, 5)}, fix={"n": 5}, budget=9, callback=seen.append
    )
    assert all(e.x[0] == 5 and e.params["n"] == 5 and len(e.x) == 2 for e in seen)
    assert result.x in [e.x for e in seen]
