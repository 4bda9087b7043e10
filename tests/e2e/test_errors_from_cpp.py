"""The errors of ``least_squares`` in C++ and of ``culmen.minimize``: the same fits by both."""

import json
import math
import os
import subprocess
from pathlib import Path

import pytest
from harness import ROOT

import culmen


@pytest.fixture(scope="module")
def from_cpp():
    program = Path(os.environ.get("CULMEN_BUILD", ROOT / "build" / "release")) / "tests" / "line_fit"
    assert program.exists(), f"{program} is not built; make test builds it"
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def residuals(p):
    return [(p["a"] * x + p["b"] - (0.5 * x + 1 + 0.1 * (-1) ** x)) / 0.1 for x in range(8)]


def fitted(constraints):
    space = {name: culmen.real(-5, 5, initial=0.1) for name in "ab"}
    options = {"budget": 600, "result": "residuals", "workers": 1, "optimizer": "slsqp"}
    result = culmen.minimize(residuals, space, constraints=constraints, **options)
    return result, result.find_errors()


@pytest.mark.parametrize(("line", "constraints"), [(0, None), (2, {"far": "a + b <= 9"})])
def test_without_an_active_constraint_they_agree(from_cpp, line, constraints):
    result, errors = fitted(constraints)
    found = from_cpp[line]
    assert found["x"] == pytest.approx([result.best["a"], result.best["b"]], abs=1e-6)
    assert found["errors"] == pytest.approx([errors["a"].error, errors["b"].error], rel=1e-5)
    assert found["message"] == ""


def test_at_an_active_constraint_only_python_has_them(from_cpp):
    result, errors = fitted({"cap": "a + b <= 1.2"})
    found = from_cpp[1]
    assert found["x"] == pytest.approx([result.best["a"], result.best["b"]], abs=1e-6)
    assert errors["b"].error == pytest.approx(0.0104, abs=1e-4)
    assert found["errors"] == []
    assert found["message"] == (
        "the best parameters are at constraint 'cap', where least_squares() computes no errors; "
        "culmen.minimize() in Python and `culmen run` compute them"
    )


SPACES = {
    "free": {"a": culmen.real(-5, 5, initial=0.1), "b": culmen.real(-5, 5, initial=0.1)},
    "at a bound": {"a": culmen.real(-5, 5, initial=0.1), "b": culmen.real(1.2, 5, initial=2)},
    "rank deficient": {name: culmen.real(-5, 5, initial=0.1) for name in "abc"},
    "fixed": {"a": culmen.real(-5, 5, initial=0.1), "b": culmen.fixed(1.0)},
    "log": {"a": culmen.real(0.01, 5, scale="log", initial=0.1), "b": culmen.real(-5, 5, initial=0.1)},
    "without bounds": {"a": culmen.real(initial=0.1), "b": culmen.real(initial=0.1)},
    "one bound": {"a": culmen.real(0, initial=0.1), "b": culmen.real(-5, 5, initial=0.1)},
    "inexact residuals": {"a": culmen.real(-5, 5, initial=0.1), "b": culmen.real(-5, 5, initial=0.1)},
}
FITS = [(loss, name) for loss in ("linear", "soft_l1", "cauchy") for name in SPACES]


def with_outlier(p):
    out = residuals({"a": p["a"], "b": p["b"] + p.get("c", 0)})
    out[5] += 20
    return out


def inexact(p):
    return [math.floor(r / 1e-5 + 0.5) * 1e-5 for r in with_outlier(p)]


@pytest.mark.parametrize(("loss", "space"), FITS)
def test_the_errors_of_cpp_and_python_are_equal(from_cpp, loss, space):
    found = from_cpp[3 + FITS.index((loss, space))]
    options = {"loss": loss, "f_scale": 1.5} if loss != "linear" else {}
    result = culmen.minimize(
        inexact if space == "inexact residuals" else with_outlier,
        SPACES[space],
        budget=600,
        result="residuals",
        workers=1,
        optimizer="lm",
        **options,
    )
    errors = result.find_errors()
    names = list(SPACES[space])
    if space != "rank deficient":  # many points are equally good
        assert found["x"] == pytest.approx([result.best[name] for name in names], rel=1e-4)
    of_python = {p.name: p for p in errors.parameters}

    def column(kind):
        return [getattr(of_python[name], kind, None) if name in of_python else None for name in names]

    rel = 1e-2 if space == "inexact residuals" else 1e-3  # derivatives of five digits
    assert_equal(found["errors"], column("error"), rel)
    if loss != "linear":
        assert_equal(found["sandwich"], column("sandwich"), rel)
    else:
        assert found["sandwich"] == []
    known = "a" if space in ("at a bound", "rank deficient", "fixed") else "ab"
    assert [name for name, error in zip(names, found["errors"], strict=True) if error is not None] == list(known)


def assert_equal(found, wanted, rel):
    assert [f is None for f in found] == [w is None for w in wanted]
    assert [f for f in found if f is not None] == pytest.approx([w for w in wanted if w is not None], rel=rel)
