"""CPU time and memory of idle workers: local processes, and MPI ranks. Peer: a rank that has only initialised MPI."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measure import Bench, Row, Spread, mpis_here

WORKERS = 3
START_TIMEOUT_S = 60
SETTLE_S = 3
STUDY = """
[space]
x = {{ lower = -1, upper = 1 }}
[evaluator]
library = "{library}:sleep_and_answer"
isolation = "none"
[stop]
evaluations = 1
"""


@dataclass
class Sample:
    """Measured values of one process."""

    cpu_ms_an_hour: float
    resident_mib: float
    has_libpython: bool


class Crowd:
    """A command, and those of its child processes that run one program."""

    def __init__(self, name: str, program: str, count: int, words: list[str], **environment: str) -> None:
        self.name, self._program, self._count = name, program, count
        self.command = subprocess.Popen(
            words, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def wait_until_there(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while len(self.processes()) != self._count:
            if self.command.poll() is not None or time.monotonic() > deadline:
                self.end()
                said = self.command.stderr.read()
                raise SystemExit(f"{self.name}: {len(self.processes())} of {self._count} processes started: {said}")
            time.sleep(0.05)

    def processes(self) -> list[int]:
        return sorted(pid for pid in _descendants(self.command.pid) if self._is_one(pid))

    def _is_one(self, pid: int) -> bool:
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            return Path(f"/proc/{pid}/exe").resolve().name == self._program and b"__guard" not in words
        return False

    def end(self) -> None:
        self.command.terminate()
        try:
            self.command.wait(10)
        except subprocess.TimeoutExpired:
            self.command.kill()
            self.command.wait()


def _descendants(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                yield child
                yield from _descendants(child)


def idle_worker(bench: Bench) -> Iterator[Row]:
    """Measures all workers at the same time, because they do nothing."""
    crowds = list(_start(bench))
    try:
        for crowd in crowds:
            crowd.wait_until_there()
        time.sleep(SETTLE_S)
        samples = _watch(crowds, 10 if bench.quick else 60)
    finally:
        for crowd in crowds:
            crowd.command.terminate()
        for crowd in crowds:
            crowd.end()
    for name, own in samples.items():
        if name.startswith("bare"):
            continue
        bare = samples.get(name.replace("worker", "bare", 1))
        yield from _rows(name, own, bare)


def _start(bench: Bench) -> Iterator[Crowd]:
    study = bench.scratch / "idle.toml"
    study.write_text(STUDY.format(library=bench.program("libstudy_function.so")))
    hour = {"CULMEN_BENCH_SLEEP_US": str(3600 * 1_000_000)}
    culmen = [sys.executable, "-m", "culmen"]
    run = ["run", str(study), "--quiet", "--store"]
    local = [*culmen, *run, bench.fresh(), "--worker-processes", "--workers", str(WORKERS)]
    yield Crowd("worker process", "culmen", WORKERS, local, **hour)
    for mpi, launcher in mpis_here():
        title = launcher.mpi.title
        launch = [*culmen, "launch", "--mpi", mpi, "-n"]
        yield Crowd(
            f"worker rank, {title}", "culmen", WORKERS, [*launch, str(WORKERS + 1), *run, bench.fresh()], **hour
        )
        rank = bench.program(f"bare_rank_{mpi}")
        yield Crowd(f"bare rank, {title}", Path(rank).name, WORKERS, [*launch, str(WORKERS)], CULMEN_EXECUTABLE=rank)


def _watch(crowds: list[Crowd], seconds: float) -> dict[str, list[Sample]]:
    processes = {crowd.name: crowd.processes() for crowd in crowds}
    before = {pid: (_cpu_ns(pid), time.monotonic()) for pids in processes.values() for pid in pids}
    time.sleep(seconds)
    return {name: [_sample(pid, *before[pid]) for pid in pids] for name, pids in processes.items()}


def _sample(pid: int, cpu_ns: int, at: float) -> Sample:
    spent_ms, hours = (_cpu_ns(pid) - cpu_ns) * 1e-6, (time.monotonic() - at) / 3600
    status = Path(f"/proc/{pid}/status").read_text()
    resident_kib = int(status.partition("VmRSS:")[2].split()[0])
    has_libpython = "libpython" in Path(f"/proc/{pid}/maps").read_text()
    return Sample(spent_ms / hours, resident_kib / 1024, has_libpython)


def _cpu_ns(pid: int) -> int:
    """The process's CPU clock, all threads: the id that clock_getcpuclockid(3) gives."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def _rows(name: str, own: list[Sample], bare: list[Sample] | None) -> Iterator[Row]:
    def values(samples: list[Sample] | None, key: str) -> Spread | None:
        return Spread([getattr(sample, key) for sample in samples]) if samples else None

    cpu, memory = values(own, "cpu_ms_an_hour"), values(own, "resident_mib")
    peer_name = "bare rank" if bare else ""
    title = f"Idle {name}"
    yield Row(f"{title}, CPU time per hour", "ms", cpu, values(bare, "cpu_ms_an_hour"), peer_name, at_most=10)
    yield Row(f"{title}, resident memory", "MiB", memory, values(bare, "resident_mib"), peer_name, at_most=30)
    with_python = Spread([sum(sample.has_libpython for sample in own)])
    yield Row(f"{title}, processes with Python", "", with_python, at_most=0)
