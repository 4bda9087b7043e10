"""The files and processes that evaluations leave, the variables that they see, and the number of parallel ones."""

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from culmen.launch.mpi import LauncherError, find_launcher
from harness import CULMEN, HANGS_S, Running, culmen, environment, outcomes, wait_for, wait_for_soon

pytestmark = pytest.mark.no_numbers

HEAD = """
[space]
x = { lower = -5, upper = 5 }
[optimizer]
name = "random"
"""


def write(folder: Path, evaluator: str, budget: int) -> None:
    (folder / "study.toml").write_text(f"{HEAD}[evaluator]\n{evaluator}\n[stop]\nevaluations = {budget}\n")


def write_program(folder: Path, script: str) -> None:
    (folder / "program").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "program").chmod(0o755)


def values(folder: Path) -> list[float]:
    return [value for _, value, _ in outcomes(folder / "study.db").values()]


def test_a_command_reads_a_file_of_its_study_from_anywhere(tmp_path):
    study = tmp_path / "a study"
    study.mkdir()
    (study / "input.dat").write_text("17\n")
    (study / "simulate").symlink_to(shutil.which("cat"))
    words = ["sh", "-c", '"$CULMEN_STUDY_FOLDER/simulate" "$CULMEN_STUDY_FOLDER/input.dat"']
    write(study, f"command = {json.dumps(words)}", 3)
    done = culmen("run", "a study/study.toml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert values(tmp_path) == [17, 17, 17]


def test_a_command_that_looks_for_a_file_in_the_wrong_folder_is_told(tmp_path):
    (tmp_path / "input.dat").write_text("17\n")
    write(tmp_path, 'command = ["cat", "input.dat"]', 3)
    culmen("run", "study.toml", "--quiet", cwd=tmp_path)
    failures = json.loads(culmen("status", "study.db", "--json", cwd=tmp_path).stdout)["failures"]
    assert "does not contain 'input.dat'; write inputs = { copy = [\"input.dat\"] }" in failures[0]["message"]


@pytest.mark.parametrize("place", [[], ["--worker-processes"]], ids=["threads", "processes"])
def test_what_a_command_leaves_in_the_background_ends_with_its_evaluation(tmp_path, place):
    write_program(
        tmp_path,
        f"sleep 3600 &\necho $! >> {tmp_path}/left\nwhile test -e {tmp_path}/wait; do sleep 0.02; done\necho 1",
    )
    (tmp_path / "wait").touch()
    write(tmp_path, 'command = ["./program"]', 8)
    with Running("run", "study.toml", "--workers", "2", *place, cwd=tmp_path) as run:
        wait_for(lambda: sum("sleep 3600" in line for line in run.processes().values()) == 2, "two in the background")
        (tmp_path / "wait").unlink()
        code, _, err = run.end()
        assert code == 0, err
        wait_for(lambda: not run.processes(), "nothing to be left")
    assert len((tmp_path / "left").read_text().split()) == 8


def run_with_files(soft: int, hard: int, *words: object, cwd: Path) -> subprocess.CompletedProcess:
    """culmen with these limits of open files."""
    return subprocess.run(
        [*CULMEN, *map(str, words)],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
    )


def test_more_workers_than_files_may_be_open_raise_the_limit_but_not_that_of_a_command(tmp_path):
    write(tmp_path, 'command = ["sh", "-c", "ulimit -Sn"]', 60)
    done = run_with_files(300, 4096, "run", "study.toml", "--workers", 60, "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert set(values(tmp_path)) == {300}


@pytest.mark.parametrize(
    "place", [["--workers", 60], ["--workers", 400, "--worker-processes"]], ids=["threads", "processes"]
)
def test_too_few_open_files_for_so_many_workers_are_one_sentence(tmp_path, place):
    write(tmp_path, 'command = ["echo", "1"]', 60)
    done = run_with_files(300, 300, "run", "study.toml", *place, "--quiet", cwd=tmp_path)
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert "open files, but the system allows 300 (ulimit -Hn); use fewer workers" in said


# Each drops or overwrites its environment, and with it the mark of its run.
UNMARKED = {
    "cleared": ["env", "-i", "sleep", "3600"],
    "overwritten": ["perl", "-e", '$0 = "x" x 6000; sleep 3600'],
}
PLACES = {
    "threads": ["run", "study.toml", "--workers", "2"],
    "processes": ["run", "study.toml", "--workers", "2", "--worker-processes"],
    "openmpi": ["launch", "-n", "3", "--mpi", "openmpi", "run", "study.toml"],
    "mpich": ["launch", "-n", "3", "--mpi", "mpich", "run", "study.toml"],
}


def of_commands(folder: Path) -> list[int]:
    """Processes that work in folders below this one, whatever their environment."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder in (process / "cwd").readlink().parents and (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def runs_unmarked(pid: int) -> bool:
    """Whether it has become a program without a mark, and its parent watches it: its start is over."""
    process = Path(f"/proc/{pid}")
    with contextlib.suppress(OSError):
        parent = Path("/proc") / re.search(r"^PPid:\s+(\d+)$", (process / "status").read_text(), re.MULTILINE)[1]
        watched = any(f"\nPid:\t{pid}\n" in file.read_text() for file in (parent / "fdinfo").iterdir())
        return watched and b"CULMEN_RUN=" not in (process / "environ").read_bytes()
    return False


def guarded(run: Running) -> int:
    """The process that the guard of this run watches."""
    (line,) = (line for line in run.processes().values() if " __guard " in line)
    return int(line.split()[2])


@pytest.mark.parametrize("kind", UNMARKED)
@pytest.mark.parametrize("place", PLACES)
def test_commands_without_the_mark_of_their_run_end_with_a_killed_master(tmp_path, place, kind):
    if place in ("openmpi", "mpich"):
        require_mpi(place)
    write(tmp_path, f"command = {json.dumps(UNMARKED[kind])}", 8)
    try:
        with Running(*PLACES[place], "--quiet", cwd=tmp_path) as run:
            wait_for(lambda: sum(map(runs_unmarked, of_commands(tmp_path))) == 2, "two without a mark")
            os.kill(guarded(run), signal.SIGKILL)
            wait_for_soon(lambda: not of_commands(tmp_path), "the end of every command", 1.0)
    finally:
        for pid in of_commands(tmp_path):
            os.kill(pid, signal.SIGKILL)


def require_mpi(name: str) -> None:
    try:
        find_launcher(name)
    except LauncherError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))
