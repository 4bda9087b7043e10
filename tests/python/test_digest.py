"""An edited function or file behind the same name is noticed; what does not matter is not."""

import functools
import os
import subprocess
import sys
import warnings

import pytest

import culmen
from culmen import InputError, Study
from culmen.base import digest

SPACE = {"x": (-5, 5)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compiled(text, name="f"):
    names = {"__name__": "model"}
    exec(compile(text, "model.py", "exec"), names)  # noqa: S102
    return names[name]


def sha(text, name="f"):
    return digest.of_function(compiled(text, name), "f")["sha256"]


BEFORE = "def f(p):\n    return (p['x'] - 1) ** 2 if 'a' in {'a', 'b', 'c'} else 0\n"


@pytest.mark.parametrize(
    "text",
    [
        BEFORE.replace("- 1", "- 2"),
        BEFORE.replace("- 1", "+ 1"),
        BEFORE.replace("'x'", "'y'"),
        BEFORE.replace("'c'}", "'d'}"),
        BEFORE.replace("(p[", "abs(p["),
        "def f(p):\n    return (lambda: 4)()\n",
    ],
)
def test_another_computation_is_another_digest(text):
    assert sha(text) != sha(BEFORE)


def test_an_inner_function_counts():
    text = "def f(p):\n    def g():\n        return 3\n    return g()\n"
    assert sha(text) != sha(text.replace("3", "4"))


def test_comments_and_what_stands_around_a_lambda_do_not_count():
    assert sha("# why\n\n" + BEFORE.replace("return", "# how\n    return")) == sha(BEFORE)
    one, two = "keep, budget = lambda p: p['x'] ** 2, 10", "keep, budget = lambda p: p['x'] ** 2, 20"
    assert sha(one, "keep") == sha(two, "keep")


def test_the_digest_is_the_same_in_every_process():
    program = f"from culmen.base import digest\nexec({BEFORE!r})\nprint(digest.of_function(f, 'f')['sha256'])"
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3", "4")
    }
    assert found == {sha(BEFORE) + "\n"}


def test_callables_of_other_kinds():
    f = compiled(BEFORE)

    class Model:
        def __call__(self, p):
            return f(p)

    assert digest.of_function(functools.partial(f), "f") == digest.of_function(f, "f")
    assert digest.of_function(Model(), "m") is not None
    assert digest.of_function(max, "max") is None


def test_modules_are_found_without_running_them(folder):
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("raise SystemExit('was run')")
    (folder / "package" / "model.py").write_text("raise SystemExit('was run')")
    assert digest.of_module("package.model", folder) == digest.of_file(folder / "package" / "model.py")
    assert digest.of_module("package.other", folder) is None


@pytest.mark.parametrize("stored", [{}, {"digest": None}, {"function": "f"}])
def test_a_store_that_knows_no_digest_is_no_change(stored):
    assert digest.change(stored, digest.of_function(compiled(BEFORE), "f")) == ""


def test_another_python_says_nothing():
    now = digest.of_function(compiled(BEFORE), "f")
    before = {**now, "sha256": "0", "python": "cpython-39"}
    assert digest.change({"digest": before}, now) == ""


def test_minimize_warns_of_an_edited_function_and_keeps_the_values():
    culmen.minimize(compiled(BEFORE), SPACE, budget=20, store="kept.db", workers=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        culmen.minimize(compiled(BEFORE), SPACE, budget=30, store="kept.db", workers=1)
    edited = compiled(BEFORE.replace("- 1", "- 2"))
    with pytest.warns(UserWarning, match=r"model\.f has changed since this study was started; earlier values") as seen:
        result = culmen.minimize(edited, SPACE, budget=40, store="kept.db", workers=1)
    assert result.evaluations == 40
    with pytest.warns(UserWarning, match="has changed since this study was started"):
        culmen.minimize(edited, SPACE, budget=41, store="kept.db", workers=1)
    assert [warning.filename for warning in seen] == [__file__]
    with warnings.catch_warnings(), pytest.raises(InputError, match="parameter x: lower -5 there, 0 here"):
        warnings.simplefilter("error")
        culmen.minimize(edited, {"x": (0, 9)}, budget=42, store="kept.db", workers=1)


EVALUATORS = {
    "file": ('python = "model.py:f"', "model.py"),
    "module": ('python = "model:f"', "model.py"),
    "program": ('command = ["./model.sh"]', "model.sh"),
}


@pytest.mark.parametrize("kind", EVALUATORS)
def test_a_resumed_study_warns_of_an_edited_file(folder, kind):
    evaluator, name = EVALUATORS[kind]
    (folder / "model.py").write_text("def f(p):\n    return p['x'] ** 2\n")
    (folder / "model.sh").write_text("#!/bin/sh\necho 1\n")
    (folder / "model.sh").chmod(0o755)
    limits = "[stop]\nevaluations = 9\n[run]\nworkers = 1\n"
    (folder / "study.toml").write_text(f"[space]\nx = {{ lower = -5, upper = 5 }}\n[evaluator]\n{evaluator}\n{limits}")
    Study.from_file("study.toml").run(progress=False)
    assert Study.from_store("study.db").change() == ""
    with (folder / name).open("a") as file:
        file.write("\n# edited\n")
    study = Study.from_store("study.db")
    study.config.evaluations = 12
    with pytest.warns(UserWarning, match=f"{name} has changed since this study was started"):
        assert study.run(progress=False).evaluations == 12
