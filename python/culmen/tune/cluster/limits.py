"""Raises the kernel's limits of socket buffers on every node while a tuning runs. See guard.py."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.text import plural
from ...bench.parts import settings_of_launchers, situations_here
from ...launch.kernel import LIMITS, folder_of_limits
from ...launch.mpi import Launcher
from ...launch.mpi.variables import Setting, Variable
from ...launch.supervision import end_with_parent
from . import guard

_KEPT = "/run"  # a restart of the node resets this folder and the limits
_START_S, _END_S = 60.0, 15.0


def check_allowed(groups: Collection[str]) -> None:
    """``groups``: groups of variables. Raises InputError if none of them needs higher limits, or if this user may not
    change the limits."""
    if "tcp" not in groups:
        raise InputError("--allow-sysctl raises limits of TCP buffers, so it needs --variables tcp")
    if os.geteuid() != 0 and "CULMEN_PROC_SYS" not in os.environ:
        raise InputError(
            f"--allow-sysctl changes limits of the kernel, which only root may; your user has the number {os.geteuid()}"
        )


def largest_buffer(variables: Iterable[Variable], groups: Collection[str]) -> int:
    """The largest socket buffer, in bytes, among all values of the variables; 0 if none is a socket buffer."""
    sizes = [int(value) for each in variables if each.socket_buffers and each.group in groups for value in each.values]
    return max(sizes, default=0)


def needed_limit(setting: Setting, variables: Iterable[Variable], before: int) -> int:
    """The limit, in bytes, that a setting of variables needs; 0 if the limit ``before`` is enough or unknown."""
    names = {each.name for each in variables if each.socket_buffers}
    sizes = [int(value) for name, value in setting.items() if name in names]
    most = max(sizes, default=0)
    return most if 0 < before < most else 0


@contextmanager
def raised_to(size: int, launcher: Launcher, nodes: int) -> Iterator[int]:
    """Raises the limits of all nodes to at least ``size`` bytes in this block. Restores the old values, however the
    block ends. Gives the lowest earlier limit of a node in bytes. Raises InputError if the limits cannot be raised on a
    node."""
    wanted = [f"{name}={size}" for name in LIMITS]
    reports: list[dict[str, Any]] = []
    with _Guards(launcher, nodes, ["hold", *_places(), *wanted]) as guards:
        try:
            reports = guards.reports(_START_S)
            _check(reports, nodes, guards)
            yield min(value for each in reports for value in each["before"].values())
        finally:
            guards.end()
            _confirm(launcher, nodes, {each["host"] for each in reports if "before" in each})


def _places() -> list[str]:
    folder = folder_of_limits()
    own = "CULMEN_PROC_SYS" in os.environ
    return [str(Path(folder.split("{")[0])) if own else _KEPT, folder]


def _check(reports: Sequence[dict[str, Any]], nodes: int, guards: "_Guards") -> None:
    for each in reports:
        if "error" in each:
            raise InputError(f"--allow-sysctl: on node {each['host']}, {each['error']}")
    if len({each["host"] for each in reports}) != nodes:
        said = f": {guards.said}" if guards.said else ""
        raise InputError(
            f"--allow-sysctl: the limits can be raised on {len(reports)} of {plural(nodes, 'node')} only{said}"
        )


def _confirm(launcher: Launcher, nodes: int, raised: Collection[str]) -> None:
    """Waits until the guards on the nodes ``raised`` have restored the limits. Restores the limits of a killed
    guard."""
    if not raised:
        return
    words = ["restore", *_places(), *(f"{name}=0" for name in LIMITS)]
    with _Guards(launcher, nodes, words) as last:
        reports = last.reports(_START_S)
    restored = {each["host"] for each in reports if "error" not in each}
    for host in sorted({*raised} - restored):
        print(
            f"culmen: warning: on node {host}, {' and '.join(LIMITS)} may still be raised; the old values are in "
            f"{words[1]}/{guard.FILES}",
            file=sys.stderr,
        )


class _Guards:
    """One launch of guard.py, with one process on each node."""

    def __init__(self, launcher: Launcher, nodes: int, words: Sequence[str]) -> None:
        self._nodes = nodes
        here = situations_here(launcher, 1)
        flags = [flag for each in here for flag in each.flags]
        placement = launcher.mpi.placement
        if nodes > 1 and placement is not None:
            flags += [word.format(per_node=1) for word in placement.per_node]
        variables = {**settings_of_launchers(), "SLURM_OVERLAP": "1"}  # runs next to the ranks that measure
        for each in here:
            variables |= {name: value for name, value in each.environment.items() if name not in os.environ}
        program = [sys.executable, "-I", str(Path(guard.__file__).resolve())]
        self._process = subprocess.Popen(
            [launcher.program, *flags, "-n", str(nodes), *program, *words],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C ends the measurement first
            preexec_fn=end_with_parent,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.said = ""
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> "_Guards":
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def reports(self, timeout_s: float) -> list[dict[str, Any]]:
        """One report for each node; fewer if the launch ended or the time limit passed."""
        out: list[dict[str, Any]] = []
        end = time.monotonic() + timeout_s
        while len(out) < self._nodes:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                break
            if not line:
                break
            _, mark, report = line.partition(guard.MARK)
            if mark:
                out.append(json.loads(report))
            elif not self.said:
                self.said = line.strip(" -\n")
        return out

    def end(self) -> None:
        """Ends the launch. Each guard then restores its limits."""
        for stop in (self._process.terminate, self._process.kill):
            if self._process.poll() is None:
                stop()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
                return
