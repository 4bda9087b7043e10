"""Which variables are changed: a setting and the MPI's own are launched in turns, and so is the setting without each
of its values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...base.text import plural
from ...bench.words import shown_size
from ...launch.mpi.collectives import DEFAULT
from ...launch.mpi.variables import TRANSPORT, Setting, Variable
from .pairs import LEAST_GAIN, Gain, are_faster, gain_of
from .setting_launch import Spot, mean_of

OWN, WHOLE, WITHOUT = "own", "whole", "without-"  # kinds of launches: the last one with the name of a variable
_LIKELY = 0.1  # the largest p of a value that goes from the race to fresh launches
_Times = Sequence[Mapping[Spot, float]]


@dataclass(frozen=True)
class Row:
    """A variable. ``gain``: against the setting without ``tried``, the best value of the race; None: no value was
    better there. ``value``: what is chosen."""

    variable: str
    group: str
    default: str
    value: str
    why: str
    tried: str = DEFAULT
    gain: Gain | None = None


@dataclass(frozen=True)
class Tried:
    """A value in its race. ``gain``: against the value before the race. ``failed``: why it was left out."""

    variable: str
    value: str
    gain: Gain | None = None
    failed: str = ""


@dataclass(frozen=True)
class Memory:
    """Of the rank with most memory, in bytes; 0: unknown. ``per_peer``: for each further rank. ``failed``: why."""

    transport: str
    most_of_init: float = 0.0
    after_init: float = 0.0
    with_messages: float = 0.0
    per_peer: float | None = None
    failed: str = ""


@dataclass(frozen=True)
class SpotGain:
    spot: Spot
    default_s: float
    chosen_s: float
    gain: Gain


@dataclass(frozen=True)
class TunedVariables:
    """``whole``: how many times faster the chosen setting is than the MPI's own; None: that one is kept. ``limit``: of
    the kernel for socket buffers that it needs, in bytes; 0: the usual one."""

    version: str
    ranks: int
    nodes: int
    groups: list[str]
    rows: list[Row]
    environment: dict[str, str] = field(default_factory=dict)
    whole: Gain | None = None
    spots: list[SpotGain] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    launches: int = 0
    limit: int = 0

    @property
    def shape(self) -> str:
        return f"{self.ranks} ranks on {plural(self.nodes, 'node')}"

    @property
    def changed(self) -> list[Row]:
        return [row for row in self.rows if row.value != DEFAULT]


def best_of(tried: Sequence[Tried], recommended: str) -> str:
    """Of a race, the value for the fresh launches, which need not be faster beyond doubt: what the race recommends, or
    else the fastest one that is probably faster. A value that failed in any launch is left out."""
    there = {each.value: each.gain for each in tried if each.gain and not each.failed}
    if recommended in there:
        return recommended
    likely = {value: gain for value, gain in there.items() if gain.p <= _LIKELY and gain.times_faster >= LEAST_GAIN}
    return max(likely, key=lambda value: likely[value].times_faster, default=DEFAULT)


def kinds_of(setting: Setting) -> dict[str, dict[str, str]]:
    """For a comparison. With one variable, the setting without it is the MPI's own."""
    without = {f"{WITHOUT}{name}": {n: v for n, v in setting.items() if n != name} for name in setting}
    return {OWN: {}, WHOLE: dict(setting)} | (without if len(setting) > 1 else {})


def gain_over(before: _Times, after: _Times) -> Gain:
    """Of the geometric mean over all collectives and sizes. The launches of a round are a pair."""
    return gain_of(
        [[(mean_of(old), mean_of(new))] if old and new else [] for old, new in zip(before, after, strict=True)]
    )


def gain_at(spot: Spot, before: _Times, after: _Times) -> Gain:
    there = zip(before, after, strict=True)
    return gain_of([[(old[spot], new[spot])] if spot in old and spot in new else [] for old, new in there])


def spot_gains(before: _Times, after: _Times) -> list[SpotGain]:
    spots = sorted({spot for each in (*before, *after) for spot in each})
    return [SpotGain(spot, _median(before, spot), _median(after, spot), gain_at(spot, before, after)) for spot in spots]


def _median(launches: _Times, spot: Spot) -> float:
    return float(np.median([each[spot] for each in launches if spot in each] or [0.0]))


def slower_spots(before: _Times, after: _Times) -> list[SpotGain]:
    """Those whose interval says that they are slower afterwards. It is not widened for the number of spots: a false
    alarm only keeps the MPI's own value, but users would see a loss."""
    return [each for each in spot_gains(after, before) if each.gain.low > 1]


def judged(setting: Setting, times: Mapping[str, _Times]) -> dict[str, tuple[Gain, str]]:
    """For each variable of a setting, its gain, and why it keeps its default; empty if it is changed. ``times``: the
    launches of each of ``kinds_of``."""
    before = {name: times.get(f"{WITHOUT}{name}", times[OWN]) for name in setting}
    gains = {name: gain_over(before[name], times[WHOLE]) for name in setting}
    whole = gain_over(times[OWN], times[WHOLE])
    faster = are_faster([whole, *gains.values()])
    out = {}
    for (name, gain), is_faster in zip(gains.items(), faster[1:], strict=True):
        slower = slower_spots(before[name], times[WHOLE])
        why = "" if is_faster and faster[0] else "not faster beyond doubt"
        out[name] = gain, why or (_slower(slower) if slower else "")
    if faster[0] and (slower := slower_spots(times[OWN], times[WHOLE])) and not any(why for _, why in out.values()):
        out = {name: (gain, _slower(slower)) for name, (gain, _) in out.items()}
    return out


def _slower(spots: Sequence[SpotGain]) -> str:
    worst = max(spots, key=lambda each: each.gain.times_faster)
    more = f" and {len(spots) - 1} more" if len(spots) > 1 else ""
    return f"slower for {worst.spot.collective} of {shown_size(worst.spot.size)}{more}"


def without_effect(setting: Setting, variables: Iterable[Variable], nodes: int) -> set[str]:
    """Variables of a setting that do nothing with its transport."""
    transport = setting.get(TRANSPORT, DEFAULT)
    return {each.name for each in variables if each.name in setting and not each.has_effect(transport, nodes)}


def row_after(row: Row, found: Mapping[str, tuple[Gain, str]]) -> Row:
    """``found``: of ``judged``."""
    if row.variable not in found:
        return row
    gain, why = found[row.variable]
    return replace(row, gain=gain, value=DEFAULT if why else row.tried, why=why or "faster in fresh launches")
