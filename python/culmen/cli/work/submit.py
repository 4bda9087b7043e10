"""``--submit``: the work of a command as jobs of a scheduler, one for each partition."""

import math
import shlex
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ... import _core
from ..._core import InputError
from ...base.exit_codes import FAILED, FINISHED, RESUMABLE
from ...base.signals import STOP_SIGNALS, handling
from ...base.text import lasted
from ...bench.jobs.folder import JobFolder, Submitted
from ...bench.jobs.lines import JobLines, job_lines
from ...bench.kept import folder_for, remove_rounds
from ...bench.measuring import End, say_complete
from ...bench.study import left_in
from ...launch.scheduler import scheduler_named
from ...launch.scheduler.fitting import partitions_named, shape_of, time_for
from ...launch.scheduler.following import follow
from ...launch.scheduler.job import Partition, Phase, Place, Request, Scheduler
from ...launch.scheduler.site import Site, read_site
from ...launch.scheduler.times import shown_time, time_of
from ...report.reading import read

_FACTOR, _START_S = 1.5, 120.0  # of the estimate: other work on the machine; the start of the job
_LAUNCH_S = 5.0  # the start and the end of a launch on several nodes
_ARRIVES_S = 20.0  # a network file system may show the last results so much later
_SCRATCH = "${TMPDIR:-/tmp}"
_AGAIN = "to measure the rest, type the same command again"
_WORDS = {
    "TIMEOUT": "reached its time limit",
    "CANCELLED": "was cancelled",
    "NODE_FAIL": "lost a node",
    "BOOT_FAIL": "got a node that did not start",
    "OUT_OF_MEMORY": "ran out of memory",
    "PREEMPTED": "had to make room for another job",
    "DEADLINE": "reached its deadline",
}


@dataclass(frozen=True)
class Wanted:
    """The options of a job. None: not given."""

    scheduler: str
    partition: str | None = None
    nodes: int | None = None
    tasks_per_node: int | None = None
    time: str | None = None
    exclusive: bool = False
    account: str | None = None
    qos: str | None = None
    site: Path | None = None
    dry_run: bool = False
    pilot: int | None = None


@dataclass(frozen=True)
class Cluster:
    """The scheduler, partitions and site of the jobs. ``partitions``: those that the user asked for."""

    wanted: Wanted
    scheduler: Scheduler
    partitions: list[Partition]
    site: Site

    @classmethod
    def of(cls, wanted: Wanted) -> "Cluster":
        """Raises InputError if the cluster lacks a requested scheduler or partition."""
        scheduler = scheduler_named(wanted.scheduler)
        site = read_site(wanted.site)
        return cls(wanted, scheduler, partitions_named(wanted.partition, scheduler.partitions()), site)

    def room(self) -> int:
        """The number of tasks in each of the jobs."""
        nodes, per_node = self.wanted.nodes, self.wanted.tasks_per_node
        shapes = [shape_of(each, 0, nodes, per_node) for each in self.partitions]
        return min(nodes * tasks for nodes, tasks in shapes)


@dataclass(frozen=True)
class Task:
    """The work of a job. ``arguments``: of culmen in the job. ``tasks``: the least number of tasks of the scheduler.
    ``store``: the name of the file. ``what``: the kind of its points, for messages. ``missing``: the number of points
    of a store, also a new one, that a job must measure; raises InputError for a store of other points. ``conclude``:
    gets the folders with results, the folder for the tables, and whether all points are measured. ``left``: gets a
    store and the number of all points; returns the numbers of points without an outcome, and of failed points.
    ``clear``: removes the measurements. ``is_complete``: gets a folder with all points, and says whether the job also
    did the work after them."""

    name: str
    arguments: list[str]
    tasks: int
    store: str
    what: str
    points: int
    most_s: float
    missing: Callable[[Path], int]
    conclude: Callable[[list[Path], Path, End], int]
    left: Callable[[Path, int], tuple[int, int]] = left_in
    clear: Callable[[Path], None] = remove_rounds
    is_complete: Callable[[Path], bool] = lambda _folder: True


@dataclass
class _Job:
    folder: JobFolder
    partition: Partition
    record: Submitted | None = None
    active: bool = False
    is_pilot: bool = False
    place: Place = field(default_factory=lambda: Place(Phase.UNKNOWN))


