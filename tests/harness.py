"""Running culmen as users do, and looking at what it left."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from culmen import _core

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
CULMEN = [shutil.which("culmen") or "culmen"]
_OTHERS = ("OMPI_", "PMIX_", "PMI_", "MPI_", "HYDRA_", "SLURM_", "LSB_", "OMP_", "CULMEN_RUN", "CULMEN_PROGRESS")

HANGS_S = 600  # a test that takes longer hangs, also on a machine that is twenty times slower
_STARTED_S = 0.03  # an interpreter, on a quiet machine of 2024

# Work of 2 to 32 ms, so that outcomes arrive out of order; it leaves a trace.
MODEL = """
import os, time

def f(p):
    with open("CALLS", "a") as log:
        log.write(f"{p['x']!r} {p['y']!r}\\n")
    while os.path.exists("MOST") and len(open("CALLS").readlines()) > int(open("MOST").read()):
        time.sleep(0.002)
    time.sleep(0.002 + abs(p["x"]) * 1000 % 1 * 0.03)
    return (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2
"""
STUDY = """
[space]
x = { lower = -5, upper = 5 }
y = { lower = -5, upper = 5 }
[evaluator]
python = "model.py:f"
[stop]
evaluations = BUDGET
"""


# With noise = "auto", cmaes evaluates its first candidate twice: a point then does not tell an evaluation from another.
ONE_POINT_ONCE = 'optimizer = { name = "cmaes", noise = "off" }\n'


def write_study(folder: Path, budget: int = 400, top: str = ONE_POINT_ONCE) -> None:
    """study.toml and model.py; every call of the model appends a line to the file `calls`. ``top``: first lines."""
    (folder / "model.py").write_text(
        MODEL.replace("CALLS", str(folder / "calls")).replace("MOST", str(folder / "most_calls"))
    )
    (folder / "study.toml").write_text(top + STUDY.replace("BUDGET", str(budget)))


def hold(folder: Path, calls: int) -> None:
    """After this number of calls, the model of `write_study` waits, so that a study does not end before a signal comes,
    however late it comes."""
    new = folder / "most_calls.new"
    new.write_text(str(calls))
    new.replace(folder / "most_calls")


def go_on(folder: Path) -> None:
    """After `hold`: the model does not wait any more."""
    hold(folder, 10**9)


def write_fit(folder: Path, model: str, space: str, budget: int, evaluator: str = "", workers: int | None = 2) -> None:
    """study.toml and model.py, whose f returns residuals. ``space`` and ``evaluator``: lines of their tables."""
    run = "" if workers is None else f"[run]\nworkers = {workers}\n"
    (folder / "model.py").write_text(model)
    (folder / "study.toml").write_text(
        f'[space]\n{space}\n[evaluator]\npython = "model.py:f"\nresult = "residuals"\n{evaluator}\n'
        f"[stop]\nevaluations = {budget}\n{run}"
    )


def copy_example(name: str, folder: Path) -> None:
    """Without what a run by hand has left there."""
    ignored = shutil.ignore_patterns("*.db*", "*.work", "*.html", "__pycache__", "build")
    shutil.copytree(EXAMPLES / name, folder, dirs_exist_ok=True, ignore=ignored)


def run_undisturbed(folder: Path, budget: int, workers: int) -> tuple[list, dict]:
    """Sequence and outcomes of the study on local workers."""
    write_study(folder, budget)
    done = culmen("run", "study.toml", "--workers", workers, "--quiet", cwd=folder)
    assert done.returncode == 0, done.stderr
    return sequence(folder / "study.db"), outcomes(folder / "study.db")


RANKS = {"openmpi": 4, "mpich": 7}


def under(mpi: str, *words: str) -> tuple[str, ...]:
    """A launch on that MPI's ranks."""
    return ("launch", "-n", str(RANKS[mpi]), "--mpi", mpi, *words)


def environment(**more: str) -> dict[str, str]:
    """This process's, without the variables of a launcher and of OpenMP."""
    return {k: v for k, v in os.environ.items() if not k.startswith(_OTHERS)} | more


def culmen(*words: object, cwd: Path, timeout: float = HANGS_S, **more: str) -> subprocess.CompletedProcess:
    """Runs a command to its end."""
    command = [*CULMEN, *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment(**more), capture_output=True, text=True, timeout=timeout)


class Running:
    """A command in the background; all its processes carry a mark of their own in their environment."""

    def __init__(self, *words: object, cwd: Path, prefix: tuple[str, ...] = (), **more: str) -> None:
        self._mark = f"CULMEN_TEST_MARK={uuid.uuid4()}"
        name, value = self._mark.split("=")
        command = [*prefix, *CULMEN, *map(str, words)]
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment(**{name: value}, **more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def processes(self) -> dict[int, str]:
        """Those that live, with their command lines; zombies do not count."""
        return {pid: line for pid, line in _processes(self._mark.encode()) if pid != os.getpid()}

    def end(self, timeout: float = HANGS_S) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out, err

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.process.poll() is None:
            self.process.wait(HANGS_S)
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()


def _processes(mark: bytes):
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if line:
                    yield int(folder.name), line


def wait_for(condition: Callable[[], object], what: str, timeout: float = HANGS_S) -> object:
    """Waits until the condition holds; where it does not, the assertion shows what was last seen."""
    end = time.monotonic() + timeout
    while not (seen := condition()):
        assert time.monotonic() < end, f"waited {timeout} s for {what}; last seen: {seen!r}"
        time.sleep(0.005)
    return seen


def patience(seconds: float) -> float:
    """The limit for a quiet, fast machine, times a factor for this one: how many processes share a core, or how much
    longer a program takes to start, the slowest of a few times."""
    slower = max(_start_s() for _ in range(3)) / _STARTED_S
    average, _, _, entities, _ = Path("/proc/loadavg").read_text().split()
    busy = max(float(average), float(entities.partition("/")[0])) / len(os.sched_getaffinity(0))
    return seconds * max(1.0, busy, slower)


def _start_s() -> float:
    start = time.monotonic()
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
    return time.monotonic() - start


def wait_for_soon(condition: Callable[[], object], what: str, seconds: float) -> None:
    """As `wait_for`, within a time that the documents promise for a quiet machine. How busy this one is, is known only
    after the wait."""
    start = time.monotonic()
    wait_for(condition, what)
    took = time.monotonic() - start
    assert took <= patience(seconds), f"{what} took {took:.2f} s, not {seconds} s"


def calls_of(folder: Path) -> list[str]:
    """One line for each call of the model so far."""
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


def summary(store: Path) -> dict:
    return _core.Store.read(str(store)).summary()


def sequence(store: Path) -> list[tuple]:
    """The asks and tells of the optimizer, one entry for each candidate, regardless of which of them share a row."""
    entries = []
    for call in _core.Store.read(str(store)).calls():
        entries += [("ask", number, *x) for number, x in call["candidates"]]
        entries += [(call["kind"], number) for number in call["ids"]]
    return entries


def outcomes(store: Path) -> dict[int, tuple]:
    """Of the evaluations that were told."""
    told = {entry[1] for entry in sequence(store) if entry[0] == "tell"}
    rows = _core.Store.read(str(store)).outcomes(0, 10**9)
    return {r["evaluation"]: (r["status"], r["value"], r["residuals"]) for r in rows if r["evaluation"] in told}


def recorded_points(store: Path) -> set[str]:
    """The candidates whose outcomes are in the store, as the model logs them."""
    opened = _core.Store.read(str(store))
    points = {number: " ".join(map(repr, x)) for call in opened.calls() for number, x in call["candidates"]}
    return {points[r["evaluation"]] for r in opened.outcomes(0, 10**9)}


def store_is_ready(store: Path) -> bool:
    """True once the store can be read."""
    try:
        summary(store)
    except _core.CulmenError:
        return False
    return True


PYTHON = sys.executable
