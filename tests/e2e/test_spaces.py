"""Every kind of parameter, constraint, objective and limit, as each evaluator and each user sees it."""

import json
import subprocess

import pytest
from harness import ROOT, culmen, outcomes, sequence

import culmen as package

SPACE = """
[space]
x = { lower = -2.0, upper = 2.0, initial = 0.5 }
method = { choices = ["ring", "two words"] }
block = { type = "ordinal", choices = [16, 32.5, 64] }
fast = { type = "boolean" }
n = { type = "integer", lower = 1, upper = 1000, scale = "log" }
depth = { type = "integer", lower = 1, upper = 4, active_when = "method == 'ring'" }

[constraints]
small = "block * n <= 4000"
"""
REST = """
[optimizer]
name = "random"
[stop]
evaluations = 60
"""
PYTHON = """
import json
def f(p):
    with open("seen.txt", "a") as file:
        print(json.dumps(p), file=file)
    return p["x"] ** 2
"""
COMMAND = r"""#!/bin/sh
{ echo "$CULMEN_PARAM_METHOD|$block|$fast|$n|${depth-none}"; } >> "$CULMEN_STUDY_FOLDER/seen.txt"
echo "$x"
"""
LIBRARY = r"""
#include <culmen/evaluator.h>
#include <math.h>
int f(const culmen_candidate* c, culmen_result* r) {
  culmen_set_extra(r, "cost", c->x[0]);
  culmen_set_extra(r, "gain", c->x[4]);
  culmen_set_extra(r, "depth_is_nan", isnan(c->x[5]));
  return culmen_set_extra(r, "method", c->x[1]);
}
"""


def study(folder, evaluator, more=""):
    (folder / "s.toml").write_text(SPACE + evaluator + more + REST)
    done = culmen("run", "s.toml", "--workers", 2, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(culmen("status", "s.db", "--json", cwd=folder).stdout)


def test_a_python_function_gets_values_and_only_what_is_active(tmp_path):
    (tmp_path / "f.py").write_text(PYTHON)
    found = study(tmp_path, '[evaluator]\npython = "f.py:f"\n')
    seen = [json.loads(line) for line in (tmp_path / "seen.txt").read_text().splitlines()]
    assert len(seen) == 60
    assert {type(p["fast"]) for p in seen} == {bool}
    assert {p["method"] for p in seen} == {"ring", "two words"}
    assert {p["block"] for p in seen} == {16, 32.5, 64}
    assert all(("depth" in p) == (p["method"] == "ring") for p in seen)
    assert all(p["block"] * p["n"] <= 4000 for p in seen)
    assert sum(p["n"] <= 31 for p in seen) > 20
    assert 0.5 in [p["x"] for p in seen]  # the start; a busy machine may run it late
    assert set(found["best"]) <= {"x", "method", "block", "fast", "n", "depth"}


def test_a_command_gets_texts_and_no_variable_for_what_is_inactive(tmp_path):
    (tmp_path / "f.sh").write_text(COMMAND)
    (tmp_path / "f.sh").chmod(0o755)
    study(tmp_path, '[evaluator]\ncommand = ["./f.sh"]\n')
    seen = [line.split("|") for line in (tmp_path / "seen.txt").read_text().splitlines()]
    assert {line[0] for line in seen} == {"ring", "two words"}
    assert {line[1] for line in seen} == {"16", "32.5", "64"}
    assert {line[2] for line in seen} == {"true", "false"}
    assert all((line[4] == "none") == (line[0] != "ring") for line in seen)


def test_a_library_gets_nan_for_what_is_inactive_and_gives_figures(tmp_path):
    (tmp_path / "f.c").write_text(LIBRARY)
    include = f"-I{ROOT}/src"
    (tmp_path / "culmen").mkdir()
    (tmp_path / "culmen" / "evaluator.h").symlink_to(ROOT / "src/culmen/worker/core/evaluator.h")
    words = ["cc", "-shared", "-fPIC", f"-I{tmp_path}", include, "-o", "f.so", "f.c"]
    subprocess.run(words, cwd=tmp_path, check=True)
    study(tmp_path, '[evaluator]\nlibrary = "./f.so:f"\n', '[objectives]\ncost = "minimize"\ngain = "maximize"\n')
    for status, _, _, extras in [(o["status"], 0, 0, o["extras"]) for o in read(tmp_path / "s.db")]:
        assert status == "ok"
        assert extras["depth_is_nan"] == (extras["method"] == 1)


def read(store):
    return package._core.Store.read(str(store)).outcomes()


def test_a_study_of_every_kind_resumes_to_the_same_sequence(tmp_path):
    (tmp_path / "f.py").write_text(PYTHON)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
        (folder / "f.py").write_text(PYTHON)
    study(whole, '[evaluator]\npython = "f.py:f"\n')
    (parts / "s.toml").write_text(SPACE + '[evaluator]\npython = "f.py:f"\n' + REST)
    assert culmen("run", "s.toml", "--evaluations", 25, cwd=parts).returncode == 0
    assert culmen("resume", "s.db", "--evaluations", 60, cwd=parts).returncode == 0
    assert sequence(whole / "s.db")[-1] == sequence(parts / "s.db")[-1]
    assert outcomes(whole / "s.db") == outcomes(parts / "s.db")


def test_what_is_maximized_is_shown_as_it_is():
    gain = lambda p: -((p["x"] - 1) ** 2) + 5  # noqa: E731
    result = package.minimize(gain, {"x": (-5, 5)}, objectives={"gain": "maximize"}, budget=5000, target=4.999999)
    assert result.value == pytest.approx(5, abs=1e-6)
    assert result.reason == "target"


def test_several_objectives_give_a_front():
    def both(p):
        return p["x"] ** 2, (p["x"] - 2) ** 2, {"x": p["x"]}

    result = package.minimize(
        lambda p: (both(p)[:2], both(p)[2]),
        {"x": (-5, 5)},
        objectives={"a": "minimize", "b": "minimize"},
        limits={"x": {"upper": 1.5}},
        optimizer="random",
        budget=400,
    )
    assert len(result.front) > 20
    assert all(-0.1 <= trade.params["x"] <= 1.5 for trade in result.front)
    assert result.front[0].values["a"] == pytest.approx(result.front[0].params["x"] ** 2)


def test_infeasible_candidates_are_evaluated_where_asked(tmp_path):
    (tmp_path / "f.py").write_text(PYTHON)
    found = study(tmp_path, '[evaluator]\npython = "f.py:f"\nevaluate_infeasible = true\n')
    seen = [json.loads(line) for line in (tmp_path / "seen.txt").read_text().splitlines()]
    assert any(p["block"] * p["n"] > 4000 for p in seen)
    assert found["best"]["block"] * found["best"]["n"] <= 4000


def test_a_study_that_gets_nowhere_ends(tmp_path):
    (tmp_path / "f.py").write_text("def f(p):\n    return 1.0\n")
    (tmp_path / "s.toml").write_text(
        SPACE + '[evaluator]\npython = "f.py:f"\n[optimizer]\nname = "random"\n[stop]\nstagnation = 40\n'
    )
    done = culmen("run", "s.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no more improvement after 41 evaluations" in done.stdout
    again = culmen("resume", "s.db", cwd=tmp_path)
    assert again.returncode == 0
    assert "has finished (no more improvement)" in again.stdout
