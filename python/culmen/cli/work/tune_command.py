"""``culmen tune command``: searches the settings of a program, and compares the best ones with the present ones."""

import json
import random
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.text import shown
from ...bench.study import KeptStudy
from ...launch.launcher import cores
from ...problem.given import Value
from ...report.files import Kind, replacing
from ...report.page import PAGE
from ...report.reading import Evaluations, read
from ...run.progress.figures import Words
from ...run.progress.monitor import make_monitor
from ...run.result import Result
from ...tune.command.effects import Effect, effects_of
from ...tune.command.page import tuning_page
from ...tune.command.recipe import ROUND, RecipeFile, comparison_file, objective_of, read_recipe, search_file
from ...tune.command.results import HEADINGS, TEXTS, Tuned, as_json, rows_of, sentences
from ...tune.command.verdict import Worth, verdict_of
from .codes import FAILED, FINISHED, RESUMABLE
from .measuring import folder_for, remove_measurements
from .summary import print_table

_SEARCH, _COMPARISON, _BUILDS, _RESULT = "search.db", "comparison.db", "builds", "result.json"
_PAGE = "tuning.html"
_AGAIN = "the same command continues"
_LEAST_PAIRS = 3
_FILE = Kind("result", lambda _path, head: head.startswith(b"{"))


class Tuner:
    """``file``: the recipe."""

    def __init__(self, file: Path, output: Path | None, quiet: bool) -> None:
        self.recipe: RecipeFile = read_recipe(file)
        self.folder, self.quiet = folder_for(output or Path(f"tune-{self.recipe.name}")), quiet
        self._source, self._place = str(file), file.resolve().parent
        self._builds = self.folder.resolve() / _BUILDS
        self.goal, self.maximize = objective_of(self.recipe)

    def begin_again(self) -> None:
        for name in (_SEARCH, _COMPARISON):
            remove_measurements(self.folder / name)

    def search(self) -> Result:
        """The first evaluation is that of the present settings. If it fails, nothing else would make sense."""
        study = search_file(self.recipe, self._place, self._builds)
        if self._kept(study, _SEARCH).open() == 0:
            first = self._conduct(study, _SEARCH, "runs", 1)
            if first.reason == "interrupted":
                return first
            if first.best is None:
                remove_measurements(self.folder / _SEARCH)
                raise InputError(f"{self._source}: the program failed with the present settings: {first.first_failure}")
            self.say(f"Present settings: {self.goal} {shown(first.value)}")
        return self._conduct(study, _SEARCH, "runs")

    def compare(self, old: dict[str, Value], new: dict[str, Value]) -> tuple[Result, list[tuple[float, float]]]:
        """Runs with both settings in turns. Returns the values of the rounds in which both succeeded."""
        settings: list[dict[str, Any]] = []
        order = []
        rng = random.Random(self.recipe.seed)  # noqa: S311 - an order
        for _ in range(self.recipe.tune.rounds):
            turn = [False, True]
            rng.shuffle(turn)
            order += turn
            settings += [new if is_new else old for is_new in turn]
        study = comparison_file(self.recipe, self._place, self._builds, settings)
        result = self._conduct(study, _COMPARISON, "runs in turns")
        found = read(self.folder / _COMPARISON)
        numbers = found.columns[ROUND]
        values = {int(number): float(value) for number, value in zip(numbers, found.values[:, 0], strict=True)}
        pairs = []
        for at in range(0, len(order), 2):
            both = {order[k]: values.get(k, float("nan")) for k in (at, at + 1)}
            if both[False] == both[False] and both[True] == both[True]:
                pairs.append((both[False], both[True]))
        return result, pairs

    def _conduct(self, study: Any, name: str, what: str, limit: int | None = None) -> Result:
        kept = self._kept(study, name)
        kept.open()
        return kept.conduct(lambda: make_monitor(not self.quiet, Words(what, self.goal)), RESUMABLE, limit)

    def _kept(self, study: Any, name: str) -> KeptStudy:
        return KeptStudy(study, self._place, self._source, self.folder / name, "settings")

    def write(self, tuned: Tuned) -> None:
        with replacing(self.folder / _RESULT, _FILE, force=True) as path:
            path.write_text(json.dumps(as_json(tuned), indent=2) + "\n", encoding="utf-8")
        with replacing(self.folder / _PAGE, PAGE, force=True) as path:
            path.write_text(tuning_page(self.recipe.name, tuned), encoding="utf-8")

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, flush=True)


def tune_command(file: Path, output: Path | None, overwrite: bool, quiet: bool) -> int:
    """Returns an exit code. Raises InputError if the file is wrong, or if the program fails as it is."""
    tuner = Tuner(file, output, quiet)
    if overwrite:
        tuner.begin_again()
    found = tuner.search()
    if found.reason == "interrupted":
        tuner.say(f"Not all runs are done; {_AGAIN}.")
        return RESUMABLE
    searched = read(tuner.folder / _SEARCH)
    old, new = _settings(searched, 0), found.recommended.params if found.recommended else found.best
    if new is None:
        return FAILED
    verdict = worth = None
    pairs: list[tuple[float, float]] = []
    if new != old:
        ran, pairs = tuner.compare(old, new)
        if ran.reason == "interrupted":
            tuner.say(f"Not all runs are done; {_AGAIN}.")
            return RESUMABLE
        if len(pairs) < _LEAST_PAIRS:
            raise InputError(f"{file}: the program failed with the new settings: {ran.first_failure}")
        verdict = verdict_of(pairs, tuner.maximize)
    spent_s = _spent_s(tuner.folder)
    if verdict:
        tune = tuner.recipe.tune
        worth = Worth.of(verdict, tuner.maximize, spent_s, tune.cores or cores(), tune.price_per_core_hour)
    values = [float(value) for value in searched.values[searched.order, 0]]
    tuned = Tuned(tuner.goal, tuner.maximize, old, new, pairs, verdict, worth, _effects(searched), values, spent_s)
    tuner.write(tuned)
    print_table(HEADINGS, rows_of(tuned), TEXTS)
    for sentence in sentences(tuned):
        print(sentence)
    tuner.say(f"Wrote {tuner.folder / _RESULT} and {tuner.folder / _PAGE}")
    return FINISHED


def _settings(found: Evaluations, row: int) -> dict[str, Value]:
    assert found.space is not None
    return found.space.named(list(found.x[row]))


def _spent_s(folder: Path) -> float:
    """Of all evaluations, also those of former starts of the command."""
    stores = [folder / name for name in (_SEARCH, _COMPARISON) if (folder / name).exists()]
    return sum(float(read(store).duration_s.sum()) for store in stores)


def _effects(found: Evaluations) -> list[Effect]:
    rows, searched = found.feasible, found.parameters
    return effects_of([p.name for p in searched], found.x[rows], found.values[rows, 0], [p.ordered for p in searched])
