"""A fixed parameter: every evaluator receives it, the store and the tables show it, and a resume keeps it."""

import csv
import json
import subprocess

import pytest
from harness import ROOT, culmen, outcomes

STUDY = """
[space]
x = {{ lower = -2.0, upper = 2.0 }}
n = {{ type = "integer", lower = 1, upper = 9, value = 5 }}
method = {{ choices = ["ring", "two words"], value = "two words" }}
depth = {{ value = 3, active_when = "method == 'ring'" }}
fast = {{ value = true }}
{evaluator}
[optimizer]
name = "cmaes"
[stop]
evaluations = 40
"""
PYTHON = 'def f(p): return p["x"] ** 2 + (p != {"x": p["x"], "n": 5, "method": "two words", "fast": True})\n'
BATCH = 'def f(p): return p["x"] ** 2 + (p["n"] != 5) + (p["fast"] != True)\n'
COMMAND = r"""#!/bin/sh
[ "$1|$2|$CULMEN_PARAM_METHOD|$n|$fast|${depth-none}" = "5|two words|two words|5|true|none" ] || exit 1
grep -q "n is 5" in.txt || exit 1
echo "$x"
"""
LIBRARY = r"""
#include <culmen/evaluator.h>
#include <math.h>
int f(const culmen_candidate* c, culmen_result* r) {
  if (c->size != 5 || c->x[1] != 5 || c->x[2] != 1 || !isnan(c->x[3]) || c->x[4] != 1) return 1;
  return culmen_set_value(r, c->x[0] * c->x[0]);
}
"""


def write(folder, evaluator='[evaluator]\npython = "f.py:f"', model=PYTHON):
    (folder / "f.py").write_text(model)
    (folder / "s.toml").write_text(STUDY.format(evaluator=evaluator))


def run(folder, *words, code=0):
    done = culmen("run", "s.toml", "--workers", 2, *words, cwd=folder)
    assert done.returncode == code, done.stderr
    return done


def status(folder):
    return json.loads(culmen("status", "s.db", "--json", cwd=folder).stdout)


def build(folder):
    (folder / "f.c").write_text(LIBRARY)
    (folder / "culmen").mkdir()
    (folder / "culmen" / "evaluator.h").symlink_to(ROOT / "src/culmen/worker/core/evaluator.h")
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{folder}", "-o", "f.so", "f.c"], cwd=folder, check=True)


@pytest.mark.parametrize(
    "evaluator",
    [
        'python = "f.py:f"',
        'python = "f.py:f"\nbatch = 4',
        'command = ["./f.sh", "{n}", "{method}"]\ntemplates = ["in.txt"]',
        'library = "./f.so:f"',
        'library = "./f.so:f"\nisolation = "none"',
    ],
)
def test_every_evaluator_receives_it(tmp_path, evaluator):
    write(tmp_path, f"[evaluator]\n{evaluator}", BATCH if "batch" in evaluator else PYTHON)
    if "library" in evaluator:
        build(tmp_path)
    (tmp_path / "f.sh").write_text(COMMAND)
    (tmp_path / "f.sh").chmod(0o755)
    (tmp_path / "in.txt").write_text("n is {{n}}, x is {{x}}, {{fast}}, {{depth}}\n")
    run(tmp_path)
    found = status(tmp_path)
    assert found["failed"] == 0
    assert found["best_value"] < 1
    assert {name: found["best"][name] for name in ("n", "method", "fast")} == {
        "n": 5,
        "method": "two words",
        "fast": True,
    }
    assert found["fixed"] == ["n", "method", "depth", "fast"]


def test_tables_mark_it_and_files_contain_it(tmp_path):
    write(tmp_path)
    done = run(tmp_path)
    assert [line.split("│")[1].strip() for line in done.stdout.splitlines() if "fixed" in line] == [
        "n",
        "method",
        "fast",
    ]
    check = culmen("check", "s.toml", cwd=tmp_path).stdout
    assert "fixed at 5" in check
    culmen("export", "s.db", "-o", "s.csv", cwd=tmp_path)
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
    assert list(rows[0])[2:7] == ["x", "n", "method", "depth", "fast"]
    assert {(row["n"], row["method"], row["depth"], row["fast"]) for row in rows} == {("5", "two words", "", "true")}
    culmen("report", "s.db", "-o", "s.html", cwd=tmp_path)
    assert "fixed" in (tmp_path / "s.html").read_text()


