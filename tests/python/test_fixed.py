"""Fixed parameters: the evaluator receives them, the search does not contain them."""

import numpy as np
import pytest
from harness import write_fit
from scipy.optimize import least_squares

import culmen
from culmen import InputError, Study, _core

ALL_FIXED = "no parameter can vary: all are fixed, or inactive because of fixed ones; free at least one"


def bowl(p):
    return (p["x"] - 1) ** 2 + (p["n"] - 3) ** 2


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (culmen.fixed(5), 5),
        (culmen.fixed(5.0), 5.0),
        (culmen.fixed(True), True),
        (culmen.fixed("ring"), "ring"),
        (culmen.real(0, 10, value=5), 5.0),
        (culmen.integer(0, 10, value=5), 5),
        (culmen.real(1e-3, 10, scale="log", value=5), 5.0),
        (culmen.ordinal([1, 5, 7], value=5), 5),
        (culmen.categorical(["ring", "tree"], value="tree"), "tree"),
        (culmen.boolean(value=False), False),
    ],
)
def test_the_evaluator_gets_the_value_of_every_kind(parameter, value):
    seen = lambda p: (p["x"] ** 2, {"right": p["v"] == value and type(p["v"]) is type(value)})  # noqa: E731
    result = culmen.minimize(seen, {"v": parameter, "x": (-1, 1)}, budget=20, optimizer="random")
    assert result.best["v"] == value
    assert result.extras == {"right": 1}
    assert result.failed == 0


def test_fix_fixes_a_parameter_of_the_space():
    result = culmen.minimize(bowl, {"x": (-5, 5), "n": culmen.integer(0, 9)}, fix={"n": 5}, budget=300)
    assert result.best["n"] == 5
    assert result.value == pytest.approx(4, abs=1e-6)
    assert result.x[1] == 5
    assert result.optimizer_why  # only x counts: it is real


def test_a_list_of_numbers_contains_the_fixed_ones():
    result = culmen.minimize(
        lambda x: (x[0] - 1) ** 2 + x[1] + len(x), [(-5, 5), (0, 9)], fix={"x1": 4}, starts=[[2, 4], [3, 7]], budget=200
    )
    assert result.value == pytest.approx(6, abs=1e-6)
    assert len(result.x) == 2


def test_a_batch_gets_vectors_of_fixed_values():
    space = {"n": culmen.fixed(2), "x": (0, 1)}
    result = culmen.minimize(lambda p: p["x"] * p["n"], space, batch=4, budget=20, optimizer="random")
    assert result.failed == 0


def test_a_study_of_what_a_fixed_choice_leaves_is_a_study_of_reals():
    space = {
        "kind": culmen.categorical(["a", "b"]),
        "x": culmen.real(-5, 5, active_when="kind == 'a'"),
        "y": culmen.real(-5, 5, active_when="kind == 'b'"),
    }
    result = culmen.minimize(lambda p: (p["x"] - 1) ** 2, space, fix={"kind": "a"}, optimizer="bfgs", budget=60)
    assert result.best == {"kind": "a", "x": pytest.approx(1, abs=1e-6)}


def test_ask_and_tell_know_fixed_parameters():
    optimizer = culmen.Optimizer({"n": culmen.fixed(3), "x": (-5, 5)}, "random", starts=[{"x": 1.0}, [3, 2.0]])
    asked = optimizer.ask(3)
    assert [c.params["n"] for c in asked] == [3, 3, 3]
    assert [c.params["x"] for c in asked[:2]] == [1.0, 2.0]


def test_candidates_of_a_program_may_name_the_fixed_ones(tmp_path):
    write_fit(
        tmp_path, 'def f(p): return [p["x"] - 1, p["y"]]\n', "x = { lower = -5, upper = 5 }\ny = { value = 2.0 }", 9
    )
    with Study.from_file(tmp_path / "study.toml").evaluations(workers=1) as evaluate:
        values = [outcome.value for outcome in evaluate([{"x": 0.0}, {"x": 0.0, "y": 2.0}, [0.0, 2.0]])]
        assert values == [5, 5, 5]
        with pytest.raises(InputError, match="parameter 'y': it is fixed at 2, got 3"):
            evaluate([{"x": 0.0, "y": 3.0}])


