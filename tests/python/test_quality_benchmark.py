"""The benchmark of optimizers: peers' stored runs, the tables made of them, and the bars."""

import math
import sys
from importlib.metadata import version

import pytest
from harness import ROOT
from rich.console import Console

sys.path.insert(0, str(ROOT))

from benchmarks.quality import stored
from benchmarks.quality.bars import Bar, best_rival, figure, judged, oracle, whole
from benchmarks.quality.bbob_peers import PEERS, find
from benchmarks.quality.bench import areas
from benchmarks.quality.measure import Mode, Run, Score, measure
from benchmarks.quality.parts import PARTS
from benchmarks.quality.peer_runs import PeerRuns, lengthen, missing, shorten
from benchmarks.quality.problems import Id, ids
from benchmarks.quality.score import TARGETS


def text(table):
    console = Console(width=200)
    with console.capture() as shown:
        console.print(table)
    return shown.get()


def score(reached, horizon=1000, instances=(1,)):
    """reached: by function, when each target was."""
    out = Score(horizon)
    for f, times in reached.items():
        for i in instances:
            out.add(Id(f, 5, i), Run(times))
    return out


@pytest.mark.parametrize("times", [[], [1], [0, 0, 3, 3, 3, 17], [0.25, 0.25, 7.31, 1204.5], [5] * 51])
def test_times_come_out_of_the_file_as_they_went_in(times):
    assert lengthen(shorten(times)) == times


def test_runs_stay_in_their_file_until_a_library_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    stored.Stored("bbob", "the command").put("peer:random", "f01", ["3 4*2"], ("numpy",))
    again = stored.Stored("bbob", "the command")
    assert again.get("peer:random", "f01") == ["3 4*2"]
    assert dict(again.versions())["peer:random"]["numpy"] == version("numpy")
    monkeypatch.setattr(stored, "version", lambda _: "another")
    again.put("peer:random", "f02", ["5"], ("numpy",))
    assert again.get("peer:random", "f01") is None
    assert again.get("peer:random", "f02") == ["5"]


def test_peers_that_are_there_are_not_played_again(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    tasks = [("peer:random", Id(1, 5, i), Mode(budget=2), 1) for i in (1, 2)]
    played = []
    PeerRuns().remake(tasks[:1], 1, False, lambda: played.append(1))
    PeerRuns().remake(tasks, 1, False, lambda: played.append(1))
    assert len(played) == 2
    again = PeerRuns().scores(["peer:random"], [Id(1, 5, 1), Id(1, 5, 2)], Mode(budget=2))
    alone = measure(["peer:random"], [Id(1, 5, 1), Id(1, 5, 2)], Mode(budget=2), jobs=1)
    assert again["peer:random", 5].times == alone["peer:random", 5].times


@pytest.mark.parametrize("name", ["serial", "noise", "small", "steps"])
def test_tables_are_made_of_the_committed_file(name):
    part = PARTS[name]
    for d in part.dimensions:
        problems = list(ids(list(range(1, 25)), [d], [1]))
        scores = PeerRuns().scores(part.stored, problems, part.mode)
        assert scores
        for player in part.players:
            scores[player, d] = Score(part.mode.horizon(d), {which: [1.0] * len(TARGETS) for which in problems}, [1.0])
        shown = text(areas(part, scores, d))
        assert all(player in shown for player, _ in scores)
        assert "missed" not in text(judged(tuple(b for b in part.bars if b.dimension == d), scores))


def test_every_stored_peer_is_of_a_part():
    known = {player for part in PARTS.values() for player in part.stored}
    assert {player for player, _ in stored.Stored("bbob", "").versions()} <= known


def test_the_best_peers_are_chosen_function_by_function():
    peers = {"peer:pycma": score({1: [1], 15: [1] * 20}), "peer:slsqp": score({1: [1] * 10, 15: [1]})}
    assert oracle(peers)["separable"] == pytest.approx(10 / 51)
    assert oracle(peers)["multimodal"] == pytest.approx(20 / 51)


def test_a_bar_is_reached_tied_or_missed():
    scores = {
        ("auto", 5): score({15: [1] * 25}),
        ("peer:pycma", 5): score({15: [1] * 20}),
        ("peer:lshade", 5): score({15: [1] * 30}),
    }
    assert best_rival(Bar("auto", 5, "all", None, "cma"), scores) == ("pycma", pytest.approx(20 / 51))
    assert "reached" in text(judged((Bar("auto", 5, "all", None, "cma"),), scores))
    assert "missed" in text(judged((Bar("auto", 5, "all", None, "any"),), scores))
    assert "tie" in text(judged((Bar("auto", 5, "all", 0.5),), scores))


def test_a_peer_with_fewer_problems_is_compared_on_those():
    mine, theirs = score({15: [1] * 5}, instances=(1, 2)), score({15: [1] * 10})
    mine.times[Id(15, 5, 1)] = [1] * 11
    scores = {("auto", 5): mine, ("peer:pycma", 5): theirs}
    assert list(whole(scores, 5)) == ["peer:pycma"]
    assert "reached" in text(judged((Bar("auto", 5, "all", None, "cma"),), scores))


def test_a_sphere_that_is_not_solved_takes_for_ever():
    assert figure(score({1: [3] * 51}), "sphere") == 3
    assert figure(score({1: [3] * 50}), "sphere") == math.inf


def test_a_library_that_is_not_there_is_one_sentence(monkeypatch):
    monkeypatch.setitem(PEERS, "none", type(PEERS["pso"])(PEERS["pso"].play, "swarm", ("no-such-library",)))
    assert missing(["peer:none"], Mode()).startswith("peer:none needs no-such-library, which is not installed")
    assert not missing(["peer:pycma-arrivals"], Mode(sigma=1.0))


def test_only_peers_that_have_a_population_take_one():
    with pytest.raises(ValueError, match="slsqp:400"):
        find("slsqp:400")
