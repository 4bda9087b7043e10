"""tools/bootstrap, with stand-ins for Debian's programs: what it installs, and what it says where it may not."""

import os
import subprocess
from pathlib import Path

import pytest
from harness import HANGS_S, ROOT

BOOTSTRAP = ROOT / "tools" / "bootstrap"
PACKAGES = {line.split("#")[0].strip() for line in (ROOT / "tools" / "system-packages.txt").read_text().splitlines()}
WANTED = sorted(PACKAGES - {""})
TOOLS = ("sh", "sed", "tr", "grep", "dirname", "env", "true")


@pytest.fixture
def machine(tmp_path):
    """machine(installed, uid, sudo) runs bootstrap where just these packages are installed."""
    programs = tmp_path / "bin"
    programs.mkdir()
    tmp_path.chmod(0o755)

    def stand_in(name: str, body: str) -> None:
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)

    def run(installed: list[str], uid: int, sudo: str | None = None) -> subprocess.CompletedProcess:
        for name in TOOLS:
            (programs / name).symlink_to(Path("/usr/bin") / name)
        stand_in("dpkg-query", "".join(f"echo 'installed {package}'\n" for package in installed) + "exit 1")
        stand_in("id", f"echo {uid}")
        stand_in("apt-get", f'echo "apt-get $*" >> {tmp_path}/apt')
        if sudo is not None:
            stand_in("sudo", sudo)
        environment = {**os.environ, "PATH": str(programs)}
        return subprocess.run([BOOTSTRAP], env=environment, capture_output=True, text=True, timeout=HANGS_S)

    return run


def apt(folder: Path) -> list[str]:
    path = folder / "apt"
    return path.read_text().splitlines() if path.exists() else []


def test_nothing_is_said_or_done_where_all_is_there(machine, tmp_path):
    done = machine(WANTED, uid=1000)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not apt(tmp_path)


@pytest.mark.parametrize("sudo", [None, "exit 1"], ids=["no sudo", "sudo refuses"])
def test_one_message_names_all_that_is_missing(machine, tmp_path, sudo):
    there = WANTED[::2]
    done = machine(there, uid=1000, sudo=sudo)
    missing = " ".join(WANTED[1::2])
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"These system packages are missing: {missing}\nInstall them with:\n  sudo apt-get install -y {missing}\n"
    )
    assert not apt(tmp_path)


@pytest.mark.parametrize("who", [{"uid": 0}, {"uid": 1000, "sudo": 'shift; exec "$@"'}], ids=["root", "sudo"])
def test_what_is_missing_is_installed(machine, tmp_path, who):
    done = machine(WANTED[1:], **who)
    assert done.returncode == 0, done.stderr
    update, install = apt(tmp_path)
    assert update.startswith("apt-get update")
    assert install.startswith("apt-get install -y")
    assert install.split()[-1] == WANTED[0]
