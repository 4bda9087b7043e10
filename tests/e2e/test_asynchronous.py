"""Asynchronous studies: no worker waits for others, however their times differ, and resume is as exact as ever."""

import json
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
        assert with_reason(False, "set in the study") in " ".join(shown.stdout.split())
    store = tmp_path / "study.db"
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


def test_after_a_resume_the_store_is_the_reason(tmp_path):
    asynchronous_study(tmp_path)
    run(tmp_path)
    resumed = run(tmp_path, "--evaluations", BUDGET + 10, command="resume", file="study.db")
    assert with_reason(False, "the store keeps this mode") in resumed


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
    assert (result.evaluations, result.generational) == (80, False)
    assert result.value == sum(v * v for v in result.x)  # how low it is depends on timing


SAID = {
    True: "generational: the number of workers does not change the candidates",
    False: "asynchronous: candidates depend on timing",
}


def with_reason(generational, reason):
    return SAID[generational].replace(":", f" (reason: {reason}):")


def run(folder, *words, command="run", file="study.toml"):
    done = culmen(command, file, *words, cwd=folder, COLUMNS="160")
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def mode(folder):
    return json.loads(culmen("status", "study.db", "--json", cwd=folder).stdout)["generational"]


@pytest.mark.parametrize(
    ("top", "workers", "generational", "reason"),
    [
        ("", 7, False, "4 or more workers"),
        ("", 6, True, "few evaluations per worker"),
        pytest.param("", 3, True, "fewer than 4 workers", marks=pytest.mark.slow),
        pytest.param('optimizer = "auto"\n', 7, False, "4 or more workers", marks=pytest.mark.slow),
        ('optimizer = "cmaes"\n', 4, True, "default for a named optimizer"),
        ("optimizer = { generational = true }\n", 4, True, "set in the study"),
        ("optimizer = { generational = false }\n", 1, False, "set in the study"),
    ],
)
def test_the_mode_follows_the_workers_where_culmen_chooses_and_is_said(tmp_path, top, workers, generational, reason):
    write_study(tmp_path, 40, top=top)
    shown = run(tmp_path, "--workers", workers)
    assert shown.count(with_reason(generational, reason)) == 1, "in the first line"
    assert shown.count(SAID[generational]) == 1, "in the table at the end"
    assert SAID[not generational] not in shown
    assert SAID[generational] in run(tmp_path, command="status", file="study.db")
    run(tmp_path, command="report", file="study.db")
    assert SAID[generational] in (tmp_path / "study.html").read_text()
    assert mode(tmp_path) is generational


@pytest.mark.parametrize(("begun", "later"), [(7, 1), (1, 7)])
def test_a_store_goes_on_in_the_mode_that_it_was_begun_in(tmp_path, begun, later):
    write_study(tmp_path, 40, top="")
    run(tmp_path, "--workers", begun)
    again = run(tmp_path, "--workers", later)
    assert "has finished" in again, "it is the same study with other workers"
    resumed = run(tmp_path, "--workers", later, "--evaluations", 60, command="resume", file="study.db")
    assert resumed.count(SAID[begun == 1]) == 1
    assert resumed.count(with_reason(begun == 1, "the store keeps this mode")) == 1
    assert mode(tmp_path) is (begun == 1)
    assert len(outcomes(tmp_path / "study.db")) == 60


def test_another_mode_than_the_stores_is_another_study(tmp_path):
    write_study(tmp_path, 40, top="")
    run(tmp_path, "--workers", 7)
    write_study(tmp_path, 40, top="optimizer = { generational = true }\n")
    refused = culmen("run", "study.toml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "optimizer generational False there, True here" in refused.stderr, refused.stderr
    write_study(tmp_path, 40, top="optimizer = { generational = false }\n")
    assert "has finished" in run(tmp_path)


def test_minimize_follows_its_workers_and_its_store(tmp_path):
    def found(workers, **more):
        box = {"x": (-1, 2), "y": (-1, 2)}
        return package.minimize(lambda p: p["x"] ** 2 + p["y"] ** 2, box, workers=workers, progress=False, **more)

    store = tmp_path / "fit.db"
    assert not found(7, budget=20, store=store).generational
    assert not found(1, budget=40, store=store).generational
    assert found(1, budget=20).generational
    assert found(7, budget=20, generational=True).generational
    assert found(2, budget=20, optimizer="cmaes").generational
