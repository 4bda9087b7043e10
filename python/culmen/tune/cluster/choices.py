"""The choices, from the samples of all launches."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...bench.collectives.samples import COLUMNS, Table
from ...bench.parts import rows_in
from ...launch.mpi.collectives import DEFAULT
from .measured import RACE, file_of
from .pairs import LAUNCHES, Gain, are_faster, gain_of

FIELDS = [
    "mpi", "version", "collective", "nodes", "ppn", "ranks", "size", "algorithm", "default_s", "candidate",
    "candidate_s", "times_faster", "low", "high", "p", "pairs",
]  # fmt: skip


@dataclass(frozen=True)
class Place:
    """``size``: bytes, as in ``culmen bench collectives``."""

    collective: str
    ranks: int
    size: int


@dataclass(frozen=True)
class Choice:
    """``algorithm``: what to use; DEFAULT unless the candidate is faster beyond doubt. ``candidate``: the fastest one
    of the race; DEFAULT if this was the MPI's own choice. The times are medians in seconds."""

    place: Place
    algorithm: str
    default_s: float
    candidate: str = DEFAULT
    candidate_s: float = 0.0
    gain: Gain | None = None


@dataclass(frozen=True)
class Tuned:
    """All choices. ``lost``: algorithms that could not be used, and why, with where this was. ``calls``: of all
    launches."""

    mpi: str
    version: str
    nodes: int
    ppn: int
    choices: list[Choice]
    lost: dict[tuple[str, int, str], str]
    calls: int

    @property
    def changed(self) -> list[Choice]:
        return [choice for choice in self.choices if choice.algorithm != DEFAULT]

    def by_collective(self) -> dict[str, dict[int, list[tuple[int, str]]]]:
        """For ``rules_of``."""
        out: dict[str, dict[int, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
        for choice in self.choices:
            out[choice.place.collective][choice.place.ranks].append((choice.place.size, choice.algorithm))
        return out


def tuned_from(launches: Sequence[tuple[str, int]], folder: Path) -> Tuned:
    """``launches``: collective and ranks of the races in a folder of results."""
    compared: list[tuple[Place, str, Gain, float, float]] = []
    defaults: dict[Place, float] = {}
    lost: dict[tuple[str, int, str], str] = {}
    head, calls = {"mpi": "", "version": "", "nodes": "1", "ppn": "1"}, 0
    for collective, ranks in launches:
        race = file_of(collective, ranks, RACE, folder)
        table = Table([race])
        calls += sum(point.calls for point in table.points.values())
        head = next(rows_in([race], COLUMNS, "culmen tune cluster"), head)
        lost |= {(collective, ranks, key.algorithm): why for key, why in table.unavailable.items()}
        for key, point in table.points.items():
            if key.algorithm == DEFAULT:
                defaults[Place(collective, ranks, key.size)] = point.interval.median
        comparisons = [file_of(collective, ranks, number, folder) for number in range(1, LAUNCHES + 1)]
        found, unavailable, compared_calls = _compared(path for path in comparisons if path.exists())
        calls += compared_calls
        lost |= {(collective, ranks, name): why for name, why in unavailable.items()}
        for (size, name), pairs in found.items():
            default_s, own_s = np.median([pair for each in pairs for pair in each] or [(0.0, 0.0)], axis=0)
            place = Place(collective, ranks, size)
            pairs += [[]] * (LAUNCHES - len(pairs))  # it was lost in a launch: this proves nothing
            compared.append((place, name, gain_of(pairs), float(default_s), float(own_s)))
    faster = are_faster([gain for _, _, gain, _, _ in compared])
    choices = {place: Choice(place, DEFAULT, seconds) for place, seconds in defaults.items()}
    for (place, name, gain, default_s, own_s), is_faster in zip(compared, faster, strict=True):
        is_faster = is_faster and (place.collective, place.ranks, name) not in lost
        choices[place] = Choice(place, name if is_faster else DEFAULT, default_s, name, own_s, gain)
    order = sorted(choices.values(), key=lambda c: (c.place.collective, c.place.ranks, c.place.size))
    return Tuned(head["mpi"], head["version"], int(head["nodes"]), int(head["ppn"]), order, lost, calls)


Pairs = list[list[tuple[float, float]]]


def _compared(paths: Iterable[Path]) -> tuple[dict[tuple[int, str], Pairs], dict[str, str], int]:
    """Of each message size and candidate: for each launch, the pairs of times. A time is the median of a visit. And
    the algorithms that were lost, and why, and the number of calls."""
    unavailable: dict[str, str] = {}
    calls = 0
    out: dict[tuple[int, str], Pairs] = defaultdict(list)
    for path in paths:
        visits: dict[tuple[int, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for row in rows_in([path], COLUMNS, "culmen tune cluster"):
            if row["unavailable"]:
                unavailable[row["algorithm"]] = row["unavailable"]
                continue
            calls += 1
            if row["late"] == "0" and row["verified"] == "1":
                visits[int(row["size"]), row["algorithm"]][int(row["visit"])].append(float(row["time_s"]))
        for (size, name), own in visits.items():
            default = visits.get((size, DEFAULT), {})
            if name != DEFAULT:
                # Each launch's first visits are warm-up.
                both = sorted(set(own) & set(default))[1:]
                out[size, name].append([(float(np.median(default[k])), float(np.median(own[k]))) for k in both])
    return out, unavailable, calls


def write_choices(tuned: Tuned, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(FIELDS)
        for each in tuned.choices:
            place, gain = each.place, each.gain
            where = [tuned.mpi, tuned.version, place.collective, tuned.nodes, tuned.ppn, place.ranks, place.size]
            row = [*where, each.algorithm, f"{each.default_s:.6g}"]
            if gain is not None:
                numbers = (each.candidate_s, gain.times_faster, gain.low, gain.high, gain.p)
                row += [each.candidate, *(f"{value:.6g}" for value in numbers), gain.pairs]
            table.writerow(row + [""] * (len(FIELDS) - len(row)))


def changed_in(path: Path) -> int:
    """The number of choices of ``write_choices`` that are not the default."""
    with path.open(newline="", encoding="utf-8") as file:
        return sum(row["algorithm"] != DEFAULT for row in csv.DictReader(file))
