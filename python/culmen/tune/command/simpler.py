"""Simpler settings: the best ones, but with the present values of parameters that do not matter.

The search only proposes these settings. The comparison decides: it runs them and the best ones in the same rounds. They
replace the best ones if they are shown to be no worse ("non-inferiority", see Piaggio and others, JAMA 308 (2012)). For
this, the interval of 95 % must exclude a loss of a quarter of the gain, and a loss of 2 %. Both the best and the
simpler settings still need a gain whose interval excludes zero. Therefore this step makes no false recommendation more
likely.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ... import _core
from ...bench.verdict import Verdict, verdict_of
from ...problem.given import Value
from .effects import Effect

_SHARE, _MOST = 0.25, 0.02  # largest allowed loss: share of the gain, share of the value


@dataclass(frozen=True)
class Simpler:
    """Settings with the present values of the parameters ``dropped``."""

    settings: dict[str, Value]
    dropped: tuple[str, ...]


@dataclass(frozen=True)
class Kept:
    """The comparison of the simpler settings with the best ones. ``verdict``: how much better the simpler ones are;
    None if too few rounds succeeded. ``as_good``: whether they replace the best ones."""

    dropped: tuple[str, ...]
    verdict: Verdict | None
    as_good: bool


def simpler_than(
    new: Mapping[str, Value], present: Mapping[str, Value], effects: Sequence[Effect], space: _core.Space
) -> Simpler | None:
    """None if nothing can be left out. A change stays if other parameters or a constraint need it. At least one change
    stays: if no parameter is known to matter, it is the one with the largest effect."""
    settings, dropped = dict(new), []
    for effect in reversed(effects):  # the smallest effect first
        name = effect.name
        if effect.matters or name not in new or name not in present or new[name] == present[name]:
            continue
        tried = {**settings, name: present[name]}
        if tried != present and _is_allowed(tried, space):
            settings = tried
            dropped.append(name)
    if not dropped:
        return None
    return Simpler(settings, tuple(sorted(dropped)))


def _is_allowed(settings: dict[str, Value], space: _core.Space) -> bool:
    try:
        vector = space.vector_of(settings)
    except _core.InputError:  # some parameter would be inactive
        return False
    return set(space.named(vector)) == set(settings) and not space.violation(vector) > 0


def as_good(best: Verdict, simpler: Verdict) -> bool:
    """Whether the simpler settings are no worse. ``best``: the best settings against the present ones. ``simpler``: the
    simpler settings against the best ones."""
    lost = _SHARE * best.gain
    return best.is_better and simpler.low > -(min(lost, _MOST) if best.relative else lost)


def compared_with_best(
    dropped: tuple[str, ...],
    present: Sequence[float],
    best: Sequence[float],
    simpler: Sequence[float],
    maximize: bool,
    least: int,
) -> Kept:
    """The values are of the same rounds; NaN if this run failed. ``least``: number of rounds for a verdict."""
    rounds = [each for each in zip(present, best, simpler, strict=True) if not any(value != value for value in each)]
    if len(rounds) < least:
        return Kept(dropped, None, False)
    of_best = verdict_of([(old, new) for old, new, _ in rounds], maximize)
    alone = verdict_of([(old, new) for old, _, new in rounds], maximize)
    verdict = verdict_of([(new, simple) for _, new, simple in rounds], maximize)
    failures = [sum(value != value for value in values) for values in (best, simpler)]
    good = as_good(of_best, verdict) and alone.is_better and failures[1] <= failures[0]
    return Kept(dropped, verdict, good)
