"""Real parameters without a lower or an upper bound, or without both: the search begins at their initial values."""

import math

import pytest
from culmen.problem.parameter import describe
from culmen.report.build import report
from harness import write_fit

import culmen
from culmen import InputError, Study, _core

FREE = {"a": culmen.real(initial=1.0), "b": culmen.real(0, initial=2.0), "c": culmen.real(upper=0, initial=-0.5)}
BEST = {"a": 250.0, "b": 0.03, "c": -40.0}


def bowl(p):
    """Its minimum is far from the initial values."""
    return sum(((p[name] - best) / best) ** 2 for name, best in BEST.items())


def space(**more):
    return culmen.Space(FREE | more).core


@pytest.mark.parametrize("name", ["auto", "bfgs", "nelder_mead", "bobyqa", "cmaes", "de", "slsqp", "bayes"])
def test_optimizers_find_a_minimum_far_from_the_initial_values(name):
    budget = 150 if name == "bayes" else 3000
    result = culmen.minimize(bowl, FREE, optimizer=name, budget=budget, target=1e-6)
    assert result.failed == 0
    # At the initial values it is 4315. With 12 other seeds, bayes reached 0.0 to 0.97.
    assert result.value < (1.5 if name == "bayes" else 1e-5)


def test_a_fit_without_bounds_finds_its_minimum_and_its_errors():
    def residuals(p):
        return [p["a"] + p["b"] * t - (300 - 20 * t) for t in (0, 1, 2, 3)]

    line = {"a": culmen.real(initial=1.0), "b": culmen.real(initial=1.0)}
    result = culmen.minimize(residuals, line, result="residuals", budget=200)
    assert result.optimizer == "lm"
    assert result.best == pytest.approx({"a": 300, "b": -20}, rel=1e-9)
    assert result.at_bounds == {}
    errors = result.find_errors(profile=True)
    assert [errors["a"].error, errors["b"].error] == pytest.approx([0.7**0.5, 0.2**0.5], rel=1e-6)
    assert errors["a"].interval.upper == pytest.approx(300 + 0.7**0.5, abs=1e-3)
    assert [errors["a"].note, errors["b"].note] == ["", ""]


def test_a_value_without_bounds_has_errors():
    result = culmen.minimize(bowl, FREE, optimizer="bfgs", budget=3000, target=1e-9)
    errors = result.find_errors()
    assert errors["a"].error == pytest.approx(250, rel=1e-2)
    assert errors["c"].error == pytest.approx(40, rel=1e-2)


def test_a_fit_at_its_only_bound_says_so():
    line = {"a": culmen.real(0, initial=1.0), "b": culmen.real(initial=1.0)}
    result = culmen.minimize(lambda p: [p["a"] + 1, p["b"] - 3], line, result="residuals", budget=200)
    assert result.best["a"] == 0
    assert result.at_bounds == {"a": "lower"}
    assert result.errors["a"].note == "at bound (lower), held fixed"


def test_places_lie_about_the_initial_value():
    core = space()
    assert core.start() == [1.0, 2.0, -0.5]
    assert core.from_unit([0.5] * 3) == pytest.approx([1.0, 2.0, -0.5])
    assert core.from_unit([0.25, 0.25, 0.25]) == pytest.approx([0.0, 2 / 3, -1.5])
    assert core.from_unit([0.0, 0.0, 1.0])[1:] == [0.0, 0.0]
    assert all(map(math.isfinite, core.from_unit([0.0] * 3) + core.from_unit([1.0] * 3)))
    for u in ([0.1, 0.2, 0.3], [0.999, 1e-6, 0.7]):
        assert core.to_unit(core.from_unit(u)) == pytest.approx(u, rel=1e-9)


def test_a_description_names_the_only_bound():
    assert [describe(p) for p in space().all] == ["real without bounds", "real from 0", "real up to 0"]


@pytest.mark.parametrize("name", ["grid", "scan", "sobol"])
def test_optimizers_that_cover_a_box_need_bounds(name):
    with pytest.raises(InputError, match="needs both bounds of every parameter; 'a' has no lower bound; add it, or"):
        culmen.minimize(bowl, FREE, optimizer=name, budget=10)
    needing = {entry["name"] for entry in _core.optimizer_catalogue() if entry["needs_bounds"]}
    assert needing == {"grid", "scan", "sobol"}


@pytest.mark.parametrize("name", ["optuna:TPESampler", "nevergrad:OnePlusOne"])
def test_other_libraries_that_need_bounds_say_so(name):
    pytest.importorskip(name.partition(":")[0])
    with pytest.raises(InputError, match="needs both bounds of every parameter; 'b' has no upper bound"):
        culmen.minimize(bowl, {"b": FREE["b"]}, optimizer=name, budget=10)


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (culmen.real(0), "parameter 'x': upper is missing; without bounds, the parameter needs initial"),
        (culmen.real(), "parameter 'x': lower and upper are missing; without bounds, the parameter needs initial"),
        (
            culmen.real(0, math.inf),
            "parameter 'x': it has no upper bound, so it needs an initial value, at which the search begins",
        ),
        (
            culmen.real(1, scale="log", initial=2.0),
            "parameter 'x': it has no upper bound; a log scale needs both bounds",
        ),
        (culmen.real(3, initial=2.0), "parameter 'x': initial = 2 is outside [3, inf]"),
    ],
)
def test_what_is_missing_is_named(parameter, message):
    with pytest.raises(InputError) as error:
        culmen.Space({"x": parameter})
    assert str(error.value) == message


def test_a_study_file_and_its_store_have_parameters_without_bounds(tmp_path):
    line = "a = { initial = 1.0 }\nb = { lower = 0, initial = 1.0 }"
    write_fit(tmp_path, 'def f(p): return [p["a"] - 90, p["b"] - 70]\n', line, 30)
    study = Study.from_file(tmp_path / "study.toml", store=tmp_path / "s.db")
    study.run(progress=False)
    again = Study.from_store(tmp_path / "s.db", evaluations=60)
    assert again.config.space == study.config.space
    assert again.run(progress=False).best == pytest.approx({"a": 90, "b": 70})
    table = culmen.read(tmp_path / "s.db")
    assert table.plot()
    assert "bound" in report(table)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = { lower = 0 }", "[space] x: upper is missing; a real parameter without it needs initial"),
        ('x = { type = "integer", lower = 0, initial = 3 }', "[space] x: upper is missing"),
    ],
)
def test_a_study_file_says_what_is_missing(tmp_path, line, message):
    write_fit(tmp_path, "def f(p): return [1.0]\n", line, 9)
    with pytest.raises(InputError) as error:
        Study.from_file(tmp_path / "study.toml")
    assert message in str(error.value)
