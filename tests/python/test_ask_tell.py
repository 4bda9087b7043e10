"""culmen.Optimizer, for programs that evaluate by themselves."""

import pickle
import re

import numpy as np
import pytest

import culmen
from culmen import InputError, Optimizer

BOX = {"x": (-5, 5), "y": (-5, 5)}


def minimized(optimizer: Optimizer, f, n: int, **told) -> float:
    best = float("inf")
    while n > 0:
        for candidate in optimizer.ask(min(n, 8)):
            value = f(**candidate.params)
            optimizer.tell(candidate, value, **{name: figure(**candidate.params) for name, figure in told.items()})
            best, n = min(best, value), n - 1
    return best


def test_starts_are_asked_for_first():
    optimizer = Optimizer(BOX, starts=[{"x": 1, "y": 2}, [3, 4]])
    assert sorted(tuple(c.params.values()) for c in optimizer.ask(2)) == [(1, 2), (3, 4)]


def test_limits_of_figures_that_are_told_hold():
    optimizer = Optimizer(BOX, limits={"sum": {"upper": 2}})
    found = {}

    def f(x, y):
        value = (x - 3) ** 2 + (y - x) ** 2
        if x + y <= 2:
            found["best"] = min(found.get("best", value), value)
        return value

    minimized(optimizer, f, 200, extras=lambda x, y: {"sum": x + y})
    assert found["best"] == pytest.approx(3.2, abs=1e-3)


def test_constraints_of_the_space_are_never_violated():
    optimizer = Optimizer(culmen.Space(BOX, ["x + y <= 2"]))
    seen = []
    minimized(optimizer, lambda x, y: seen.append(x + y) or (x - 3) ** 2 + (y - x) ** 2, 200)
    assert max(seen) <= 2


def test_a_figure_of_a_limit_has_to_be_told():
    optimizer = Optimizer(BOX, limits={"sum": {"upper": 2}})
    (candidate,) = optimizer.ask()
    with pytest.raises(InputError, match=r"Optimizer\.tell: extras has no 'sum', which limits needs"):
        optimizer.tell(candidate, 1.0)
    optimizer.tell(candidate, None)


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda: Optimizer(BOX, seed=-1), "Optimizer: seed must be a whole number from 0 to"),
        (lambda: Optimizer(BOX, evaluations=-1), "Optimizer: evaluations must be a whole number from 0 to"),
        (lambda: Optimizer(BOX, workers=0), "Optimizer: workers must be a whole number from 1 to"),
        (lambda: Optimizer(BOX, options=["a"]), "Optimizer: options must be a dict such as"),
        (
            lambda: Optimizer(BOX, options={"generational": False}),
            "generational is not an option; give it as an argument",
        ),
        (lambda: Optimizer(BOX).tell({"x": 1}, 1), "Optimizer.tell: the candidate must be one that ask"),
        (lambda: Optimizer(BOX).cancel(3), "Optimizer.cancel: the candidate must be one that ask() returned, got 3"),
        (
            lambda: (o := Optimizer(BOX)).tell(o.ask()[0], "a"),
            "Optimizer.tell: got 'a'; the value must be a number, a sequence of numbers",
        ),
        (lambda: Optimizer(BOX, result="residual"), "Optimizer: result must be 'value' or 'residuals', got 'residual'"),
        (lambda: Optimizer(BOX, objectives=0), "Optimizer: objectives must be a whole number from 1 to"),
        (lambda: Optimizer(BOX, starts=[[1]]), "Optimizer: the start [1] must have 2 values, got 1"),
        (
            lambda: (o := Optimizer(BOX, objectives=2)).tell(o.ask()[0], [1, 2, 3]),
            "Optimizer.tell: objectives = 2 needs 2 values, got 3",
        ),
        (
            lambda: (o := Optimizer(BOX, objectives=2)).tell(o.ask()[0], 1),
            "Optimizer.tell: objectives = 2 needs 2 values, got 1",
        ),
        (
            lambda: (o := Optimizer(BOX)).tell(o.ask()[0], 1.0, figures={"sum": 2.0}),
            "Optimizer.tell: there is no argument 'figures'; its new name is 'extras'",
        ),
        (
            lambda: (o := Optimizer(BOX)).tell(o.ask()[0], 1.0, extra={"sum": 2.0}),
            "Optimizer.tell: there is no argument 'extra'; did you mean 'extras'?",
        ),
        (
            lambda: (o := Optimizer(BOX)).tell(o.ask()[0], 1.0, {}, 0.5),
            "Optimizer.tell: arguments after candidate and value and extras must be given by name, such as "
            "duration_s=0.5",
        ),
        (
            lambda: (o := Optimizer(BOX)).tell(o.ask()[0]),
            "Optimizer.tell: call it as optimizer.tell(candidate, value)",
        ),
        (lambda: culmen.minimize(abs, BOX, options=["a"], budget=9), "options must be a dict such as"),
        (
            lambda: Optimizer(BOX, "cmaes", options={"sigma": None}),
            "option 'sigma' must be a number, a string, true or false, got None",
        ),
        (
            lambda: Optimizer(BOX, "cmaes", options={"sigma": [0.1]}),
            "option 'sigma' must be a number, a string, true or false, got [0.1]",
        ),
        (lambda: Optimizer(BOX, "cmaes", options={1: 0.1}), "option names must be strings, got 1"),
        (lambda: Optimizer(BOX, starts=0.5), "Optimizer: starts must be a list, each"),
        (lambda: Optimizer(BOX, starts=np.array([0.2, 0.3])), "Optimizer: starts must be a list, each"),
        (lambda: Optimizer(BOX, limits={5: {"upper": 1}}), "Optimizer: limits must be a dict such as"),
        (lambda: Optimizer(BOX, []), "Optimizer: optimizer must be a name, or a list of names such as"),
        (lambda: Optimizer(BOX, 5), "Optimizer: optimizer must be a name, or a list of names such as"),
        (lambda: Optimizer(BOX, ["cmaes", ["de"]]), "Optimizer: optimizer must be a name, or a list of names such as"),
        (lambda: Optimizer(BOX, generational="no"), "Optimizer: generational must be True or False, got 'no'"),
        (lambda: Optimizer(BOX, starts=[0.2, 0.3]), "Optimizer: starts must be a list, each"),
        (lambda: Optimizer(BOX, limits=["s"]), "Optimizer: limits must be a dict such as"),
        (lambda: Optimizer(BOX, limits={"s": "<= 2"}), "Optimizer: limits must be a dict such as"),
        (lambda: Optimizer(BOX, limits={"s": {"uper": 2}}), "limit 's': the keys are lower and upper, got 'uper'"),
        (lambda: Optimizer(BOX, limits={"s": {"upper": "2"}}), "limit 's': upper must be a number, got '2'"),
        (
            lambda: (Optimizer(BOX, "random", seed=1)).tell(Optimizer(BOX, "random", seed=2).ask()[0], 1.0),
            "it was never asked for",
        ),
        (
            lambda: ((o := Optimizer(BOX, "random")).ask(), o.tell(Optimizer(BOX, "random", seed=2).ask()[0], 1.0)),
            "differs from the candidate of this id, Candidate(id=0",
        ),
    ],
)
def test_wrong_calls_are_answered_by_a_sentence(call, answer):
    with pytest.raises(InputError, match=re.escape(answer)):
        call()


def test_that_it_cannot_be_pickled_is_said_with_what_to_do():
    with pytest.raises(TypeError, match="make another one with the same seed and repeat its asks and tells"):
        pickle.dumps(Optimizer(BOX))
