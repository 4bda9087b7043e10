"""Searches the settings of a program, and compares the best ones with the present ones."""

import json
import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ..._core import InputError
from ...base.exit_codes import RESUMABLE
from ...base.text import lasted, plural, shown
from ...bench.kept import KeptStore, remove_measurements
from ...bench.parts import for_evaluators
from ...bench.stopping import StoppedError
from ...bench.study import KeptStudy
from ...bench.verdict import LEAST_PAIRS, in_turns, verdict_of
from ...launch.launcher import cores
from ...launch.watched import limit_for
from ...problem.given import Value
from ...report.files import Kind, replacing
from ...report.page import PAGE
from ...report.reading import Evaluations, read
from ...run.progress.figures import Words
from ...run.progress.monitor import Monitor, make_monitor
from ...run.result import Result
from ...study_file import StudyFile
from .effects import Effect, effects_of
from .failed import failed_in, reasons_in, steady
from .lines import lines_of
from .measured import remove_builds
from .page import tuning_page
from .recipe import (
    ROUND,
    USE,
    comparison_file,
    counts_time,
    objective_of,
    parts_of,
    present_of,
    search_file,
    use_h_of,
)
from .results import ROUNDS, Compared, Tuned, as_json, rows_of, sentences, used_verdict
from .search import search_while_it_pays
from .several import formula, judged, time_of
from .simpler import Simpler, compared_with_best, simpler_than
from .stopping import Ended, StopRule, as_dict, ended_from
from .tables import RecipeFile
from .worth import Worth

STORES = PRESENT, SEARCH, _COMPARISON = "present.db", "search.db", "comparison.db"
_BUILDS, TUNED, _FOUND, RESULT, PAGE_NAME = "builds", "tuned", "found.json", "result.json", "tuning.html"
_LEAST_S = 1e-3  # of a search whose time is up: 0 would stand for no limit
_FILE = Kind("result", lambda _path, head: head.startswith(b"{"))
NOTHING_NEW = "Nothing was measured, because all results are in the folder; --overwrite measures again."


def stores_in(folder: Path) -> list[Path]:
    """All stores of a tuning. Some of them may not exist."""
    return [folder / name for name in STORES]


def remove_results(folder: Path) -> None:
    """Removes all results, so that a tuning starts again. Raises InputError if another process measures there."""
    remove_measurements(*stores_in(folder))
    for name in (_FOUND, RESULT, PAGE_NAME):
        (folder / name).unlink(missing_ok=True)
    remove_builds(folder / _BUILDS)


def check_search(recipe: RecipeFile, file: Path, folder: Path) -> None:
    """Raises InputError if a tuning cannot continue the search in this folder. Reasons are a changed file, a limit
    below the number of runs, and another process that runs the search."""
    store, limit = folder / SEARCH, recipe.stop.evaluations
    if not store.exists():
        return
    study = search_file(recipe, file.resolve().parent, folder.resolve() / _BUILDS)
    search = _kept(study, file, store, store)
    then = "write --overwrite to measure again, or give another folder with --output"
    if search.is_another():
        raise InputError(f"{file} was changed after the runs in {store}; undo the change, or {then}")
    if limit and limit < (told := search.open()):
        raise InputError(f"{file}: [stop] evaluations = {limit}, but {store} has {told} runs; write {told}, or {then}")


def check_study(recipe: RecipeFile, file: Path, folder: Path) -> None:
    """Raises InputError for mistakes in the study of the search, such as a wrong regular expression."""
    study = search_file(recipe, file.resolve().parent, folder.resolve() / _BUILDS)
    _kept(study, file, folder / SEARCH, folder / SEARCH)


def defining(recipe: RecipeFile) -> dict[str, Any]:
    """The part of the recipe that determines the result."""
    decided: dict[str, Any] = recipe.model_dump(mode="json", exclude={"job"})
    return decided


