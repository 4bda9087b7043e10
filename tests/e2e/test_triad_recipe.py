"""The example 22_triad: a script that writes a recipe for this machine."""

import json
import os
import runpy
import shutil
import subprocess

import pytest
from culmen.base.toml import tomllib
from harness import PYTHON, copy_example, culmen

pytestmark = pytest.mark.no_numbers


@pytest.fixture
def example(tmp_path):
    copy_example("22_triad", tmp_path)
    return tmp_path


def write(folder, *words, **variables):
    return subprocess.run(
        [PYTHON, "triad.py", *words],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_recipe_runs(example):
    assert write(example, "1").stdout == "written: triad.toml\n"
    text = (example / "triad.toml").read_text()
    text = text.replace("evaluations = 60", "evaluations = 4") + "\n[tune]\nrounds = 3\n"
    (example / "triad.toml").write_text(text)
    done = culmen("tune", "command", "triad.toml", cwd=example)
    assert done.returncode == 0, done.stderr
    result = json.loads((example / "tune-triad" / "result.json").read_text())
    assert result["present"]["threads"] == 1
    assert result["maximize"]


def test_the_recipe_names_only_compilers_that_exist(example, tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "clang").write_text("#!/bin/sh\n")
    (tools / "clang").chmod(0o755)
    assert write(example, PATH=str(tools)).returncode == 0
    compiler = tomllib.loads((example / "triad.toml").read_text())["space"]["compiler"]
    assert compiler == {"value": "clang"}
    shutil.copy(tools / "clang", tools / "gcc")
    assert write(example, PATH=str(tools)).returncode == 0
    compiler = tomllib.loads((example / "triad.toml").read_text())["space"]["compiler"]
    assert compiler == {"choices": ["gcc", "clang"], "initial": "gcc"}
    for name in ("gcc", "clang"):
        (tools / name).unlink()
    assert "there is neither gcc nor clang in PATH" in write(example, PATH=str(tools)).stderr


@pytest.mark.parametrize("processor", ["x86_64", "aarch64"])
def test_only_an_x86_processor_begins_with_x86_flags(example, monkeypatch, processor):
    monkeypatch.setattr("platform.machine", lambda: processor)
    machine = tomllib.loads(runpy.run_path(str(example / "triad.py"))["recipe"](1))["space"]["machine"]
    assert machine.get("initial", machine.get("value")) == ("x86-64" if processor == "x86_64" else "native")


def test_a_wrong_size_is_a_sentence(example):
    assert "many must be the size of an array in megabytes" in write(example, "many").stderr
