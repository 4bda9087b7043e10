"""The requests of a job, the partitions of a cluster, the state of a job, and the interface of a scheduler."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Partition:
    """``nodes``: number of all nodes. ``usable``: number of nodes that are not down or drained. ``cores``, ``cpus``:
    those of the smallest node; a CPU is a hardware thread. ``least_nodes``, ``most_nodes``: limits for a job.
    ``most_s``: the longest time of a job. None: no limit."""

    name: str
    is_up: bool
    is_default: bool
    nodes: int
    usable: int
    cores: int
    cpus: int
    least_nodes: int = 1
    most_nodes: int | None = None
    most_s: float | None = None


@dataclass(frozen=True)
class Request:
    """``output``: the file for the job's output. ``folder``: the working folder. ``command``: the shell command.
    ``options``: further options of the scheduler, unchanged. ``lines``: shell commands before the command."""

    name: str
    partition: str
    nodes: int
    tasks_per_node: int
    time_s: float
    folder: Path
    output: Path
    command: str
    exclusive: bool = False
    account: str = ""
    qos: str = ""
    options: Sequence[str] = ()
    lines: Sequence[str] = ()
    about: str = ""  #: a comment at the top of the script


class Phase(Enum):
    PENDING = "pending"
    RUNNING = "running"
    ENDED = "ended"
    UNKNOWN = "unknown"  #: the scheduler has forgotten it


@dataclass(frozen=True)
class Place:
    """The state of a job. ``word``: the scheduler's own word for it. ``why``: why the job waits, or why it ended.
    ``ran_s``: its running time so far. ``exit_code``: the exit code of the script; None before its end, or if it is not
    known."""

    phase: Phase
    word: str = ""
    why: str = ""
    ran_s: float = 0.0
    nodes: str = ""
    exit_code: int | None = None


class Scheduler(Protocol):
    """The interface that culmen needs of a scheduler. Each call may raise InputError, with one sentence."""

    name: str  #: as after --submit
    title: str  #: for people

    def partitions(self) -> list[Partition]: ...

    def script(self, request: Request) -> str:
        """A complete batch script. The command gets SIGTERM some seconds before the end of the job's time."""
        ...

    def submit(self, script: Path, request: Request) -> str:
        """The id of the new job."""
        ...

    def place(self, job: str) -> Place: ...

    def cancel_command(self, job: str) -> str:
        """The command with which a user cancels the job."""
        ...