class Tuner:
    """``file``: the file of the recipe. ``folder``: the folder for the results. ``limits``: each run has a time limit;
    its default depends on the run with the present settings. ``scratch``: see KeptStore. Programs run in ``folder``,
    also on other nodes. ``more``: gives further content for the result. Use this class in a ``with`` statement."""

    def __init__(
        self,
        recipe: RecipeFile,
        file: Path,
        folder: Path,
        quiet: bool,
        limits: bool = False,
        scratch: Path | None = None,
        more: Callable[[Tuned], dict[str, Any]] = lambda _: {},
    ) -> None:
        self._more = more
        self.recipe, self.folder, self.quiet, self._given = recipe, folder, quiet, recipe
        self._scratch, self._stores, self._open = scratch, dict[str, KeptStore](), ExitStack()
        again = f"type the command with --rounds {ROUNDS}"
        if not limits:
            again = f"write rounds = {ROUNDS} under [tune] in {file.name}, and type the same command"
        self.more_rounds = f"{again}; it repeats only the comparison"
        self.more_runs = "more --runs help" if limits else "a larger limit in [stop] helps"
        self._limits = limits and not recipe.evaluator.time_limit_s
        self._file, self._source, self._place = file, str(file), file.resolve().parent
        self._builds = self.folder.resolve() / _BUILDS
        self.goal, self.maximize = objective_of(self.recipe)
        self.present = present_of(self.recipe)
        self.ended: Ended | None = None  # why the search ended, if it had a stop rule

    def __enter__(self) -> "Tuner":
        for_evaluators(self.folder)
        for name in STORES:
            self._stores[name] = self._open.enter_context(KeptStore(self.folder / name, self._scratch))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def store(self, name: str) -> Path:
        return self._stores[name].place

    def search(self) -> dict[str, Value]:
        """The best settings. Raises InputError if the program fails with the present settings, or if no run succeeds,
        and StoppedError. A search that has ended is not continued, because its time may be up."""
        begun = self.store(SEARCH).exists()
        if not begun:
            self._warn_of_few_uses()
            self._try_present()
        self._limit_time()
        search = self._kept(search_file(self.recipe, self._place, self._builds), SEARCH)
        if begun and (found := self._found()) is not None and not search.is_another():
            return found
        result = self._conduct_search(search)
        if result.best is None:
            why = result.first_failure or "its time was up before a run had ended; give it more time"
            raise InputError(f"{self._source}: no run of the search succeeded: {why}")
        best = result.recommended.params if result.recommended else result.best
        best = steady(best, read(self.store(SEARCH)))
        self._write_json(_FOUND, {"best": best, "recipe": self._searched(), "ended": as_dict(self.ended)})
        return best

    def _warn_of_few_uses(self) -> None:
        uses, least = self.recipe.tune.use_runs, 1 + 2 * self.recipe.tune.rounds
        if uses is not None and uses < least:
            self.say(f"The tuning needs more than {least} runs, and can hardly pay for {plural(uses, 'later run')}")

    def _conduct_search(self, search: KeptStudy) -> Result:
        use_h, stop = self._use_h(), self.recipe.stop
        left_s = stop.wall_time_s and rest_s(self.store(SEARCH), stop.wall_time_s, self.say)
        if use_h is None:
            return self._conduct(search, SEARCH, "runs", left_s)
        parameters = sum(table.value is None for table in self.recipe.space.values())
        rule = StopRule(use_h, self.maximize, parameters, self.recipe.seed)
        words = Words("runs", self.goal)
        result, self.ended = search_while_it_pays(
            search, rule, lambda: self._monitor(SEARCH, words), stop.evaluations, left_s
        )
        return result

    def _use_h(self) -> float | None:
        """Hours that the program will run in total; None if the user does not say."""
        if all(getattr(self.recipe.tune, key) is None for key in USE):
            return None
        return use_h_of(self.recipe, float(read(self.store(PRESENT)).columns["wall_time_s"][0]))

    def _try_present(self) -> None:
        """Makes one run, which also fills caches."""
        result = self._run_each([self.present], PRESENT, "run with the present settings")
        if result.best is None or result.violation > 0:
            for store in {self.store(PRESENT), self.folder / PRESENT}:
                remove_measurements(store)
            why = result.first_failure or ("it violates [limits]" if result.violation > 0 else result.message)
            raise InputError(f"{self._source}: the program failed with the present settings: {why}")
        self.say(f"Present settings: {self.goal} {shown(result.value)}")

    def _limit_time(self) -> None:
        """Sets a time limit. Otherwise a run that hangs would block the search."""
        if not self._limits or not self.store(PRESENT).exists():
            return
        limit_s = limit_for(spent_s([self.store(PRESENT)]))
        evaluator = self.recipe.evaluator.model_copy(update={"time_limit_s": limit_s})
        self.recipe = self.recipe.model_copy(update={"evaluator": evaluator})
        self._limits = False
        self.say(f"A run that takes longer than {limit_s:g} s fails; --time-limit changes this")

    def _found(self) -> dict[str, Value] | None:
        """The best settings of a search that has ended; None if there is none, or if the recipe was another one."""
        try:
            known = json.loads((self.folder / _FOUND).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if known.get("recipe") != self._searched():
            return None
        best: dict[str, Value] = known.get("best", {})
        self.ended = ended_from(known.get("ended"))
        return best

    def _searched(self) -> dict[str, Any]:
        """The part of the recipe that determines the search."""
        apart: Any = {"tune": {"rounds", "price_per_core_hour", "cores"}, "job": True}
        return self.recipe.model_dump(mode="json", exclude=apart)

    def simpler(self, new: dict[str, Value]) -> Simpler | None:
        """The settings without changes that do not matter; None if nothing can be left out."""
        found = read(self.store(SEARCH))
        assert found.space is not None
        return simpler_than(new, self.present, effects_in(found), found.space)

    def compare(self, new: dict[str, Value], simpler: Simpler | None = None) -> Compared:
        """Runs with all of these settings in turns. Raises StoppedError."""
        kinds = [self.present, new, *([simpler.settings] if simpler else [])]
        order = in_turns([*range(len(kinds))], self.recipe.tune.rounds, self.recipe.seed)
        settings = [kinds[kind] for kind in order]
        self._run_each(settings, _COMPARISON, "runs in turns")
        found = read(self.store(_COMPARISON))
        by_kind = _by_kind(found, found.values[:, 0], order)
        kept = None
        if simpler is not None:
            present, best, without = by_kind
            kept = compared_with_best(simpler.dropped, present, best, without, self.maximize, LEAST_PAIRS)
        used = 2 if kept is not None and kept.as_good else 1
        parts = []
        for part in (objectives := parts_of(self.recipe)):
            values = _by_kind(found, found.columns[part.name], order)
            rounds = [*zip(values[0], values[used], strict=True)]
            parts.append(judged(part, rounds, LEAST_PAIRS, len(objectives)))
        rows = [row for row, number in enumerate(found.columns[ROUND]) if order[int(number)] == used]
        why = next(iter([*reasons_in(found, rows), *reasons_in(found, range(len(found.failed)))]), "")
        return Compared([*zip(by_kind[0], by_kind[used], strict=True)], why, kept, parts)

    def _run_each(self, settings: list[dict[str, Any]], name: str, what: str) -> Result:
        """Makes one run with each of the settings, in this order. Replaces a store of other settings, for example of
        another number of rounds."""
        kept = self._kept(comparison_file(self.recipe, self._place, self._builds, settings), name)
        if kept.is_another():
            remove_measurements(kept.store)
        return self._conduct(kept, name, what)

    def _conduct(self, kept: KeptStudy, name: str, what: str, wall_time_s: float | None = None) -> Result:
        """``wall_time_s``: None: as the study says. Raises StoppedError."""
        kept.open()
        words = Words(what, self.goal)
        result = kept.conduct(lambda: self._monitor(name, words), RESUMABLE, wall_time_s=wall_time_s)
        if result.reason == "interrupted":
            raise StoppedError
        return result

    def _monitor(self, name: str, words: Words) -> Monitor:
        return self._stores[name].watching(make_monitor(not self.quiet, words))

    def _kept(self, study: StudyFile, name: str) -> KeptStudy:
        return _kept(study, self._file, self.store(name), self.folder / name)

    def stores(self) -> list[Path]:
        """Those that exist."""
        return [place for place in map(self.store, STORES) if place.exists()]

    def lines(self, tuned: Tuned) -> list[str]:
        """The shell commands that use the recommended settings. Empty if these are the present ones, or if shell
        commands cannot express them."""
        if not tuned.is_better:
            return []
        return lines_of(self._given, tuned.new, self._place, self.folder.resolve() / TUNED)

    def write(self, tuned: Tuned) -> tuple[list[str], list[str]]:
        """Returns what it has written for users to type: ``lines``, and the key ``ending`` of ``more``."""
        shown_again = {"table": [*rows_of(tuned)], "sentences": [*sentences(tuned)], "file": defining(self._given)}
        lines, more = self.lines(tuned), self._more(tuned)
        self._write_json(RESULT, {**as_json(tuned), **shown_again, "lines": lines, **more})
        with replacing(self.folder / PAGE_NAME, PAGE, force=True) as path:
            path.write_text(tuning_page(self.recipe.name, tuned), encoding="utf-8")
        return lines, more.get("ending", [])

    def _write_json(self, name: str, content: dict[str, Any]) -> None:
        with replacing(self.folder / name, _FILE, force=True) as path:
            path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, flush=True)


