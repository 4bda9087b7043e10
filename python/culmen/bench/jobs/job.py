"""A job, its name for messages, and the number of points that it has measured."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from ...launch.scheduler.job import Partition, Phase, Place
from .asked import Task
from .folder import JobFolder, Submitted

_ARRIVES_S = 20.0  # a network file system may show the last results this much later


@dataclass
class Job:
    folder: JobFolder
    partition: Partition
    record: Submitted | None = None
    active: bool = False
    is_pilot: bool = False
    place: Place = field(default_factory=lambda: Place(Phase.UNKNOWN))


def name_of(job: Job) -> str:
    assert job.record is not None
    return f"{job.record.job.partition('@')[0]} on {job.partition.name}"


def shown_path(path: Path) -> str:
    """The path, relative if it is below the current folder."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def done_in(task: Task, job: Job) -> int:
    """The number of points with an outcome."""
    return task.points - task.left(job.folder.path / task.store, task.points)[0]


def last_results(task: Task, job: Job, points: int) -> int:
    """The number of points with an outcome. If the job succeeded, waits a limited time until ``points`` outcomes have
    arrived, none of which failed."""
    until = time.monotonic() + (_ARRIVES_S if job.active and job.place.exit_code == 0 else 0)
    while True:
        left, failed = task.left(job.folder.path / task.store, task.points)
        done = task.points - left
        whole = done >= points and not failed and (left > 0 or task.is_complete(job.folder.path))
        if whole or time.monotonic() >= until:
            return done
        time.sleep(0.5)
