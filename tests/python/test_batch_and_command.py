"""Vectorised functions and programs in ``culmen.minimize``."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import culmen
from culmen import InputError

SPACE = {"x": (-2.0, 2.0), "n": culmen.integer(1, 5), "kind": culmen.categorical(["a", "b"])}


def minimize(f, space=SPACE, **given):
    return culmen.minimize(f, space, **{"budget": 40, "workers": 2, "optimizer": "sobol", **given})


def one(p):
    return p["x"] ** 2 + p["n"] + (p["kind"] == "b")


def test_a_batch_comes_as_arrays_of_the_parameters_types():
    def many(p):
        assert [v.dtype.kind for v in p.values()] == ["f", "i", "U"], p
        assert 1 <= len(p["x"]) <= 8
        return p["x"] ** 2 + p["n"] + (p["kind"] == "b")

    batched, single = minimize(many, batch=8), minimize(one)
    assert (batched.best, batched.value, batched.failed) == (single.best, single.value, 0)


def test_a_batch_gives_residuals_figures_and_objectives():
    def residuals(p):
        return np.stack([p["x"] - 1, p["n"] - 2.0], axis=1), {"twice": 2 * p["x"]}

    result = minimize(residuals, batch=8, result="residuals")
    assert result.residuals == pytest.approx([result.best["x"] - 1, result.best["n"] - 2])
    assert result.extras == {"twice": 2 * result.best["x"]}

    wanted = {"near": "minimize", "many": "maximize"}
    for f in (
        lambda p: {"near": p["x"] ** 2, "many": p["n"]},
        lambda p: np.stack([p["x"] ** 2, p["n"]], axis=1),
    ):
        assert minimize(f, batch=8, objectives=wanted).front


def test_inactive_parameters_of_a_batch_are_nan_or_none():
    space = {
        "kind": culmen.categorical(["a", "b"]),
        "depth": culmen.real(1, 2, active_when='kind == "b"'),
        "n": culmen.integer(1, 3, active_when='kind == "b"'),
    }

    def many(p):
        for kind, depth, n in zip(p["kind"], p["depth"], p["n"], strict=True):
            assert (kind == "a") == math.isnan(depth) == (n is None)
        return [1.0] * len(p["kind"])

    result = minimize(many, space, batch=8)
    assert result.failed == 0, result.first_failure


def test_a_batch_over_a_sequence_of_bounds_is_a_list_of_arrays():
    result = minimize(lambda x: x[0] ** 2 + x[1] ** 2, [(-1, 1), (0, 1)], batch=4)
    assert result.failed == 0


def test_one_bad_candidate_of_a_batch_fails_alone():
    def many(p):
        if (p["n"] == 3).any():
            raise ValueError("three")
        return p["x"]

    counts = minimize(many, batch=8), minimize(lambda p: p["x"] if p["n"] != 3 else 1 / 0)
    assert counts[0].failed == counts[1].failed > 0


def test_a_program_is_given_words_and_files_and_read_by_its_figures(tmp_path):
    (tmp_path / "deck.in").write_text("{{x:.17g}} {{n}} {{kind}}\n")
    command = culmen.Command(
        ["awk", '{ print "E", $1 * $1 + $2 + ($3 == "b"), "of {kind}" }', "deck.in"],
        templates=["deck.in"],
        value={"regex": r"^E (\S+)"},
        folder=tmp_path,
    )
    found = minimize(command)
    assert found.value == pytest.approx(minimize(one).value, rel=1e-5)
    assert not [path for path in tmp_path.iterdir() if path.name != "deck.in"]


BATCH = "with batch it is called for many candidates at once"
ALONE = "it is called for one candidate at a time"


@pytest.mark.parametrize(
    ("f", "given", "sentence"),
    [
        (lambda many: [p["x"] for p in many], {"batch": 4}, BATCH),
        (lambda p: math.sin(p["x"]), {"batch": 4}, BATCH),
        (lambda p: p["x"].total(), {"batch": 4}, BATCH),
        (lambda p: 1.0, {"batch": 4}, "candidates; it must have "),
        (lambda many: [p["x"] for p in many], {}, ALONE),
        (lambda p: p["x"].sum(), {}, ALONE),
        (lambda p: p["n"][0], {}, ALONE),
    ],
)
def test_a_function_for_one_taken_for_many_and_the_reverse_are_told_what_comes(f, given, sentence):
    with pytest.raises(culmen.AllFailedError, match=r"all [35] evaluations failed") as raised:
        minimize(f, budget=5, workers=1, **given)
    assert sentence in str(raised.value).splitlines()[0]


WRONG = [
    ((one, {"batch": 0}), "culmen.minimize: batch must be at least 1, got 0"),
    (
        (one, {"output": "all"}),
        'culmen.minimize: output = "all" keeps the output beside the store; give store as well',
    ),
    (
        (culmen.Command(["true"]), {"batch": 2}),
        "culmen.minimize: batch is only for Python functions; a command receives one candidate at a time",
    ),
    ((culmen.Command([]), {}), "culmen.minimize: Command([]): give a program and its arguments"),
    (
        (culmen.Command(["./no-such-model"], folder="/"), {}),
        'culmen.minimize: Command command = "./no-such-model": there is no file /no-such-model',
    ),
    (
        (culmen.Command(["true"], value={"key": "a", "regex": "b"}), {}),
        "culmen.minimize: value: give either key (for JSON) or regex (for any text)",
    ),
    (
        (culmen.Command(["true", "--kind={knd}"]), {}),
        "culmen.minimize: Command command, '--kind={knd}': {knd} is not a parameter (did you mean 'kind'?)",
    ),
]


@pytest.mark.parametrize("what", ["a Command", "batch", "environment", "modules"])
def test_an_executor_of_the_program_is_given_functions_alone(what):
    f = culmen.Command(["true"]) if what == "a Command" else one
    given = {"batch": {"batch": 4}, "environment": {"environment": {"A": "1"}}, "modules": {"modules": ["m"]}}
    sentence = f"culmen.minimize: {what} cannot be combined with executor; remove one of the two"
    with ThreadPoolExecutor(1) as pool, pytest.raises(InputError, match=sentence):
        minimize(f, executor=pool, **given.get(what, {}))


@pytest.mark.parametrize(("given", "sentence"), WRONG)
def test_what_is_wrong_is_one_sentence(given, sentence):
    f, arguments = given
    with pytest.raises(InputError) as error:
        minimize(f, **arguments)
    assert str(error.value) == sentence