def _by_kind(found: Evaluations, column: np.ndarray, order: Sequence[int]) -> list[list[float]]:
    """For each kind of settings, the values of this column, one for each round; NaN for a run that failed. ``order``:
    the kinds of the runs."""
    values = dict.fromkeys(range(len(order)), math.nan)
    for row in np.flatnonzero(found.feasible):
        values[int(found.columns[ROUND][row])] = float(column[row])
    columns: list[list[float]] = [[] for _ in range(max(order) + 1)]
    for number, kind in enumerate(order):
        columns[kind].append(values[number])
    return columns


def _kept(study: StudyFile, file: Path, store: Path, copy: Path) -> KeptStudy:
    """``file``: the file of the recipe. ``copy``: the copy of the store in the folder with results; without --scratch,
    the store itself."""
    return KeptStudy(study, file.resolve().parent, str(file), store, "settings", copy.resolve())


def tuned_of(tuner: Tuner, new: dict[str, Value], compared: Compared | None) -> Tuned:
    """``compared``: None if the new settings are the present ones."""
    searched, spent = read(tuner.store(SEARCH)), spent_s(tuner.stores())
    enough = compared is not None and len(compared.whole) >= LEAST_PAIRS
    verdict = verdict_of(compared.whole, tuner.maximize) if compared and enough else None
    tune, weighed = tuner.recipe.tune, tuner.ended
    is_used = used_verdict(compared, verdict) is not None
    time = time_of(compared.parts) if compared else None
    is_time = counts_time(tuner.recipe) or weighed is not None or time is not None
    worth = Worth.of(
        (time.verdict if time else verdict) if is_used else None, tuner.maximize, spent, tune.cores or cores(),
        tune.price_per_core_hour, is_time, weighed.use_h if weighed else None,
    )  # fmt: skip
    values = [float(value) for value in searched.values[searched.order, 0]]
    effects = effects_in(searched)
    return Tuned(
        tuner.goal, tuner.maximize, tuner.present, new, compared, verdict, worth, effects, values, spent, tuner.ended,
        failed_in(searched, (tuner.folder / SEARCH).with_suffix(".work")), tuner.more_runs, tuner.more_rounds,
        formula(parts) if (parts := parts_of(tuner.recipe)) else "", tuner.recipe.build is not None,
    )  # fmt: skip


