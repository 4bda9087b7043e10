"""Why a job has not measured all points."""

from ...base.again import same_command
from ...base.exit_codes import RESUMABLE
from ...base.text import lasted
from ...launch.scheduler.job import Phase, Scheduler
from .asked import Task
from .job import Job, name_of, shown_path

_WORDS = {
    "TIMEOUT": "reached its time limit",
    "CANCELLED": "was cancelled",
    "NODE_FAIL": "lost a node",
    "BOOT_FAIL": "got a node that did not start",
    "OUT_OF_MEMORY": "ran out of memory",
    "PREEMPTED": "had to make room for another job",
    "DEADLINE": "reached its deadline",
}


def to_continue() -> str:
    """A clause."""
    return f"to measure the rest, type {same_command()} again"


def why_not_all(task: Task, scheduler: Scheduler, job: Job, done: int) -> list[str]:
    """A sentence that says why not all points are measured, and the last lines of a job that failed."""
    place, end = job.place, f"after {done} of {task.points} {task.what}; {to_continue()}"
    if job.active and not done and place.word == "TIMEOUT":
        end = f"before it had finished one of {task.points} {task.what}; give a longer --time"
    if place.phase is Phase.UNKNOWN:
        return [f"{scheduler.title} no longer knows job {name_of(job)}; it ended {end}"]
    stopped = "was stopped near its time limit" if place.exit_code == RESUMABLE else ""
    if what := _WORDS.get(place.word, stopped):
        return [f"job {name_of(job)} {what} {end}"]
    lines = job.folder.last_lines()
    said = f"; the last lines of {shown_path(job.folder.output)}:" if lines else ""
    return [
        f"job {name_of(job)} ended as {place.word} with exit code {place.exit_code} after {lasted(place.ran_s)}{said}",
        *(f"  {line}" for line in lines),
    ]
