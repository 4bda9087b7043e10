"""Copies of stores, damaged stores, deleted stores, and evaluations that hang."""

import json
import re
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing

import pytest
from harness import (
    HANGS_S,
    Running,
    calls_of,
    culmen,
    environment,
    outcomes,
    store_is_ready,
    summary,
    wait_for,
    write_study,
)

pytestmark = pytest.mark.no_numbers


def change(store, command, *values):
    with closing(sqlite3.connect(store)) as opened, opened:
        opened.execute(command, values)


def test_a_running_study_is_copied_and_the_copy_can_be_resumed(tmp_path):
    write_study(tmp_path, 100_000)
    with Running("run", "study.toml", "--workers", "2", "--quiet", cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) > 20, "20 calls")
        shutil.copy(tmp_path / "study.db", tmp_path / "naked.db")
        done = culmen("export", "study.db", "-o", "copy.db", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        again = culmen("export", "study.db", "--store", "-o", "copy.db", "--force", cwd=tmp_path)
        run.process.terminate()
        run.end()
    assert done.stdout.startswith("Copied ")
    assert (again.returncode, "copy.db: exists already" in again.stderr) == (2, True)
    told = summary(tmp_path / "copy.db")["told"]
    resumed = culmen("resume", "copy.db", "--evaluations", told + 30, "--quiet", cwd=tmp_path)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    naked = culmen("resume", "naked.db", "--evaluations", 30, cwd=tmp_path)
    assert "its log naked.db-wal is missing" in naked.stderr
    assert "culmen export STUDY.db --store -o COPY.db" in naked.stderr


def test_a_killed_run_whose_state_was_shown_is_resumed_without_a_word(tmp_path):
    write_study(tmp_path, 60)
    with Running("run", "study.toml", "--workers", "2", cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) > 20, "20 calls")
        run.process.kill()
        run.process.wait(HANGS_S)
        wait_for(lambda: not run.processes(), "the end of every child")
    assert culmen("status", "study.db", cwd=tmp_path).returncode == 0
    done = culmen("resume", "study.db", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_deleted_store_ends_the_run_and_is_saved(tmp_path):
    write_study(tmp_path, 100_000)
    with Running("run", "study.toml", "--workers", "2", cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) > 20, "20 calls")
        for ending in ("", "-wal", "-shm"):
            (tmp_path / f"study.db{ending}").unlink()
        code, out, err = run.end()
    assert code == 1
    assert "To resume" not in out
    assert "study.db: was deleted while this study used it; all its evaluations until now are in" in err
    assert len(outcomes(tmp_path / "study.saved.db")) > 10


def test_the_command_for_a_rescue_runs_in_a_shell(finished):
    store = finished / "a fit's store.db"
    shutil.copy(finished / "study.db", store)
    change(store, "UPDATE calls SET data = X'09' WHERE number = (SELECT max(number) / 2 FROM calls)")
    said = culmen("resume", store.name, "--evaluations", 50, cwd=finished).stderr
    (command,) = re.findall(r"`(culmen rescue [^`]+)`", said)
    done = subprocess.run(["sh", "-c", command], cwd=finished, env=environment(), capture_output=True, text=True)
    assert "a fit's store.rescued.db" in done.stdout, done.stderr


def test_a_damaged_store_says_how_it_is_rescued(finished):
    before = outcomes(finished / "study.db")
    change(finished / "study.db", "UPDATE calls SET data = X'09' WHERE number = (SELECT max(number) / 2 FROM calls)")
    done = culmen("resume", "study.db", "--evaluations", 50, cwd=finished)
    assert done.returncode == 1
    assert "is damaged" in done.stderr
    assert "`culmen rescue study.db` writes what can be read into a new store" in done.stderr
    rescued = culmen("rescue", "study.db", cwd=finished)
    assert rescued.returncode in (0, 1), rescued.stderr
    assert (rescued.returncode == 0) == ("; 0 evaluations could not be read" in rescued.stdout)
    assert "evaluations to study.rescued.db" in rescued.stdout
    assert "To resume: culmen resume study.rescued.db" in rescued.stdout
    assert culmen("resume", "study.rescued.db", "--quiet", cwd=finished).returncode == 0
    after = outcomes(finished / "study.rescued.db")
    assert {number: after[number] for number in before} == before
    again = culmen("rescue", "study.db", cwd=finished)
    assert (again.returncode, "study.rescued.db: exists already" in again.stderr) == (2, True)


def test_only_the_lost_evaluations_of_a_rescued_store_are_repeated(finished):
    before, calls = outcomes(finished / "study.db"), len(calls_of(finished))
    change(finished / "study.db", "DELETE FROM outcomes WHERE evaluation BETWEEN 5 AND 8")
    rescued = culmen("rescue", "study.db", cwd=finished)
    assert (rescued.returncode, rescued.stderr) == (1, "")
    assert (
        f"Wrote {len(before) - 4} evaluations to study.rescued.db; 4 evaluations could not be read." in rescued.stdout
    )
    assert culmen("resume", "study.rescued.db", "--quiet", cwd=finished).returncode == 0
    assert outcomes(finished / "study.rescued.db") == before
    assert len(calls_of(finished)) == calls + 4