def test_fix_of_a_run_stays_at_a_resume(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
        write(folder, model='def f(p): return (p["x"] - p["n"]) ** 2\n')
    run(whole, "--fix", "n=2", "--fix", "method=ring")
    run(parts, "--fix", "n=2", "--fix", "method=ring", "--evaluations", 15)
    assert culmen("resume", "s.db", "--evaluations", 40, cwd=parts).returncode == 0
    assert outcomes(whole / "s.db") == outcomes(parts / "s.db")
    assert status(parts)["best"] == {**status(parts)["best"], "n": 2, "method": "ring", "depth": 3}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fix", "n=3"], "s.db holds another study ('s': parameter n: value 5 there, 3 here)"),
        (["--fix", "n=12"], "--fix n=12: parameter 'n': value = 12 is outside [1, 9]"),
        (["--fix", "n=abc"], "--fix n=abc: parameter 'n': value: it must be a number, got \"abc\""),
        (
            ["--fix", "method=tree"],
            "--fix method=tree: parameter 'method': value = tree is not one of its choices",
        ),
        (["--fix", "m=3"], "s.toml: there is no parameter 'm' that could be fixed; the parameters are x, n, method"),
        (["--fix", "n"], "--fix n: write NAME=VALUE, such as --fix n=5"),
        (["--fix", "n=1", "--fix", "n=2"], "--fix: the parameter 'n' is given twice"),
        (["--fix", "x=1"], "s.toml: [space] no parameter can vary: all are fixed, or inactive because of fixed ones"),
    ],
)
def test_a_wrong_fix_is_refused_in_one_sentence(tmp_path, words, message):
    write(tmp_path)
    run(tmp_path, "--evaluations", 5)
    done = run(tmp_path, *words, code=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_way_to_restart_has_the_options_of_the_run(tmp_path):
    write(tmp_path, model="def f(p): return p['zz']\n")
    done = run(tmp_path, "--fix", "n=2", "--fix", "method=two words", "--seed", 3, code=1)
    assert (
        "restart with `culmen run s.toml --fix n=2 --fix 'method=two words' --seed 3 --overwrite`, or resume"
        in done.stderr.splitlines()[-1]
    )


def test_errors_with_a_fixed_parameter(tmp_path):
    space = "a = { lower = -9, upper = 9 }\nb = { lower = -9, upper = 9 }"
    (tmp_path / "f.py").write_text('def f(p): return [p["a"] + p["b"] - 3, p["a"] - p["b"] + 1]\n')
    (tmp_path / "s.toml").write_text(
        f'[space]\n{space}\n[evaluator]\npython = "f.py:f"\nresult = "residuals"\n[stop]\nevaluations = 60\n'
    )
    run(tmp_path)
    held = json.loads(culmen("errors", "s.db", "--fix", "b=1", "--json", cwd=tmp_path).stdout)
    assert held["parameters"][1]["note"] == "fixed"
    assert held["parameters"][0]["value"] == pytest.approx(1, abs=1e-6)
    assert held["value"] == pytest.approx(2, abs=1e-6)
    assert status(tmp_path)["errors"]["parameters"][1]["error"] is not None
    wrong = culmen("errors", "s.db", "--fix", "b=20", cwd=tmp_path)
    assert wrong.returncode == 2
    assert wrong.stderr == "culmen: --fix: parameter 'b': value = 20 is outside [-9, 9]\n"


def test_errors_say_that_fixing_an_inactive_parameter_had_no_effect(tmp_path):
    space = (
        "a = { lower = -9, upper = 9 }\nk = { choices = ['p', 'q'] }\n"
        "c = { lower = 0, upper = 5, active_when = \"k == 'q'\" }"
    )
    (tmp_path / "f.py").write_text('def f(p): return [p["a"] - 2, 0.0 if p["k"] == "p" else 9.0]\n')
    (tmp_path / "s.toml").write_text(
        f'[space]\n{space}\n[evaluator]\npython = "f.py:f"\nresult = "residuals"\n[stop]\nevaluations = 100\n'
    )
    run(tmp_path)
    held = json.loads(culmen("errors", "s.db", "--fix", "c=1", "--json", cwd=tmp_path).stdout)
    assert held["notes"][0].endswith("; c is inactive there, so fixing it had no effect")
