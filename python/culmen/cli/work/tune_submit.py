"""``culmen tune command --submit``: the whole tuning as a batch job, which measures on the nodes that it is for."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._core import CulmenError, InputError
from ...base.exit_codes import FINISHED, RESUMABLE
from ...bench.jobs.asked import Cluster, Task, Wanted
from ...bench.measuring import End
from ...report.files import Kind, replacing
from ...report.page import PAGE
from ...store.opening import open_store
from ...tune.command.recipe import RecipeFile, read_recipe, with_use
from ...tune.command.results import HEADINGS, TEXTS
from ...tune.command.tuner import PAGE_NAME, RESULT, SEARCH, STORES, check_search, defining, remove_results, spent_s
from .submit import run_jobs
from .summary import print_table

_RESULT_FILE = Kind("result", lambda _path, head: head.startswith(b"{"))
_DEFAULT_EVALUATIONS = 150


def submit_command(
    file: Path,
    wanted: Wanted,
    words: list[str],
    output: Path | None,
    overwrite: bool,
    quiet: bool,
    use_hours: float | None,
    use_runs: int | None,
) -> int:
    """``words``: options of the command in the job. Returns an exit code. Raises InputError for a wrong file, and for
    what the cluster does not have."""
    recipe = with_use(read_recipe(file), use_hours, use_runs)
    cluster = Cluster.of(_with_file(wanted, recipe))
    if len(cluster.partitions) > 1:
        raise InputError("--partition: settings are for one kind of node; give one partition, or tune once for each")
    folder = output or Path(f"tune-{recipe.name}")
    runs = 1 + (recipe.stop.evaluations or _DEFAULT_EVALUATIONS) + 3 * recipe.tune.rounds
    task = Task(
        f"tune-{recipe.name}",
        ["tune", "command", str(file), *words],
        0,
        SEARCH,
        "runs at most",
        runs,
        runs * _run_s(recipe, folder / cluster.partitions[0].name, cluster),
        lambda store: _missing(store, recipe, file, runs),
        lambda folders, to, end: _conclude(recipe, folders[0], to, end, quiet),
        left=lambda store, all_runs: (_left(store, recipe, all_runs), 0),
        clear=lambda store: remove_results(store.parent),
    )
    return run_jobs(task, cluster, folder, overwrite, quiet)


def _with_file(wanted: Wanted, recipe: RecipeFile) -> Wanted:
    """Options of the command replace those of the file."""
    given = recipe.job.model_dump(exclude_none=True)
    return replace(wanted, **{key: value for key, value in given.items() if getattr(wanted, key) in (None, False)})


def _run_s(recipe: RecipeFile, folder: Path, cluster: Cluster) -> float:
    """How long a run takes, at most: by the limit of the file, or as in an earlier job."""
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
    """As ``_left``. Raises InputError if a job could only fail, because the file was changed after its runs."""
    left = _left(store, recipe, runs)
    if left:
        check_search(recipe, file, store.parent)
    return left


def _left(store: Path, recipe: RecipeFile, runs: int) -> int:
    """The number of runs that a job still makes, at most; 0: all is done."""
    return 0 if _result(store.parent, recipe) else max(1, runs - _told(store))


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


def _result(folder: Path, recipe: RecipeFile) -> dict[str, Any] | None:
    """Of a whole tuning with this file."""
    try:
        known: dict[str, Any] = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return known if known.get("file") == defining(recipe) else None


def _conclude(recipe: RecipeFile, measured: Path, folder: Path, end: End, quiet: bool) -> int:
    found = _result(measured, recipe)
    if found is None or end is not End.WHOLE:
        print("Not all runs are done; the same command continues.")
        return RESUMABLE
    print_table(HEADINGS, found["table"], TEXTS)
    for sentence in found["sentences"]:
        print(sentence)
    for name, kind in ((RESULT, _RESULT_FILE), (PAGE_NAME, PAGE)):
        with replacing(folder / name, kind, force=True) as path:
            shutil.copyfile(measured / name, path)
    if not quiet:
        print(f"Wrote {folder / RESULT} and {folder / PAGE_NAME}")
    return FINISHED