@pytest.mark.parametrize("command", ["status", "resume", "export", "report", "compare", "errors"])
def test_a_damaged_description_is_one_sentence(finished, command):
    change(finished / "study.db", "UPDATE meta SET value = zeroblob(4096) WHERE key = 'configuration'")
    words = [command, "study.db", *(["study.db"] if command == "compare" else [])]
    done = culmen(*words, cwd=finished)
    assert done.returncode == 1, done.stderr
    assert "description of the study" in done.stderr
    assert "`culmen rescue study.db`" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["status", "resume", "export", "report", "compare", "errors"])
@pytest.mark.parametrize("length", [16, *(pytest.param(n, marks=pytest.mark.slow) for n in (100, 4096))])
def test_a_store_that_begins_with_zeros_says_how_it_is_rescued(finished, command, length):
    before = outcomes(finished / "study.db")
    with (finished / "study.db").open("r+b") as file:
        file.write(bytes(length))
    words = [command, "study.db", *(["study.db"] if command == "compare" else [])]
    done = culmen(*words, cwd=finished)
    assert done.returncode == 2
    assert done.stderr == (
        "culmen: study.db: is not a culmen study, or its beginning is damaged; `culmen rescue study.db` writes what "
        "can be read into a new store\n"
    )
    culmen("rescue", "study.db", cwd=finished)
    assert outcomes(finished / "study.rescued.db") == before


@pytest.mark.parametrize("length", [0, 200, 9000])
def test_a_hopeless_rescue_names_the_given_file_alone(finished, length):
    """The file is shorter than its header says, so a copy is made."""
    with (finished / "study.db").open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * length)
        file.truncate(20_000)
    done = culmen("rescue", "study.db", cwd=finished)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("culmen: study.db: ")
    assert "study.rescued.db" not in done.stderr
    assert "culmen rescue" not in done.stderr
    assert not list(finished.glob("*.part*"))


def test_a_damaged_description_is_rescued(finished):
    before = outcomes(finished / "study.db")
    change(finished / "study.db", "UPDATE meta SET value = zeroblob(4096) WHERE key = 'configuration'")
    done = culmen("rescue", "study.db", cwd=finished)
    assert (done.returncode, done.stderr) == (0, "")
    assert outcomes(finished / "study.rescued.db") == before
    evaluations = summary(finished / "study.rescued.db")["told"] + 5
    done = culmen("resume", "study.rescued.db", "--evaluations", evaluations, "--quiet", cwd=finished)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_damaged_log_loses_nothing_in_silence(tmp_path):
    write_study(tmp_path, 100_000)
    with Running("run", "study.toml", "--workers", "2", "--quiet", cwd=tmp_path) as run:
        store = tmp_path / "study.db"
        wait_for(lambda: store_is_ready(store) and len(outcomes(store)) > 60, "60 outcomes")
        run.process.kill()
        run.process.wait(HANGS_S)
        wait_for(lambda: not run.processes(), "the end of every child")
    log = tmp_path / "study.db-wal"
    content = bytearray(log.read_bytes())
    assert len(content) > 100_000
    middle = len(content) // 2
    content[middle : middle + 4096] = bytes(4096)
    log.write_bytes(content)
    for command in ("status", "resume", "export", "report"):
        done = culmen(command, "study.db", cwd=tmp_path)
        assert done.returncode == 1, command
        assert "its log study.db-wal is damaged" in done.stderr
        assert "`culmen rescue study.db`" in done.stderr
    rescued = culmen("rescue", "study.db", cwd=tmp_path)
    assert rescued.stderr == ""
    assert log.read_bytes() == content
    count = len(outcomes(tmp_path / "study.rescued.db"))
    assert count > 50
    done = culmen("resume", "study.rescued.db", "--evaluations", count + 10, "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_status_names_the_evaluation_that_hangs(tmp_path):
    write_study(tmp_path, 40)
    (tmp_path / "model.py").write_text(
        "import time\n"
        f"mark = {str(tmp_path / 'hangs')!r}\n"
        "def f(p):\n"
        "    try:\n"
        "        open(mark, 'x').close()\n"
        "    except FileExistsError:\n"
        "        return p['x'] ** 2\n"
        "    time.sleep(10_000)\n"
    )

    def state():
        shown = culmen("status", "study.db", "--json", cwd=tmp_path)
        return json.loads(shown.stdout) if shown.returncode == 0 else {}

    def hanging():
        now = state()
        return now.get("running") if now.get("outcomes", 0) > now.get("told", 0) else None

    with Running("run", "study.toml", "--workers", "2", cwd=tmp_path) as run:
        running = wait_for(hanging, "the oldest evaluation, and results of the other worker")
        text = culmen("status", "study.db", cwd=tmp_path).stdout
        run.process.send_signal(signal.SIGINT)
        _, out, _ = run.end()
    waiting = state()["outcomes"] - state()["told"]
    assert waiting > 0, "the other worker has evaluated"
    said = f"{waiting} more are stored and wait for an earlier one"
    assert re.search(rf"^evaluations +{state()['told']}, {said}", out, re.MULTILINE)
    assert said in culmen("status", "study.db", cwd=tmp_path).stdout
    assert culmen("report", "study.db", cwd=tmp_path).returncode == 0
    assert said in (tmp_path / "study.html").read_text()
    assert running["age_s"] >= 1
    assert running["worker"] in (0, 1)
    assert f"evaluation {running['evaluation']}, for " in text
    assert f"on worker {running['worker']}" in text
    assert state()["running"] is None
