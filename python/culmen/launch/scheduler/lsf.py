"""IBM Spectrum LSF, by its own commands."""

import math
import re
import shlex
from pathlib import Path

from ..._core import InputError
from .commands import Commands, sentence
from .job import Partition, Phase, Place, Request
from .lsf_texts import BJOBS, hosts_in, members_in, partition_of, place_in_jobs, queues_in

_COMMANDS = Commands("lsf", "LSF")
_WARNING_MIN = 1  # between SIGTERM and the end; LSF counts in minutes


class Lsf:
    name, title = "lsf", "LSF"

    def partitions(self) -> list[Partition]:
        """LSF's queues."""
        queues = queues_in(_COMMANDS.output("bqueues", "-l"))
        if not queues:
            raise InputError("this cluster has no queue: bqueues lists none")
        hosts = hosts_in(_COMMANDS.output("bhosts", "-w"), _COMMANDS.output("lshosts", "-w"))
        named = any(word.rstrip("!").endswith("/") for queue in queues for word in queue.hosts)
        groups = members_in(_COMMANDS.output("bmgroup", "-r", "-w")) if named else {}
        return [partition_of(queue, hosts, groups) for queue in queues]

    def script(self, request: Request) -> str:
        if request.qos:
            raise InputError(
                f"--qos {request.qos}: LSF has no quality of service; write LSF's options in the site file"
            )
        minutes = max(1, math.ceil(request.time_s / 60))
        options = [
            f"-J {request.name}",
            f"-q {request.partition}",
            f"-n {request.nodes * request.tasks_per_node}",
            f'-R "span[ptile={request.tasks_per_node}]"',
            f"-W {minutes // 60}:{minutes % 60:02}",
            "-o /dev/null",  # LSF's report would follow the output of the job
        ]
        options += [f"-wa TERM -wt {_WARNING_MIN}"] if minutes > _WARNING_MIN else []
        options += ["-x"] if request.exclusive else []
        options += [f"-P {request.account}"] if request.account else []
        lines = ["#!/bin/bash", *(f"#BSUB {option}" for option in (*options, *request.options)), ""]
        lines += [f"# {line}" for line in request.about.splitlines()]
        lines += [f"exec >>{shlex.quote(str(request.output))} 2>&1", f"cd {shlex.quote(str(request.folder))} || exit"]
        # With exec, the command itself gets the signals of the job.
        return "\n".join([*lines, *request.lines, f"exec {request.command}", ""])

    def submit(self, script: Path, request: Request) -> str:
        said = _COMMANDS.output("bsub", cwd=request.folder, text=script.read_text(encoding="utf-8"))
        found = re.search(r"Job <(\d+)> is submitted", said)
        if not found:
            raise InputError(f"bsub printed no number of a job: '{said.strip()}'")
        return found[1]

    def place(self, job: str) -> Place:
        done = _COMMANDS.said("bjobs", "-noheader", "-o", BJOBS, job)
        if found := place_in_jobs(done.stdout):
            return found
        if done.returncode != 0 and "is not found" not in done.stderr:
            raise InputError(f"bjobs failed: {sentence(done)}")
        return Place(Phase.UNKNOWN)

    def cancel_command(self, job: str) -> str:
        return f"bkill {job}"
