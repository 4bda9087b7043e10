"""``culmen bench transport`` with real masters and workers."""

import csv
import json
import re
import signal

import pytest
from harness import Running, culmen, store_is_ready, summary, wait_for

SMALL = ("--workers", "2", "--durations", "1ms,4ms", "--repetitions", "1", "--seconds", "0.05", "--io-threads", "1")


def bench(*words):
    return "bench", "transport", *SMALL, "--output", "out", *words


def rows_in(folder):
    with (folder / "out/transport.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def state_of(folder):
    done = culmen("status", "out/transport.db", "--json", cwd=folder)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def told_in(folder):
    """The points that are measured: read here, because a process for each look is late on a busy machine."""
    store = folder / "out/transport.db"
    return summary(store)["told"] if store_is_ready(store) else 0


def test_a_small_grid_is_measured_drawn_and_not_measured_again(tmp_path):
    names = ["mailbox", "ws", "tcp"]
    done = culmen(*bench("--transports", ",".join(names)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    rows = rows_in(tmp_path)
    expected = {(name, w, d, "True") for name in names for w in ("1", "2") for d in ("0.001", "0.004")}
    expected |= {("mailbox", w, d, "False") for w in ("1", "2") for d in ("0.001", "0.004")}
    found = [(row["transport"], row["workers"], row["evaluation_s"], row["prefetch"]) for row in rows]
    assert set(found) == expected
    assert len(found) == len(expected)
    for row in rows:
        assert int(row["items"]) >= 6 * int(row["workers"])
        assert int(row["evaluations"]) >= int(row["items"])
        busy = float(row["work_s"]) / (int(row["workers"]) * float(row["steady_s"]))
        assert float(row["efficiency"]) == pytest.approx(busy, rel=1e-4)
        assert float(row["lone_s"]) >= float(row["evaluation_s"])
        assert float(row["whole_s"]) > float(row["steady_s"])
    page = (tmp_path / "out/transport.html").read_text()
    assert "1. Speed-up with TCP" in page
    assert "2. Speed-up with WebSocket" in page
    assert re.search(r"^tcp +4 ms +2 ", done.stdout, re.MULTILINE)
    assert state_of(tmp_path)["told"] == len(expected)

    refused = culmen("report", "out/transport.db", cwd=tmp_path)
    assert refused.returncode == 2
    assert "out/transport.html is the page of `culmen bench transport`" in refused.stderr
    assert (tmp_path / "out/transport.html").read_text() == page
    assert culmen("report", "out/transport.db", "-o", "study.html", cwd=tmp_path).returncode == 0
    status = culmen("status", "out/transport.db", cwd=tmp_path).stdout
    assert re.search(r"^state +finished *$", status, re.MULTILINE)

    costs = (tmp_path / "out/network.toml").read_text()
    assert costs.startswith("# Costs of messages and of the store, measured by `culmen bench transport`,\n# on ")
    again = culmen(*bench("--transports", ",".join(names)), cwd=tmp_path)
    assert again.returncode == 0
    assert (tmp_path / "out/network.toml").read_text() == costs
    assert f"All {len(expected)} points are in out/transport.db; to measure again, write --overwrite" in again.stdout
    assert rows_in(tmp_path) == rows
    other = culmen(*bench("--transports", "ws"), cwd=tmp_path)
    assert other.returncode == 2
    assert (
        "out/transport.db holds other points; give another folder with --output, or write --overwrite" in other.stderr
    )


@pytest.mark.parametrize(("transport", "cost"), [("tcp-per-item", "sleep"), ("wss", "busy"), ("ws", "lognormal")])
def test_other_transports_and_costs_lose_nothing(tmp_path, transport, cost):
    done = culmen(*bench("--transports", transport, "--cost", cost, "--quiet"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout == ""
    rows = rows_in(tmp_path)
    assert {row["cost"] for row in rows} == {cost}
    assert {(row["lost"], row["retried"]) for row in rows} == {("0", "0")}


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_an_interrupted_grid_is_continued(tmp_path, number):
    words = bench("--transports", "mailbox,tcp")
    with Running(*words, cwd=tmp_path) as run:
        wait_for(lambda: told_in(tmp_path) >= 3, "three points")
        run.process.send_signal(number)
        code = run.process.wait()
    assert code == (75 if number == signal.SIGINT else -number)
    before = state_of(tmp_path)["told"]
    done = culmen(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert f"12 points, {before} of them measured before" in done.stdout
    assert len(rows_in(tmp_path)) == 12
    table = culmen("export", "out/transport.db", "-o", "all.csv", cwd=tmp_path)
    assert table.returncode == 0, table.stderr
    with (tmp_path / "all.csv").open(newline="") as file:
        epochs = [row["epoch"] for row in csv.DictReader(file)]
    assert epochs.count("1") == before
    assert epochs.count("2") == 12 - before


def test_a_point_that_fails_is_said_and_left_out(tmp_path):
    (tmp_path / "peer.py").write_text("import sys\nsys.exit('no such pool')\n")
    done = culmen(*bench("--transports", "tcp", "--peer", "peer.py"), cwd=tmp_path)
    assert done.returncode == 1
    assert "4 of 12 points failed: " in done.stdout
    assert "no such pool" in done.stdout
    assert {row["transport"] for row in rows_in(tmp_path)} == {"tcp"}
    assert "To measure the failed points again, type the same command." in done.stdout
    (tmp_path / "peer.py").write_text("""print('{"items": 9, "steady_s": 1.0, "work_s": 0.5, "lone_s": 0.01}')\n""")
    again = culmen(*bench("--transports", "tcp", "--peer", "peer.py"), cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "12 points, 8 of them measured before" in again.stdout
    assert len(rows_in(tmp_path)) == 12


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--transports", "carrier"], "--transports: there is no transport 'carrier'"),
        (["--output", "file"], "--output file: the folder cannot be made: File exists"),
        (["--output", "file/inside"], "--output file/inside: the folder cannot be made: Not a directory"),
        (["--compare", "a.csv", "b.csv"], "a.csv cannot be read: No such file or directory"),
    ],
)
def test_wrong_input_gets_one_sentence_and_measures_nothing(tmp_path, words, says):
    (tmp_path / "file").write_text("")
    done = culmen("bench", "transport", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"culmen: {says}")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_group_names_its_commands(tmp_path):
    assert "transport" in culmen("bench", "--help", cwd=tmp_path).stdout
    wrong = culmen("bench", "transprt", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "culmen bench: there is no command 'transprt'; did you mean 'transport'?" in wrong.stderr
    wrong = culmen("bench", cwd=tmp_path)
    assert wrong.returncode == 2
    assert wrong.stderr == "culmen bench: give a command: transport, collectives, pingpong, build\n"
    wrong = culmen("bench", "transport", "--cost", cwd=tmp_path)
    says = "culmen bench transport: --cost needs a value; `culmen bench transport --help` lists the options\n"
    assert wrong.stderr == says
    wrong = culmen("bench", "transport", "--worker", "3", cwd=tmp_path)
    assert "culmen bench transport: there is no option '--worker'; did you mean '--workers'?" in wrong.stderr