@pytest.mark.parametrize(
    ("fix", "message"),
    [
        ({"n": 12}, "parameter 'n': value = 12 is outside [0, 9]"),
        ({"n": 2.5}, "parameter 'n': value = 2.5 is not a whole number"),
        ({"n": "five"}, "parameter 'n': value: it must be a number, got \"five\""),
        ({"m": 1}, "there is no parameter 'm' that could be fixed; the parameters are x, n"),
        ({"x": 1, "n": 1}, ALL_FIXED),
        (5, "fix must be a dict such as {'x': 1.0}, got 5"),
        (np.ones((1, 2)), "fix must be a dict such as {'x': 1.0}, got array([[1., 1.]])"),
        ({"x": [0.5]}, "parameter 'x': value: it must be a number, got [0.5]"),
        ({"n": {"a": 1}}, "parameter 'n': value: it must be a whole number, got {'a': 1}"),
    ],
)
def test_wrong_values_are_refused_in_one_sentence(fix, message):
    with pytest.raises(InputError) as error:
        culmen.minimize(bowl, {"x": (-5, 5), "n": culmen.integer(0, 9)}, fix=fix, budget=10)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (
            "n = { lower = 1, upper = 10, value = 12 }",
            "study.toml: [space] parameter 'n': value = 12 is outside [1, 10]",
        ),
        ("n = { value = inf }", "study.toml: [space] parameter 'n': value = inf: it must be a finite number"),
        ('n = { type = "real", value = "a" }', "study.toml: [space] parameter 'n': value = 'a': it must be a number"),
        ("n = { lower = 0, value = -4.5 }", "parameter 'n': value = -4.5 is outside [0, inf]"),
        ('n = { lower = 0.0, value = "a" }', "parameter 'n': value: it must be a number, got \"a\""),
        (
            'n = { type = "integer", upper = 3, value = 4 }',
            "parameter 'n': value = 4 is outside [-9007199254740991, 3]",
        ),
        ('n = { choices = ["a", "b"], value = "c" }', "parameter 'n': value = c is not one of its choices: a, b"),
    ],
)
def test_wrong_values_of_a_study_file_are_named(tmp_path, parameter, message):
    write_fit(tmp_path, "def f(p): return [1.0]\n", f"x = {{ lower = 0, upper = 1 }}\n{parameter}", 9)
    with pytest.raises(InputError) as error:
        Study.from_file(tmp_path / "study.toml")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_fixed_parameter_changes_the_fingerprint_and_a_free_one_does_not():
    def fingerprint(**more):
        config = _core.StudyConfig()
        config.space = culmen.Space({"x": (0, 1), "n": culmen.real(0, 9, **more)}).core
        return _core.fingerprint_of(config)

    assert fingerprint() == fingerprint(value=None)
    assert len({fingerprint(), fingerprint(value=5), fingerprint(value=6)}) == 3


def test_the_starts_of_a_file_may_have_another_value_of_what_is_fixed(tmp_path):
    write_fit(tmp_path, "def f(p): return [1.0]\n", "x = { lower = 0, upper = 1 }\nn = { lower = 0, upper = 9 }", 9)
    with (tmp_path / "study.toml").open("a") as file:
        file.write("[[starts]]\nx = 0.5\nn = 3\n")
    config = Study.from_file(tmp_path / "study.toml", fix={"n": 5}).config
    assert config.starts == [[0.5]]
    assert config.space.named(config.starts[0]) == {"x": 0.5, "n": 5}


def test_errors_hold_fixed_parameters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space = "a = { lower = -9, upper = 9 }\nb = { lower = -9, upper = 9 }"
    write_fit(tmp_path, 'def f(p): return [p["a"] + p["b"] - 3, p["a"] - p["b"] + 1]\n', space, 60)
    study = Study.from_file(tmp_path / "study.toml")
    study.run(progress=False)
    store = study.options.store
    free = culmen.errors(store)
    held = culmen.errors(store, fix={"b": 1.0}, profile=True)
    assert [free["a"].value, free["b"].value] == pytest.approx([1, 2], abs=1e-6)
    assert held["b"].value == 1
    assert held["b"].note == "fixed"
    assert held["b"].error is None
    assert held["a"].value == pytest.approx(1, abs=1e-6)  # (a - 2)² + a² is least there
    assert held["a"].error == pytest.approx(0.5**0.5, rel=1e-4)
    assert held["a"].interval.upper == pytest.approx(1 + 0.5**0.5, rel=1e-3)
    assert held.value == pytest.approx(2, abs=1e-6)
    assert held.dof == 1
    assert held.notes[0].startswith("with b fixed at 1, the best value is 2; at the study's best candidate it is ")
    assert culmen.errors(store).parameters == free.parameters  # the store keeps these
    with pytest.raises(InputError, match="there is no parameter 'c' that could be fixed"):
        culmen.errors(store, fix={"c": 1.0})


