"""Spaces, and the optimizer alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import culmen
from culmen import InputError

WORDS = st.text(max_size=5).filter(lambda text: "\0" not in text)
BOUNDS = (
    st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
    .filter(lambda b: b[0] < b[1] and b[1] - b[0] > 1e-6)
    .map(lambda b: culmen.real(*b))
    | st.tuples(st.floats(1e-9, 1), st.floats(2, 1e9)).map(lambda b: culmen.real(*b, scale="log"))
    | st.tuples(st.integers(-1000, 0), st.integers(1, 1000)).map(lambda b: culmen.integer(*b))
    | st.tuples(st.integers(1, 9), st.integers(10, 10**9)).map(lambda b: culmen.integer(*b, scale="log"))
    | st.lists(WORDS | st.floats(-9, 9), min_size=2, max_size=4, unique=True).map(culmen.categorical)
    | st.lists(st.floats(-9, 9), min_size=2, max_size=4, unique=True).map(sorted).map(culmen.ordinal)
    | st.just(culmen.boolean())
)
NAMES = st.text(min_size=1, max_size=8).filter(lambda s: "\0" not in s and s.encode("utf-8", "ignore").decode() == s)


@given(st.dictionaries(NAMES, BOUNDS, min_size=1, max_size=5), st.integers(0, 2**63 - 1))
def test_every_candidate_lies_in_its_space(parameters, seed):
    optimizer = culmen.Optimizer(parameters, "random", seed=seed)
    for candidate in optimizer.ask(4):
        assert list(candidate.params) == list(parameters)
        for name, value in candidate.params.items():
            assert is_allowed(parameters[name], value)


def is_allowed(parameter, value):
    if parameter.choices:
        return value in parameter.choices
    if parameter.type == "boolean":
        return isinstance(value, bool)
    kind = int if parameter.type == "integer" else float
    return isinstance(value, kind) and parameter.lower <= value <= parameter.upper


TERMS = st.sampled_from(["x", "y", "n", "2", "0.5", "abs(x)", "min(x, y)", "n % 3"])
SUMS = st.tuples(TERMS, st.sampled_from(["+", "-", "*"]), TERMS).map(" ".join) | TERMS
COMPARISONS = st.tuples(SUMS, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), SUMS).map(" ".join)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda c: f"({' '.join(c)})")
        | inner.map(lambda c: f"not ({c})")
    ),
    max_leaves=6,
)


@given(CONDITIONS, st.floats(-3, 3), st.floats(-3, 3), st.integers(-5, 5))
def test_a_constraint_means_what_it_means_in_python(condition, x, y, n):
    space = culmen.Space({"x": (-3, 3), "y": (-3, 3), "n": culmen.integer(-5, 5)}, [condition])
    meant = eval(condition, {"abs": abs, "min": min, "x": x, "y": y, "n": n})  # noqa: S307 - made above
    assert (space.core.violation([x, y, n]) == 0) == meant


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=3), st.floats(-1, 1), st.integers(0, 1000))
def test_no_candidate_violates_a_linear_constraint(factors, bound, seed):
    text = " + ".join(f"{factor!r} * x{i}" for i, factor in enumerate(factors)) + f" <= {bound!r}"
    space = culmen.Space([(-1, 1)] * 3, [text])
    reach = sum(map(abs, factors))
    if -reach >= bound - 0.05 * reach:
        return  # nothing, or hardly anything, fulfils it
    for optimizer in ("random", "cmaes"):
        for candidate in culmen.Optimizer(space, optimizer, seed=seed).ask(4):
            assert sum(f * v for f, v in zip(factors, candidate.params.values(), strict=True)) <= bound + 1e-12


@pytest.mark.parametrize("name", ["cmaes", "random", "sobol"])
def test_the_same_seed_gives_the_same_candidates(name):
    def asked(seed):
        optimizer = culmen.Optimizer({"x": (0, 1), "y": (0, 1)}, name, seed=seed)
        seen = []
        for _ in range(5):
            for candidate in optimizer.ask(4):
                seen.append(candidate)
                optimizer.tell(candidate, candidate.params["x"])
        return seen

    assert asked(3) == asked(3)
    assert asked(3) != asked(4)


def test_ask_and_tell_find_a_minimum():
    optimizer = culmen.Optimizer({"x": (-5, 5), "n": culmen.integer(1, 9)})
    best = (float("inf"), None)
    for _ in range(200):
        for candidate in optimizer.ask(8):
            value = candidate.params["x"] ** 2 + (candidate.params["n"] - 4) ** 2
            best = min(best, (value, candidate.params["n"]))
            optimizer.tell(candidate, value)
    assert best[0] < 1e-6
    assert best[1] == 4


def test_a_candidate_ends_once():
    optimizer = culmen.Optimizer({"x": (0, 1)}, "random")
    first, second, third = optimizer.ask(3)
    optimizer.tell(first, None)
    optimizer.cancel(second)
    optimizer.tell(third, float("nan"))
    for candidate in (first, second, third):
        with pytest.raises(InputError, match=f"evaluation {candidate.id} cannot be told"):
            optimizer.tell(candidate, 1.0)


def test_options_of_an_optimizer_are_checked():
    with pytest.raises(InputError, match="'sigma' is 7"):
        culmen.Optimizer({"x": (0, 1)}, "cmaes", options={"sigma": 7})
    with pytest.raises(InputError, match="did you mean 'sobol'"):
        culmen.Optimizer({"x": (0, 1)}, "sobul")


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"x": (1, 0)}, "parameter 'x': lower bound 1 must be below upper bound 0"),
        ({"x": 3}, "parameter 'x': got 3; write culmen.fixed(3)"),
        ({"x": (0, "b")}, "parameter 'x': the bounds must be numbers, got 0 and 'b'"),
        ({"x": culmen.real(0, 1, scale="log")}, "parameter 'x': a log scale needs"),
        ({"n": culmen.integer(0.5, 2)}, "parameter 'n': integer bounds must be whole"),
        ({"x": culmen.real(0, 1, scale="lag")}, '"lag" is not one of "linear", "log"'),
        ({}, "the space has no parameter"),
    ],
)
def test_a_wrong_space_names_the_parameter(space, message):
    with pytest.raises(InputError) as error:
        culmen.Space(space)
    assert str(error.value).startswith(message)


def test_a_space_shows_itself():
    space = culmen.Space({"x": (0, 1), "tau": culmen.real(1, 10, scale="log"), "n": culmen.integer(1, 3)})
    assert repr(space) == "Space(x: real [0, 1] linear, tau: real [1, 10] log, n: integer [1, 3] linear)"
    assert space.names == ["x", "tau", "n"]
    assert len(space) == 3
    assert culmen.Space([(0, 1), (2, 3)]).names == ["x0", "x1"]
