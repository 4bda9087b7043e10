"""``culmen tune cluster --allow-sysctl`` with a folder of its own instead of /proc/sys."""

import json
import signal

import pytest
from culmen.launch import kernel
from culmen.launch.mpi import find_launcher
from culmen.tune.cluster import guard
from culmen.tune.cluster.limits import raised_to
from culmen.tune.rules.reader import reader_of_rules
from harness import HANGS_S, Running, culmen, wait_for

from culmen import InputError

OLD, NEW = 212_992, 1 << 24
SMALL = ("--collectives", "bcast", "--ranks", "2", "--sizes", "8", "--seconds", "0.05")


@pytest.fixture
def limits(tmp_path, monkeypatch):
    """The files of a node."""
    folder = tmp_path / "sys"
    monkeypatch.setenv("CULMEN_PROC_SYS", str(folder))
    files = [folder.joinpath(*name.split(".")) for name in kernel.LIMITS]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{OLD}\n")
    return files


@pytest.fixture
def tuned(mpi):
    """An MPI for which culmen writes tuning files."""
    try:
        reader_of_rules(find_launcher(mpi))
    except InputError as error:
        pytest.skip(str(error))
    return mpi


def are(limits, value):
    return [file.read_text() for file in limits] == [f"{value}\n"] * 2


def test_limits_are_raised_in_a_block_and_restored_after_an_error(mpi, limits, tmp_path):
    with pytest.raises(ValueError, match="an error"), raised_to(NEW, find_launcher(mpi), 1) as before:
        assert before == OLD
        assert are(limits, NEW)
        raise ValueError("an error")
    assert are(limits, OLD)
    assert list((tmp_path / "sys").glob(guard.FILES)) == []


@pytest.mark.either("mpi")
def test_a_whole_tuning_restores_the_limits(tuned, mpi, limits, tmp_path):
    done = culmen("tune", "cluster", *SMALL, "--variables", "tcp", "--allow-sysctl", "--mpi", mpi, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert are(limits, OLD)
    assert "warning" not in done.stderr
    found = json.loads((tmp_path / "tune-cluster/variables.json").read_text())
    assert not any("the kernel allows" in each["failed"] for each in found["tried"])


@pytest.mark.either("mpi")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_limits_are_restored_after_a_signal(tuned, mpi, limits, tmp_path, number):
    words = ("tune", "cluster", *SMALL, "--variables", "tcp,copy,wait", "--allow-sysctl", "--mpi", mpi)
    with Running(*words, cwd=tmp_path) as running:
        wait_for(lambda: are(limits, NEW), "higher limits")
        running.process.send_signal(number)
        running.process.wait(HANGS_S)
        wait_for(lambda: are(limits, OLD), "the old limits")
        wait_for(lambda: not running.processes(), "the end of all processes")
    assert list((tmp_path / "sys").glob(guard.FILES)) == []


def test_a_limit_that_cannot_be_changed_is_told_at_the_start(limits, tmp_path):
    limits[1].unlink()
    done = culmen("tune", "cluster", *SMALL, "--variables", "tcp", "--allow-sysctl", "--mpi", "openmpi", cwd=tmp_path)
    assert done.returncode == 2
    assert "--allow-sysctl: on node " in done.stderr
    assert "net.core.wmem_max cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
