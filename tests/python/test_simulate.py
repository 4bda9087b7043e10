"""`culmen simulate`: its output, its files, and wrong input."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

STUDY = """
seed = 3
[space]
x = { lower = -1, upper = 1 }
y = { lower = -1, upper = 1 }
[evaluator]
python = "model.py:f"
[optimizer]
name = "random"
[stop]
evaluations = 200
"""
NETWORK = """
latency_s = 1e-5
bandwidth_bytes_s = 1e9
message_s = 1e-6
wake_s = 1e-6
frame_s = 1e-6
row_s = 1e-6
commit_s = 1e-6
"""


@pytest.fixture(autouse=True)
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "network.toml").write_text(NETWORK)
    (tmp_path / "model.py").write_text("def f(p):\n    return p['x'] ** 2\n")


def culmen(*words):
    return subprocess.run([sys.executable, "-m", "culmen", *map(str, words)], capture_output=True, text=True)


def simulate(*words):
    return culmen("simulate", "study.toml", "--network", "network.toml", *words)


def figures(*words):
    done = simulate("--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_says_what_was_assumed_and_how_long_the_run_takes():
    done = simulate("--workers", 10, "--duration", 5, "--only")
    assert done.returncode == 0, done.stderr
    for words in (
        "each takes 5 s",
        "test function sphere; the evaluator is not called",
        "10 workers on 1 node",
        "latency_s 1e-05",
        "from network.toml",
    ):
        assert words in done.stdout
    assert re.search(r"utilisation +[\d.]+ % \([\d.]+ % without the start and the end of the run\)", done.stdout)
    assert "whole run" in done.stdout and "Other numbers" not in done.stdout


def test_the_figures_follow_from_the_durations():
    run = figures("--workers", 10, "--duration", 5, "--only")["run"]
    assert run["wall_s"] == pytest.approx(100, rel=0.02)
    assert run["utilisation"] > 0.98
    assert run["evaluations"] == 200
    assert run["nodes"] == 1


def test_without_a_network_file_the_costs_are_measured():
    done = culmen("simulate", "study.toml", "--workers", 10, "--duration", 5, "--only")
    assert done.returncode == 0, done.stderr
    assert "measured on this machine" in done.stdout


def test_a_network_file_may_have_some_keys():
    Path("some.toml").write_text("latency_s = 0.001\n")
    done = culmen("simulate", "study.toml", "--workers", 10, "--duration", 5, "--only", "--network", "some.toml")
    assert "latency_s 0.001" in done.stdout
    assert "from some.toml, the rest measured on this machine" in done.stdout


def test_a_folder_of_bench_transport_has_the_costs():
    words = ["--transports", "mailbox", "--workers", 2, "--durations", "1ms", "--repetitions", 1, "--seconds", 0.05]
    assert culmen("bench", "transport", *words, "--output", "here", "--quiet").returncode == 0
    lines = Path("here/network.toml").read_text().splitlines()
    given = dict(line.split(" #")[0].split(" = ") for line in lines if " = " in line)
    words = ["--workers", 10, "--duration", 5, "--only", "--network", "here"]
    found = json.loads(culmen("simulate", "study.toml", *words, "--json").stdout)
    assert found["network"] == {name: float(value) for name, value in given.items()}
    assert all(value > 0 for value in found["network"].values())
    assert "from here/network.toml" in culmen("simulate", "study.toml", *words).stdout


def test_a_folder_without_costs_gets_a_sentence():
    Path("empty").mkdir()
    done = culmen("simulate", "study.toml", "--workers", 10, "--duration", 5, "--network", "empty")
    assert (done.returncode, done.stderr) == (
        2,
        "culmen: --network empty/network.toml: there is no such file; `culmen bench transport` writes this file\n",
    )


def test_durations_come_from_the_store_of_the_study():
    assert culmen("run", "study.toml", "--workers", 2, "--quiet").returncode == 0
    found = figures("--workers", 10, "--only")
    assert found["durations"]["source"] == "study.db"
    assert 0 < found["durations"]["mean_s"] < 1


def test_a_store_of_another_study_is_refused():
    Path("other.toml").write_text(STUDY.replace("seed = 3", "seed = 4"))
    assert culmen("run", "other.toml", "--workers", 2, "--quiet").returncode == 0
    done = simulate("--workers", 10, "--store", "other.db")
    assert done.returncode == 2
    assert "other.db holds another study" in done.stderr and "--duration" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--workers", 0, "--duration", 5], "--workers must be at least 1, got 0"),
        (["--duration", 5], "--workers is missing"),
        (["--workers", 10], "there is no store study.db; give --duration SECONDS"),
        (["--workers", 10, "--duration", -1], "--duration must be at least 0 and finite, got -1"),
        (["--workers", 10, "--duration", 5, "--distribution", "normal"], "--distribution must be"),
        (["--workers", 10, "--duration", 5, "--spread", -1], "--spread must be at least 0"),
        (["--workers", 10, "--duration", 5, "--distribution", "constant", "--spread", 1], "--spread is for"),
        (["--workers", 10, "--spread", 1], "--spread needs --duration SECONDS"),
        (["--workers", 10, "--duration", 5, "--store", "a.db"], "--store and --duration are given"),
        (["--workers", 10, "--store", "a.db"], "there is no store a.db"),
        (
            ["--workers", 10, "--duration", 5, "--function", "spere"],
            "--function must be sphere, rosenbrock or",
        ),
        (["--workers", 10, "--duration", 5, "--html", "study.toml"], "study file, which would be lost"),
    ],
)
def test_wrong_options_get_a_sentence(words, sentence):
    done = simulate(*words)
    assert done.returncode == 2, done.stdout
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("latency = 1", "there is no key 'latency'; did you mean 'latency_s'?"),
        ("latency_s = -1", "latency_s must be a number, at least 0 and finite, got -1"),
        ("bandwidth_bytes_s = 0", "bandwidth_bytes_s must be a number, above 0 and finite, got 0"),
        ("latency_s", "it is not TOML"),
    ],
)
def test_a_wrong_network_file_gets_a_sentence(text, sentence):
    Path("wrong.toml").write_text(text)
    done = culmen("simulate", "study.toml", "--workers", 10, "--duration", 5, "--network", "wrong.toml")
    assert done.returncode == 2
    assert sentence in done.stderr


def test_a_study_without_a_limit_needs_one():
    Path("study.toml").write_text(STUDY.replace("evaluations = 200", "target = 0"))
    done = simulate("--workers", 10, "--duration", 5)
    assert done.returncode == 2 and "give --evaluations N" in done.stderr
    assert figures("--workers", 10, "--duration", 5, "--evaluations", 30, "--only")["run"]["evaluations"] == 30


def test_optimizers_of_other_libraries_are_refused():
    pytest.importorskip("optuna")
    Path("study.toml").write_text(STUDY.replace('"random"', '"optuna:RandomSampler"'))
    done = simulate("--workers", 10, "--duration", 5)
    assert done.returncode == 2
    assert "belongs to another library" in done.stderr


def test_the_curve_the_networks_and_the_page():
    found = figures("--workers", 300, "--duration", 5, "--max-workers", 1000)
    assert [point["workers"] for point in found["curve"]] == [100, 300, 1000]
    assert [p["changed"] for p in found["networks"]][::2] == ["", "latency", "bandwidth", "cost of a message"]
    assert found["knee"] == "Up to 1 000 workers, workers hardly wait: there is no knee."
    done = simulate("--workers", 300, "--duration", 5, "--max-workers", 1000, "--html", "a.html")
    assert "Wrote the figures to a.html" in done.stdout
    page = Path("a.html").read_text()
    assert "Utilisation and load" in page and "Evaluations per second" in page and "<script" in page
    assert simulate("--workers", 300, "--duration", 5, "--only", "--html", "a.html").returncode == 0


def test_ctrl_c_shows_what_is_known():
    words = ["simulate", "study.toml", "--network", "network.toml", "--workers", "1000", "--duration", "5"]
    words += ["--evaluations", "1000000000", "--only"]
    environment = {**os.environ, "CULMEN_PROGRESS": "bar"}
    run = subprocess.Popen(
        [sys.executable, "-m", "culmen", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    seen = b""
    while b"1 000 workers" not in seen:
        more = run.stdout.read1()
        assert more, run.stderr.read()
        seen += more
    run.send_signal(signal.SIGINT)
    out, err = run.communicate()
    assert run.returncode == 75, err
    assert "stopped" in out.decode()


def test_a_study_that_is_too_short_for_its_workers_is_said():
    Path("study.toml").write_text(re.sub(r"evaluations = \d+", "evaluations = 400", STUDY))
    done = simulate("--workers", 200, "--duration", 5, "--spread", 0.5, "--max-workers", 1000)
    assert "400 evaluations are only 2 for each worker: they wait for the last ones" in done.stdout
    assert "The study itself has 400 evaluations. From 100 workers on, these are fewer than 5 for each" in done.stdout