def run_jobs(task: Task, cluster: Cluster, output: Path, overwrite: bool, quiet: bool) -> int:
    """Submits jobs for the missing points, follows the jobs, and writes the tables. Returns an exit code. It also
    follows the jobs of an earlier call."""
    jobs = [_Job(JobFolder((output / each.name).resolve()), each) for each in cluster.partitions]
    pilot = cluster.wanted.pilot
    requests = [_request(task, cluster, job, task.points) for job in jobs]  # all are checked before one is submitted
    if cluster.wanted.dry_run:
        if pilot is not None:
            requests = [_request(task, cluster, job, task.points, pilot) for job in jobs] + requests
        print("\n".join(cluster.scheduler.script(request) for request in requests), end="")
        return FINISHED
    folder_for(output)
    for job in jobs:
        _find(task, cluster.scheduler, job, overwrite)
    for job in jobs if overwrite else []:
        task.clear(job.folder.path / task.store)
    longest_s: dict[str, float] = {}
    if pilot is not None:
        for job in jobs:
            if not job.active and _done(task, job) == 0:
                _submit(task, cluster, job, quiet, pilot=pilot)
        first = [job for job in jobs if job.is_pilot]
        if not _follow(task, cluster.scheduler, first, quiet):
            return _left(cluster.scheduler, jobs)
        if any(job.place.exit_code != 0 for job in first):
            return _collect(task, cluster.scheduler, jobs, output)
        for job in first:
            _last_results(task, job, min(pilot, task.points))
            longest_s[job.partition.name] = _longest_s(job.folder.path / task.store)
            job.active = job.is_pilot = False
    for job in jobs:
        if not job.active:
            _submit(task, cluster, job, quiet, longest_s.get(job.partition.name, math.inf))
        elif job.record and not quiet:
            print(f"Job {_name(job)} was submitted at {job.record.submitted}; following it", flush=True)
    if not _follow(task, cluster.scheduler, jobs, quiet):
        return _left(cluster.scheduler, jobs)
    return _collect(task, cluster.scheduler, jobs, output)


def _longest_s(store: Path) -> float:
    """The longest duration of a point with measured times; infinity if there is none."""
    columns = read(store).columns
    measured: Any = columns["calls"] > 0  # not a route that is not available
    return float(columns["duration_s"][measured].max()) if measured.any() else math.inf


def _request(
    task: Task, cluster: Cluster, job: _Job, missing: int, pilot: int | None = None, longest_s: float = math.inf
) -> Request:
    """``missing``: the number of points that are not measured yet. ``pilot``: the number of points to measure, if not
    all. ``longest_s``: of the points of a pilot."""
    wanted, partition, site = cluster.wanted, job.partition, cluster.site.of(job.partition.name)
    nodes, per_node = shape_of(partition, task.tasks, wanted.nodes, wanted.tasks_per_node)
    each_s = min(task.most_s / task.points, longest_s)
    estimate_s = _START_S + max(1, min(missing, pilot or missing)) * (_FACTOR * each_s + _LAUNCH_S)
    given_s = time_of(wanted.time) if wanted.time else None
    words = shlex.join([_core.find_executable(), *task.arguments, *_limit(pilot)])
    folder, scratch = shlex.quote(str(job.folder.path)), site.scratch or _SCRATCH
    return Request(
        f"culmen-{task.name}",
        partition.name,
        nodes,
        per_node,
        time_for(partition, given_s, estimate_s),
        Path.cwd(),
        job.folder.output,
        f'{words} \\\n  --output {folder} \\\n  --scratch "{scratch}"',
        wanted.exclusive,
        wanted.account or site.account,
        wanted.qos or site.qos,
        site.options,
        site.shell(),
        f"Written by: {shlex.join(['culmen', *sys.argv[1:]])}",
    )


def _limit(pilot: int | None) -> list[str]:
    return [] if pilot is None else ["--at-most", str(pilot)]


def _find(task: Task, scheduler: Scheduler, job: _Job, overwrite: bool) -> None:
    """Finds a job of an earlier call that is queued or runs. Raises InputError if this job prevents a new one."""
    job.record = record = job.folder.record()
    if record is None:
        return
    own = scheduler if record.scheduler == scheduler.name else scheduler_named(record.scheduler)
    job.place = own.place(record.job)
    job.active = job.place.phase in (Phase.PENDING, Phase.RUNNING)
    if not job.active:
        return
    cancel = f"cancel it with `{own.cancel_command(record.job)}`"
    if overwrite:
        raise InputError(f"job {_name(job)} still measures for {job.folder.path}; to measure again, first {cancel}")
    job.is_pilot = record.arguments[:-2] == task.arguments and record.arguments[-2] == "--at-most"
    if record.arguments != task.arguments and not job.is_pilot:
        raise InputError(
            f"job {_name(job)} measures something else for {job.folder.path}; give another --output, or {cancel}"
        )


