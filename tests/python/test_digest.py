"""An edited function or file behind the same name is noticed; what does not matter is not."""

import functools
import json
import os
import subprocess
import sys
import warnings

import pytest
from store_builder import replace_configuration

import culmen
from culmen import InputError, Study
from culmen.base import digest

pytestmark = pytest.mark.no_numbers

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
    found = digest.of_module("package.model", folder)
    assert found.pop("modules") == {"package": digest.of_file(folder / "package" / "__init__.py")}
    assert found == digest.of_file(folder / "package" / "model.py")
    assert digest.of_module("package.other", folder) is None


@pytest.mark.parametrize("stored", [{}, {"digest": None}, {"function": "f"}])
def test_a_store_that_knows_no_digest_is_no_change(stored):
    assert digest.change(stored, digest.of_function(compiled(BEFORE), "f")) == ""


def test_another_python_says_nothing():
    now = digest.of_function(compiled(BEFORE), "f")
    before = {**now, "sha256": "0", "python": "cpython-39"}
    assert digest.change({"digest": before}, now) == ""


def test_minimize_refuses_an_edited_function_until_the_change_is_accepted():
    culmen.minimize(compiled(BEFORE), SPACE, budget=20, store="kept.db", workers=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        culmen.minimize(compiled(BEFORE), SPACE, budget=30, store="kept.db", workers=1)
    edited = compiled(BEFORE.replace("- 1", "- 2"))
    with pytest.raises(
        InputError, match=r"kept\.db: model\.f has changed since this study .* pass accept_changes=True"
    ):
        culmen.minimize(edited, SPACE, budget=40, store="kept.db", workers=1)
    with pytest.warns(UserWarning, match=r"model\.f has changed since this study was started; earlier values") as seen:
        result = culmen.minimize(edited, SPACE, budget=40, store="kept.db", workers=1, accept_changes=True)
    assert result.evaluations == 40
    assert [warning.filename for warning in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        culmen.minimize(edited, SPACE, budget=41, store="kept.db", workers=1)  # accepted before
        with pytest.raises(InputError, match="parameter x: lower -5 there, 0 here"):
            culmen.minimize(edited, {"x": (0, 9)}, budget=42, store="kept.db", workers=1)
    assert stored("kept.db")["digest"]["changes"] == ["model.f"]


def stored(path):
    return json.loads(culmen._core.Store.read(path).configuration)


EVALUATORS = {
    "file": ('python = "model.py:f"', "model.py"),
    "module": ('python = "model:f"', "model.py"),
    "program": ('command = ["./model.sh"]', "model.sh"),
}


@pytest.mark.parametrize("kind", EVALUATORS)
def test_a_resume_refuses_an_edited_file_until_the_change_is_accepted(folder, kind):
    evaluator, name = EVALUATORS[kind]
    write_models(folder)
    write_study(folder, evaluator)
    Study.from_file("study.toml").run(progress=False)
    assert Study.from_store("study.db").change() == ""
    with (folder / name).open("a") as file:
        file.write("\nexit\n")
    study = Study.from_store("study.db")
    study.config.evaluations = 12
    with pytest.raises(InputError, match=f"{name} has changed since this study was started"):
        study.run(progress=False)
    with pytest.warns(UserWarning, match=f"{name} has changed since this study was started"):
        assert study.run(progress=False, accept_changes=True).evaluations == 12
    assert Study.from_store("study.db").change() == ""


def write_models(folder):
    (folder / "model.py").write_text("def f(p):\n    return p['x'] ** 2\n")
    (folder / "model.sh").write_text("#!/bin/sh\necho 1\n")
    (folder / "model.sh").chmod(0o755)


def write_study(folder, evaluator, more=""):
    limits = "[stop]\nevaluations = 9\n[run]\nworkers = 1\n"
    space = "[space]\nx = { lower = -5, upper = 5 }\n"
    (folder / "study.toml").write_text(f"{space}[evaluator]\n{evaluator}\n{more}{limits}")


def test_comments_in_a_file_of_python_code_are_no_change(folder):
    (folder / "model.py").write_text("def f(p):\n    return p['x'] ** 2\n")
    write_study(folder, 'python = "model.py:f"')
    Study.from_file("study.toml").run(progress=False)
    (folder / "model.py").write_text("# A parabola.\n\ndef f(p):\n    return p['x'] ** 2  # why\n")
    assert Study.from_store("study.db").change() == ""
    (folder / "model.py").write_text("def f(p):\n    return p['x'] ** 4\n")
    assert Study.from_store("study.db").change() == "model.py has changed since this study was started"


@pytest.mark.parametrize("kind", EVALUATORS)
def test_a_changed_data_file_is_refused(folder, kind):
    evaluator, _ = EVALUATORS[kind]
    write_models(folder)
    (folder / "d.txt").write_text("1\n")
    (folder / "mesh").mkdir()
    (folder / "mesh" / "coarse").write_text("2\n")
    write_study(folder, evaluator, 'data = ["d.txt", "mesh"]\n')
    Study.from_file("study.toml").run(progress=False)
    study = Study.from_store("study.db", evaluations=12)
    assert study.change() == ""
    (folder / "d.txt").write_text("2\n")
    assert Study.from_store("study.db").change() == "d.txt has changed since this study was started"
    (folder / "mesh" / "fine").write_text("2\n")
    assert Study.from_store("study.db").change() == "d.txt and mesh have changed since this study was started"
    (folder / "d.txt").unlink()
    with pytest.raises(InputError, match=r'data = "d\.txt": there is no file'):
        Study.from_store("study.db")


def test_the_content_of_a_data_folder_counts_also_behind_links(tmp_path):
    real, data = tmp_path / "real", tmp_path / "data"
    real.mkdir()
    data.mkdir()
    (real / "mesh").write_text("1\n")
    (data / "grid").write_text("1\n")
    (data / "current").symlink_to(real)
    (data / "also").symlink_to(real)
    (real / "up").symlink_to(data)  # a circle has an end
    (data / "lost").symlink_to("nowhere")
    seen = {digest.of_files({"d": data})["d"]}
    for path in (data / "grid", real / "mesh"):
        path.write_text("2\n")
        seen.add(digest.of_files({"d": data})["d"])
    assert len(seen) == 3


@pytest.mark.parametrize("way", ["copy", "link"])
def test_inputs_and_files_in_the_command_count_as_data(way, folder):
    (folder / "model.py").write_text("print(1)\n")
    (folder / "grid.txt").write_text("1\n")
    command = f'command = ["python3", "{{CULMEN_STUDY_FOLDER}}/model.py"]\ninputs.{way} = ["grid.txt"]'
    write_study(folder, command)
    Study.from_file("study.toml").run(progress=False)
    (folder / "model.py").write_text("print(2)\n")
    (folder / "grid.txt").write_text("2\n")
    assert Study.from_store("study.db").change() == (
        "grid.txt and {CULMEN_STUDY_FOLDER}/model.py have changed since this study was started"
    )


def test_a_store_of_an_older_build_is_resumed_with_a_note():
    def start(scale, **more):
        return culmen.minimize(lambda p: scale * p["x"] ** 2, SPACE, store="old.db", workers=1, **more)

    start(1, budget=10)
    configuration = stored("old.db")
    del configuration["digest"]["values"]
    replace_configuration("old.db", json.dumps(configuration))
    with pytest.warns(UserWarning, match=r"no checksum of the values that .* captures; culmen adds it now, but"):
        start(2, budget=11)
    with pytest.raises(InputError, match="'scale' has changed since this study was started"):
        start(3, budget=12)
