"""A run of `culmen tune command`: its build, its program, and its figures."""

import json
import os
import subprocess
import sys

import pytest
from culmen.tune.command import measured
from culmen.tune.command.tuner import remove_results
from culmen.tune.hpl import runs as hpl
from harness import HANGS_S

pytestmark = pytest.mark.no_numbers


def run_measured(folder, *words):
    command = [sys.executable, "-I", "-S", measured.__file__, "--folder", str(folder), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=HANGS_S)


def test_a_run_is_measured_and_its_output_is_its_own(tmp_path):
    ran = run_measured(tmp_path, "--", "sh", "-c", "echo hello; sleep 0.2")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "hello\n", "")
    figures = json.loads((tmp_path / measured.REPORT).read_text())
    assert 0.2 <= figures["wall_time_s"] < 60
    assert figures["cpu_time_s"] < figures["wall_time_s"]
    assert figures["memory_bytes"] > 0


def test_a_program_that_fails_keeps_its_exit_code(tmp_path):
    assert run_measured(tmp_path, "--", "sh", "-c", "exit 7").returncode == 7
    assert run_measured(tmp_path, "--", "sh", "-c", "kill -ILL $$").returncode == -4
    ran = run_measured(tmp_path, "--", "./nothing")
    assert ran.returncode == 127
    assert "cannot be started: No such file" in ran.stderr


def test_the_time_limit_is_of_the_program_alone(tmp_path):
    ran = run_measured(tmp_path, "--time-limit=0.2", "--", "sleep", "60")
    assert ran.returncode == 124
    assert "ran longer than 0.2 s" in ran.stderr


def test_a_build_is_made_once_for_the_same_words_and_sources(tmp_path):
    (tmp_path / "source").write_text("one\n")
    words = ["--builds", str(tmp_path / "builds"), "--source=source"]
    build = ["sh", "-c", "cat source > app; echo $1 >> app; echo built >> ../count", "sh"]

    def run(option):
        given = [f"--build={word}" for word in [*build, option]]
        return run_measured(tmp_path, *words, *given, "--", "cat", "{.build}/app")

    assert run("a").stdout == "one\na\n"
    assert run("a").stdout == "one\na\n"
    assert run("b").stdout == "one\nb\n"
    (tmp_path / "source").write_text("two\n")
    assert run("a").stdout == "two\na\n"
    assert (tmp_path / "builds" / "count").read_text() == "built\n" * 3


def test_a_build_is_made_again_for_other_compilers_and_flags(tmp_path, monkeypatch):
    words = ["--builds", str(tmp_path / "builds"), "--build=sh", "--build=-c"]
    words += ["--build=${CC-cc} > app; echo $CFLAGS >> app; echo built >> ../count", "--", "cat", "{.build}/app"]
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "cc").write_text(f"#!/bin/sh\necho {place}\n")
        (tmp_path / place / "cc").chmod(0o755)
    path = os.environ["PATH"]
    monkeypatch.delenv("CC", raising=False)
    for place, flags, other in (("one", "-O2", "a"), ("one", "-O3", "a"), ("two", "-O3", "a"), ("two", "-O3", "b")):
        monkeypatch.setenv("PATH", f"{tmp_path / place}:{path}")
        monkeypatch.setenv("CFLAGS", flags)
        monkeypatch.setenv("OTHER", other)
        assert run_measured(tmp_path, *words).stdout == f"{place}\n{flags}\n"
    monkeypatch.setenv("CC", str(tmp_path / "one/cc"))
    assert run_measured(tmp_path, *words).stdout == "one\n-O3\n"
    assert (tmp_path / "builds/count").read_text() == "built\n" * 4, "other variables do not matter"


def test_builds_are_removed_without_files_of_the_user(tmp_path):
    words = ["--builds", str(tmp_path / "builds"), "--build=true", "--", "true"]
    assert run_measured(tmp_path, *words).returncode == 0
    (tmp_path / "builds/mine").mkdir()
    (tmp_path / "builds/mine.lock").touch()
    remove_results(tmp_path)
    assert sorted(path.name for path in (tmp_path / "builds").iterdir()) == ["mine", "mine.lock"]


def test_a_build_that_fails_shows_the_end_of_its_log(tmp_path):
    words = ["--builds", str(tmp_path / "builds"), "--build=sh", "--build=-c", "--build=echo wrong flag; exit 3"]
    ran = run_measured(tmp_path, *words, "--", "true")
    assert ran.returncode == 125
    assert "the build ended with exit code 3" in ran.stderr
    assert "wrong flag" in ran.stderr


def test_a_build_sees_no_settings_but_its_words(tmp_path):
    words = ["--builds", str(tmp_path / "builds"), "--hide=HIDDEN", "--build=sh", "--build=-c"]
    words += ["--build=echo ${HIDDEN-none} > app"]
    command = [sys.executable, "-I", "-S", measured.__file__, "--folder", str(tmp_path), *words, "--", "cat"]
    ran = subprocess.run(
        [*command, "{.build}/app"],
        cwd=tmp_path,
        env={**os.environ, "HIDDEN": "seen"},
        capture_output=True,
        text=True,
        timeout=HANGS_S,
    )
    assert ran.stdout == "none\n", ran.stderr


def test_a_function_can_make_the_command_of_a_run(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "make.py").write_text(
        "import os\ndef expanded(words):\n    os.chdir('other')\n    return ['sh', '-c', f'echo {words[0]}; pwd']\n"
    )
    ran = run_measured(tmp_path, f"--expand={tmp_path / 'make.py'}", "--", "n=3")
    assert ran.stdout == f"n=3\n{other}\n", ran.stderr
    assert (tmp_path / measured.REPORT).exists(), "the figures stay in the folder of the run"


@pytest.mark.parametrize("remove", [remove_results, hpl.remove_results])
def test_the_page_and_the_result_of_an_earlier_tuning_are_removed(tmp_path, remove):
    for name in ("tuning.html", "result.json", "mine.html"):
        (tmp_path / name).touch()
    remove(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.html"]