def _submit(
    task: Task, cluster: Cluster, job: _Job, quiet: bool, longest_s: float = math.inf, pilot: int | None = None
) -> None:
    store = job.folder.path / task.store
    missing = task.missing(store)
    done = task.points - missing
    if not missing and task.is_complete(job.folder.path):
        if not quiet:
            say_complete(task.points, task.what, store)
        return
    request = _request(task, cluster, job, missing, pilot, longest_s)
    job.folder.path.mkdir(parents=True, exist_ok=True)
    job.folder.script.write_text(cluster.scheduler.script(request), encoding="utf-8")
    number = cluster.scheduler.submit(job.folder.script, request)
    partition = job.partition.name
    job.record = job.folder.write_record(cluster.scheduler.name, number, partition, [*task.arguments, *_limit(pilot)])
    job.active, job.is_pilot = True, pilot is not None
    if not quiet:
        before = f", {done} of {task.points} {task.what} before" if done else f", a pilot of {pilot}" if pilot else ""
        shape = f"{request.nodes} × {request.tasks_per_node} tasks, at most {shown_time(request.time_s)}"
        print(f"Submitted job {_name(job)} ({shape}{before}): {_shown(job.folder.script)}", flush=True)
        if cluster.wanted.time is None and request.time_s == job.partition.most_s:
            print("The estimated time is longer than the partition allows.", f"{_AGAIN[0].upper()}{_AGAIN[1:]}.")


def _follow(task: Task, scheduler: Scheduler, jobs: list[_Job], quiet: bool) -> bool:
    """False: a signal came before the jobs ended; they continue."""
    there = {job.record.job: job for job in jobs if job.active and job.record}
    if not there:
        return True
    leave = threading.Event()
    with handling(STOP_SIGNALS, lambda _number, _frame: leave.set()), job_lines(task.what, task.points, quiet) as show:
        for places in follow(scheduler, list(there), leave):
            for number, place in places.items():
                there[number].place = place
                _show(show, there[number], _told(task, there[number]))
    return all(job.place.phase in (Phase.ENDED, Phase.UNKNOWN) for job in there.values())


def _show(show: JobLines, job: _Job, done: int) -> None:
    show.see(_name(job), job.place, done)


def _done(task: Task, job: _Job) -> int:
    """The number of points with an outcome."""
    return task.points - task.left(job.folder.path / task.store, task.points)[0]


def _told(task: Task, job: _Job) -> int:
    """The number of points that a job has measured so far."""
    try:
        return _done(task, job)
    except _core.CulmenError:
        return 0  # the job is just writing it


def _left(scheduler: Scheduler, jobs: list[_Job]) -> int:
    going = [job for job in jobs if job.place.phase in (Phase.PENDING, Phase.RUNNING) and job.record]
    one = len(going) == 1
    print(
        f"{'Job' if one else 'Jobs'} {', '.join(map(_name, going))} {'continues' if one else 'continue'}. To follow "
        f"{'it' if one else 'them'} again, type the same command."
    )
    for job in going:
        assert job.record is not None
        print(f"To cancel it: {scheduler.cancel_command(job.record.job)}")
    return RESUMABLE


def _collect(task: Task, scheduler: Scheduler, jobs: list[_Job], output: Path) -> int:
    end, broken, measured = End.WHOLE, False, []
    for job in jobs:
        store = job.folder.path / task.store
        done = _last_results(task, job, task.points)
        if store.exists():
            measured.append(job.folder.path)
        if done >= task.points and task.is_complete(job.folder.path):
            continue
        end = End.STOPPED if done < task.points else end
        broken = broken or job.place.word == "FAILED"
        for line in _why(task, scheduler, job, done):
            print(f"culmen: {line}")
    if not measured:
        print("culmen: nothing was measured")
        return FAILED if broken else RESUMABLE
    return task.conclude(measured, output, end)


def _last_results(task: Task, job: _Job, points: int) -> int:
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


def _why(task: Task, scheduler: Scheduler, job: _Job, done: int) -> list[str]:
    """Why not all is measured, in a sentence, and the last lines of a job that failed."""
    place, end = job.place, f"after {done} of {task.points} {task.what}; {_AGAIN}"
    if job.active and not done and place.word == "TIMEOUT":
        end = f"before it had finished one of {task.points} {task.what}; give a longer --time"
    if place.phase is Phase.UNKNOWN:
        return [f"{scheduler.title} no longer knows job {_name(job)}; it ended {end}"]
    stopped = "was stopped near its time limit" if place.exit_code == RESUMABLE else ""
    if what := _WORDS.get(place.word, stopped):
        return [f"job {_name(job)} {what} {end}"]
    lines = job.folder.last_lines()
    said = f"; the last lines of {_shown(job.folder.output)}:" if lines else ""
    return [
        f"job {_name(job)} ended as {place.word} with exit code {place.exit_code} after {lasted(place.ran_s)}{said}",
        *(f"  {line}" for line in lines),
    ]


def _name(job: _Job) -> str:
    assert job.record is not None
    return f"{job.record.job.partition('@')[0]} on {job.partition.name}"


def _shown(path: Path) -> str:
    """Relative, if it is below the current folder."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
