"""A search that was interrupted gets the rest of its time. The stores of HPL can lie in another folder."""

import math
from types import SimpleNamespace

import pytest
from culmen.bench.stopping import StoppedError
from culmen.bench.study import KeptStudy
from culmen.tune.command.recipe import read_recipe
from culmen.tune.command.tuner import Tuner
from culmen.tune.hpl import search
from culmen.tune.hpl.measured import How
from culmen.tune.hpl.runs import SEARCH, Runs, stores_in

import culmen

pytestmark = pytest.mark.no_numbers

RECIPE = """
[space]
level = { type = "integer", lower = 1, upper = 9, initial = 6 }
[evaluator]
command = ["true", "{level}"]
[stop]
evaluations = 3
wall_time_s = 1000
"""
HOW = How([], 1, "", "")


def conduct_some(store):
    """The sum of the durations of its runs, in seconds."""
    culmen.minimize(lambda p: p["x"], {"x": (0.0, 1.0)}, budget=4, store=store)
    return math.fsum(culmen.read(store).duration_s)


@pytest.fixture
def given_s(monkeypatch):
    """The time of each search."""
    found = []
    result = SimpleNamespace(reason="wall time")
    monkeypatch.setattr(Runs, "conduct", lambda _self, _kept, _store, _what, s: (found.append(s), result)[1])
    monkeypatch.setattr(search, "_kept", lambda *_: SimpleNamespace(open=lambda: 4))
    return found


def test_a_search_that_begins_has_its_whole_time_and_says_nothing(tmp_path, capsys, given_s):
    with Runs(HOW, tmp_path, quiet=False) as runs:
        search._conducted(None, runs, SEARCH, "runs", 20.0)
    assert given_s == [20.0]
    assert capsys.readouterr().out == ""


def test_a_search_that_continues_gets_the_rest_of_its_time_and_says_so(tmp_path, capsys, given_s):
    spent_s = conduct_some(tmp_path / SEARCH)
    with Runs(HOW, tmp_path, quiet=False) as runs:
        search._conducted(None, runs, SEARCH, "runs", spent_s + 20)
    assert given_s == [spent_s + 20 - spent_s]
    out = capsys.readouterr().out
    assert out.startswith("The search had ") and out.endswith("; 20 s remain\n"), out


def test_a_search_whose_time_is_up_ends_at_once(tmp_path, capsys, given_s):
    spent_s = conduct_some(tmp_path / SEARCH)
    with Runs(HOW, tmp_path, quiet=False) as runs:
        search._conducted(None, runs, SEARCH, "runs", spent_s / 2)
    assert len(given_s) == 1 and 0 < given_s[0] <= 0.001, "0 would be no limit"
    assert capsys.readouterr().out.endswith("; 0 s remain\n")


def test_a_store_in_the_scratch_folder_is_copied_to_the_results(tmp_path):
    results, scratch = tmp_path / "results", tmp_path / "scratch"
    results.mkdir()
    scratch.mkdir()
    with Runs(HOW, results, quiet=True, scratch=scratch) as runs:
        place = runs.store(SEARCH)
        assert place.is_relative_to(scratch)
        spent_s = conduct_some(place)
    assert not list(scratch.iterdir())
    assert stores_in(results) == [results / SEARCH]
    assert math.fsum(culmen.read(results / SEARCH).duration_s) == spent_s
    with Runs(HOW, results, quiet=True, scratch=scratch) as runs:
        assert runs.stores() == [runs.store(SEARCH)]


def test_a_search_of_another_program_also_gets_the_rest_of_its_time(tmp_path, capsys, monkeypatch):
    file = tmp_path / "app.toml"
    file.write_text(RECIPE)
    with Tuner(read_recipe(file), file, tmp_path, quiet=True) as tuner:
        assert tuner.search() is not None
    (tmp_path / "found.json").unlink()  # as if it had been interrupted
    spent_s = math.fsum(culmen.read(tmp_path / SEARCH).duration_s)
    given_s = []
    result = SimpleNamespace(reason="interrupted")
    monkeypatch.setattr(KeptStudy, "conduct", lambda *_, wall_time_s: (given_s.append(wall_time_s), result)[1])
    file.write_text(RECIPE.replace("evaluations = 3", "evaluations = 9"))
    with Tuner(read_recipe(file), file, tmp_path, quiet=False) as tuner, pytest.raises(StoppedError):
        tuner.search()
    assert given_s == [1000.0 - spent_s]
    assert "The search had " in capsys.readouterr().out