def test_errors_of_a_value_hold_fixed_parameters(tmp_path):
    (tmp_path / "model.py").write_text("def f(p): return (p['x'] + p['y'] - 3)**2 + p['y']**2 + 1 + (p['n'] - 2)**2\n")
    tables = "".join(f"{name} = {{ lower = -5, upper = 5 }}\n" for name in ("x", "y"))
    (tmp_path / "study.toml").write_text(
        f'[space]\n{tables}n = {{ type = "integer", lower = 1, upper = 3 }}\n'
        '[evaluator]\npython = "model.py:f"\n[optimizer]\nname = "de"\n[stop]\nevaluations = 400\n'
    )
    study = Study.from_file(tmp_path / "study.toml", store=tmp_path / "s.db")
    study.run(progress=False)
    held = culmen.errors(tmp_path / "s.db", fix={"y": 1.0})
    assert held["x"].value == pytest.approx(2, abs=1e-3)
    assert held["x"].error == pytest.approx(1, rel=1e-2)
    assert held["n"].note == "integer, held fixed"


DECAY = """import math
T = [0.4 * i for i in range(20)]
D = [50 * math.exp(-0.6 * t) + 0.8 + (6 if i % 7 == 3 else 0.4 * math.sin(9 * i)) for i, t in enumerate(T)]
def f(p): return [p["A"] * math.exp(-p["k"] * t) + p["c"] - d for t, d in zip(T, D)]
"""


@pytest.mark.parametrize("loss", ["huber", "cauchy", "arctan"])
def test_errors_with_a_loss_fit_again_though_the_study_has_initial_values(tmp_path, loss):
    """Initial values are far from the best: the search for the others begins at the study's best candidate."""
    (tmp_path / "model.py").write_text(DECAY)
    tables = "A = { lower = 0, upper = 100, initial = 20 }\nk = { lower = 0, upper = 10 }\n"
    (tmp_path / "study.toml").write_text(
        f"[space]\n{tables}c = {{ lower = -5, upper = 5 }}\n"
        f'[evaluator]\npython = "model.py:f"\nresult = "residuals"\nloss = "{loss}"\n[stop]\nevaluations = 600\n'
    )
    Study.from_file(tmp_path / "study.toml", store=tmp_path / "s.db").run(progress=False)
    held = culmen.errors(tmp_path / "s.db", fix={"c": 0.2})
    model = {}
    exec(DECAY, model)  # noqa: S102 - the evaluator's own code
    found = least_squares(lambda x: model["f"]({"A": x[0], "k": x[1], "c": 0.2}), [50, 0.6], loss=loss, xtol=1e-12)
    assert held.value <= 2 * found.cost * (1 + 1e-4)
    assert [held["A"].value, held["k"].value] == pytest.approx(found.x, rel=0.02)


@pytest.mark.parametrize("fix", [{"c": 0.4}, {"a": 3.0}])
def test_errors_of_a_fit_without_bounds_hold_fixed_parameters(tmp_path, fix):
    space = "a = { initial = 1 }\nk = { lower = 0, initial = 1 }\nc = { lower = -9, upper = 9 }"
    model = "def f(p): return [p['a'] + p['k'] - 3, p['k'] + p['c'] - 1, p['a'] - p['c'] - 2.5]\n"
    write_fit(tmp_path, model, space, 60)
    Study.from_file(tmp_path / "study.toml", store=tmp_path / "s.db").run(progress=False)
    held = culmen.errors(tmp_path / "s.db", fix=fix)
    [name] = fix
    others = [one for one in ("a", "k", "c") if one != name]
    rows = {"a": [1, 0, 1], "k": [1, 1, 0], "c": [0, 1, -1]}
    design = np.array([rows[one] for one in others]).T
    offset = np.array([3, 1, 2.5]) - fix[name] * np.array(rows[name])
    expected = np.linalg.lstsq(design, offset, rcond=None)[0]
    assert [held[one].value for one in others] == pytest.approx(list(expected), abs=1e-5)
    assert [held[one].error for one in others] == pytest.approx(
        list(np.sqrt(np.diag(np.linalg.inv(design.T @ design)))), rel=1e-3
    )


