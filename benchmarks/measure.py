"""Runs programs alternately with their peers, and collects what they measured."""

import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from culmen.launch.mpi import Launcher, LauncherError, find_launcher

TIMEOUT_S = 300
QUIET = 0.15  # a run is repeated once if other programs use a larger share of the CPU time


def mpis_here() -> Iterator[tuple[str, Launcher]]:
    """Open MPI and MPICH by their names, if they are on this machine."""
    for name in ("openmpi", "mpich"):
        with suppress(LauncherError):
            yield name, find_launcher(name)


class Spread:
    """Some values of one quantity: median (minimum – maximum)."""

    def __init__(self, values: list[float]) -> None:
        self.values = values

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def text(self) -> str:
        low, high = min(self.values), max(self.values)
        return short(self.median) if low == high else f"{short(self.median)} ({short(low)} – {short(high)})"

    def over(self, peer: "Spread") -> "Spread":
        """For each repetition."""
        return Spread([a / b for a, b in zip(self.values, peer.values, strict=True)])


def short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


@dataclass
class Row:
    """One row of the table. A target at_least is for the ratio, a target at_most for the figure."""

    name: str
    unit: str
    figure: Spread
    peer: Spread | None = None
    peer_name: str = ""
    ratio: Spread | None = None
    at_least: float | None = None
    at_most: float | None = None
    foreign: float = 0  # largest share of the CPU time that other programs used during it

    @property
    def met(self) -> bool | None:
        if self.at_least is not None and self.ratio:
            return self.ratio.median >= self.at_least
        return self.figure.median <= self.at_most if self.at_most is not None else None

    @property
    def target(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return f"≤ {self.at_most:g}" if self.at_most is not None else ""

    def record(self) -> dict:
        """For --json."""
        spreads = {"figure": self.figure, "peer": self.peer, "ratio": self.ratio}
        return {
            "name": self.name,
            "unit": self.unit,
            "peer_name": self.peer_name,
            **{key: spread.values for key, spread in spreads.items() if spread},
            "target": self.target,
            "met": self.met,
            "foreign_share": round(self.foreign, 3),
        }


@dataclass
class Bench:
    """The folder of the programs, and the number and length of their runs."""

    build: Path
    scratch: Path
    repeat: int
    quick: bool
    say: Callable[[str], None]
    _numbers: itertools.count = field(default_factory=itertools.count)

    def program(self, name: str) -> str:
        path = self.build / "benchmarks" / name
        if not path.exists():
            raise SystemExit(f"{path} is not built; `make bench` builds it (CMake option CULMEN_BENCHMARKS)")
        return str(path)

    def scaled(self, count: int) -> int:
        return count // 3 if self.quick else count

    def fresh(self) -> str:
        """A new path in the scratch folder."""
        return str(self.scratch / f"study-{next(self._numbers)}.db")

    def run(self, *words: object, **environment: str) -> dict:
        """Runs a program to its end. Returns its JSON line, and the share of CPU time that other programs used."""
        command = [str(word) for word in words]
        before = Load()
        environment = {**os.environ, **environment}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        share = before.foreign_share()
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}\nended with exit code {done.returncode}: {done.stdout}{done.stderr}")
        line = next(line for line in reversed(done.stdout.splitlines()) if line.startswith("{"))
        self._discard_studies()
        return json.loads(line) | {"foreign": share}

    def _quietly(self, run: Callable[[], dict]) -> dict:
        result = run()
        if result["foreign"] <= QUIET or self.quick:
            return result
        return min(result, run(), key=lambda result: result["foreign"])

    def _discard_studies(self) -> None:
        for path in self.scratch.glob("study-*"):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    def launch(self, mpi: str, ranks: int, program: str, *words: object) -> dict:
        """The same under an MPI, by `culmen launch`."""
        culmen = (sys.executable, "-m", "culmen", "launch", "--mpi", mpi, "-n", ranks)
        return self.run(*culmen, *words, CULMEN_EXECUTABLE=program)

    def take_turns(self, runs: dict[str, Callable[[], dict]], repeat: int | None = None) -> dict[str, list[dict]]:
        """All runs in each repetition, which begins with another run each time: a drift then affects all of them."""
        results: dict[str, list[dict]] = {name: [] for name in runs}
        names = list(runs)
        for turn in range(repeat or self.repeat):
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                results[name].append(self._quietly(runs[name]))
                self.say(f"{name} {turn + 1}: {results[name][-1]}")
        return results


class Load:
    """The CPU time so far: of the machine, and of our own children."""

    def __init__(self) -> None:
        self._at, self._machine, self._own = time.monotonic(), _machine_s(), _children_s()

    def foreign_share(self) -> float:
        wall = (time.monotonic() - self._at) * (os.cpu_count() or 1)
        return round(max(0.0, _machine_s() - self._machine - (_children_s() - self._own)) / wall, 3)


def _machine_s() -> float:
    user, _nice, system, _idle, _wait, irq, soft_irq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + system + irq + soft_irq + steal) / os.sysconf("SC_CLK_TCK")


def _children_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


def spread(results: list[dict], key: str) -> Spread:
    return Spread([result[key] for result in results])


def foreign(*groups: list[dict]) -> float:
    return max(result["foreign"] for group in groups for result in group)
