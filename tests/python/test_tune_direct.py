"""`culmen tune app --direct`: the choices from a profile, their rules, and a search with made-up times."""

import json
import math
import random
import sys
from statistics import median
from types import SimpleNamespace

import numpy as np
import pytest
from culmen.launch.mpi import load
from culmen.tune.app import ruled
from culmen.tune.app.cells import Cell
from culmen.tune.app.choosing import (
    best_of,
    choices_of,
    expected_calls,
    left_out,
    parameters_of,
    runs_for,
    starts_of,
)
from culmen.tune.app.program import usual_limit_s
from culmen.tune.app.writing import Choice, rules_for
from culmen.tune.command.line import Wanted, recipe_for
from culmen.tune.command.tuner import Tuner
from culmen.tune.rules.tried import Expected

import culmen
from culmen import InputError

NAMES = ("default", "basic_linear", "ring", "recursive_doubling")


@pytest.fixture
def known():
    return next(mpi for mpi in load() if mpi.title == "Open MPI 4").collectives


def choice(collective="allreduce", ranks=4, least=512, most=1023, names=NAMES):
    return Choice(collective, ranks, least, most, 0.5, names)


def test_a_choice_holds_for_the_sizes_of_its_class(known):
    cells = [Cell("bcast", 4, 11, 1500, 0.3), Cell("alltoall", 4, 11, 375, 0.2), Cell("barrier", 4, 0, 0, 0.1)]
    cells += [Cell("bcast", 4, 0, 0, 0.1), Cell("alltoall", 16, 2, 1, 0.1)]
    found = choices_of(cells, known, (False, False))
    assert [each[:4] for each in found] == [
        ("bcast", 4, 1024, 2047),
        ("alltoall", 4, 256, 511),
        ("barrier", 4, 0, 0),
    ]
    assert all(each.algorithms[0] == "default" for each in found)


def test_a_collective_with_one_rule_for_all_sizes_has_one_choice(known):
    cells = [Cell("bcast", 4, 11, 1500, 0.3), Cell("gather", 4, 11, 1500, 0.2), Cell("gather", 4, 4, 8, 0.15)]
    cells += [Cell("gather", 8, 4, 8, 0.1), Cell("alltoallv", 4, 11, 375, 0.05)]
    found = choices_of(cells, known, (False, False))
    assert [(*each[:4], round(each.share, 3)) for each in found] == [
        ("gather", 4, 8, 2047, 0.35),
        ("bcast", 4, 1024, 2047, 0.3),
        ("gather", 8, 8, 15, 0.1),
        ("alltoallv", 4, 256, 511, 0.05),
    ]
    settings = {each.name: each.algorithms[-1] for each in found}
    rules = rules_for(found, settings, known).rules
    assert [rules.row("gather", 4, size).algorithm for size in (0, 32, 10**6)] == [3, 3, 3]


def test_algorithms_that_need_a_promise_are_left_out_without_it(known):
    cells = [Cell("allreduce", 4, 10, 512, 0.3)]
    (careful,), (free,) = (choices_of(cells, known, (False, commutative)) for commutative in (False, True))
    assert "ring" not in careful.algorithms and "ring" in free.algorithms


def test_a_rule_holds_in_its_class_and_neighbours_keep_the_default(known):
    choices = [choice(), choice(least=1024, most=2047), choice(least=4096, most=8191)]
    settings = {each.name: name for each, name in zip(choices, ("basic_linear", "ring", "default"), strict=True)}
    rules = rules_for(choices, settings, known).rules
    algorithms = {size: rules.row("allreduce", 4, size).algorithm for size in (511, 512, 1023, 1024, 2047, 2048, 4096)}
    names = ("default", *known.of["allreduce"]["algorithms"])
    assert {size: names[number] for size, number in algorithms.items()} == {
        511: "default", 512: "basic_linear", 1023: "basic_linear", 1024: "ring", 2047: "ring", 2048: "default",
        4096: "default",
    }  # fmt: skip
    assert not any(rules.row("allreduce", ranks, 600).algorithm for ranks in (2, 3, 5))


def test_each_changed_choice_is_tried_with_a_call_of_its_class():
    choices = [choice(), choice("bcast", least=3, most=4), choice("reduce", least=1, most=7)]
    settings = {each.name: "ring" for each in choices[:2]} | {choices[2].name: "default"}
    assert expected_calls(choices, settings) == {Expected("allreduce", 4, 512, "ring"): choices[0]}


def test_the_first_runs_have_the_default_and_then_each_algorithm_at_least_twice():
    choices = [choice(), choice("bcast", names=("default", "chain")), choice("reduce", names=(*NAMES, "binary"))]
    starts = starts_of(choices)
    assert set(starts[0].values()) == {"default"}
    for each in choices:
        ran = [start[each.name] for start in starts[1:]]
        assert all(ran.count(name) >= 2 for name in each.algorithms)
    assert len(starts) <= runs_for(choices)


def test_an_algorithm_without_a_successful_run_is_named():
    one = choice()
    names = ("default", "ring", "ring", "basic_linear", "basic_linear")
    ran = [({one.name: name}, value) for name, value in zip(names, (1, *[math.nan] * 3, 1), strict=True)]
    assert [*left_out([one], evaluated(ran))] == [
        "Left out: ring of allreduce with 4 ranks and 512 B to 1023 B: no run with it succeeded (2 runs)."
    ]


