"""Jobs of this machine, without a scheduler: a script in the background, which outlives the terminal."""

import contextlib
import os
import shlex
import subprocess
from pathlib import Path

from ..._core import InputError
from .job import Partition, Phase, Place, Request

_START_FIELD = 19  # of /proc/PID/stat, after the name: the time of the start
# The shell passes SIGTERM on, and then waits for the last results of the script.
_SHELL = """\
bash {script} & job=$!
trap 'cancelled=1; kill $job' TERM
wait $job; code=$?
trap '' TERM
if [ $cancelled ]; then wait $job; else echo $code > {ended}; fi
"""


class Local:
    name, title = "local", "this machine"

    def partitions(self) -> list[Partition]:
        return [Partition("local", True, True, 1, 1, *2 * [len(os.sched_getaffinity(0))])]

    def script(self, request: Request) -> str:
        lines = ["#!/bin/bash", *(f"# {line}" for line in request.about.splitlines())]
        # In the foreground, timeout stays in the process group of the job and signals only the command.
        command = f"exec timeout --foreground --signal=TERM {int(request.time_s)} {request.command}"
        return "\n".join([*lines, *request.lines, command, ""])

    def submit(self, script: Path, request: Request) -> str:
        ended = script.with_suffix(".exit")
        ended.unlink(missing_ok=True)
        words = _SHELL.format(script=shlex.quote(str(script)), ended=shlex.quote(str(ended)))
        try:
            with request.output.open("a", encoding="utf-8") as output:
                process = subprocess.Popen(
                    ["bash", "-c", words], stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=request.folder,
                    start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise InputError(f"--submit local: the script cannot be started: {error.strerror}") from None
        return f"{process.pid}.{_started(process.pid)}@{ended}"

    def place(self, job: str) -> Place:
        process, _, ended = job.partition("@")
        pid, _, started = process.partition(".")
        with contextlib.suppress(ChildProcessError):
            os.waitpid(int(pid), os.WNOHANG)
        if _started(int(pid)) == started:
            return Place(Phase.RUNNING, "RUNNING")
        try:
            code = int(Path(ended).read_text())
        except (OSError, ValueError):
            return Place(Phase.ENDED, "CANCELLED")
        word = "TIMEOUT" if code == 124 else "COMPLETED" if code == 0 else "FAILED"
        return Place(Phase.ENDED, word, exit_code=code)

    def cancel_command(self, job: str) -> str:
        return f"kill {job.partition('.')[0]}"


def _started(pid: int) -> str:
    """When the process began, in ticks since the boot. Empty: there is no such process."""
    with contextlib.suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] == "Z" else fields[_START_FIELD]
    return ""
