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

    minimized(optimizer, f, 200, figures=lambda x, y: {"sum": x + y})
    assert found["best"] == pytest.approx(3.2, abs=1e-3)


def test_constraints_of_the_space_are_never_violated():
    optimizer = Optimizer(culmen.Space(BOX, ["x + y <= 2"]))
    seen = []
    minimized(optimizer, lambda x, y: seen.append(x + y) or (x - 3) ** 2 + (y - x) ** 2, 200)
    assert max(seen) <= 2


def test_a_figure_of_a_limit_has_to_be_told():
    optimizer = Optimizer(BOX, limits={"sum": {"upper": 2}})
    (candidate,) = optimizer.ask()
    with pytest.raises(InputError, match=r"Optimizer\.tell: figures lack 'sum', which limits name"):
        optimizer.tell(candidate, 1.0)
    optimizer.tell(candidate, None)


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda: Optimizer(BOX, seed=-1), "Optimizer: seed = -1: a whole number from 0 to"),
        (lambda: Optimizer(BOX, evaluations=-1), "Optimizer: evaluations = -1: a whole number from 0 to"),
        (lambda: Optimizer(BOX, workers=0), "Optimizer: workers = 0: a whole number from 1 to"),
        (lambda: Optimizer(BOX, options=["a"]), "Optimizer: options = ['a']: a dict such as"),
        (lambda: Optimizer(BOX, options={"generational": False}), "generational is an argument of its own here"),
        (lambda: Optimizer(BOX).tell({"x": 1}, 1), "Optimizer.tell: {'x': 1} is no candidate; give what ask"),
        (lambda: Optimizer(BOX).cancel(3), "Optimizer.cancel: 3 is no candidate; give what ask"),
        (lambda: (o := Optimizer(BOX)).tell(o.ask()[0], "a"), "Optimizer.tell: 'a': a number, a sequence of numbers"),
        (lambda: Optimizer(BOX, result="residual"), "Optimizer: result = 'residual': 'value' or 'residuals' is wanted"),
        (lambda: Optimizer(BOX, objectives=0), "Optimizer: objectives = 0: a whole number from 1 to"),
        (lambda: Optimizer(BOX, starts=[[1]]), "Optimizer: the start [1] has 1 values, 2 are wanted"),
        (
            lambda: (o := Optimizer(BOX, objectives=2)).tell(o.ask()[0], [1, 2, 3]),
            "Optimizer.tell: 3 values are given, objectives = 2 are wanted",
        ),
        (
            lambda: (o := Optimizer(BOX, objectives=2)).tell(o.ask()[0], 1),
            "Optimizer.tell: 1 values are given, objectives = 2 are wanted",
        ),
        (lambda: culmen.minimize(abs, BOX, options=["a"], budget=9), "options = ['a']: a dict such as"),
        (lambda: Optimizer(BOX, "cmaes", options={"sigma": None}), "option 'sigma' is None; a number, a word, or"),
        (lambda: Optimizer(BOX, "cmaes", options={"sigma": [0.1]}), "option 'sigma' is [0.1]; a number, a word, or"),
        (lambda: Optimizer(BOX, "cmaes", options={1: 0.1}), "option 1: its name is wanted, a text"),
        (lambda: Optimizer(BOX, starts=0.5), "Optimizer: starts = 0.5: a list of starts is wanted"),
        (lambda: Optimizer(BOX, starts=np.array([0.2, 0.3])), "Optimizer: starts = array([0.2, 0.3]): a list of"),
        (lambda: Optimizer(BOX, limits={5: {"upper": 1}}), "Optimizer: limits = {5: {'upper': 1}}: a dict such as"),
        (lambda: Optimizer(BOX, []), "Optimizer: optimizer = []: a name or a list of names such as"),
        (lambda: Optimizer(BOX, 5), "Optimizer: optimizer = 5: a name or a list of names such as"),
        (lambda: Optimizer(BOX, ["cmaes", ["de"]]), "Optimizer: optimizer = ['cmaes', ['de']]: a name or a list of"),
        (lambda: Optimizer(BOX, generational="no"), "Optimizer: generational = 'no': True or False is wanted"),
        (lambda: Optimizer(BOX, starts=[0.2, 0.3]), "Optimizer: starts = [0.2, 0.3]: a list of starts is wanted"),
        (lambda: Optimizer(BOX, limits=["s"]), "Optimizer: limits = ['s']: a dict such as"),
        (lambda: Optimizer(BOX, limits={"s": "<= 2"}), "Optimizer: limits = {'s': '<= 2'}: a dict such as"),
        (lambda: Optimizer(BOX, limits={"s": {"uper": 2}}), "limit 's' has no key 'uper'; known are lower and upper"),
        (lambda: Optimizer(BOX, limits={"s": {"upper": "2"}}), "limit 's': upper = '2': a number is wanted"),
        (
            lambda: (Optimizer(BOX, "random", seed=1)).tell(Optimizer(BOX, "random", seed=2).ask()[0], 1.0),
            "it was never asked for",
        ),
        (
            lambda: ((o := Optimizer(BOX, "random")).ask(), o.tell(Optimizer(BOX, "random", seed=2).ask()[0], 1.0)),
            "is not what was asked for, which is Candidate(id=0",
        ),
    ],
)
def test_wrong_calls_are_answered_by_a_sentence(call, answer):
    with pytest.raises(InputError, match=re.escape(answer)):
        call()


def test_that_it_cannot_be_pickled_is_said_with_what_to_do():
    with pytest.raises(TypeError, match="with the same seed, asks and tells another one is the same"):
        pickle.dumps(Optimizer(BOX))
