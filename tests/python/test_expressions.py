"""Expressions of parameters and results: objectives, residuals, limits and derived values."""

import json
import math

import numpy as np
import pytest
from harness import culmen as command

import culmen
from culmen import InputError

BOX = {"width": (1, 5), "height": (1, 5)}


def press(p):
    """One simulation's results."""
    return {"press": 10 * p["width"] - p["height"], "mass": p["width"] * p["height"]}


def test_an_objective_is_an_expression_of_results_and_parameters():
    found = culmen.minimize(press, BOX, objectives={"misfit": "((press - 20) / 5)**2 + (height - 3)**2"}, budget=300)
    assert found.best == pytest.approx({"width": 2.3, "height": 3}, abs=1e-3)
    assert found.value == pytest.approx(0, abs=1e-5)
    assert found.extras == pytest.approx({"press": 20, "mass": 6.9}, abs=1e-2)


def test_a_function_of_one_number_gives_it_as_value():
    found = culmen.minimize(lambda p: p["x"], {"x": (-3, 3)}, objectives={"square": "(value - 1)**2"}, budget=100)
    assert found.best["x"] == pytest.approx(1, abs=1e-3)
    derived = culmen.minimize(lambda p: (p["x"] - 1) ** 2, {"x": (-3, 3)}, derived={"half": "value / 2 + x"}, budget=40)
    assert derived.extras["half"] == derived.value / 2 + derived.best["x"]


def test_a_name_of_a_result_is_an_expression():
    found = culmen.minimize(press, BOX, objectives={"misfit": "press"}, budget=60, workers=1)
    assert found.value == culmen.minimize(press, BOX, objectives={"misfit": "1 * press"}, budget=60, workers=1).value


def test_several_objectives_may_be_expressions_and_be_maximized():
    found = culmen.minimize(
        press, BOX, objectives={"mass": "minimize", "per": {"maximize": "press / mass"}}, budget=60, workers=1
    )
    for trade in found.front:
        width, height = trade.params["width"], trade.params["height"]
        assert trade.values["per"] == pytest.approx((10 * width - height) / (width * height))


def test_residuals_are_expressions():
    def figures(p):
        return {"a": p["width"] * 2, "b": p["width"] + p["height"]}

    found = culmen.minimize(figures, BOX, residuals={"r1": "(a - 5) / 0.1", "r2": "(b - 6) / 0.2"}, budget=300)
    assert found.optimizer == "lm"
    assert found.best == pytest.approx({"width": 2.5, "height": 3.5}, abs=1e-6)
    assert found.residuals == pytest.approx([0, 0], abs=1e-4)
    assert found.errors["width"].error == pytest.approx(0.05, rel=1e-6)


def test_a_limit_is_a_condition():
    found = culmen.minimize(
        press,
        BOX,
        objectives={"mass": "minimize"},
        limits={"strong": "press >= 5 * height + 8", "mass": {"upper": 20}},
        budget=400,
    )
    assert found.violation == 0
    assert found.best == pytest.approx({"width": 1.4, "height": 1}, abs=1e-2)


def test_an_optimizer_that_needs_the_amounts_of_violations_gets_them():
    found = culmen.minimize(
        press,
        BOX,
        objectives={"mass": "minimize"},
        limits={"strong": "press >= 5 * height + 8"},
        optimizer="slsqp",
        budget=400,
    )
    assert found.best == pytest.approx({"width": 1.4, "height": 1}, abs=1e-4)


def line(p):
    x = np.arange(5.0)
    return (p["a"] + p["b"] * x - np.array([1.0, 2.9, 5.2, 6.8, 9.1])) / 0.1, {"root": -p["a"] / p["b"]}


DERIVED = {"at_ten": "a + 10 * b", "twice_root": "2 * root", "product": "a * b", "fixed": "pi"}


