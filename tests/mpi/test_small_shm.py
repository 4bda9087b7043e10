"""A /dev/shm that is too small, mounted over the real one for the test's processes alone."""

import os
import re
import subprocess

import pytest
from harness import Running, summary, write_study

MOUNT = 'mount -t tmpfs -o size="$1" tmpfs /dev/shm && shift && exec "$@"'
WORKERS = 4


@pytest.fixture(scope="module")
def small_shm():
    """small_shm(size) are the words before a command that sees a /dev/shm of this size."""

    def prefix(size: str) -> tuple[str, ...]:
        return ("unshare", "--mount", "sh", "-c", MOUNT, "sh", size)

    done = subprocess.run([*prefix("16k"), "true"], capture_output=True, text=True)
    if done.returncode != 0:
        reason = f"no private mount of /dev/shm can be made here: {done.stderr.strip()}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return prefix


def run_in(prefix, folder, *words):
    with Running(*words, cwd=folder, prefix=prefix) as run:
        return run.end()


def test_ranks_without_room_for_the_mailbox_say_so_in_one_sentence(mpi, small_shm, tmp_path):
    write_study(tmp_path, 20)
    words = ("launch", "-n", WORKERS + 1, "--mpi", mpi, "run", "study.toml")
    code, out, err = run_in(small_shm("64k"), tmp_path, *words)
    said = [line for line in (out + err).splitlines() if "/dev/shm" in line]  # noqa: S108
    assert len(said) == 1, out + err
    assert re.match(r"culmen: the mailbox needs \d+ bytes in /dev/shm, but \d+ are free", said[0])
    for part in (f"use fewer workers than {WORKERS}", "size=", "--shm-size"):
        assert part in said[0]
    assert code not in (0, 75)
    assert "Traceback" not in err


def test_room_for_the_mailbox_alone_is_enough(mpi, small_shm, tmp_path):
    write_study(tmp_path, 20)
    words = ("launch", "-n", WORKERS + 1, "--mpi", mpi, "run", "study.toml")
    code, out, err = run_in(small_shm("1m"), tmp_path, *words)
    assert code == 0, out + err
    assert summary(tmp_path / "study.db")["told"] == 20


@pytest.mark.parametrize("place", ["--threads", "--worker-processes"])
def test_local_workers_need_no_dev_shm(small_shm, tmp_path, place):
    write_study(tmp_path, 20)
    code, out, err = run_in(small_shm("4k"), tmp_path, "run", "study.toml", "--workers", WORKERS, place)
    assert code == 0, out + err


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_what_the_user_chose_for_ucx_is_kept(mpi, small_shm, tmp_path):
    words = ("launch", "-n", 9, "--mpi", mpi, "--dry-run", "run", "study.toml")
    assert run_in(small_shm("1m"), tmp_path, *words)[1].startswith("UCX_POSIX_DIR=/tmp ")
    with Running(*words, cwd=tmp_path, prefix=small_shm("1m"), UCX_POSIX_DIR=str(tmp_path)) as run:
        line = run.end()[1].splitlines()[0]
        assert "mpirun.mpich " in line
        assert "UCX_POSIX_DIR" not in line
