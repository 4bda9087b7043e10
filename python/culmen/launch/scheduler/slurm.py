"""Slurm, by its own commands."""

import shutil
from pathlib import Path

from ..._core import InputError
from .commands import Commands, sentence
from .job import Partition, Phase, Place, Request
from .slurm_texts import (
    SACCT,
    SINFO,
    SQUEUE,
    partitions_in,
    place_in_accounting,
    place_in_queue,
    place_in_record,
)
from .times import shown_time

_WARNING_S, _SHARE = 60, 4  # SIGTERM comes 60 s before the end, or a quarter of a short job's time
_COMMANDS = Commands("slurm", "Slurm")


class Slurm:
    name, title = "slurm", "Slurm"

    def partitions(self) -> list[Partition]:
        said = _COMMANDS.said("sinfo", "--noheader", "--exact", f"--format={SINFO}")
        if said.returncode != 0:
            raise InputError(f"--submit slurm: no Slurm cluster answers here (sinfo: {sentence(said)})")
        found = partitions_in(said.stdout)
        if not found:
            raise InputError("this cluster has no partition: sinfo lists none")
        return found

    def script(self, request: Request) -> str:
        warning_s = min(_WARNING_S, int(request.time_s / _SHARE))
        options = [
            f"--job-name={request.name}",
            f"--partition={request.partition}",
            f"--nodes={request.nodes}",
            f"--ntasks-per-node={request.tasks_per_node}",
            f"--time={shown_time(request.time_s)}",
            f"--output={_quoted(request.output).replace('%', '%%')}",
            "--open-mode=append",  # after a requeue, the former output stays
            f"--chdir={_quoted(request.folder)}",
            f"--signal=B:TERM@{warning_s}",
        ]
        options += ["--exclusive"] if request.exclusive else []
        options += [f"--account={request.account}"] if request.account else []
        options += [f"--qos={request.qos}"] if request.qos else []
        lines = ["#!/bin/bash", *(f"#SBATCH {option}" for option in (*options, *request.options)), ""]
        lines += [f"# {line}" for line in request.about.splitlines()]
        # With exec, the command itself gets the signals of the job.
        return "\n".join([*lines, *request.lines, f"exec {request.command}", ""])

    def submit(self, script: Path, request: Request) -> str:
        said = _COMMANDS.output("sbatch", "--parsable", str(script), cwd=request.folder)
        return said.strip().splitlines()[-1].partition(";")[0]  # after a semicolon comes the cluster's name

    def place(self, job: str) -> Place:
        queued = _COMMANDS.said("squeue", "--noheader", f"--format={SQUEUE}", "--states=all", f"--jobs={job}")
        if queued.returncode == 0 and (found := place_in_queue(queued.stdout)):
            return found
        if queued.returncode != 0 and "Invalid job id" not in queued.stderr:
            raise InputError(f"squeue failed: {sentence(queued)}")
        recorded = _COMMANDS.said("scontrol", "show", "job", job, "--oneliner")
        if found := place_in_record(recorded.stdout):
            return found
        if shutil.which("sacct"):
            options = (f"--jobs={job}", "--allocations", "--noheader", "--parsable2", f"--format={SACCT}")
            if found := place_in_accounting(_COMMANDS.said("sacct", *options).stdout):
                return found
        return Place(Phase.UNKNOWN)

    def cancel_command(self, job: str) -> str:
        return f"scancel {job}"


def _quoted(path: Path) -> str:
    """The path for a line of options, in which sbatch removes quotes as a shell does."""
    text = str(path)
    return f'"{text}"' if " " in text else text