def test_derived_values_have_propagated_errors(tmp_path):
    store = tmp_path / "fit.db"
    found = culmen.minimize(
        line, {"a": (-10, 10), "b": (0.1, 10)}, result="residuals", derived=DERIVED, budget=300, store=store
    )
    a, b = found.best["a"], found.best["b"]
    assert found.extras["at_ten"] == a + 10 * b
    errors = found.errors
    covariance = np.array(errors.covariance)
    slopes = {"at_ten": [1, 10], "twice_root": [-2 / b, 2 * a / b**2], "product": [b, a], "fixed": [0, 0]}
    for name, slope in slopes.items():
        wanted = math.sqrt(np.array(slope) @ covariance @ slope)
        assert errors[name].error == pytest.approx(wanted, rel=1e-6, abs=1e-12)
        assert errors[name].scaled == pytest.approx(wanted * errors.scale, rel=1e-6, abs=1e-12)
    assert "derived" in str(errors)
    table = json.loads(command("status", "--json", str(store), cwd=tmp_path).stdout)
    assert table["best_extras"]["product"] == a * b
    assert [row["name"] for row in table["errors"]["derived"]] == list(DERIVED)
    assert "at_ten" in command("export", str(store), cwd=tmp_path).stdout.splitlines()[0]


def test_fixed_parameters_count_in_expressions():
    space = {"a": (-10, 10), "b": (0.1, 10), "unit": culmen.fixed(2)}
    found = culmen.minimize(
        line,
        space,
        result="residuals",
        derived={"scaled": "unit * a", "b2": "unit + b"},
        limits={"l": "a < 9 * unit"},
        budget=200,
    )
    a, b = found.best["a"], found.best["b"]
    assert (found.extras["scaled"], found.extras["b2"]) == (2 * a, 2 + b)
    errors = found.errors
    assert errors["scaled"].error == pytest.approx(2 * errors["a"].error, rel=1e-6)


def test_errors_with_a_fixed_parameter_have_derived_values_and_the_loss(tmp_path):
    (tmp_path / "model.py").write_text("def f(p): return [p['a'] - 1, p['a'] - 1, p['a'] + p['b'] - 30]\n")
    (tmp_path / "study.toml").write_text(FIXABLE)
    assert command("run", "study.toml", "--no-errors", cwd=tmp_path).returncode == 0
    done = command("errors", "study.db", "--fix", "b=0", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in [*json.loads(done.stdout)["parameters"], *json.loads(done.stdout)["derived"]]}
    assert rows["a"]["value"] == pytest.approx(1.25, abs=1e-3)  # 2 (a - 1) = f_scale
    assert rows["twice"]["value"] == 2 * rows["a"]["value"]
    assert rows["twice"]["error"] == pytest.approx(2 * math.sqrt(0.5), rel=1e-5)


def test_a_value_that_is_minimized_gives_derived_values_errors_too():
    def chi2(p):
        return sum(r * r for r in line(p)[0])

    found = culmen.minimize(chi2, {"a": (-10, 10), "b": (0.1, 10)}, derived={"sum": "a + b"}, budget=600)
    errors = found.find_errors()
    assert errors["sum"].error == pytest.approx(math.sqrt(np.sum(errors.covariance)), rel=1e-4)


def test_a_derived_value_needs_errors_of_its_parameters():
    def residuals(p):
        return [p["a"] + p["b"] - 1, p["a"] + p["b"] - 2, p["c"] - 1]

    box = dict.fromkeys("abc", (-5, 5))
    found = culmen.minimize(
        residuals, box, result="residuals", derived={"sum": "a + 2 * b", "c2": "2 * c"}, budget=200, workers=1
    )
    assert found.errors["sum"].error is None
    assert found.errors["sum"].note == "derived; it depends on a parameter without an error"
    assert found.errors["c2"].error == pytest.approx(2, rel=1e-6)


def test_batches_conditions_and_lent_workers_take_expressions():
    from concurrent.futures import ThreadPoolExecutor

    def many(p):
        return {"press": 10 * p["width"] - p["height"]}

    goal = {"objectives": {"misfit": "(press - 20)**2 + (height - 3)**2"}, "budget": 60, "workers": 1}
    batched = culmen.minimize(many, BOX, batch=4, **goal)
    with ThreadPoolExecutor(1) as executor:
        lent = culmen.minimize(many, BOX, executor=executor, **goal)
    assert (
        (batched.value, batched.best)
        == (lent.value, lent.best)
        == (batched.value, culmen.minimize(many, BOX, **goal).best)
    )

    space = {"kind": culmen.categorical(["a", "b"]), "depth": culmen.real(1, 2, active_when="kind == 'b'")}
    found = culmen.minimize(
        lambda p: 1.0, space, derived={"deep": "2 * depth"}, limits={"l": "depth > 5"}, budget=30, workers=1
    )
    assert (found.failed, found.best, found.violation) == (0, {"kind": "a"}, 0)
    assert math.isnan(found.extras["deep"])


