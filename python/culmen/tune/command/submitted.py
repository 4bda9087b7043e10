"""A tuning as a batch job: its work, its time, and the result of the job."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...bench.jobs.asked import Cluster, Task, Wanted
from ...bench.measuring import End
from ...report.files import Kind, replacing
from ...report.page import PAGE
from .job_time import Work, seconds_in, told_in
from .line import MOST_RUNS, remove_line
from .line import Wanted as Line
from .recipe import EVALUATIONS
from .tables import RecipeFile
from .tuner import PAGE_NAME, RESULT, SEARCH, STORES, check_search, defining, remove_results

_RESULT_FILE = Kind("result", lambda _path, head: head.startswith(b"{"))


def task_for(
    recipe: RecipeFile,
    file: Path,
    words: list[str],
    folder: Path,
    cluster: Cluster,
    conclude: Callable[[list[Path], Path, End], int],
) -> Task:
    """``words``: options of the command in the job. ``folder``: for the results. Raises InputError if the time of a run
    is not known, or if the cluster has several partitions."""
    check_partitions(cluster)
    stop, rounds = recipe.stop, recipe.tune.rounds
    searched = stop.evaluations or (None if stop.wall_time_s else EVALUATIONS)
    runs = 1 + (searched or EVALUATIONS) + 3 * rounds
    run_s = _most_s_of(recipe, folder / cluster.partitions[0].name, cluster)
    work = Work(run_s, searched, rounds, stop.wall_time_s, recipe.build is not None)
    return Task(
        f"tune-{recipe.name}",
        ["tune", "command", str(file), *words],
        0,
        SEARCH,
        "runs at most",
        runs,
        runs * run_s,
        lambda store: _missing(store, recipe, file, runs),
        conclude,
        left=lambda store, all_runs: (_left(store, recipe, all_runs), 0),
        clear=lambda store: remove_results(store.parent),
        rest_s=lambda store: work.left_s(store.parent),
    )


def task_for_line(
    name: str,
    wanted: Line,
    words: list[str],
    after: list[str],
    folder: Path,
    cluster: Cluster,
    conclude: Callable[[list[Path], Path, End], int],
) -> Task:
    """The job of `culmen tune placement` or `culmen tune io`. ``words``: options of the command in the job. ``after``:
    the words after ``--``. The parameters depend on the nodes of the job. Raises InputError as ``task_for`` does."""
    check_partitions(cluster)
    searched = wanted.runs or MOST_RUNS
    runs = 1 + searched + 3 * wanted.rounds
    place = folder / cluster.partitions[0].name
    each_s = run_s(f"culmen tune {name}", wanted.time_limit_s, "--time-limit", place, cluster)
    typed, work = typed_words(name, words, after), Work(each_s, searched, wanted.rounds)

    def left(store: Path) -> int:
        return 0 if result_of(store.parent, typed) else max(1, runs - _told(store))

    return Task(
        f"tune-{name}",
        ["tune", name, *words],
        0,
        SEARCH,
        "runs at most",
        runs,
        runs * each_s,
        left,
        conclude,
        left=lambda store, _: (left(store), 0),
        clear=lambda store: remove_line(store.parent),
        after=after,
        rest_s=lambda store: work.left_s(store.parent),
    )


def typed_words(name: str, words: list[str], after: list[str]) -> list[str]:
    """The words by which a result names its command."""
    return ["tune", name, *words, *(["--", *after] if after else [])]


def with_file(wanted: Wanted, recipe: RecipeFile) -> Wanted:
    """Options of the command replace those of the file."""
    given = recipe.job.model_dump(exclude_none=True)
    return replace(wanted, **{key: value for key, value in given.items() if getattr(wanted, key) in (None, False)})


def check_partitions(cluster: Cluster) -> None:
    """Raises InputError if there are several."""
    if len(cluster.partitions) > 1:
        raise InputError("--partition: settings are for one kind of node; give one partition, or tune once for each")


def _most_s_of(recipe: RecipeFile, folder: Path, cluster: Cluster) -> float:
    return run_s(recipe.name, recipe.evaluator.time_limit_s, "time_limit_s in [evaluator]", folder, cluster)


def run_s(name: str, limit_s: float | None, option: str, folder: Path, cluster: Cluster) -> float:
    """Seconds that a run takes: its limit, or the mean of an earlier job. 0 if the user gives the job's time.
    ``option``: the option or key that gives the limit. Raises InputError if the time is not known."""
    if limit_s:
        return float(limit_s)
    if cluster.wanted.time:
        return 0.0
    for store in STORES:
        if (told := told_in(folder / store)) and (seconds := seconds_in(folder / store)):
            return seconds / told
    raise InputError(
        f"{name}: culmen cannot estimate the time of the job, because the time of a run is not known; write "
        f"--time, or {option}"
    )


def _missing(store: Path, recipe: RecipeFile, file: Path, runs: int) -> int:
    """The same as ``_left``. Raises InputError if a job could only fail, because the file was changed after its
    runs."""
    left = _left(store, recipe, runs)
    if left:
        check_search(recipe, file, store.parent)
    return left


def _left(store: Path, recipe: RecipeFile, runs: int) -> int:
    """The largest number of runs that a job still makes; 0 if all is done."""
    return 0 if result_in(store.parent, recipe) else max(1, runs - _told(store))


def _told(store: Path) -> int:
    """The number of all runs in the folder of this store."""
    return sum(told_in(store.parent / name) for name in STORES)


def result_in(folder: Path, recipe: RecipeFile) -> dict[str, Any] | None:
    """The result of a complete tuning with this recipe; None if there is none."""
    known = _result(folder)
    return known if known.get("file") == defining(recipe) else None


def result_of(folder: Path, typed: list[str]) -> dict[str, Any] | None:
    """The result of a complete tuning by this command; None if there is none."""
    known = _result(folder)
    return known if known.get("command") == typed else None


def _result(folder: Path) -> dict[str, Any]:
    try:
        known: dict[str, Any] = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known


def copy_results(measured: Path, folder: Path) -> None:
    """``measured``: the folder of the job."""
    for name, kind in ((RESULT, _RESULT_FILE), (PAGE_NAME, PAGE)):
        with replacing(folder / name, kind, force=True) as path:
            shutil.copyfile(measured / name, path)
