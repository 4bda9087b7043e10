"""Errors of stores are StoreErrors, also during a run; copies without their logs warn."""

import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from harness import culmen as command
from harness import write_study

import culmen
from culmen import StoreError, _core

pytestmark = pytest.mark.no_numbers

SPACE = {"x": (-5, 5)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_store_that_is_deleted_during_a_run_is_a_store_error(folder):
    def f(p):
        (folder / "fit.db").unlink(missing_ok=True)
        return p["x"] ** 2

    with pytest.raises(StoreError, match=r"fit\.db: was deleted while .* are in .*fit\.saved\.db"):
        culmen.minimize(f, SPACE, budget=200, store="fit.db", workers=1)
    assert (folder / "fit.saved.db").exists()


@contextmanager
def locked():
    """By another process."""
    holds = "import sqlite3, sys; c = sqlite3.connect('fit.db', isolation_level=None, timeout=60); "
    holds += "c.execute('BEGIN IMMEDIATE'); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", holds]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline()
        yield
        other.stdin.close()


def test_a_locked_store_is_a_store_error(folder):
    write_study(folder, 20)
    assert command("run", "study.toml", "--store", "fit.db", cwd=folder).returncode == 0
    with locked():
        done = command("resume", "fit.db", "--evaluations", "40", cwd=folder)
    assert (done.returncode, done.stderr) == (1, "culmen: fit.db: another process has locked it for 10 s\n")


@pytest.mark.slow
def test_a_locked_store_is_a_store_error_in_a_program(folder):
    write_study(folder, 20)
    assert command("run", "study.toml", "--store", "fit.db", cwd=folder).returncode == 0
    with locked(), pytest.raises(StoreError, match=r"fit\.db: another process has locked it for 10 s$"):
        culmen.Study.from_store("fit.db", evaluations=40).run()


@pytest.mark.slow
def test_a_store_that_is_locked_during_a_run_is_a_store_error():
    with ExitStack() as lock:

        def hold(evaluated):
            if evaluated.evaluation == 0:
                lock.enter_context(locked())

        with pytest.raises(StoreError, match=r"^fit\.db: another process has locked it for 10 s$"):
            culmen.minimize(lambda p: p["x"] ** 2, SPACE, budget=10**6, store="fit.db", workers=1, callback=hold)


def test_a_store_in_use_is_a_store_error():
    started, done = threading.Event(), threading.Event()

    def f(p):
        started.set()
        done.wait()
        return p["x"] ** 2

    with ThreadPoolExecutor(2) as pool:
        call = pool.submit(culmen.minimize, f, SPACE, budget=3, store="fit.db", executor=ThreadPoolExecutor(1))
        started.wait()
        try:
            with pytest.raises(StoreError, match="belongs to a running master"):
                culmen.minimize(f, SPACE, budget=3, store="fit.db", executor=ThreadPoolExecutor(1))
        finally:
            done.set()
        assert call.result().evaluations == 3


def test_a_study_that_was_stopped_by_an_error_is_resumed_without_a_warning(recwarn):
    def f(p):
        raise ValueError(p["x"])

    stop = culmen.minimize(f, SPACE, budget=9, store="fit.db", workers=1, on_failure="stop")
    assert stop.reason == "failure"
    culmen.minimize(f, SPACE, budget=9, store="fit.db", workers=1, on_failure="stop")
    assert not [str(w.message) for w in recwarn if "wal" in str(w.message)]


def test_a_copy_of_a_store_without_its_log_warns(folder):
    culmen.minimize(lambda p: p["x"] ** 2, SPACE, budget=20, store="fit.db", workers=1)
    shutil.copy("fit.db", "copy.db")
    _forge_owner(folder / "copy.db")
    with pytest.warns(UserWarning, match=r"its log copy\.db-wal is missing; if this is a copy, it may lack the latest"):
        assert culmen.minimize(lambda p: p["x"] ** 2, SPACE, budget=30, store="copy.db", workers=1).evaluations == 30
    assert not _core.Store.read("copy.db").log_is_missing


@pytest.mark.parametrize(
    "words", [["status"], ["export"], ["export", "-o", "more.db"], ["report"], ["compare", "fit.db"]], ids=" ".join
)
def test_commands_that_read_a_copy_without_its_log_say_so(folder, words):
    culmen.minimize(lambda p: p["x"] ** 2, SPACE, budget=20, store="fit.db", workers=1)
    shutil.copy("fit.db", "copy.db")
    _forge_owner(folder / "copy.db")
    done = command(*words, "copy.db", cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert done.stderr.startswith("culmen: note: copy.db was in use when it was last written, and its log copy.db-wal")


def _forge_owner(path: Path) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(path)) as store, store:
        store.execute("INSERT INTO owner VALUES (?, 'another', '', 1, 1, 1, 0)", ("elsewhere",))
