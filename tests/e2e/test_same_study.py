"""Same file, same seed: the same candidates and the same end, whatever evaluates them."""

import pytest
from harness import culmen, outcomes, sequence, summary, write_study

PLACES = {
    "1 worker": ["--workers", "1"],
    "8 threads": ["--workers", "8", "--threads"],
    "1 process": ["--workers", "1", "--worker-processes"],
    "8 processes": ["--workers", "8", "--worker-processes"],
    "no prefetch": ["--workers", "3", "--no-prefetch"],
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return run(tmp_path_factory.mktemp("reference"), ["--workers", "2"])


def run(folder, words, extra=""):
    write_study(folder, 150)
    (folder / "model.py").write_text("def f(p):\n    return (1 - p['x']) ** 2 + 100 * (p['y'] - p['x'] ** 2) ** 2\n")
    with (folder / "study.toml").open("a") as file:
        file.write(extra)
    done = culmen("run", "study.toml", "--quiet", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    store = folder / "study.db"
    return sequence(store), outcomes(store), summary(store)["best"]


@pytest.mark.parametrize("place", PLACES)
def test_workers_do_not_change_what_is_asked_and_told(reference, tmp_path, place):
    assert run(tmp_path, PLACES[place]) == reference


def test_a_target_is_met_at_the_same_evaluation(tmp_path):
    ends = []
    for name, words in {"one": ["--workers", "1"], "eight": ["--workers", "8"]}.items():
        folder = tmp_path / name
        folder.mkdir()
        ends.append(run(folder, words, extra="target = 1.0\n"))
    assert ends[0][1:] == ends[1][1:]
    assert len(ends[0][1]) < 150


def test_the_budget_is_exact(reference, tmp_path):
    assert len(reference[1]) == 150
    assert len([entry for entry in reference[0] if entry[0] == "tell"]) == 150


def test_another_seed_gives_other_candidates(reference, tmp_path):
    assert run(tmp_path, ["--seed", "2"])[0] != reference[0]
