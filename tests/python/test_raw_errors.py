"""Wrong arguments of other types end with a sentence, and never with a TypeError or a wait without end."""

from concurrent.futures import Executor

import numpy as np
import pytest

import culmen
from culmen import InputError


def f(p):
    return p["x"] ** 2


WRONG = {
    "store=True": ({"store": True}, "store must be the path of a file, such as 'fit.db', got True"),
    "seed=int": ({"seed": int}, "seed"),
    "seed=np.int64": ({"seed": np.int64}, "seed"),
    "budget=float": ({"budget": float}, "budget"),
    "starts of no dimension": ({"starts": np.array(1.0)}, "starts"),
    "space of no dimension": ({"space": np.array(1.0)}, "the space must be a dict such as"),
    "choices of no dimension": ({"space": {"x": culmen.ordinal(np.array(1.0))}}, "choices must be a list of strings"),
    "a class as a choice": (
        {"space": {"x": culmen.ordinal([1, float])}},
        "each choice must be a string, a number, True, False or None",
    ),
    "a null character in a name": ({"space": {"x\0a": (0, 1), "x\0b": (0, 1)}}, "its name contains a null character"),
    "a null character in a choice": ({"space": {"x": culmen.categorical(["a", "b\0"])}}, "contains a null character"),
    "a null character in an objective": ({"objectives": {"a\0": "minimize", "b": "minimize"}}, "null character"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_argument_is_a_sentence(mistake):
    given, sentence = WRONG[mistake]
    with pytest.raises(InputError, match=sentence):
        culmen.minimize(f, **{"space": {"x": (-1, 1)}, "budget": 5, **given})


def test_many_choices_are_checked_once_each():
    choices = [f"choice {i}" for i in range(300_000)]  # each against each other would take minutes
    space = culmen.Space({"x": culmen.categorical(choices)})
    assert len(space.core.parameters[0].choices) == 300_000
    with pytest.raises(InputError, match="the choice choice 5 is given twice"):
        culmen.Space({"x": culmen.categorical([*choices, "choice 5"])})


@pytest.mark.parametrize("answer", [None, 7, "later"])
def test_an_executor_that_returns_no_future_ends_the_run(answer):
    class Wrong(Executor):
        def submit(self, _function, /, *_arguments, **_more):
            return answer

    with pytest.raises(culmen.CulmenError, match=r"executor.submit\(\) must return a concurrent.futures.Future"):
        culmen.minimize(f, {"x": (-1, 1)}, budget=5, executor=Wrong())
