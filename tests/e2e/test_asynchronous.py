"""generational = false: no worker waits for others, however their times differ, and resume is as exact as ever."""

from itertools import pairwise

import pytest
from harness import Running, culmen, outcomes, sequence, store_is_ready, wait_for, write_study

import culmen as package

BUDGET = 300


def asynchronous_study(folder):
    write_study(folder, BUDGET, top="")
    with (folder / "study.toml").open("a") as file:
        file.write('[optimizer]\nname = "cmaes"\ngenerational = false\n')


def told_before_an_earlier_one(calls):
    told = [number for kind, number, *_ in calls if kind == "tell"]
    return sum(later < earlier for earlier, later in pairwise(told))


def test_results_are_told_as_they_arrive(tmp_path):
    asynchronous_study(tmp_path)
    checked = culmen("check", "study.toml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    done = culmen("run", "study.toml", "--workers", 4, cwd=tmp_path, COLUMNS="120")
    assert done.returncode == 0, done.stderr
    for shown in (checked, done):
        assert "asynchronous: candidates depend on timing" in " ".join(shown.stdout.split())
    store = tmp_path / "study.db"
    assert min(value for _, value, _ in outcomes(store).values()) < 2
    assert told_before_an_earlier_one(sequence(store)) > BUDGET / 10


def test_a_killed_one_goes_on_from_where_it_was(tmp_path):
    asynchronous_study(tmp_path)
    store = tmp_path / "study.db"
    with Running("run", "study.toml", "--workers", "4", "--quiet", cwd=tmp_path) as run:
        wait_for(lambda: store_is_ready(store) and len(outcomes(store)) >= BUDGET // 3, "a third of the results")
        run.process.kill()
        wait_for(lambda: not run.processes(), "the end of every process of the run")
    before = sequence(store)
    done = culmen("resume", "study.db", "--workers", 3, "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    after = sequence(store)
    assert after[: len(before)] == before
    assert sorted(n for kind, n, *_ in after if kind == "tell") == list(range(BUDGET))


@pytest.mark.parametrize("optimizer", ["cmaes", "random"])
def test_minimize_takes_it_among_the_options(optimizer):
    result = package.minimize(
        lambda x: sum(v * v for v in x),
        [(-1, 2)] * 2,
        budget=80,
        workers=2,
        optimizer=optimizer,
        options={"generational": False},
        progress=False,
    )
    assert result.evaluations == 80
    assert result.value < (1e-2 if optimizer == "cmaes" else 1)
