"""One point of the grid: a whole run with workers of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import _core
from ...launch.supervision import end_with_parent

TRANSPORTS = ("mailbox", "mpi", *_core.SCHEMES)
COSTS = ("sleep", "busy", "lognormal")
_LIBRARY = "libculmen_cost.so"


@dataclass(frozen=True)
class Point:
    """``transport``: one of TRANSPORTS, or a peer: the path of a runner, or its name in a table."""

    transport: str
    workers: int
    evaluation_s: float  #: intended duration of an evaluation
    prefetch: bool = True
    io_threads: int = 1
    repetition: int = 1

    @property
    def is_peer(self) -> bool:
        return self.transport not in TRANSPORTS

    @property
    def is_plain(self) -> bool:
        """Whether it has the usual options."""
        return self.prefetch and self.io_threads == 1

    @property
    def name(self) -> str:
        """The name of the transport, for people."""
        return Path(self.transport).stem


@dataclass(frozen=True)
class PointMeasured:
    """The measurement of one point.

    A peer gives only ``items``, ``steady_s``, ``work_s`` and ``lone_s``; the others are 0.
    """

    items: int  #: evaluations in the steady state
    steady_s: float  #: duration of the steady state
    work_s: float  #: time of these items one after the other, if nothing disturbs them
    lone_s: float  #: measured duration of an evaluation that nothing disturbs
    evaluations: int = 0  #: of the whole run
    whole_s: float = 0.0  #: the whole run, with the start and the end of the workers
    retried: int = 0  #: evaluations that were repeated
    lost: int = 0  #: evaluations that were lost with their workers

    @property
    def rate(self) -> float:
        """Evaluations per second in the steady state."""
        return self.items / self.steady_s

    def efficiency(self, workers: int) -> float:
        """In the steady state: time of one undisturbed worker for these items / (workers × time). Evaluations that
        become slower reduce it, unlike the utilisation."""
        return self.work_s / (workers * self.steady_s)


def measure(p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    """The evaluator of the study that measures the grid. Its value is 1 − efficiency."""
    point = Point(
        p["transport"],
        int(p["workers"]),
        float(p["evaluation_s"]),
        p["prefetch"],
        int(p["io_threads"]),
        p["repetition"],
    )
    words = _words_of_peer(point, p) if point.is_peer else _words(point, p)
    environment = dict(os.environ)
    if point.transport == "mpi":
        environment.pop("CULMEN_RUN", None)  # with it, ranks would not look for their launch
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, check=False, preexec_fn=end_with_parent
    )
    line = next((line for line in reversed(done.stdout.splitlines()) if line.startswith("{")), "")
    if done.returncode != 0 or not line:
        said = [text for text in (done.stderr.strip(), done.stdout.strip()) if text]
        raise RuntimeError(said[0] if said else f"it ended with exit code {done.returncode}")
    measured = PointMeasured(**json.loads(line))
    return 1 - measured.efficiency(point.workers), vars(measured)


def _words(point: Point, p: Mapping[str, Any]) -> list[str]:
    program = _core.find_executable()
    words = [program, "__point", point.transport, str(point.workers), p["cost"], repr(point.evaluation_s)]
    words += [str(int(point.prefetch)), str(point.io_threads), repr(float(p["measure_s"])), str(cost_library())]
    if point.transport != "mpi":
        return words
    mpi = ["--mpi", p["mpi"]] if p["mpi"] != "default" else []
    if "CULMEN_EXECUTABLE" in os.environ:  # a launch then starts that program
        words = words[1:]
    return [sys.executable, "-m", "culmen", "launch", "-n", str(point.workers + 1), *mpi, *words]


def _words_of_peer(point: Point, p: Mapping[str, Any]) -> list[str]:
    return [sys.executable, point.transport, str(point.workers), repr(point.evaluation_s), repr(float(p["measure_s"]))]


def cost_library() -> Path:
    """The shared library with the cost functions. It is where the modules for MPI are."""
    return Path(os.environ.get("CULMEN_MODULE_DIR") or Path(_core.__file__).parent / "lib", _LIBRARY)
