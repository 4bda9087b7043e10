"""Studies from files and stores, run from Python."""

import pytest

import culmen
from culmen import InputError, Study, _core

SPACE = {"x": (-5, 5), "y": (-5, 5)}

STUDY = """
[space]
x = { lower = -5, upper = 5 }
n = { type = "integer", lower = 1, upper = 9 }
[evaluator]
python = "model.py:f"
[stop]
evaluations = 60
[run]
workers = 2
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "model.py").write_text("def f(p):\n    return p['x'] ** 2 + (p['n'] - 4) ** 2, {'twice': 2 * p['x']}\n")
    return tmp_path


def test_a_study_from_a_file_runs_and_is_kept(folder):
    result = Study.from_file("study.toml").run(progress=False)
    assert (result.reason, result.final, result.evaluations, result.store) == ("evaluations", True, 60, "study.db")
    assert result.extras == {"twice": 2 * result.best["x"]}
    assert isinstance(result.best["n"], int)


def test_whole_numbers_may_be_written_as_floats(folder):
    (folder / "study.toml").write_text(STUDY.replace("evaluations = 60", "evaluations = 1e3"))
    assert Study.from_file("study.toml", workers=2.0).config.evaluations == 1000


def test_a_study_goes_on_from_its_store(folder):
    Study.from_file("study.toml").run(progress=False)
    study = Study.from_store("study.db")
    study.config.evaluations = 90
    result = study.run(progress=False)
    whole = Study.from_file("study.toml", store="whole.db")
    whole.config.evaluations = 90
    assert result.evaluations == 90
    assert (result.x, result.value) == (whole.run(progress=False).x, result.value)


def test_a_store_is_made_once(folder):
    Study.from_file("study.toml").run(progress=False)
    with pytest.raises(InputError, match=r"study\.db"):
        Study.from_file("study.toml").run(progress=False)


def test_options_may_change_between_starts_but_the_study_may_not(folder):
    Study.from_file("study.toml").run(progress=False)
    other = Study.from_file("study.toml", seed=2)
    other.options.resume = True
    with pytest.raises(InputError, match="another study"):
        other.run(progress=False)


def test_a_store_whose_files_are_gone_says_so(folder):
    Study.from_file("study.toml").run(progress=False)
    (folder / "model.py").unlink()
    with pytest.raises(InputError, match=r"\[evaluator\] python = \"model\.py\": there is no file"):
        Study.from_store("study.db")


def test_what_the_command_line_set_is_kept_for_the_next_start(folder):
    study = Study.from_file("study.toml", evaluations=7, workers=3)
    study.run(progress=False)
    again = Study.from_store("study.db")
    assert (again.config.evaluations, again.options.workers) == (7, 3)


def test_a_refused_start_leaves_the_store_as_it_was(folder):
    Study.from_file("study.toml").run(progress=False)
    before = _core.Store.read("study.db").summary()
    other = Study.from_file("study.toml", seed=2)
    other.options.resume = True
    with pytest.raises(InputError, match="another study"):
        other.run(progress=False)
    assert _core.Store.read("study.db").summary() == before


def test_the_store_knows_the_same_best_as_the_result_when_a_target_ends_it(tmp_path):
    store = tmp_path / "study.db"
    result = culmen.minimize(lambda p: sum(v * v for v in p.values()), SPACE, target=0.5, workers=8, store=store)
    summary = _core.Store.read(str(store)).summary()
    assert (summary["told"], summary["best_value"]) == (result.evaluations, result.value)
    assert summary["finished"] == result.reason == "target"


def test_a_study_that_reached_its_target_goes_on_to_a_lower_one(tmp_path):
    def go(target):
        return culmen.minimize(
            lambda p: sum(v * v for v in p.values()),
            SPACE,
            budget=400,
            target=target,
            workers=2,
            store=tmp_path / "s.db",
        )

    assert go(0.5).reason == "target"
    further = go(-1)
    assert (further.reason, further.evaluations) == ("evaluations", 400)
