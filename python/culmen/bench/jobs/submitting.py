"""Finds the job of an earlier call, or submits a new one."""

import math
import shlex
import sys
from pathlib import Path
from typing import Any

from ... import _core
from ..._core import InputError
from ...launch.scheduler import scheduler_named
from ...launch.scheduler.fitting import shape_of, time_for
from ...launch.scheduler.job import Phase, Request, Scheduler
from ...launch.scheduler.times import shown_time, time_of
from ...report.reading import read
from ..measuring import say_complete
from .asked import Cluster, Task
from .job import Job, name_of, shown_path
from .told import to_continue

_FACTOR, _START_S = 1.5, 120.0  # of the estimate: factor for other work on the machine; time for the start of the job
_LAUNCH_S = 5.0  # the start and the end of a launch on several nodes
_SCRATCH = "${TMPDIR:-/tmp}"


def longest_s_in(store: Path) -> float:
    """The longest duration of a point with measured times; infinity if there is none."""
    columns = read(store).columns
    measured: Any = columns["calls"] > 0  # not a route that is not available
    return float(columns["duration_s"][measured].max()) if measured.any() else math.inf


def request_for(
    task: Task, cluster: Cluster, job: Job, missing: int, pilot: int | None = None, longest_s: float = math.inf
) -> Request:
    """``missing``: the number of points that are not measured yet. ``pilot``: the number of points to measure, if not
    all. ``longest_s``: the longest duration of a point of the pilot."""
    wanted, partition, site = cluster.wanted, job.partition, cluster.site.of(job.partition.name)
    nodes, per_node = shape_of(partition, task.tasks, wanted.nodes, wanted.tasks_per_node)
    if task.rest_s is not None:
        work_s = _FACTOR * task.rest_s(job.folder.path / task.store)
    else:
        each_s = min(task.most_s / task.points, longest_s)
        work_s = max(1, min(missing, pilot or missing)) * (_FACTOR * each_s + _LAUNCH_S)
    given_s = time_of(wanted.time) if wanted.time else None
    words = shlex.join([_core.find_executable(), *task.arguments, *limit_of(pilot)])
    after = f" \\\n  -- {shlex.join(task.after)}" if task.after else ""
    folder, scratch = shlex.quote(str(job.folder.path)), site.scratch or _SCRATCH
    return Request(
        f"culmen-{task.name}",
        partition.name,
        nodes,
        per_node,
        time_for(partition, given_s, _START_S + work_s),
        Path.cwd(),
        job.folder.output,
        f'{words} \\\n  --output {folder} \\\n  --scratch "{scratch}"{after}',
        wanted.exclusive,
        wanted.account or site.account,
        wanted.qos or site.qos,
        site.options,
        site.shell(),
        f"Written by: {shlex.join(['culmen', *sys.argv[1:]])}",
    )


def limit_of(pilot: int | None) -> list[str]:
    return [] if pilot is None else ["--at-most", str(pilot)]


def find(task: Task, scheduler: Scheduler, job: Job, overwrite: bool) -> None:
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
        raise InputError(f"job {name_of(job)} still measures for {job.folder.path}; to measure again, first {cancel}")
    job.is_pilot = record.arguments[:-2] == task.arguments and record.arguments[-2] == "--at-most"
    if record.arguments != task.typed and not job.is_pilot:
        raise InputError(
            f"job {name_of(job)} measures something else for {job.folder.path}; give another --output, or {cancel}"
        )


def submit(
    task: Task, cluster: Cluster, job: Job, quiet: bool, longest_s: float = math.inf, pilot: int | None = None
) -> None:
    store = job.folder.path / task.store
    missing = task.missing(store)
    done = task.points - missing
    if not missing and task.is_complete(job.folder.path):
        if not quiet:
            say_complete(task.points, task.what, store)
        return
    request = request_for(task, cluster, job, missing, pilot, longest_s)
    job.folder.path.mkdir(parents=True, exist_ok=True)
    job.folder.script.write_text(cluster.scheduler.script(request), encoding="utf-8")
    number = cluster.scheduler.submit(job.folder.script, request)
    partition = job.partition.name
    job.record = job.folder.write_record(cluster.scheduler.name, number, partition, [*task.typed, *limit_of(pilot)])
    job.active, job.is_pilot = True, pilot is not None
    if not quiet:
        before = f", {done} of {task.points} {task.what} before" if done else f", a pilot of {pilot}" if pilot else ""
        shape = f"{request.nodes} × {request.tasks_per_node} tasks, at most {shown_time(request.time_s)}"
        print(f"Submitted job {name_of(job)} ({shape}{before}): {shown_path(job.folder.script)}", flush=True)
        if cluster.wanted.time is None and request.time_s == job.partition.most_s:
            print(f"The estimated time is longer than the partition allows; {to_continue()}.")
