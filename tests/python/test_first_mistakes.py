"""The first mistakes of a newcomer in a Python function: each answer says what to write."""

import subprocess
import sys
import textwrap

import pytest

import culmen

pytestmark = pytest.mark.no_numbers

NAMED, LISTED = {"x": (0, 1), "y": (0, 1)}, [(0, 1), (0, 1)]


def failure_of(f, space):
    with pytest.raises(culmen.AllFailedError) as caught:
        culmen.minimize(f, space, budget=4, workers=1)
    return str(caught.value)


def test_a_traceback_names_the_lines_of_the_script(tmp_path):
    script = tmp_path / "fit.py"
    script.write_text(
        textwrap.dedent("""\
        import culmen

        def inner(x):
            raise ValueError("negative mass")

        def f(p):
            return inner(p["x"])

        if __name__ == "__main__":
            culmen.minimize(f, {"x": (0, 1)}, budget=4, workers=1)
        """)
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert f'File "{script}", line 7, in f' in done.stderr
    assert f'File "{script}", line 4, in inner' in done.stderr
    assert 'raise ValueError("negative mass")' in done.stderr.split("ValueError: negative mass", 1)[1]


@pytest.mark.parametrize(
    ("f", "space", "advice"),
    [
        (lambda p: p[0], NAMED, "; the function receives a dict of the parameters; write p['x'], or list(p.values())"),
        (lambda p: p**2, NAMED, "; the function receives a dict of the parameters; write p['x']"),
        (lambda p: p["x"], LISTED, "; the bounds are a list, so the function receives a list of numbers; write p[0]"),
        (lambda p: p - 1, LISTED, "; the function receives a list of numbers; for an array, write p = numpy.array(p)"),
    ],
    ids=["number of a dict", "power of a dict", "name in a list", "list as an array"],
)
def test_the_wrong_kind_of_argument_is_explained(f, space, advice):
    assert advice in failure_of(f, space)


def test_an_own_list_gets_no_advice_about_the_argument():
    assert "; " not in failure_of(lambda p, own=(1, 2): own["x"], NAMED).splitlines()[0].partition("TypeError")[2]


@pytest.mark.parametrize(
    ("argument", "answer"),
    [
        ("popsize", 'write options={"population": …} and an optimizer with this option, such as "cmaes"'),
        ("sigma0", 'write optimizer="cmaes" and options={"sigma": …}'),
        ("direction", 'write objectives={"value": "maximize"}'),
        ("maxiter", "did you mean 'budget'?"),
        ("max_evals", "did you mean 'budget'?"),
        ("n_trials", "did you mean 'budget'?"),
        ("timeout", "did you mean 'wall_time_s'?"),
        ("random_state", "did you mean 'seed'?"),
    ],
)
def test_arguments_of_other_libraries_are_answered_with_ours(argument, answer):
    with pytest.raises(culmen.InputError) as caught:
        culmen.minimize(lambda p: p["x"], NAMED, **{argument: 3})
    assert f"there is no argument '{argument}'; {answer}" in str(caught.value)


@pytest.mark.parametrize(
    ("argument", "answer"),
    [
        ("popsize", 'write options={"population": …} and an optimizer with this option, such as "cmaes"'),
        ("direction", "values are minimized; to maximize a value, tell the optimizer the negative value"),
        ("sampler", "did you mean 'optimizer'?"),
        ("n_trials", "did you mean 'evaluations'?"),
    ],
)
def test_arguments_of_an_optimizer_of_other_libraries_are_answered_with_ours(argument, answer):
    with pytest.raises(culmen.InputError) as caught:
        culmen.Optimizer(NAMED, **{argument: 3})
    assert f"culmen.Optimizer: there is no argument '{argument}'; {answer}" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda: culmen.real(0, 1, log=True), "culmen.real: there is no argument 'log'; write scale=\"log\""),
        (lambda: culmen.real(low=0, high=1), "culmen.real: there is no argument 'low'; did you mean 'lower'?"),
        (
            lambda: culmen.integer(0, 9, step=3),
            "culmen.integer: there is no argument 'step'; write culmen.ordinal([…])",
        ),
        (lambda: culmen.real(0, 1, "log", 0.5), "culmen.real: arguments after lower and upper and scale must be given"),
        (lambda: culmen.boolean(True), "culmen.boolean: arguments must be given by name, such as initial=True"),
        (lambda: culmen.integer(), "culmen.integer: call it as culmen.integer(1, 9)"),
    ],
)
def test_wrong_arguments_of_parameters_are_sentences(call, answer):
    with pytest.raises(culmen.InputError) as caught:
        call()
    assert str(caught.value).startswith(answer)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("maximize", 'write culmen.minimize(f, …, objectives={"value": "maximize"})'),
        ("curve_fit", 'write culmen.minimize(f, …, result="residuals"), where f returns a list of residuals'),
        ("create_study", "write culmen.minimize(f, space, budget=…)"),
        ("uniform", "write culmen.real(lower, upper)"),
    ],
)
def test_functions_of_other_libraries_are_answered_with_ours(name, answer):
    with pytest.raises(AttributeError) as caught:
        getattr(culmen, name)
    assert str(caught.value) == f"module 'culmen' has no attribute '{name}'; {answer}"
    assert not hasattr(culmen, "frobnicate")


def test_public_exceptions_have_their_public_names():
    for name in ("AllFailedError", "EvaluationError", "CulmenError", "InputError", "StoreError"):
        assert getattr(culmen, name).__module__ == "culmen", name


def test_a_path_for_the_function_is_answered_with_a_command():
    with pytest.raises(
        culmen.InputError, match=r"got './model.sh'; for a program, write culmen.Command\(\[\"./model.sh"
    ):
        culmen.minimize("./model.sh", NAMED, budget=4)


def test_a_tuple_of_values_is_answered_with_objectives():
    said = failure_of(lambda p: (p["x"], 1 - p["x"]), NAMED)
    assert 'for a fit, set result = "residuals"; for several objectives, name them in objectives' in said
