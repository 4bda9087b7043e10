"""Submits jobs for the missing points, and follows them. The jobs can be those of an earlier call."""

import math
import threading
from pathlib import Path

from ... import _core
from ...base.signals import STOP_SIGNALS, handling
from ...launch.scheduler.following import follow
from ...launch.scheduler.job import Phase, Request, Scheduler
from .asked import Cluster, Task
from .folder import JobFolder
from .job import Job, done_in, last_results, name_of
from .lines import job_lines
from .submitting import find, longest_s_in, request_for, submit


def jobs_for(cluster: Cluster, output: Path) -> list[Job]:
    """One job for each partition."""
    return [Job(JobFolder((output / each.name).resolve()), each) for each in cluster.partitions]


def requests_for(task: Task, cluster: Cluster, jobs: list[Job]) -> list[Request]:
    """All requests, so that each is checked before one is submitted. In a dry run, those of pilots come first."""
    pilot = cluster.wanted.pilot
    requests = [request_for(task, cluster, job, task.points) for job in jobs]
    if cluster.wanted.dry_run and pilot is not None:
        return [request_for(task, cluster, job, task.points, pilot) for job in jobs] + requests
    return requests


def run_to_end(task: Task, cluster: Cluster, jobs: list[Job], overwrite: bool, quiet: bool) -> bool:
    """Returns True if all jobs ended, or if the job of a pilot failed. Returns False if a signal came before; the jobs
    continue."""
    for job in jobs:
        find(task, cluster.scheduler, job, overwrite)
    for job in jobs if overwrite else []:
        task.clear(job.folder.path / task.store)
    longest_s: dict[str, float] = {}
    if cluster.wanted.pilot is not None:
        pilots = _pilots(task, cluster, jobs, cluster.wanted.pilot, quiet)
        if not _follow(task, cluster.scheduler, pilots, quiet):
            return False
        if any(job.place.exit_code != 0 for job in pilots):
            return True
        _end(task, pilots, cluster.wanted.pilot)
        measured = [job for job in jobs if done_in(task, job) > 0]  # also by the pilot of an earlier call
        longest_s = {job.partition.name: longest_s_in(job.folder.path / task.store) for job in measured}
    for job in jobs:
        if not job.active:
            submit(task, cluster, job, quiet, longest_s.get(job.partition.name, math.inf))
        elif job.record and not quiet:
            print(f"Job {name_of(job)} was submitted at {job.record.submitted}; following it", flush=True)
    return _follow(task, cluster.scheduler, jobs, quiet)


def _pilots(task: Task, cluster: Cluster, jobs: list[Job], pilot: int, quiet: bool) -> list[Job]:
    """The jobs that measure ``pilot`` points. Submits those that are missing."""
    for job in jobs:
        if not job.active and done_in(task, job) == 0:
            submit(task, cluster, job, quiet, pilot=pilot)
    return [job for job in jobs if job.is_pilot]


def _end(task: Task, pilots: list[Job], pilot: int) -> None:
    """Waits for the last results of the pilots, and marks the pilots as ended."""
    for job in pilots:
        last_results(task, job, min(pilot, task.points))
        job.active = job.is_pilot = False


def _follow(task: Task, scheduler: Scheduler, jobs: list[Job], quiet: bool) -> bool:
    """Returns False if a signal came before the jobs ended; they continue."""
    there = {job.record.job: job for job in jobs if job.active and job.record}
    if not there:
        return True
    leave = threading.Event()
    with handling(STOP_SIGNALS, lambda _number, _frame: leave.set()), job_lines(task.what, task.points, quiet) as show:
        for places in follow(scheduler, list(there), leave):
            for number, place in places.items():
                job = there[number]
                job.place = place
                show.see(name_of(job), place, _told(task, job))
    return all(job.place.phase in (Phase.ENDED, Phase.UNKNOWN) for job in there.values())


def _told(task: Task, job: Job) -> int:
    """The number of points that a job has measured so far."""
    try:
        return done_in(task, job)
    except _core.CulmenError:
        return 0  # the job is just writing it
