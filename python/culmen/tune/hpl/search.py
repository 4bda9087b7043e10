"""The search of ``culmen tune hpl``, and the check of the best settings with a larger N."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from ..._core import InputError
from ...bench.study import KeptStudy
from ...report.files import Kind, replacing
from ...report.reading import Evaluations, read
from ...run.result import Result
from ...study_file import StudyFile, checked
from ..command.failed import key_of, with_failures
from ..command.search import search_while_it_pays
from ..command.stopping import Ended, StopRule, as_dict, ended_from
from ..command.tuner import spent_s
from .asked import COMMAND, Asked
from .output import reason_of
from .plan import FINALISTS, LOOKS, Known
from .report import PRESENT
from .runs import BY_CHANCE, CHECK, FOUND, MODULE, RANDOM, SEARCH, Runs
from .scaling import Curve, fitted
from .space import Settings

_OPTIMIZER: dict[str, Any] = {"name": "bayes", "model": "additive"}
_RANDOM: dict[str, Any] = {"name": "random"}
_MOST_RUNS = 300
_LIST = Kind("list of settings", lambda _path, head: head.startswith((b"[", b"{")))


def search(asked: Asked, runs: Runs, known: Known) -> tuple[list[Settings], Ended | None]:
    """The best settings, the recommended ones first, and then those that were known before. The second value says why
    the search ended, if it had a stop rule. A search that has ended is not continued, because its time is up. On a slow
    machine, the search may end before its first run does."""
    file = runs.folder / FOUND
    if file.exists():
        kept = json.loads(file.read_text(encoding="utf-8"))
        return kept["finalists"], ended_from(kept["ended"])
    result, ended = _searched(asked, runs, known)
    finalists = _finalists(result, asked, runs, known)
    with replacing(file, _LIST, force=True) as path:
        text = json.dumps({"finalists": finalists, "ended": as_dict(ended)}, indent=2)
        path.write_text(text + "\n", encoding="utf-8")
    return finalists, ended


def _searched(asked: Asked, runs: Runs, known: Known) -> tuple[Result, Ended | None]:
    file = _search_file(asked, runs, known, _OPTIMIZER, known.plan.search_s)
    size = asked.options.size or known.plan.memory_n
    use_h = asked.options.use.hours_of(known.curves[PRESENT].time_s(size) + known.overhead_s)
    if use_h is None:
        return _conducted(file, runs, SEARCH, "runs", known.plan.search_s), None
    searched = sum(table.value is None for table in file.space.values())
    rule = StopRule(use_h, True, searched, asked.options.seed)
    study, left_s = _kept(file, runs, SEARCH), runs.left_s(SEARCH, known.plan.search_s)
    return search_while_it_pays(study, rule, lambda: runs.monitor(SEARCH, "runs"), _MOST_RUNS, left_s, _in_gflops)


def _in_gflops(store: Path) -> Evaluations:
    found = read(store)
    found.values = np.exp(found.values)
    return found


def _finalists(result: Result, asked: Asked, runs: Runs, known: Known) -> list[Settings]:
    if result.best is None and result.first_failure:
        raise InputError(f"no run of the search succeeded: {reason_of(result.first_failure, asked.program.path)}")
    best = [result.recommended.params] if result.recommended else []
    found = read(runs.store(SEARCH))
    rows = sorted(np.flatnonzero(found.feasible), key=lambda row: -found.values[row, 0])
    failing = with_failures(found)  # they come last
    best = sorted([*best, *(found.named(int(row)) for row in rows)], key=lambda each: key_of(each) in failing)
    different = {json.dumps(each): each for each in map(asked.completed, best)}
    finalists = list(different.values())[:FINALISTS]
    before = [each for name, each in asked.before_search(known).items() if not known.is_slow(name)]
    return finalists + [each for each in before if each not in finalists]


def random_search(asked: Asked, runs: Runs, known: Known) -> Settings | None:
    """The best single run of a random search. It takes as long as the search and its check did, and has no start
    settings. None if no run succeeded."""
    file = runs.folder / BY_CHANCE
    if not file.exists():
        seconds = max(1.0, spent_s([runs.store(SEARCH), runs.store(CHECK)]))
        study = _search_file(asked, runs, known, _RANDOM, seconds)
        result = _conducted(study, runs, RANDOM, "runs of a random search", seconds)
        best = [] if result.best is None else [asked.completed(dict(result.best))]
        with replacing(file, _LIST, force=True) as path:
            path.write_text(json.dumps(best, indent=2) + "\n", encoding="utf-8")
    found: list[Settings] = json.loads(file.read_text(encoding="utf-8"))
    return found[0] if found else None


def _conducted(file: StudyFile, runs: Runs, store: str, what: str, whole_s: float) -> Result:
    """``whole_s``: the time of the whole search, also before an interruption."""
    kept = _kept(file, runs, store)
    kept.open()
    return runs.conduct(kept, store, what, runs.left_s(store, whole_s))


def _kept(file: StudyFile, runs: Runs, store: str) -> KeptStudy:
    return KeptStudy(file, Path.cwd(), COMMAND, runs.store(store), "settings")


def _search_file(
    asked: Asked, runs: Runs, known: Known, optimizer: dict[str, Any], seconds: float
) -> StudyFile:  # fmt: skip
    plan, space = known.plan, asked.space(known)
    searched = {name for name, table in space.items() if "value" not in table}
    if not searched:
        raise InputError("nothing is left to search, because these parameters have one value here; name more")
    starts = [_start(settings, searched) for settings in asked.before_search(known).values()]
    fixed = {"n": plan.search_n, "limit_s": plan.limit_s, "how": runs.how.text()}
    tables = {
        "name": "tune-hpl",
        "seed": asked.options.seed,
        "constraints": asked.constraints(known),
        "space": {**space, **{name: {"value": value} for name, value in fixed.items()}},
        "starts": [] if optimizer is _RANDOM else starts,
        "evaluator": {"python": f"{MODULE}:measure", "time_limit_s": plan.limit_s + 60, "give_up_after": 25},
        "objectives": {"log_gflops": "maximize"},
        "optimizer": optimizer,
        "stop": {"evaluations": _MOST_RUNS, "wall_time_s": seconds},
        "run": {"workers": 1, "prefetch": False},
    }
    file: StudyFile = checked(StudyFile, tables, COMMAND)
    return file


def _start(settings: Settings, searched: set[str]) -> Settings:
    inactive = {"swap_threshold"} if settings["swap"] != "mix" else set()
    return {name: value for name, value in settings.items() if name in searched - inactive}


def best_of(finalists: list[Settings], asked: Asked, runs: Runs, known: Known) -> tuple[Settings, Curve]:
    """The settings with the largest expected speed for the final N, and their curve."""
    plan, searched = known.plan, read(runs.store(SEARCH))
    looks: list[list[tuple[int, float]]] = [[] for _ in finalists]
    order = [k for _ in range(LOOKS) for k in range(len(finalists))]
    points = [(finalists[k], plan.check_n) for k in order]
    values, _ = runs.of(CHECK, points, "runs of the best with a larger N", known.limit_s(plan.check_n))
    for k, value in zip(order, values, strict=True):
        if not math.isnan(value):
            looks[k].append((plan.check_n, value))
    if not any(looks):
        raise InputError(f"no run with N = {plan.check_n} succeeded; see {runs.folder / CHECK}")
    for row in np.flatnonzero(searched.feasible):
        settings = asked.completed(searched.named(int(row)))
        if settings in finalists and looks[finalists.index(settings)]:
            looks[finalists.index(settings)].append((plan.search_n, math.exp(searched.values[row, 0])))
    fits = [(fitted(look), k) for k, look in enumerate(looks) if look]
    curve, k = max(fits, key=lambda fit: fit[0].gflops(plan.final_n))
    return finalists[k], curve
