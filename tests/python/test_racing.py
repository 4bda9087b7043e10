"""Racing: noisy choices, and what a result recommends."""

import numpy as np
import pytest
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
