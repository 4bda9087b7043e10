"""The lock of a folder for results (bench/held.py)."""

import errno
import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from culmen.bench.held import LOCK, folder_to_tune, held
from culmen.cli.work.tune_command import tune_command
from culmen.tune.command.tuner import Tuner, stores_in
from harness import culmen
from small_tuning import write_tuning

from culmen import InputError

pytestmark = pytest.mark.no_numbers

HOLDER = """
import sys
from pathlib import Path
from culmen.bench.held import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(folder):
    """Another process that holds this folder."""
    words = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_held_folder_is_refused_with_its_holder(tmp_path):
    with holder(tmp_path) as process:
        message = rf"^{tmp_path} is in use: host {os.uname().nodename}, process {process.pid} measures there$"
        with pytest.raises(InputError, match=message), held(tmp_path):
            raise AssertionError("two processes hold the folder")


def test_a_block_removes_its_file_and_can_be_repeated(tmp_path):
    for _ in range(2):
        with held(tmp_path):
            assert [path.name for path in tmp_path.iterdir()] == [LOCK]
            with pytest.raises(InputError, match=f"process {os.getpid()} measures"), held(tmp_path):
                raise AssertionError("two blocks hold the folder")
        assert not [*tmp_path.iterdir()]


def test_a_killed_process_leaves_no_lock(tmp_path):
    with holder(tmp_path) as process:
        process.kill()
        process.wait()
        assert (tmp_path / LOCK).exists()
        with held(tmp_path):
            assert str(os.getpid()) in (tmp_path / LOCK).read_text()


def test_a_program_that_outlives_the_block_does_not_hold_the_folder(tmp_path):
    with held(tmp_path):
        child = subprocess.Popen(["sleep", "1000"], close_fds=False)
    try:
        with held(tmp_path):
            assert child.poll() is None
    finally:
        child.kill()
        child.wait()


def test_a_file_that_was_removed_before_it_was_locked_does_not_count(tmp_path, monkeypatch):
    lock, calls = fcntl.flock, []

    def flock(file, how):
        lock(file, how)
        calls.append(how)
        if len(calls) == 1:
            (tmp_path / LOCK).unlink()

    monkeypatch.setattr(fcntl, "flock", flock)
    with held(tmp_path):
        assert (tmp_path / LOCK).exists()
    assert len(calls) == 2


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_used_without_one(tmp_path, monkeypatch, number):
    def flock(_file, _how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with held(tmp_path), held(tmp_path):
        pass
    assert not [*tmp_path.iterdir()]


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    (tmp_path / LOCK).mkdir()
    with pytest.raises(InputError, match=f"{LOCK}: the file cannot be opened for writing: "), held(tmp_path):
        raise AssertionError


def test_a_new_folder_goes_again_if_nothing_was_measured(tmp_path):
    with pytest.raises(InputError, match="nothing"), folder_to_tune(tmp_path / "new", stores_in) as folder:
        raise InputError(f"nothing in {folder}")
    assert not [*tmp_path.iterdir()]


def test_overwrite_between_two_studies_of_a_tuner_removes_nothing(tmp_path, monkeypatch):
    """Between the search and the comparison, no process uses a store."""
    write_tuning(tmp_path, "#!/bin/sh\necho rate = $1\n")
    monkeypatch.chdir(tmp_path)
    simpler, seen = Tuner.simpler, []

    def meanwhile(self, new):
        seen.append(culmen("tune", "command", "app.toml", "--overwrite", "--quiet", cwd=tmp_path))
        return simpler(self, new)

    monkeypatch.setattr(Tuner, "simpler", meanwhile)
    assert tune_command(Path("app.toml"), None, False, True, None, None) == 0
    (again,) = seen
    assert again.returncode == 2, again.stdout + again.stderr
    assert again.stderr == (
        f"culmen: tune-app is in use: host {os.uname().nodename}, process {os.getpid()} measures there\n"
    )
