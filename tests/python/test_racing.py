"""Racing: noisy choices, and what a result recommends."""

import json

import numpy as np
import pytest
from harness import Running, store_is_ready, summary, wait_for
from harness import culmen as command

import culmen

SECONDS = {"ring": 1.3, "tree": 1.0, "pairwise": 1.6, "linear": 2.0}

MODEL = """
import random
def f(p):
    return {"rate": 10 * p["n"] + random.gauss(0, 1)}
"""
FILE = """
name = "pick"
[space]
n = { lower = 1, upper = 4, type = "integer" }
[objectives]
rate = "maximize"
[evaluator]
python = "model.py:f"
[optimizer]
name = "racing"
generational = GENERATIONAL
[stop]
evaluations = 500
"""


def noisy(p):
    if p["algorithm"] == "broken":
        raise ValueError("not built in")
    noise = np.random.default_rng()
    outlier = 5 if noise.random() < 0.05 else 1
    return SECONDS[p["algorithm"]] * noise.lognormal(0, 0.05) * outlier


def test_the_best_of_noisy_choices_is_recommended():
    result = culmen.minimize(
        noisy,
        {"algorithm": culmen.categorical([*SECONDS, "broken"], initial="ring")},
        budget=1000,
        optimizer="racing",
        workers=2,
    )
    assert result.reason == "exhausted"
    assert result.recommended.params == {"algorithm": "tree"}
    assert result.recommended.evaluations >= 10
    assert result.value < result.recommended.value
    assert 0 < result.recommended.error < 2
    assert result.failed == 1


def test_other_optimizers_recommend_nothing():
    assert culmen.minimize(lambda p: p["x"] ** 2, {"x": (-1, 1)}, budget=10, workers=1).recommended is None


@pytest.mark.parametrize("generational", ["true", "false"])
def test_the_end_of_a_run_says_what_is_recommended(tmp_path, generational):
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "study.toml").write_text(FILE.replace("GENERATIONAL", generational))
    done = command("run", "study.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("recommended"))
    words = line.split()
    assert words[1] == "n=4:"
    assert float(words[2]) == pytest.approx(40, abs=2)
    assert words[3] == "±"
    assert " ".join(words[5:]).endswith("evaluations")


def race(folder, model=MODEL):
    (folder / "model.py").write_text(model)
    (folder / "study.toml").write_text(FILE.replace("GENERATIONAL", "false"))


def state(folder):
    return json.loads(command("status", "pick.db", "--json", cwd=folder).stdout)


def test_status_and_report_say_what_the_run_recommended(tmp_path):
    race(tmp_path)
    shown = command("run", "study.toml", cwd=tmp_path).stdout
    line = " ".join(next(line for line in shown.splitlines() if line.startswith("recommended")).split())
    assert line in " ".join(command("status", "pick.db", cwd=tmp_path).stdout.split())
    told = state(tmp_path)["recommended"]
    assert told["params"] == {"n": 4}
    assert line.endswith(f"{told['value']:.6g} ± {told['error']:.2g} of {told['evaluations']} evaluations")
    assert command("report", "pick.db", cwd=tmp_path).returncode == 0
    assert line.removeprefix("recommended ") in (tmp_path / "pick.html").read_text()


def test_after_a_kill_the_store_recommends_what_a_resume_goes_on_from(tmp_path):
    race(tmp_path, MODEL.replace("    return", "    time.sleep(0.02)\n    return").replace("random", "time, random", 1))
    store = tmp_path / "pick.db"
    with Running("run", "study.toml", "--workers", "2", "--quiet", cwd=tmp_path) as run:
        wait_for(lambda: store_is_ready(store) and (summary(store)["recommended"] or [0])[-1] >= 4, "a recommendation")
        run.process.kill()
        wait_for(lambda: not run.processes(), "the end of every process of the run")
    killed = state(tmp_path)["recommended"]
    told, used = rates_of(store, killed["params"]["n"]), killed["evaluations"]
    assert len(told) >= used >= 4, "the kill may come in the middle of a round, whose values do not count yet"
    assert killed["value"] == pytest.approx(np.mean(told[:used]))
    command("resume", "pick.db", "--quiet", cwd=tmp_path)
    assert state(tmp_path)["recommended"]["params"] == {"n": 4}


def rates_of(store, n):
    """Values that the optimizer was told of one candidate, as maximized. In the order of the evaluations: a worker can
    end one of the next round first."""
    table = culmen.read(store)
    return [table.values[row, 0] for row in sorted(table.order) if table.x[row, 0] == n]


def test_ask_and_tell_says_what_it_recommends():
    optimizer = culmen.Optimizer({"n": culmen.integer(1, 4)}, "racing", seed=1)
    assert optimizer.recommended is None
    noise = np.random.default_rng(1)
    while candidates := optimizer.ask(8):
        for candidate in candidates:
            optimizer.tell(candidate, 10 * candidate.params["n"] + noise.normal())
    found = optimizer.recommended
    assert found.params == {"n": 1}
    assert found.value == pytest.approx(10, abs=2)
    assert culmen.Optimizer({"x": (0, 1)}, "cmaes").recommended is None
