"""Wrong arguments of ``culmen.minimize``: each is one sentence."""

import pytest

import culmen
from culmen import InputError

pytestmark = pytest.mark.no_numbers


def sphere(p):
    return sum(value**2 for value in p.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"optimiser": "cmaes"}, "there is no argument 'optimiser'; did you mean 'optimizer'?"),
        ({"evaluations": 100}, "there is no argument 'evaluations'; did you mean 'budget'?"),
        ({"evalutions": 100}, "there is no argument 'evalutions'; did you mean 'budget'?"),
        ({"zzz": 100}, "there is no argument 'zzz'; help(culmen.minimize) lists the arguments"),
        (
            {"agreement": 3},
            "there is no argument 'agreement'; it is an option of lm: write options={\"agreement\": …}",
        ),
        ({"n_trials": 100}, "there is no argument 'n_trials'; did you mean 'budget'?"),
        ({"maxiter": 100}, "there is no argument 'maxiter'; did you mean 'budget'?"),
        ({"bounds": [(0, 1)]}, "there is no argument 'bounds'; did you mean 'space'?"),
        ({"args": (1,)}, "there is no argument 'args'; use functools.partial(f, …) or a lambda for more arguments"),
        ({"budget": 1e3 + 0.5}, "budget must be a whole number, got 1000.5"),
        ({"budget": 9, "optimizer": 3}, "optimizer must be a string in quotes, got 3"),
        (
            {"budget": 9, "optimizer": {"name": "cmaes", "population": 20}},
            "optimizer must be a name such as 'cmaes' or a list of names, got {'name': 'cmaes', 'population': 20}; "
            "write optimizer='cmaes', options={'population': 20}",
        ),
        ({"budget": 9, "environment": {"A": 1}}, "environment.A must be a string in quotes, got 1"),
        ({"budget": 9, "starts": [{"x": 7}]}, "starts number 1: parameter 'x': 7 is outside [0, 1]"),
        (
            {"budget": 9, "objectives": {"a": "minimize", "b": "minimize"}, "target": 1},
            "target = 1.0: it needs one objective, but there are several; remove it",
        ),
        ({"budget": 9, "stagnation_tolerance": 0.1}, "stagnation_tolerance needs stagnation, which is missing"),
    ],
)
def test_arguments_of_other_tools_and_misspelt_ones_are_one_sentence(arguments, message):
    with pytest.raises(InputError) as error:
        culmen.minimize(sphere, {"x": (0, 1)}, **arguments)
    assert str(error.value).startswith(f"culmen.minimize: {message}")


def test_too_many_or_too_few_arguments_are_one_sentence():
    with pytest.raises(InputError, match="arguments after f and space must be given by name, such as budget=100"):
        culmen.minimize(sphere, {"x": (0, 1)}, 100)
    with pytest.raises(InputError, match=r'call it as culmen\.minimize\(f, \{"x": \(0, 1\)\}, budget=1000\)'):
        culmen.minimize()


def _nested(levels: int) -> list:
    out: list = [0.5]
    for _ in range(levels):
        out = [out]
    return out


@pytest.mark.parametrize("argument", ["space", "starts", "limits", "fix", "objectives", "environment", "data"])
@pytest.mark.parametrize("deep", [_nested(100_000), pytest.param("itself", id="contains-itself")])
def test_arguments_that_nest_too_deeply_are_one_sentence(argument, deep):
    if deep == "itself":
        deep = []
        deep += [deep, deep]
    arguments = {"space": {"x": (0, 1)}, "budget": 9, argument: {"x": deep}}
    with pytest.raises(InputError) as error:
        culmen.minimize(sphere, **arguments)
    assert (
        str(error.value) == f"culmen.minimize: the argument '{argument}' nests lists or mappings in more than 50 levels"
    )
