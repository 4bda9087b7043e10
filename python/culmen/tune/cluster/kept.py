"""The points that keep the MPI's own choice, with the reasons."""

from collections.abc import Mapping
from itertools import groupby
from math import inf
from typing import Any

from ...base.text import plural
from ...bench.words import shown_size
from ...launch.mpi.collectives import DEFAULT
from .choices import Choice, Lost, Tuned, is_slower
from .pairs import LEAST_GAIN

KEPT = ["collective", "ranks", "message sizes", "why", "fastest other algorithm", "times faster", "from – to"]
_NONE = "–"
_QUIET = 0.5  # load
_UNDECIDED, _WIDE = "the times varied too much to decide", 1.1  # an interval that reaches higher


def kept_rows(tuned: Tuned) -> list[list[str]]:
    """Neighbouring sizes share a row if no other algorithm was compared there."""
    rows = []
    kept = [each for each in tuned.choices if each.algorithm == DEFAULT]
    for (name, ranks, why, _), group in groupby(kept, lambda each: _key(each, tuned)):
        here = list(group)
        rows.append([name, str(ranks), _sizes(here), why, *_compared(here[0])])
    for place in tuned.unmeasured:
        one = Choice(place, DEFAULT, 0.0)
        rows.append([place.collective, str(place.ranks), _sizes([one]), "the measurement failed", *_compared(one)])
    return rows


def _key(choice: Choice, tuned: Tuned) -> tuple[str, int, str, int]:
    place = choice.place
    return place.collective, place.ranks, _why(choice, tuned), place.size if choice.gain else -1


def _why(choice: Choice, tuned: Tuned) -> str:
    if choice.gain is None:
        return "no other algorithm was faster in the search"
    if lost := tuned.lost.get(Lost(*choice.place, choice.candidate)):
        return f"could not be used: {lost}"
    if choice.gain.low > 1 and choice.gain.times_faster < LEAST_GAIN:
        return f"less than {LEAST_GAIN - 1:.0%} faster"
    if is_undecided(choice):
        return _UNDECIDED
    if choice.place.collective in tuned.whole:
        return _why_not_for_all(choice, tuned)
    return "not clearly faster in the comparison"


def is_undecided(choice: Choice) -> bool:
    """Whether the interval contains 1, and also a gain that would be worth having."""
    return choice.gain is not None and choice.gain.low <= 1 and _WIDE < choice.gain.high < inf


def undecided(tuned: Tuned) -> list[Choice]:
    """The points at which the MPI keeps its own choice only because nothing could be told."""
    kept = [each for each in tuned.choices if each.algorithm == DEFAULT]
    return [each for each in kept if _why(each, tuned) == _UNDECIDED]


def about_undecided(tuned: Tuned, facts: Mapping[str, Any]) -> str:
    """Sentences; empty if there are no such points. ``facts``: about the measurement, see ``facts_in``."""
    points = undecided(tuned)
    if not points:
        return ""
    most = max(each.gain.high for each in points if each.gain)
    return (
        f"At {plural(len(points), 'point')}, the times varied too much to decide: an algorithm may be up to {most:.3g} "
        f"times faster.{_load(tuned, facts)} Measure again with --overwrite when the machine is quiet."
    )


def _load(tuned: Tuned, facts: Mapping[str, Any]) -> str:
    """A sentence about other programs that used the cores of the ranks; empty if it is not known."""
    load, cores = (facts.get("load") or [0.0])[0], facts.get("machine", {}).get("cpus", inf)
    free = cores - max((shape.ppn for shape in tuned.shapes.values()), default=0)
    if load <= max(_QUIET, free):
        return ""
    return f" When the measurement began, the load of the machine was {load:.1f}, on {plural(cores, 'core')}."


def _why_not_for_all(choice: Choice, tuned: Tuned) -> str:
    """For a collective with one choice for all sizes."""
    of = (*choice.place[:2], choice.candidate)
    same = [each for each in tuned.choices if (*each.place[:2], each.candidate) == of]
    if lost := next((why for each in same if (why := tuned.lost.get(Lost(*each.place, each.candidate)))), ""):
        return f"could not be used at another size: {lost}"
    slower = [each for each in same if is_slower(each)]
    if slower:
        return f"slower at {_sizes(slower[:1])}, but one rule must hold for all sizes"
    return "not clearly faster over all sizes"


def _sizes(here: list[Choice]) -> str:
    if here[0].place.collective == "barrier":
        return _NONE
    ends = dict.fromkeys(shown_size(each.place.size) for each in (here[0], here[-1]))
    return " – ".join(ends)


def _compared(choice: Choice) -> list[str]:
    gain = choice.gain
    if gain is None:
        return [_NONE] * 3
    return [choice.candidate, f"{gain.times_faster:.3g}", from_to((gain.low, gain.high))]


def from_to(interval: tuple[float, float] | None) -> str:
    return f"{interval[0]:.3g} – {interval[1]:.3g}" if interval else _NONE
