"""The errors of a fit are stored when they are known, and every way to them says so if that fails."""

from pathlib import Path

import pytest
from culmen.cli.work.errors import show_errors
from culmen.cli.work.run import run_study
from harness import write_fit

import culmen
from culmen import StoreError, Study, _core

MODEL = 'def f(p): return [p["x"] - 1, 2 * (p["y"] - p["x"])]\n'
SPACE = "x = { lower = -5, upper = 5 }\ny = { lower = -5, upper = 5 }"
NOTHING = dict.fromkeys(("evaluations", "target", "stagnation", "wall_time_s", "workers"))
FAILURE = "the errors could not be stored: no space left"


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_fit(tmp_path, MODEL, SPACE, 60)
    return tmp_path / "study.toml"


@pytest.fixture
def on_a_full_disk(monkeypatch):
    """Calls a function when the disk has become full: the store keeps no further text."""

    def full(_path, _name, _text):
        raise StoreError("no space left")

    def call(function, *arguments, **more):
        monkeypatch.setattr(_core.Store, "keep_note", full)
        return function(*arguments, **more)

    return call


def run(study, errors, quiet=False):
    return run_study(
        study,
        NOTHING,
        place="threads",
        prefetch=True,
        store=None,
        seed=None,
        overwrite=False,
        quiet=quiet,
        errors=errors,
    )


def show(store):
    return show_errors(store, None, False, None, 1.0, False, False)


@pytest.mark.parametrize("quiet", [False, True])
def test_a_run_says_that_its_errors_could_not_be_stored(study, on_a_full_disk, capsys, quiet):
    assert on_a_full_disk(run, study, errors=True, quiet=quiet) == 0
    shown = capsys.readouterr()
    assert shown.err == f"culmen: note: {FAILURE}\n"
    assert ("± (Δχ² = 1)" in shown.out) is not quiet


def test_the_command_errors_says_so(study, on_a_full_disk, capsys):
    run(study, errors=False)
    capsys.readouterr()
    assert on_a_full_disk(show, Path("study.db")) == 0
    shown = capsys.readouterr()
    assert shown.err == f"culmen: note: {FAILURE}\n"
    assert "± (Δχ² = 1)" in shown.out


def test_a_program_with_the_store_is_warned(study, on_a_full_disk):
    run(study, errors=False)
    with pytest.warns(UserWarning, match=FAILURE):
        errors = on_a_full_disk(culmen.errors, "study.db")
    assert errors["x"].error == pytest.approx(1, rel=1e-3)


def test_a_program_with_the_result_is_warned(study, on_a_full_disk):
    result = Study.from_file(study).run(progress=False)
    with pytest.warns(UserWarning, match=FAILURE):
        errors = on_a_full_disk(result.find_errors)
    assert errors["x"].error == pytest.approx(1, rel=1e-3)


def test_stored_errors_are_not_computed_again(study, on_a_full_disk, capsys):
    run(study, errors=True)
    capsys.readouterr()
    Path("model.py").write_text(MODEL.replace("- 1", "- nothing"))
    assert on_a_full_disk(show, Path("study.db")) == 0
    assert capsys.readouterr().err == ""
