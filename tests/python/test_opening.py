"""A store is opened once and goes along as a value."""

import pytest
from culmen.cli.work.run import resume_study, run_study
from culmen.report.build import report
from culmen.store.kept_errors import kept
from culmen.store.opening import Opened
from harness import write_study
from store_builder import build, replace_configuration

import culmen
from culmen import _core

pytestmark = pytest.mark.no_numbers

unreadable = pytest.mark.parametrize(
    "text", ["[" * 5000, "[" * 5000 + "]" * 5000, "{", "5"], ids=["open", "deep", "half", "number"]
)
NOTHING = dict.fromkeys(("evaluations", "target", "stagnation", "wall_time_s", "workers"))


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """The paths of the stores that were opened to be read, in that order."""
    paths, read = [], _core.Store.read

    def counting(path):
        paths.append(path)
        return read(path)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_core.Store, "read", counting)
    return paths


def run(study, **more):
    arguments = {"place": "threads", "prefetch": True, "store": None, "seed": None, "overwrite": False}
    return run_study(study, NOTHING, **{**arguments, "quiet": False, "errors": True, **more})


def resume(store, **given):
    return resume_study(store, {**NOTHING, **given}, prefetch=True, quiet=False, errors=True)


def test_a_new_run_opens_no_store(opened, tmp_path):
    write_study(tmp_path, 5)
    assert run(tmp_path / "study.toml") == 0
    assert opened == []


def test_a_finished_study_is_opened_once_to_be_run_resumed_or_reported(opened, tmp_path):
    write_study(tmp_path, 5)
    run(tmp_path / "study.toml")
    assert run(tmp_path / "study.toml") == 0
    assert opened == ["study.db"]
    assert resume(tmp_path / "study.db") == 0
    assert opened[1:] == [str(tmp_path / "study.db")]
    report(culmen.read("study.db"))
    assert opened[2:] == ["study.db"]


def test_a_run_that_goes_on_opens_its_store_once_before_it(opened, tmp_path):
    write_study(tmp_path, 5)
    run(tmp_path / "study.toml")
    assert resume(tmp_path / "study.db", evaluations=8) == 0
    assert opened == [str(tmp_path / "study.db")]


def test_failures_are_read_once_after_the_run(opened, tmp_path, capsys):
    write_study(tmp_path, 5)
    (tmp_path / "model.py").write_text("def f(p):\n    raise ValueError('always')\n")
    assert run(tmp_path / "study.toml") == 1
    assert opened == ["study.db"]
    assert "ValueError: always" in capsys.readouterr().out


def test_a_program_that_goes_on_opens_its_store_once(opened):
    for budget in (5, 8):
        culmen.minimize(abs_of, {"x": (-1.0, 1.0)}, budget=budget, store="fit.db", workers=1, progress=False)
    assert opened == ["fit.db"]


def abs_of(p):
    return abs(p["x"])


@unreadable
def test_a_description_that_cannot_be_read_is_one_sentence(tmp_path, text):
    store = build(tmp_path / "s.db", [[1.0]], {0: {"value": 1.0}})
    replace_configuration(store, text)
    for read in (culmen.Study.from_store, culmen.read):
        with pytest.raises(culmen.StoreError, match=r"s\.db is damaged: its description of the study cannot be read"):
            read(store)


@unreadable
def test_errors_that_cannot_be_read_are_none(tmp_path, text):
    store = build(tmp_path / "s.db", [[1.0]], {0: {"value": 1.0}})
    _core.Store.keep_note(str(store), "errors", text)
    assert kept(Opened(store)) is None