@pytest.mark.parametrize(
    ("given", "fix"),
    [(5, 6), (5, 2.5), (2.5, 3.0), ("ring", "tree"), (True, False), (5, np.array([7])), (np.array([3.0]), 4.0)],
)
def test_a_given_fix_replaces_a_value_without_bounds(given, fix):
    result = culmen.minimize(lambda p: p["x"] ** 2, {"x": (-1, 1), "n": culmen.fixed(given)}, fix={"n": fix}, budget=4)
    assert result.best["n"] == fix
    if isinstance(fix, (int, str)):
        assert type(result.best["n"]) is type(fix)


def test_what_replaces_a_number_must_be_a_number():
    with pytest.raises(InputError, match="parameter 'n': value = 'six': it must be a number"):
        culmen.minimize(bowl, {"x": (-1, 1), "n": culmen.fixed(5)}, fix={"n": "six"}, budget=4)


@pytest.mark.parametrize("value", [3, 2.5, np.array([4.0])])
def test_a_given_fix_replaces_the_value_in_a_file_and_in_its_errors(tmp_path, value):
    write_fit(
        tmp_path, 'def f(p): return [p["x"] - p["n"], p["x"]]\n', "x = { lower = -5, upper = 5 }\nn = { value = 2 }", 40
    )
    store = tmp_path / "study.db"
    assert Study.from_file(tmp_path / "study.toml", store=store).run().best["n"] == 2
    found = culmen.errors(store, fix={"n": value})
    assert found["x"].value == pytest.approx(np.ravel(value)[0] / 2, abs=1e-4)
    for wrong in ([], np.ones((1, 2))):
        with pytest.raises(InputError, match="fix must be a dict such as"):
            culmen.errors(store, fix=wrong)
    study = Study.from_file(tmp_path / "study.toml", store=tmp_path / "other.db", fix={"n": value})
    assert study.run().best["n"] == value


@pytest.mark.parametrize(
    ("fix", "message"),
    [
        ([1], r"study.toml: fix must be a dict such as {'x': 1.0}, got \[1\]"),
        ({"x": [0.5]}, r"fix: parameter 'x': value: it must be a number, got \[0.5\]"),
        ({"x": None}, "fix: parameter 'x' cannot be fixed at None"),
    ],
)
def test_a_wrong_fix_of_a_file_is_one_sentence(tmp_path, fix, message):
    write_fit(tmp_path, "def f(p): return [1.0]\n", "x = { lower = 0, upper = 1 }\nn = { value = 2 }", 9)
    with pytest.raises(InputError, match=message):
        Study.from_file(tmp_path / "study.toml", fix=fix)


@pytest.mark.parametrize("initial", [np.array([0.5]), np.array(0.5), np.float32(0.5)])
def test_arrays_of_one_number_are_numbers(initial):
    space = culmen.Space({"x": culmen.real(np.array([0.0]), 1, initial=initial), "y": culmen.real(0, 1, initial=0)})
    assert space.core.start() == [0.5, 0.0]
    assert space.fixing({"x": initial}).core.all[0].fixed == 0.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"active_when": lambda p: True}, "active_when must be a string such as 'x > 0', got a function"),
        ({"active_when": True}, "active_when must be a string such as 'x > 0', got True"),
        ({"active_when": {}}, "active_when must be a string such as 'x > 0', got {}"),
        ({"scale": True}, 'scale must be "linear" or "log", got True'),
        ({"initial": [0.5]}, r"initial: it must be a number, got \[0.5\]"),
        ({"initial": 1j}, "initial: it must be a number, got 1j"),
        ({"initial": 2**1100}, "initial: the number has too many digits"),
        ({"value": [2]}, r"value: it must be a number, got \[2\]"),
        ({"upper": 2**1100}, "the bounds must be numbers"),
    ],
)
def test_a_wrong_part_of_a_parameter_is_one_sentence(given, message):
    with pytest.raises(InputError, match=f"parameter 'x': {message}"):
        culmen.Space({"y": (0, 1), "x": culmen.real(**{"lower": -5, "upper": 5, **given})})


@pytest.mark.parametrize("constraints", [np.array(1.0), np.ones((1, 2)), 5])
def test_constraints_that_are_no_strings_are_one_sentence(constraints):
    with pytest.raises(InputError, match="constraints must be strings such as 'x \\+ y <= 1', got"):
        culmen.minimize(bowl, {"x": (0, 1), "n": (0, 1)}, constraints=constraints, budget=4)
