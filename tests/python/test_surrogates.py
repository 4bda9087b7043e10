"""Half characters (lone surrogates) in names and choices are refused in one sentence."""

import optuna
import pytest
from culmen.optuna_sampler import CulmenSampler

import culmen
from culmen import InputError

pytestmark = pytest.mark.no_numbers

HALF = "\ud800"
SPACE = {"x": (0, 1)}
TWO = ["a", "b"]


def named_half(p):
    return p["x"]


named_half.__name__ = named_half.__qualname__ = HALF


def minimized(**arguments):
    return culmen.minimize(lambda p: p["x"], SPACE, budget=3, **arguments)


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (lambda: culmen.Space({HALF: (0, 1)}), "the name of a parameter"),
        (lambda: culmen.Optimizer({HALF: (0, 1)}), "the name of a parameter"),
        (lambda: culmen.Space({"m": culmen.categorical([HALF, "b"])}), "parameter 'm'"),
        (lambda: culmen.Space({"m": culmen.categorical(TWO, initial=HALF)}), "parameter 'm'"),
        (lambda: culmen.Space({"x": culmen.real(0, 1, active_when=HALF)}), "parameter 'x'"),
        (lambda: culmen.Space(SPACE, constraints=[HALF]), "constraints"),
        (lambda: culmen.Space(SPACE, constraints={HALF: "x <= 1"}), "constraints"),
        (lambda: culmen.Space({"m": culmen.categorical(TWO)}).fixing({"m": HALF}), "parameter 'm'"),
        (lambda: culmen.Optimizer(SPACE, HALF), "Optimizer"),
        (lambda: culmen.Optimizer(SPACE, starts=[{HALF: 1}]), "Optimizer"),
        (lambda: minimized(objectives={HALF: "minimize"}), "culmen.minimize: objectives"),
        (lambda: minimized(derived={"d": HALF}), "culmen.minimize: derived"),
        (lambda: minimized(options={"a": HALF}), "culmen.minimize: options"),
        (lambda: minimized(starts=[{HALF: 1}]), "culmen.minimize: starts"),
        (lambda: minimized(environment={"A": HALF}), "culmen.minimize: environment"),
        (lambda: minimized(store=HALF), "culmen.minimize: store"),
        (lambda: culmen.minimize(named_half, SPACE, budget=3), "culmen.minimize: the name of the function"),
    ],
)
def test_half_a_character_is_refused_in_one_sentence(call, place):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == rf"{place}: '\ud800' contains half of a character (a lone surrogate); remove it"


def test_the_sampler_refuses_half_a_character_too():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=CulmenSampler("de"))
    with pytest.raises(InputError, match="contains half of a character"):
        study.optimize(lambda trial: trial.suggest_float(HALF, 0, 1), n_trials=3)
