"""The evaluator of ``culmen tune hpl``: one run of HPL with one variant."""

import json
import math
import os
import resource
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ...base.pidfd import pidfd_open
from ...bench.parts import settings_of_launchers
from ...launch.supervision import end_with_parent
from ...problem.given import Value
from .dat import Dat, parse_dat
from .output import HplError, Run, failed_with, result_in, runs_in
from .program import Program, input_name
from .programs import program_from, program_of
from .space import command_for, dat_of

RUN = "run-"  # begins the name of a folder
_OUTPUT = "hpccoutf.txt"
_PTRANS = "##### HPC Challenge: no sizes of its own for PTRANS\n0 \n0 \n0 \n0 \n"
_FIRST_SECTION, _OWN_SECTION = "Begin of MPIRandomAccess section", "Begin of HPL section"
_LOOK_S, _GRACE_S = 0.02, 5.0
_TRIES = 3  # of a run of hpcc
_ELSEWHERE_N = 128  # N of the other benchmarks of hpcc


@dataclass(frozen=True)
class How:
    """How to run HPL. ``programs``: the content of Programs. ``base``: the input file, for values that are no settings.
    ``folder``: each run has a folder in it."""

    programs: list[dict[str, Any]]
    cores: int
    base: str
    folder: str

    def text(self) -> str:
        return json.dumps(vars(self))

    @classmethod
    def of(cls, text: str) -> "How":
        return cls(**json.loads(text))


