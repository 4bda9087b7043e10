"""Slurm, by its own commands."""

import re
import shutil
import subprocess
from pathlib import Path

from ..._core import InputError
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

_TIMEOUT_S = 60.0
_WARNING_S, _SHARE = 60, 4  # SIGTERM comes 60 s before the end, or a quarter of a short job's time


class Slurm:
    name, title = "slurm", "Slurm"

    def partitions(self) -> list[Partition]:
        found = partitions_in(_output("sinfo", "--noheader", "--exact", f"--format={SINFO}"))
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
        said = _output("sbatch", "--parsable", str(script), cwd=request.folder)
        return said.strip().splitlines()[-1].partition(";")[0]  # after a semicolon comes the cluster's name

    def place(self, job: str) -> Place:
        queued = _said("squeue", "--noheader", f"--format={SQUEUE}", "--states=all", f"--jobs={job}")
        if queued.returncode == 0 and (found := place_in_queue(queued.stdout)):
            return found
        if queued.returncode != 0 and "Invalid job id" not in queued.stderr:
            raise InputError(f"squeue failed: {_sentence(queued)}")
        recorded = _said("scontrol", "show", "job", job, "--oneliner")
        if found := place_in_record(recorded.stdout):
            return found
        if shutil.which("sacct"):
            options = (f"--jobs={job}", "--allocations", "--noheader", "--parsable2", f"--format={SACCT}")
            if found := place_in_accounting(_said("sacct", *options).stdout):
                return found
        return Place(Phase.UNKNOWN)

    def cancel_command(self, job: str) -> str:
        return f"scancel {job}"


def _said(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    program = shutil.which(words[0])
    if program is None:
        raise InputError(f"--submit slurm: there is no {words[0]} on PATH; run this command where Slurm is installed")
    try:
        return subprocess.run(
            [program, *words[1:]], cwd=cwd, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S,
            start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(f"{words[0]} did not answer within {_TIMEOUT_S:g} s") from None


def _output(*words: str, cwd: Path | None = None) -> str:
    done = _said(*words, cwd=cwd)
    if done.returncode != 0:
        raise InputError(f"{words[0]} failed: {_sentence(done)}")
    return done.stdout


def _sentence(done: subprocess.CompletedProcess[str]) -> str:
    """Slurm's own message, in one line, without the name of the program."""
    lines = [
        re.sub(r"^\w+: ((error|fatal): )?", "", line.strip()) for line in (done.stderr or done.stdout).splitlines()
    ]
    return "; ".join(list(dict.fromkeys(filter(None, lines)))[-2:]) or f"exit code {done.returncode}"


def _quoted(path: Path) -> str:
    """The path for a line of options, in which sbatch removes quotes as a shell does."""
    text = str(path)
    return f'"{text}"' if " " in text else text