FIXABLE = """
[space]
a = { lower = -50, upper = 50 }
b = { lower = -50, upper = 50 }
[evaluator]
python = "model.py:f"
result = "residuals"
loss = "huber"
f_scale = 0.5
[derived]
twice = "2 * a + b"
[stop]
evaluations = 300
"""
STUDY = """
[space]
x = { lower = 0, upper = 4 }
[evaluator]
command = ["sh", "-c", "echo press = $(echo \\"$x * 10\\" | bc); echo 7"]
[derived]
double = "2 * press"
[objectives]
misfit = "(double - 50)**2 / 100 + 0 * value"
[limits]
low = "press <= 22"
[stop]
evaluations = 60
"""


def run(folder, text):
    (folder / "study.toml").write_text(text)
    return command("run", "study.toml", cwd=folder)


def test_a_command_needs_no_python(tmp_path):
    done = run(tmp_path, STUDY)
    assert done.returncode == 0, done.stderr
    found = json.loads(command("status", "--json", "study.db", cwd=tmp_path).stdout)
    assert found["best"]["x"] == pytest.approx(2.2, abs=0.01)
    assert found["best_extras"]["double"] == pytest.approx(44, abs=0.2)
    resumed = command("resume", "study.db", "--evaluations", "70", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr


WRONG = {
    'double = "2 * * press"': ("[derived]", "character 5: expected a number, a name or '(', got '*'"),
    'double = "sqroot(press)"': ("[derived]", "there is no function 'sqroot'; did you mean 'sqrt'?"),
    'double = "press > 1 and"': ("[derived]", "expected a number, a name or '('"),
    'double = "__import__(1)"': ("[derived]", "there is no function '__import__'"),
    'x = "2 * press"': ("[derived]", "derived value 'x' has the name of a parameter; give it another name"),
}


@pytest.mark.parametrize("line", WRONG)
def test_mistakes_in_expressions_are_sentences(tmp_path, line):
    done = run(tmp_path, STUDY.replace('double = "2 * press"', line).replace("(double - 50)", "(press - 50)"))
    assert done.returncode == 2
    assert all(part in done.stderr for part in WRONG[line]), done.stderr
    assert "(line 7)" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"press <= 22"', '"press + 22"', "[limits] limit 'low': \"press + 22\", character 11: expected a condition"),
        ('"press <= 22"', '"<= 22"', '[limits] low must be { upper = 22 }, got "<= 22"'),
        ('"(double - 50)**2 / 100 + 0 * value"', '"minimise"', "objectives.misfit"),
        ('"press <= 22"', '{ expression = "press <= 22", upper = 3 }', "give one of the two"),
        ("[stop]", '[residuals]\nr = "press - 1"\n[stop]', "residuals allow no objectives"),
    ],
)
def test_other_mistakes_are_sentences_too(tmp_path, old, new, said):
    done = run(tmp_path, STUDY.replace(old, new))
    assert done.returncode == 2
    assert said in done.stderr.replace("[objectives] ", "objectives.")


def test_a_name_that_no_result_has_fails_with_a_suggestion(tmp_path):
    done = run(tmp_path, STUDY.replace('"2 * press"', '"2 * pres"'))
    assert done.returncode != 0
    said = "the outcome has no value 'pres', which the expression of double needs; it has "
    assert "; did you mean 'press'?" in done.stdout + done.stderr
    assert "the first 3 evaluations of this start all failed" in done.stderr
    assert said in done.stdout + done.stderr


def test_a_result_that_a_command_is_not_said_to_have_is_a_mistake_at_once(tmp_path):
    places = "values = { press = { regex = 'press = (.*)' } }"
    done = run(tmp_path, STUDY.replace("[derived]", f"{places}\n[derived]").replace('"2 * press"', '"2 * pres + x"'))
    assert done.returncode == 2
    assert "[derived] double: there is no result 'pres'; did you mean 'press'? (line 8)" in done.stderr


def test_other_expressions_are_another_study(tmp_path):
    run(tmp_path, STUDY)
    done = run(tmp_path, STUDY.replace("press <= 22", "press <= 23"))
    assert "limits low.expression press <= 22 there, press <= 23 here" in done.stderr
    with pytest.raises(InputError, match="give it another name"):
        culmen.minimize(press, BOX, derived={"width": "1 + 1"}, budget=3)
