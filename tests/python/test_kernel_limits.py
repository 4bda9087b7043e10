"""The kernel's limits of socket buffers, and the program that raises and restores them on a node, with a folder of its
own instead of /proc/sys."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from culmen._core import InputError
from culmen.launch import kernel
from culmen.launch.mpi import load
from culmen.launch.mpi.variables import environment_of
from culmen.tune.cluster import guard
from culmen.tune.cluster.limits import check_allowed, largest_buffer, needed_limit
from harness import wait_for

OLD, NEW = 212_992, 1 << 24
OPEN_MPI = next(mpi for mpi in load() if mpi.title == "Open MPI 4")


class Limits:
    """A folder like /proc/sys."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = [folder.joinpath(*name.split(".")) for name in kernel.LIMITS]
        for file in self.files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{OLD}\n")

    def values(self) -> list[str]:
        return [file.read_text().strip() for file in self.files]

    def kept(self) -> list[Path]:
        return list(self.folder.glob(guard.FILES))

    def are(self, value: int) -> bool:
        return self.values() == [str(value)] * 2

    def command(self, what: str, *words: str) -> list[str]:
        wanted = words or [f"{name}={NEW}" for name in kernel.LIMITS]
        return [sys.executable, "-I", guard.__file__, what, str(self.folder), str(self.folder), *wanted]

    def hold(self) -> tuple[subprocess.Popen, dict]:
        process = subprocess.Popen(self.command("hold"), stdout=subprocess.PIPE, text=True)
        return process, json.loads(process.stdout.readline().removeprefix(guard.MARK))

    def restore(self) -> dict:
        done = subprocess.run(self.command("restore"), capture_output=True, text=True, check=True)
        return json.loads(done.stdout.removeprefix(guard.MARK))


@pytest.fixture
def limits(tmp_path: Path) -> Limits:
    return Limits(tmp_path)


def guard_of(process: subprocess.Popen) -> int:
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_limits_are_restored_when_the_first_process_ends(limits, number):
    process, report = limits.hold()
    assert report["before"] == dict.fromkeys(kernel.LIMITS, OLD)
    assert limits.are(NEW)
    assert len(limits.kept()) == 1
    process.send_signal(number)
    process.communicate()
    assert "error" not in limits.restore(), "it waits for the guard"
    assert limits.are(OLD)
    assert limits.kept() == []


LACKING = """
import os, runpy, sys
del os.pidfd_open
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("python", ["as it is", "without pidfd_open"])
def test_limits_are_restored_when_the_launcher_ends(limits, python):
    command = limits.command("hold")
    if python != "as it is" and hasattr(os, "pidfd_open"):
        command[2:2] = ["-c", LACKING]
    words = f"exec 3>&1; {shlex.join(command)} >&3 & read wait"
    shell = subprocess.Popen(["sh", "-c", words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    shell.stdout.readline()
    assert limits.are(NEW)
    shell.kill()
    shell.wait()
    wait_for(lambda: limits.are(OLD), "the old limits")
    shell.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_limits_are_restored_when_the_guard_ends(limits, number):
    process, _ = limits.hold()
    os.kill(guard_of(process), number)
    process.communicate()
    assert limits.are(OLD)
    assert limits.kept() == []


def test_limits_of_killed_processes_are_restored_by_the_next_command(limits):
    process, _ = limits.hold()
    child = guard_of(process)
    os.kill(process.pid, signal.SIGSTOP)
    os.kill(child, signal.SIGKILL)
    process.kill()
    process.communicate()
    assert limits.are(NEW), "nobody was left"
    process, report = limits.hold()
    assert report["before"] == dict.fromkeys(kernel.LIMITS, OLD)
    process.kill()
    process.communicate()
    limits.restore()
    assert limits.are(OLD)


def test_a_limit_that_somebody_else_has_changed_stays(limits):
    process, _ = limits.hold()
    limits.files[0].write_text("5000\n")
    process.kill()
    process.communicate()
    limits.restore()
    assert limits.values() == ["5000", str(OLD)]


def test_higher_limits_stay(limits):
    for file in limits.files:
        file.write_text(f"{2 * NEW}\n")
    process, report = limits.hold()
    assert set(report["before"].values()) == {2 * NEW}
    assert limits.are(2 * NEW)
    process.kill()
    process.communicate()
    limits.restore()
    assert limits.are(2 * NEW)


def test_two_commands_cannot_raise_the_same_limits(limits):
    process, _ = limits.hold()
    other, report = limits.hold()
    assert report["error"] == "another command of culmen has raised its limits"
    other.communicate()
    assert limits.are(NEW)
    process.kill()
    process.communicate()
    limits.restore()
    assert limits.are(OLD)


def test_a_limit_that_is_missing_is_told_and_nothing_changes(limits):
    limits.files[1].unlink()
    process, report = limits.hold()
    process.communicate()
    assert report["error"] == "net.core.wmem_max cannot be read"
    assert limits.files[0].read_text() == f"{OLD}\n"
    assert limits.kept() == []


def test_the_limit_is_the_lower_one_of_both_directions(limits, monkeypatch):
    monkeypatch.setenv("CULMEN_PROC_SYS", str(limits.folder))
    limits.files[0].write_text("300000\n")
    assert kernel.socket_limit() == OLD


def test_without_files_a_socket_shows_the_limit(tmp_path, monkeypatch):
    usual = kernel.socket_limit()
    monkeypatch.setenv("CULMEN_PROC_SYS", str(tmp_path / "none"))
    assert kernel.socket_limit() == usual


def test_a_setting_says_which_limit_it_needs():
    name = next(each.name for each in OPEN_MPI.variables if each.socket_buffers)
    assert largest_buffer(OPEN_MPI.variables, ("tcp",)) == NEW
    assert largest_buffer(OPEN_MPI.variables, ("copy",)) == 0
    assert needed_limit({name: str(NEW)}, OPEN_MPI.variables, OLD) == NEW
    assert needed_limit({name: "131072"}, OPEN_MPI.variables, OLD) == 0
    assert needed_limit({name: str(NEW)}, OPEN_MPI.variables, 0) == 0, "no limit was raised"
    assert needed_limit({}, OPEN_MPI.variables, OLD) == 0


def test_only_root_may_raise_limits_and_only_for_tcp(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(InputError, match="only root may; your user has the number 1000"):
        check_allowed(("tcp",))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    check_allowed(("eager", "tcp"))
    with pytest.raises(InputError, match="needs --variables tcp"):
        check_allowed(("eager",))


@pytest.mark.parametrize("mpi", [mpi for mpi in load() if mpi.variables], ids=lambda mpi: mpi.title)
def test_each_variable_can_be_asked_for(mpi):
    """Its names are of a kind that the data file knows, or of the launcher."""
    names, launcher = mpi.names, ("HYDRA_",)
    known = tuple(filter(None, (names.parameters, names.control, names.composed))) + launcher
    for each in mpi.variables:
        for value in each.values:
            assert all(name.startswith(known) for name in environment_of({each.name: value}, mpi.variables))
