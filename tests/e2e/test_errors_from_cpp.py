"""The errors of ``least_squares`` in C++ and of ``culmen.minimize``: the same fits by both."""

import json
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