def spent_s(stores: Sequence[Path]) -> float:
    """The duration of all evaluations in seconds, including earlier starts of the command. An evaluation that was
    stopped has no duration."""
    return sum(float(np.nansum(read(store).duration_s)) for store in stores)


def rest_s(store: Path, whole_s: float, say: Callable[[str], None]) -> float:
    """Seconds that remain of the time of a search, after earlier runs. If there were some, a message says so."""
    spent = spent_s([store]) if store.exists() else 0.0
    left = max(whole_s - spent, 0.0)
    if spent:
        say(f"The search had {lasted(spent)} of its {lasted(whole_s)} before; {lasted(left)} remain")
    return max(left, _LEAST_S)


def effects_in(found: Evaluations, values: np.ndarray | None = None) -> list[Effect]:
    """For parameters with a logarithmic scale, the model uses the logarithm. ``values``: one for each row; None for the
    objective."""
    y = found.values[:, 0] if values is None else values
    x = np.where(found.active, found.x, np.nan)[found.feasible]
    for column, parameter in enumerate(found.parameters):
        if parameter.scale == "log":
            x[:, column] = np.log(x[:, column])
    names, ordered = [p.name for p in found.parameters], [p.ordered for p in found.parameters]
    return effects_of(names, x, y[found.feasible], ordered)