def measure(p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    """Measures a candidate of the search, whose settings are parameters. The value is the logarithm of the speed,
    because the optimizer's model is additive."""
    gflops, figures = _measured(p, p)
    return math.log(gflops), {**figures, "gflops": gflops}


def measure_settings(p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    """Measures a point, whose settings are JSON. The value is the speed in GFLOPS."""
    return _measured(json.loads(p["settings"]), p)


def _measured(settings: Mapping[str, Value], p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    how, n = How.of(p["how"]), int(p["n"])
    begun = time.monotonic()
    program, base = _program(json.dumps(program_of(how.programs, settings))), _base(how.base)
    run = run_once(program, settings, n, how.cores, base, float(p["limit_s"]), Path(how.folder))
    figures = {"hpl_time_s": run.time_s, "residual": run.residual, "wall_time_s": time.monotonic() - begun}
    if not math.isnan(run.rank_memory):
        figures["other_memory"] = run.other_memory
    return run.gflops, figures


@cache
def _program(part: str) -> Program:
    return program_from(json.loads(part))


@cache
def _base(text: str) -> Dat:
    return parse_dat(text, "the input file")


def input_text(dat: Dat, is_hpcc: bool) -> str:
    """The text of the input file of xhpl or hpcc."""
    return dat.text() + (_PTRANS if is_hpcc else "")


def run_once(
    program: Program, settings: Mapping[str, Value], n: int, cores: int, base: Dat, limit_s: float, place: Path
) -> Run:  # fmt: skip
    """Runs HPL in a new folder below ``place``, and removes this folder. All nodes must see ``place``. Raises HplError
    if there is no valid result. ``limit_s``: of each of at most three starts of hpcc, and of the only one of xhpl."""
    dat = dat_of(settings, n, base)
    command, environment = command_for(program, settings, cores)
    environment = {**os.environ, **settings_of_launchers(), **environment}
    for _ in range(_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=RUN, dir=place))
        try:
            return _Launched(command, environment, folder, program.is_hpcc).result_of(dat, limit_s)
        except _LateError:
            continue
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    raise HplError(f"hpcc read its input file for N = {n} too early, {_TRIES} times")


class _LateError(Exception):
    """On a busy machine, hpcc can reach HPL before its file for HPL is in place."""


class _Launched:
    def __init__(self, command: list[str], environment: Mapping[str, str], folder: Path, is_hpcc: bool) -> None:
        self._command, self._environment, self._folder, self._is_hpcc = command, environment, folder, is_hpcc
        self._out, self._err = folder / "out", folder / "err"
        self._rank_memory = math.nan

    def result_of(self, dat: Dat, limit_s: float) -> Run:
        """``limit_s``: time limit of the whole run. Raises HplError if there is no valid result."""
        code = self._run(dat, limit_s)
        text = self._text()
        sizes = {run.n for run in runs_in(text)}
        if code and not sizes:
            raise failed_with(code, self._why())
        if self._is_hpcc and sizes and dat.n[0] not in sizes:
            raise _LateError
        return replace(result_in(text, dat.n[0]), rank_memory=self._rank_memory)

    def _run(self, dat: Dat, limit_s: float) -> int:
        """Runs HPL, and returns the exit code."""
        self._write(dat)
        with self._out.open("w") as out, self._err.open("w") as err:
            process = subprocess.Popen(
                self._command, cwd=self._folder, env=self._environment, stdin=subprocess.DEVNULL, stdout=out,
                stderr=err, preexec_fn=end_with_parent,
            )  # fmt: skip
            try:
                self._wait(process, dat, time.monotonic() + limit_s)
            except subprocess.TimeoutExpired:
                raise HplError(f"HPL ran longer than {limit_s:.3g} s, so it was stopped") from None
            finally:
                _end(process)
        return process.returncode

    def _write(self, dat: Dat) -> None:
        if self._is_hpcc:  # its other benchmarks take their size from this file
            size = _ELSEWHERE_N * (1 + int((dat.p[0] * dat.q[0]) ** 0.5))
            self._place(replace(dat, n=(size,)))
        else:
            self._place(dat)

    def _place(self, dat: Dat) -> None:
        """Replaces the input file in one step, because HPL may read it at any moment."""
        fresh = self._folder / "fresh"
        fresh.write_text(input_text(dat, self._is_hpcc))
        fresh.replace(self._folder / input_name(self._is_hpcc))

    def _wait(self, process: subprocess.Popen, dat: Dat, until: float) -> None:
        """Waits for the end of the run. hpcc reads its file at the start, and again before HPL, its last benchmark.
        Between these, the file for HPL replaces the first one."""
        output, placed = self._folder / _OUTPUT, not self._is_hpcc
        while not placed and process.poll() is None:
            if output.exists() and _FIRST_SECTION in output.read_text(errors="replace"):
                self._place(dat)
                placed = True
            elif time.monotonic() > until:
                raise subprocess.TimeoutExpired(self._command, 0)
            else:
                time.sleep(_LOOK_S)
        self._await(process, max(0.0, until - time.monotonic()))

    def _await(self, process: subprocess.Popen, limit_s: float) -> None:
        """Waits for the launcher, and learns the memory of its largest process. The kernel also counts the copy of this
        process that became the launcher. So a value that is not larger than this process is ignored."""
        if process.returncode is not None:
            return
        end = pidfd_open(process.pid)
        try:
            if not select.select([end], [], [], limit_s)[0]:
                raise subprocess.TimeoutExpired(self._command, limit_s)
        finally:
            os.close(end)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if used.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
            self._rank_memory = 1024.0 * used.ru_maxrss

    def _text(self) -> str:
        if not self._is_hpcc:
            return self._out.read_text(errors="replace")
        output = self._folder / _OUTPUT
        text = output.read_text(errors="replace") if output.exists() else ""
        return text.partition(_OWN_SECTION)[2]

    def _why(self) -> str:
        """The last message on standard error. HPL marks its own messages with ``>>>``."""
        lines = [line.strip() for line in self._err.read_text(errors="replace").splitlines() if line.strip(" -*")]
        marked = [line for line in lines if ">>>" in line] or lines
        return f": {marked[-1].strip('<> ')}" if marked else ""


def _end(process: subprocess.Popen) -> None:
    """Asks the launcher to end, because it then also ends its ranks."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
