"""From nothing to a first result: `culmen init`, `check`, `run`."""

import json
import re
import subprocess

import pytest
from harness import culmen

FIRST = {"library": 'cc -O2 -shared -fPIC -I"$(culmen include)" -o fit.so fit.c -lm'}


@pytest.mark.parametrize("kind", ["python", "library", "command"])
def test_what_init_writes_is_right_and_runs(kind, tmp_path):
    begun = culmen("init", "fit", "--kind", kind, cwd=tmp_path)
    assert begun.returncode == 0, begun.stderr
    assert "culmen check fit.toml" in begun.stdout
    if kind in FIRST:
        assert FIRST[kind] in begun.stdout
        subprocess.run(FIRST[kind], shell=True, cwd=tmp_path, check=True)  # noqa: S602 - as it is printed
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.endswith("fit.toml is right.\n")
    assert "3 evaluations on trial: " in checked.stdout
    assert not (tmp_path / "fit.db").exists()
    run = culmen("run", "fit.toml", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    value = json.loads(culmen("status", "fit.db", "--json", cwd=tmp_path).stdout)["best_value"]
    assert value < 0.5


def test_init_overwrites_nothing(tmp_path):
    (tmp_path / "fit.py").write_text("mine")
    again = culmen("init", "fit", cwd=tmp_path)
    assert again.returncode == 2
    assert again.stderr == "culmen: fit.py is there already; `culmen init` writes new files only, give another name\n"
    assert not (tmp_path / "fit.toml").exists()
    assert (tmp_path / "fit.py").read_text() == "mine"


def test_the_lines_that_init_offers_are_right_too(tmp_path):
    culmen("init", "fit", cwd=tmp_path)
    study = tmp_path / "fit.toml"
    offered = [line.removeprefix("# ") for line in study.read_text().splitlines()]
    study.write_text("\n".join(line for line in offered if " = " in line or line.startswith("[")))
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    for word in (
        "categorical fast, exact",
        "when method == 'exact'",
        "decay: rate * 8 >= 1",
        "of random points fulfil it",
    ):
        assert word in checked.stdout


def test_check_names_every_mistake(tmp_path):
    culmen("init", "fit", cwd=tmp_path)
    study = tmp_path / "fit.toml"
    text = study.read_text().replace("upper = 10.0", 'upper = "ten"').replace("evaluations", "evaluatons")
    study.write_text(text)
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    assert checked.returncode == 2
    assert checked.stderr.splitlines() == [
        'culmen: fit.toml: [space] amplitude.upper = "ten": a number is wanted (line 9)',
        "culmen: fit.toml: [stop] has no key 'evaluatons'; did you mean 'evaluations'? (line 34)",
    ]


def test_check_estimates_what_the_study_costs(tmp_path):
    culmen("init", "fit", cwd=tmp_path)
    model = tmp_path / "fit.py"
    model.write_text(
        model.read_text().replace("    return [(model", "    import time\n    time.sleep(0.1)\n    return [(model")
    )
    study = tmp_path / "fit.toml"
    study.write_text(study.read_text().replace("# [run]", "[run]").replace("# workers = 8", "workers = 4"))
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    hours, minutes, seconds = re.search(r"3000 with 4 workers take about (\d+):(\d+):(\d+)", checked.stdout).groups()
    assert 75 <= int(hours) * 3600 + int(minutes) * 60 + int(seconds) < 250


def test_check_says_what_fails(tmp_path):
    culmen("init", "fit", cwd=tmp_path)
    model = tmp_path / "fit.py"
    model.write_text(model.read_text().replace("p['rate']", "p['rat']").replace('p["rate"]', 'p["rat"]'))
    checked = culmen("check", "fit.toml", cwd=tmp_path)
    assert checked.returncode == 1
    assert "culmen: 3 of 3 failed, the first: KeyError: 'rat'" in checked.stderr


def test_the_schema_is_of_study_files(tmp_path):
    schema = json.loads(culmen("schema", cwd=tmp_path).stdout)
    assert {"space", "evaluator", "stop", "objectives"} <= set(schema["properties"])
