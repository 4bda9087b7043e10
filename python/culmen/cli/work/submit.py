"""``--submit``: the work of a command as jobs of a scheduler, one for each partition."""

from pathlib import Path

from ...base.again import same_command
from ...base.exit_codes import FAILED, FINISHED, RESUMABLE
from ...bench.jobs.asked import Cluster, Task, Wanted
from ...bench.jobs.job import Job, last_results, name_of
from ...bench.jobs.running import jobs_for, requests_for, run_to_end
from ...bench.jobs.told import why_not_all
from ...bench.kept import folder_for
from ...bench.measuring import End
from ...launch.scheduler.job import Phase, Scheduler

__all__ = ["Cluster", "Task", "Wanted", "run_jobs"]


def run_jobs(task: Task, cluster: Cluster, output: Path, overwrite: bool, quiet: bool) -> int:
    """Submits jobs for the missing points, follows the jobs, and writes the tables. Returns an exit code. It also
    follows the jobs of an earlier call."""
    jobs = jobs_for(cluster, output)
    requests = requests_for(task, cluster, jobs)
    if cluster.wanted.dry_run:
        print("\n".join(cluster.scheduler.script(request) for request in requests), end="")
        return FINISHED
    folder_for(output)
    if not run_to_end(task, cluster, jobs, overwrite, quiet):
        return _left(cluster.scheduler, jobs)
    return _collect(task, cluster.scheduler, jobs, output)


def _left(scheduler: Scheduler, jobs: list[Job]) -> int:
    going = [job for job in jobs if job.place.phase in (Phase.PENDING, Phase.RUNNING) and job.record]
    one = len(going) == 1
    print(
        f"{'Job' if one else 'Jobs'} {', '.join(map(name_of, going))} {'continues' if one else 'continue'}. To follow "
        f"{'it' if one else 'them'} again, type {same_command()}."
    )
    for job in going:
        assert job.record is not None
        print(f"To cancel it: {scheduler.cancel_command(job.record.job)}")
    return RESUMABLE


def _collect(task: Task, scheduler: Scheduler, jobs: list[Job], output: Path) -> int:
    end, broken, measured = End.WHOLE, False, []
    for job in jobs:
        store = job.folder.path / task.store
        done = last_results(task, job, task.points)
        if store.exists():
            measured.append(job.folder.path)
        if done >= task.points and task.is_complete(job.folder.path):
            continue
        end = End.STOPPED if done < task.points else end
        broken = broken or job.place.word == "FAILED"
        for line in why_not_all(task, scheduler, job, done):
            print(f"culmen: {line}")
    if not measured:
        print("culmen: nothing was measured")
        return FAILED if broken else RESUMABLE
    return task.conclude(measured, output, end)
