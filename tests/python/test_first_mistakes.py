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
