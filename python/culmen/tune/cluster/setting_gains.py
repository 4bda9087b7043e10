"""Decides which variables are changed. Launches alternate between the setting, the MPI's own setting, and the setting
without each of its values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...base.text import plural
from ...bench.words import shown_size
from ...launch.mpi.collectives import DEFAULT
from ...launch.mpi.variables import TRANSPORT, Setting, Variable
from .pairs import LEAST_GAIN, Gain, are_faster, gain_of
from .setting_launch import Spot, mean_of

OWN, WHOLE, WITHOUT = "own", "whole", "without-"  # kinds of launches; the name of a variable follows the last one
_LIKELY = 0.1  # the largest p with which a value of the race gets fresh launches
_Times = Sequence[Mapping[Spot, float]]


@dataclass(frozen=True)
class Row:
    """A variable. ``tried``: the best value of the race. ``gain``: of the setting, against the same setting without
    ``tried``; None if no value was better in the race. ``value``: the chosen value. ``why``: the reason for it."""

    variable: str
    group: str
    default: str
    value: str
    why: str
    tried: str = DEFAULT
    gain: Gain | None = None


@dataclass(frozen=True)
class Tried:
    """A value in its race. ``gain``: against the default. ``failed``: why the value was left out; empty if it was
    not."""

    variable: str
    value: str
    gain: Gain | None = None
    failed: str = ""


@dataclass(frozen=True)
class Memory:
    """Memory in bytes of the rank that has most; 0 if it is unknown. ``per_peer``: for each further rank. ``failed``:
    why it was not measured; empty if it was."""

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
    """``whole``: gain of the chosen setting against the MPI's own; None if the MPI's own is kept. ``limit``: the
    kernel's limit of socket buffers, in bytes, that the setting needs; 0 if the usual limit is enough."""

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
    """The value of a race that gets fresh launches. It need not be faster beyond doubt. It is the recommended value,
    otherwise the fastest of those that are probably faster. A value that failed in any launch is left out."""
    there = {each.value: each.gain for each in tried if each.gain and not each.failed}
    if recommended in there:
        return recommended
    likely = {value: gain for value, gain in there.items() if gain.p <= _LIKELY and gain.times_faster >= LEAST_GAIN}
    return max(likely, key=lambda value: likely[value].times_faster, default=DEFAULT)


def kinds_of(setting: Setting) -> dict[str, dict[str, str]]:
    """The settings of a comparison, by kind. With one variable, the setting without it is the MPI's own."""
    without = {f"{WITHOUT}{name}": {n: v for n, v in setting.items() if n != name} for name in setting}
    return {OWN: {}, WHOLE: dict(setting)} | (without if len(setting) > 1 else {})


def gain_over(before: _Times, after: _Times) -> Gain:
    """The gain in the geometric mean over all collectives and sizes. The two launches of a round are a pair."""
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
    """The spots that are slower afterwards, as their interval says. The interval is not widened for the number of
    spots. A false alarm only keeps the MPI's own value, but a missed loss would slow programs down."""
    return [each for each in spot_gains(after, before) if each.gain.low > 1]


def judged(setting: Setting, times: Mapping[str, _Times]) -> dict[str, tuple[Gain, str]]:
    """For each variable of a setting, its gain, and why it keeps its default. This reason is empty if the variable is
    changed. ``times``: the launches of each kind in ``kinds_of``."""
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
    """The variables of a setting that have no effect with its transport."""
    transport = setting.get(TRANSPORT, DEFAULT)
    return {each.name for each in variables if each.name in setting and not each.has_effect(transport, nodes)}


def row_after(row: Row, found: Mapping[str, tuple[Gain, str]]) -> Row:
    """The row with its gain and its chosen value. ``found``: from ``judged``."""
    if row.variable not in found:
        return row
    gain, why = found[row.variable]
    return replace(row, gain=gain, value=DEFAULT if why else row.tried, why=why or "faster in fresh launches")