def chosen_of(choices, slower, seed):
    """By a search with made-up times: each algorithm takes its share times a factor, and each run 2 % of noise."""
    rng = random.Random(seed)  # noqa: S311 - noise

    def time_s(settings):
        return 1 + sum(slower[each.algorithms.index(settings[each.name])] - 1 for each in choices) / len(choices)

    space = {name: culmen.categorical(table["choices"]) for name, table in parameters_of(choices).items()}
    starts, runs = starts_of(choices), runs_for(choices)
    options = {"model": "additive"}
    search = culmen.Optimizer(
        space, optimizer="bayes", options=options, starts=starts, seed=seed, evaluations=runs, generational=True
    )
    ran = []
    for _ in range(runs):
        (candidate,) = search.ask(1)
        ran.append((candidate.params, time_s(candidate.params) * math.exp(rng.gauss(0, 0.02))))
        search.tell(candidate, ran[-1][1])
    return time_s(best_of(choices, evaluated(ran), maximize=False))


def evaluated(ran):
    """``ran``: settings and values; NaN: the run failed."""
    values = np.array([[value] for _, value in ran])
    columns = {name: np.array([settings[name] for settings, _ in ran], dtype=object) for name in ran[0][0]}
    return SimpleNamespace(columns=columns, values=values, feasible=np.isfinite(values[:, 0]), told=np.arange(len(ran)))


@pytest.mark.parametrize(("maximize", "best"), [(False, "ring"), (True, "basic_linear")])
def test_a_choice_has_the_best_effect_and_not_the_best_single_run(maximize, best):
    choices = [choice(), choice("bcast", names=("default", "chain"))]
    time_s = {"default": 1.0, "basic_linear": 1.6, "ring": 0.8, "recursive_doubling": 1.2, "chain": 1.0}
    ran = [(start, math.prod(time_s[name] for name in start.values())) for start in starts_of(choices)]
    lucky = {choices[0].name: "recursive_doubling", choices[1].name: "chain"}
    settings = best_of(choices, evaluated([*ran, *ran, (lucky, 3.0 if maximize else 0.7)]), maximize)
    assert settings[choices[0].name] == best


def test_the_default_stays_without_two_successful_runs_of_another_algorithm():
    one = choice()
    ran = [({one.name: "default"}, 1.0), ({one.name: "ring"}, 0.5), *[({one.name: "basic_linear"}, math.nan)] * 3]
    assert best_of([one], evaluated(ran), False) == {one.name: "default"}
    assert best_of([one], evaluated([*ran, ({one.name: "ring"}, 0.6)]), False) == {one.name: "ring"}
    assert best_of([one], evaluated([({one.name: "ring"}, math.nan)]), False) == {one.name: "default"}


def test_the_default_stays_if_no_algorithm_is_better():
    one = choice()
    ran = [({one.name: name}, 1.0) for name in one.algorithms for _ in range(3)]
    assert best_of([one], evaluated(ran), False) == {one.name: "default"}


def test_a_search_finds_faster_algorithms_in_few_noisy_runs():
    """The best time is 0.8, and all defaults take 1; the median of several seeds does not depend on roundings."""
    choices = [choice(), choice("bcast"), choice("reduce")]
    assert median(chosen_of(choices, (1, 1.6, 0.8, 1.2), seed) for seed in range(1, 6)) < 0.9


def test_the_time_of_a_search_replaces_the_number_of_its_runs(tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    (tmp_path / "maker.py").write_text("")
    wanted = Wanted(None, False, None, 3, None, None, minutes=0.5)
    choices = [choice()]
    given = (parameters_of(choices), {}, 20, str(tmp_path / "maker.py"), tmp_path / "plan.json", 1)
    stop = recipe_for("app", wanted, *given, starts_of(choices)).stop
    assert (stop.wall_time_s, stop.evaluations) == (30, None)
    with pytest.raises(InputError, match="--maximize needs --figure"):
        Wanted(None, True, None, 3, None, None)


def test_a_search_without_time_for_a_run_says_so(tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    (tmp_path / "maker.py").write_text("def expanded(words):\n    return ['sleep', '0.5']\n")
    wanted, choices = Wanted(None, False, None, 3, None, None, minutes=1e-4), [choice()]
    given = (parameters_of(choices), {}, 20, str(tmp_path / "maker.py"), tmp_path / "plan.json", 1)
    recipe = recipe_for("app", wanted, *given, starts_of(choices))
    with (
        Tuner(recipe, tmp_path / "plan.json", tmp_path, quiet=True, limits=True) as tuner,
        pytest.raises(InputError, match="time was up before a run had ended"),
    ):
        tuner.search()


def test_another_plan_does_not_use_the_rules_of_the_first(tmp_path, monkeypatch):
    """For example after another version of the MPI was installed."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "writer.py").write_text(
        "import json, sys\nopen(sys.argv[2], 'w').write(json.load(open(sys.argv[1]))['mpi'])\n"
    )
    plan = {"rules_name": "rules", "python": sys.executable, "writer": "writer"}
    for version in ("MPI 1", "MPI 2", "MPI 1"):
        path = tmp_path / "plan.json"
        path.write_text(json.dumps({**plan, "mpi": version}))
        assert ruled._rules(json.loads(path.read_text()), path, ["bcast=chain"]).read_text() == version


def test_the_time_limit_counts_what_the_program_does_outside_mpi(tmp_path):
    (tmp_path / "duration_s").write_text("80.5\n")
    assert usual_limit_s(tmp_path) == 10 * 80.5 + 60
    with pytest.raises(InputError, match="write --overwrite to profile the program again"):
        usual_limit_s(tmp_path / "none")
