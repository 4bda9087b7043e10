"""A tuning as a batch job: its work, its time, and the result of the job."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._core import CulmenError, InputError
from ...bench.jobs.asked import Cluster, Task, Wanted
from ...bench.measuring import End
from ...report.files import Kind, replacing
from ...report.page import PAGE
from ...store.opening import open_store
from .recipe import RecipeFile
from .tuner import PAGE_NAME, RESULT, SEARCH, STORES, check_search, defining, remove_results, spent_s

_RESULT_FILE = Kind("result", lambda _path, head: head.startswith(b"{"))
_DEFAULT_EVALUATIONS = 150


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
    if len(cluster.partitions) > 1:
        raise InputError("--partition: settings are for one kind of node; give one partition, or tune once for each")
    runs = 1 + (recipe.stop.evaluations or _DEFAULT_EVALUATIONS) + 3 * recipe.tune.rounds
    return Task(
        f"tune-{recipe.name}",
        ["tune", "command", str(file), *words],
        0,
        SEARCH,
        "runs at most",
        runs,
        runs * _run_s(recipe, folder / cluster.partitions[0].name, cluster),
        lambda store: _missing(store, recipe, file, runs),
        conclude,
        left=lambda store, all_runs: (_left(store, recipe, all_runs), 0),
        clear=lambda store: remove_results(store.parent),
    )


def with_file(wanted: Wanted, recipe: RecipeFile) -> Wanted:
    """Options of the command replace those of the file."""
    given = recipe.job.model_dump(exclude_none=True)
    return replace(wanted, **{key: value for key, value in given.items() if getattr(wanted, key) in (None, False)})


def _run_s(recipe: RecipeFile, folder: Path, cluster: Cluster) -> float:
    """Seconds that a run takes: the limit of the file, or the mean of an earlier job. 0 if the user gives the job's
    time."""
    if recipe.evaluator.time_limit_s:
        return float(recipe.evaluator.time_limit_s)
    if cluster.wanted.time:
        return 0.0
    for name in STORES:
        if (told := _count(folder / name)) and (seconds := _seconds(folder / name)) is not None:
            return seconds / told
    raise InputError(
        f"{recipe.name}: culmen cannot estimate the time of the job, because the time of a run is not known; write "
        "--time, or time_limit_s in [evaluator]"
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


def _seconds(store: Path) -> float | None:
    try:
        return spent_s([store])
    except CulmenError:
        return None


def _told(store: Path) -> int:
    """The number of all runs in the folder of this store."""
    return sum(_count(store.parent / name) for name in STORES)


def _count(store: Path) -> int:
    try:
        return int(open_store(store).summary["told"]) if store.exists() else 0
    except CulmenError:
        return 0  # the job is just writing it


def result_in(folder: Path, recipe: RecipeFile) -> dict[str, Any] | None:
    """The result of a complete tuning with this recipe; None if there is none."""
    try:
        known: dict[str, Any] = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return known if known.get("file") == defining(recipe) else None


def copy_results(measured: Path, folder: Path) -> None:
    """``measured``: the folder of the job."""
    for name, kind in ((RESULT, _RESULT_FILE), (PAGE_NAME, PAGE)):
        with replacing(folder / name, kind, force=True) as path:
            shutil.copyfile(measured / name, path)
