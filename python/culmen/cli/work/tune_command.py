"""``culmen tune command``: searches the settings of a program, and compares the best ones with the present ones."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.machine import here
from ...base.text import lasted, plural, shown
from ...bench.study import KeptStudy
from ...launch.launcher import cores
from ...problem.given import Value
from ...report.files import Kind, replacing
from ...report.reading import Evaluations, read
from ...run.progress.figures import Words
from ...run.progress.monitor import make_monitor
from ...run.result import Result
from ...tune.command.effects import Effect, effects_of
from ...tune.command.recipe import ROUND, RecipeFile, comparison_file, objective_of, read_recipe, search_file
from ...tune.command.verdict import Verdict, Worth, verdict_of
from .codes import FAILED, FINISHED, RESUMABLE
from .measuring import folder_for, remove_measurements
from .summary import print_table

_SEARCH, _COMPARISON, _BUILDS, _RESULT = "search.db", "comparison.db", "builds", "result.json"
_AGAIN = "the same command continues"
_LEAST_PAIRS = 3
_FILE = Kind("result", lambda _path, head: head.startswith(b"{"))
_HEADINGS = ("parameter", "present", "best found", "worst / best value", "matters")


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

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, flush=True)


@dataclass(frozen=True)
class Tuned:
    """``verdict``, ``worth``: None if the search found no other settings."""

    old: dict[str, Value]
    new: dict[str, Value]
    verdict: Verdict | None
    worth: Worth | None
    effects: list[Effect]
    runs: int  # of the search
    spent_s: float


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
    tuned = Tuned(old, new, verdict, worth, _effects(searched), len(searched), spent_s)
    _write(tuner, tuned)
    _print_effects(tuned)
    for line in _sentences(tuner, tuned):
        print(line)
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


def _print_effects(tuned: Tuned) -> None:
    by_name = {effect.name: effect for effect in tuned.effects}
    names = [*by_name, *(name for name in dict.fromkeys([*tuned.old, *tuned.new]) if name not in by_name)]
    rows = []
    for name in names:
        effect = by_name.get(name)
        size = "" if effect is None else f"{effect.size:.3g} ({effect.low:.3g}–{effect.high:.3g})"
        matters = "" if effect is None else "yes" if effect.matters else "not seen"
        rows.append([name, shown(tuned.old.get(name, "")), shown(tuned.new.get(name, "")), size, matters])
    print_table(_HEADINGS, rows, {"parameter", "matters"})


def _sentences(tuner: Tuner, tuned: Tuned) -> Iterator[str]:
    verdict, worth = tuned.verdict, tuned.worth
    if verdict is None or worth is None:
        yield f"Keep what you have: none of {plural(tuned.runs, 'run')} showed better settings."
        return
    before = f"{tuner.goal} {shown(verdict.before, 4)} before, {shown(verdict.after, 4)} after"
    yield f"In {verdict.rounds} rounds with both settings in turns: {before} (medians)."
    change = _change(verdict, tuner)
    if not verdict.is_better:
        word = "worse" if verdict.is_worse else "not clearly better"
        yield f"Keep what you have: the new settings are {word} ({change})."
        return
    yield f"Use the new settings: {change}."
    cost = "" if worth.cost is None else f" and cost {shown(worth.cost, 2)}"
    saved = "" if worth.back_h is None else _saved(3600 * worth.back_h)
    yield f"The runs took {lasted(3600 * worth.spent_h)}{cost}{saved}."


def _saved(seconds: float) -> str:
    return f". The new settings save this time in {lasted(seconds)} of further runs"


def _change(verdict: Verdict, tuner: Tuner) -> str:
    if not verdict.relative:
        word = "higher" if tuner.maximize else "lower"
        return f"{tuner.goal} {verdict.gain:.4g} {word}, interval of 95 %: {verdict.low:.4g} to {verdict.high:.4g}"
    if tuner.maximize and verdict.gain > 1:
        return (
            f"{1 + verdict.gain:.3g} times the {tuner.goal}, interval of 95 %: {1 + verdict.low:.3g} to "
            f"{1 + verdict.high:.3g} times"
        )
    word = "more" if tuner.maximize else "less"
    interval = f"{100 * verdict.low:.1f} to {100 * verdict.high:.1f} %"
    return f"{100 * verdict.gain:.1f} % {word} {tuner.goal}, interval of 95 %: {interval}"


def _write(tuner: Tuner, tuned: Tuned) -> None:
    verdict, worth = tuned.verdict, tuned.worth
    result = {
        "objective": tuner.goal,
        "maximize": tuner.maximize,
        "present": tuned.old,
        "best_found": tuned.new,
        "use": "best_found" if verdict and verdict.is_better else "present",
        "comparison": verdict and vars(verdict),
        "spent_s": tuned.spent_s,
        "worth": worth and vars(worth),
        "effects": [vars(effect) for effect in tuned.effects],
        "machine": here(),
    }
    with replacing(tuner.folder / _RESULT, _FILE, force=True) as path:
        path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
