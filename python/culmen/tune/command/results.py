"""The result of a tuning: as a table, as sentences, and as JSON."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...base.machine import here
from ...base.text import lasted, plural, shown
from ...bench.verdict import Verdict
from ...problem.given import Value
from .effects import Effect
from .failed import Failed, failure_sentences
from .several import Part, time_of
from .simpler import Kept
from .stopping import Ended, as_dict
from .worth import Worth

HEADINGS = ("parameter", "present", "best found", "worst / best value", "matters")
TEXTS = ("parameter", "matters")
ROUNDS = "{rounds}"
_USUAL_ROUNDS, _MOST_ROUNDS = 10, 1000
_LARGE = 2.0  # larger gains are easier to read as factors


@dataclass(frozen=True)
class Compared:
    """``rounds``: the values with the present and with the recommended settings; NaN if this run failed or violated
    limits. ``first_failure``: the reason of the first failure with the recommended settings, or otherwise with other
    settings; empty if none failed. ``lost``: a clause about the failed runs, with the reason and the remedy; empty if
    ``first_failure`` says enough."""

    rounds: list[tuple[float, float]]
    first_failure: str
    kept: Kept | None = None  #: comparison with simpler settings; None if there were none
    parts: Sequence[Part] = ()  #: the objectives if there are several
    lost: str = ""

    @property
    def whole(self) -> list[tuple[float, float]]:
        return [pair for pair in self.rounds if not any(map(math.isnan, pair))]

    @property
    def new_failed(self) -> int:
        return sum(math.isnan(new) for _, new in self.rounds)

    @property
    def present_failed(self) -> int:
        return sum(math.isnan(old) for old, _ in self.rounds)

    @property
    def fails_more(self) -> bool:
        """Whether more runs failed with the new settings than with the present ones."""
        return self.new_failed > self.present_failed


def used_verdict(compared: Compared | None, verdict: Verdict | None) -> Verdict | None:
    """The verdict if the new settings are better, and otherwise None. New settings that fail more often than the
    present ones are not better."""
    if compared is None or verdict is None or compared.fails_more or not verdict.is_better:
        return None
    return verdict


@dataclass(frozen=True)
class Tuned:
    """``compared``: None if the search found no other settings. ``verdict``: None if too few rounds succeeded."""

    goal: str  # name of the measured value, for people
    maximize: bool
    old: dict[str, Value]
    new: dict[str, Value]
    compared: Compared | None
    verdict: Verdict | None
    worth: Worth | None
    effects: list[Effect]
    values: list[float]  # of the runs of the search, in their order; NaN if the run failed
    spent_s: float
    ended: Ended | None = None  #: why the search ended, if it had a stop rule
    failures: Sequence[Failed] = ()  #: of the search
    more_runs: str = ""  #: a clause that says how to search longer; empty: no warning about few runs
    more_rounds: str = ""  #: a clause with ROUNDS that says how to compare in more rounds; empty: none
    formula: str = ""  #: of the measured value, if there are several objectives
    builds: bool = False  #: whether ``spent_s`` contains the time of builds

    @property
    def is_better(self) -> bool:
        return used_verdict(self.compared, self.verdict) is not None

    @property
    def is_open(self) -> bool:
        """Whether the rounds show a gain that may be chance."""
        if self.verdict is None or self.compared is None or self.compared.fails_more:
            return False
        return self.verdict.gain > 0 >= self.verdict.low

    @property
    def may_gain(self) -> bool:
        """Whether the new settings may be better, although the rounds do not show it."""
        if self.compared is None or self.compared.fails_more or self.is_better:
            return False
        return self.verdict is None or self.verdict.high > 0

    @property
    def changed(self) -> list[str]:
        """The parameters that differ between the present and the recommended settings."""
        return [name for name in dict.fromkeys([*self.old, *self.new]) if self.old.get(name) != self.new.get(name)]


def rows_of(tuned: Tuned) -> Iterator[list[str]]:
    """Rows with the columns HEADINGS, the largest effect first."""
    by_name = {effect.name: effect for effect in tuned.effects}
    names = [*by_name, *(name for name in dict.fromkeys([*tuned.old, *tuned.new]) if name not in by_name)]
    for name in names:
        effect = by_name.get(name)
        size = "" if effect is None else f"{effect.size:.3g} ({effect.low:.3g}–{effect.high:.3g})"
        is_shown = tuned.is_better and tuned.changed == [name]  # by the comparison
        matters = "yes" if is_shown else "" if effect is None else "yes" if effect.matters else "not seen"
        yield [name, shown(tuned.old.get(name, "")), shown(tuned.new.get(name, "")), size, matters]


def sentences(tuned: Tuned) -> Iterator[str]:
    """A warning about too few runs, the failures of the search, and the verdict. The last sentences say whether the
    tuning was worth its time: the hours spent, the gain, and when it pays."""
    if not tuned.effects and tuned.more_runs:
        yield f"There were too few runs to say which parameters matter; {tuned.more_runs}."
    yield from failure_sentences(tuned.failures, len(tuned.values))
    if tuned.formula:
        yield f"The {tuned.goal} is {tuned.formula}."
    if tuned.ended is not None:
        yield _why_ended(tuned.ended, len(tuned.values))
    yield from _better(tuned) if tuned.is_better else _kept(tuned)
    yield from _each_objective(tuned)
    yield from _pays(tuned)


def _kept(tuned: Tuned) -> Iterator[str]:
    """Why to keep the present settings."""
    verdict, compared = tuned.verdict, tuned.compared
    if compared is None:
        yield f"Keep what you have: none of {plural(len(tuned.values), 'run')} showed better settings."
        return
    failed, rounds = compared.new_failed, len(compared.rounds)
    if compared.fails_more:
        often = f"the program failed in {failed} of {rounds} runs with the new settings"
        yield f"Keep what you have: {often}{_why(compared)}"
    elif verdict is None:
        few = f"only {len(compared.whole)} of {rounds} rounds succeeded with both settings{_why(compared)}"
        yield f"No verdict: {compared.lost}." if compared.lost else f"No verdict: {few}"
    else:
        yield _medians(verdict, tuned)
        word = "worse" if verdict.is_worse else "not clearly better"
        yield f"Keep what you have: the new settings are {word} ({_change(verdict, tuned.goal, tuned.maximize)})."
        if tuned.is_open:
            yield from _not_shown(verdict, tuned)


def _why(compared: Compared) -> str:
    return f": {compared.first_failure.splitlines()[0]}" if compared.first_failure else ""


def _not_shown(verdict: Verdict, tuned: Tuned) -> Iterator[str]:
    """Why a gain was not shown, and what may show it."""
    yield f"{verdict.rounds} rounds are too few to show a gain, or the values vary too much between them."
    rounds = min(max(2 * len(tuned.compared.rounds if tuned.compared else []), _USUAL_ROUNDS), _MOST_ROUNDS)
    if tuned.more_rounds and rounds > verdict.rounds:
        yield f"More rounds may show it: {tuned.more_rounds.replace(ROUNDS, str(rounds))}."


def _better(tuned: Tuned) -> Iterator[str]:
    assert tuned.verdict is not None
    assert tuned.compared is not None
    yield _medians(tuned.verdict, tuned)
    yield f"Use the new settings: {_change(tuned.verdict, tuned.goal, tuned.maximize)}."
    if tuned.compared.kept is not None:
        yield _what_was_kept(tuned.compared.kept, tuned)


def _each_objective(tuned: Tuned) -> Iterator[str]:
    """With several objectives, the change of each with the new settings."""
    for part in tuned.compared.parts if tuned.compared else ():
        if part.verdict is not None:
            what = "Clear change" if part.verdict.is_better or part.verdict.is_worse else "No clear change"
            yield f"{what}: {_change(part.verdict, part.name, part.maximize)}."


def _medians(verdict: Verdict, tuned: Tuned) -> str:
    before = f"{tuned.goal} {shown(verdict.before, 4)} before, {shown(verdict.after, 4)} after"
    return f"In {verdict.rounds} rounds with both settings in turns: {before} (medians)."


def _pays(tuned: Tuned) -> Iterator[str]:
    """The hours spent, and when they pay."""
    worth = tuned.worth
    cost = "" if worth is None or worth.cost is None else f" and cost {shown(worth.cost, 2)}"
    if tuned.may_gain:
        then = "Further runs may save this time, but no gain was shown."
    elif not tuned.is_better:
        then = "There is no gain, so further runs never save this time."
    elif (worth is None or worth.back_h is None) and tuned.compared and time_of(tuned.compared.parts):
        then = "The new settings were not shown to save time."
    elif worth is None or worth.back_h is None:
        then = f"The time that the new settings save is not known, because {tuned.goal} is neither a time nor a rate."
    else:
        then = f"The new settings save this time in {lasted(3600 * worth.back_h)} of further runs."
    yield f"The {'builds and runs' if tuned.builds else 'runs'} took {lasted(tuned.spent_s)}{cost}. {then}"
    if worth is not None and worth.use_h is not None and worth.saves_h is not None:
        low, saves, high = map(_hours, worth.saves_h)
        use = _hours(worth.use_h)
        yield f"Of {use} with the present settings, the new settings save {saves}, interval of 95 %: {low} to {high}."
        is_worth = worth.saves_h[1] > worth.spent_h
        than = "more than" if is_worth else "not more than"
        yield f"{'Worth it' if is_worth else 'Not worth it'}: this is {than} the {_hours(worth.spent_h)} of the tuning."
    elif worth is not None and worth.use_h is not None and not tuned.is_better:
        yield "Not worth it: the new settings were not shown to save time."


def _hours(hours: float) -> str:
    return lasted(round(3600 * hours, 3))


def _why_ended(ended: Ended, runs: int) -> str:
    """``runs``: number of runs of the search."""
    if ended.look is None:
        few = "too few of them have a positive result"
        return f"After {plural(runs, 'run')}, it is not known whether more would pay: {few}."
    use, saves, costs = map(_hours, (ended.use_h, ended.look.saves_h, ended.look.costs_h))
    about = f"one more run takes {costs}, and is expected to save {saves} of {use}"
    if ended.stopped:
        return f"The search stopped after {plural(runs, 'run')}, because more runs do not pay: {about}."
    limit = "More runs may pay" if not ended.look.is_enough else "More runs hardly pay"
    return f"The search ended at its limit after {plural(runs, 'run')}. {limit}: {about}."


def _what_was_kept(kept: Kept, tuned: Tuned) -> str:
    names, one = ", ".join(kept.dropped), len(kept.dropped) == 1
    about = "" if kept.verdict is None else f" ({_change(kept.verdict, tuned.goal, tuned.maximize)})"
    if kept.as_good:
        value = "keeps its present value" if one else "keep their present values"
        return f"{names} {value}: without this change, the runs were no worse{about}."
    value, changes = ("value", "change stays") if one else ("values", "changes stay")
    about = f"; with the present {value}: {about.strip(' ()')}" if about else ""
    return f"{names} may not matter, but the rounds could not show this, so the {changes}{about}."


def _change(verdict: Verdict, goal: str, maximize: bool) -> str:
    if not verdict.relative:
        word = "higher" if maximize else "lower"
        return f"{goal} {verdict.gain:.4g} {word}, {_interval(verdict)}: {verdict.low:.4g} to {verdict.high:.4g}"
    if _is_large(verdict, maximize):
        return _factors(verdict, goal, maximize)
    word, low, gain, high = "more" if maximize else "less", verdict.low, verdict.gain, verdict.high
    if verdict.gain < 0:  # -5 % more would be hard to read
        word, low, gain, high = "less" if maximize else "more", -high, -gain, -low
    return f"{100 * gain:.1f} % {word} {goal}, {_interval(verdict)}: {100 * low:.1f} to {100 * high:.1f} %"


def _is_large(verdict: Verdict, maximize: bool) -> bool:
    if verdict.gain < 0 and not maximize:
        return verdict.gain < -1
    return verdict.low < -1 or (maximize and (verdict.gain > 1 or verdict.high > _LARGE))


def _factors(verdict: Verdict, goal: str, maximize: bool) -> str:
    sign = 1 if maximize else -1
    middle, *ends = (1 + sign * gain for gain in (verdict.gain, verdict.low, verdict.high))
    low, high = sorted(ends)
    return f"{middle:.3g} times the {goal}, {_interval(verdict)}: {low:.3g} to {high:.3g} times"


def _interval(verdict: Verdict) -> str:
    return f"interval of {100 * verdict.confidence:.3g} %"


def _not_needed(kept: Kept | None) -> dict[str, Any] | None:
    if kept is None:
        return None
    comparison = kept.verdict and vars(kept.verdict)
    return {"parameters": kept.dropped, "left_out": kept.as_good, "comparison": comparison}


def _part_json(part: Part) -> dict[str, Any]:
    return {
        "name": part.name,
        "maximize": part.maximize,
        "weight": part.weight,
        "comparison": part.verdict and vars(part.verdict),
    }


def as_json(tuned: Tuned) -> dict[str, Any]:
    return {
        "objective": tuned.goal,
        "maximize": tuned.maximize,
        "present": tuned.old,
        "best_found": tuned.new,
        "use": "best_found" if tuned.is_better else "present",
        "comparison": tuned.verdict and vars(tuned.verdict),
        "objectives": [_part_json(part) for part in tuned.compared.parts] if tuned.compared else [],
        "rounds": tuned.compared and [[None if math.isnan(v) else v for v in pair] for pair in tuned.compared.rounds],
        "not_needed": _not_needed(tuned.compared.kept if tuned.compared else None),
        "spent_s": tuned.spent_s,
        "worth": tuned.worth and vars(tuned.worth),
        "search_ended": as_dict(tuned.ended),
        "failures": [vars(failed) for failed in tuned.failures],
        "effects": [vars(effect) for effect in tuned.effects],
        "machine": here(),
    }
