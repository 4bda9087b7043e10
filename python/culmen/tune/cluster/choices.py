"""The choices, from the samples of all launches."""

import csv
import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..._core import InputError
from ...base.text import plural
from ...bench.collectives.samples import COLUMNS, Table
from ...bench.parts import rows_in
from ...launch.mpi.collectives import DEFAULT
from ..rules.trees import kind_of
from .learnt import learnt_file, read_learnt
from .measured import RACE, SLOW, file_of
from .pairs import CONFIDENCE, LAUNCHES, Gain, are_faster, confidence_of, gain_of, logs_of
from .visits import Where, visits_of

FIELDS = [
    "mpi", "version", "collective", "nodes", "ppn", "ranks", "size", "algorithm", "default_s", "candidate",
    "candidate_s", "times_faster", "low", "high", "p", "pairs",
]  # fmt: skip


class Place(NamedTuple):
    """``size``: bytes, as in ``culmen bench collectives``."""

    collective: str
    ranks: int
    size: int


@dataclass(frozen=True)
class Choice:
    """``algorithm``: the one to use; DEFAULT unless the candidate is faster beyond doubt. ``candidate``: the fastest of
    the algorithms that were compared with the MPI's own choice; DEFAULT if none was compared. The times are medians in
    seconds. ``logs``: the logarithm of the candidate's gain in each launch."""

    place: Place
    algorithm: str
    default_s: float
    candidate: str = DEFAULT
    candidate_s: float = 0.0
    gain: Gain | None = None
    logs: tuple[float, ...] = ()

    @property
    def times_faster(self) -> float:
        """Of the algorithm to use."""
        return self.gain.times_faster if self.gain and self.algorithm != DEFAULT else 1.0


class Shape(NamedTuple):
    """How the ranks of a launch were distributed. ``ppn``: the most ranks on one node."""

    nodes: int
    ppn: int


class Lost(NamedTuple):
    """An algorithm that could not be used at this place."""

    collective: str
    ranks: int
    size: int
    algorithm: str


@dataclass(frozen=True)
class Tuned:
    """All choices. ``shapes``: how the ranks were distributed, for each collective and number of ranks. ``lost``: the
    reason for each algorithm that could not be used. ``calls``: number of calls in all launches. ``unmeasured``: places
    that have no choice because their launches failed. ``slow``: the number of algorithms, counted at each place, that
    were not measured because they were predicted to be slow. ``confidence``: of the intervals of the chosen gains.
    ``whole``: collectives with one choice for all sizes, because their rules ignore the size."""

    mpi: str
    version: str
    shapes: dict[tuple[str, int], Shape]
    choices: list[Choice]
    lost: dict[Lost, str]
    calls: int
    unmeasured: list[Place] = field(default_factory=list)
    slow: int = 0
    confidence: float = CONFIDENCE
    whole: frozenset[str] = frozenset()

    @property
    def changed(self) -> list[Choice]:
        return [choice for choice in self.choices if choice.algorithm != DEFAULT]

    def by_collective(self, kinds: Collection[str] | None = None) -> dict[str, dict[int, list[tuple[int, str]]]]:
        """The choices as ``rules_of`` takes them. At unmeasured places, the MPI keeps its own choice: the choices of
        neighbouring sizes are not used there. ``kinds``: those of ranks that were distributed so, see ``kind_of``;
        None for all."""
        out: dict[str, dict[int, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
        found = {choice.place: choice.algorithm for choice in self.choices}
        for place in sorted({*found, *self.unmeasured}):
            shape = self.shapes.get(place[:2])
            if kinds is not None and shape is not None and kind_of(*shape) not in kinds:
                continue
            out[place.collective][place.ranks].append((place.size, found.get(place, DEFAULT)))
        return out

    def without(self, wrong: Mapping[Lost, str]) -> "Tuned":
        """The same choices, except that the MPI keeps its own choice at these places. If a collective has one choice
        for all sizes, it keeps its own choice at all of them."""
        at = {_where(Place(*each[:3]), self.whole) for each in wrong}
        kept = [
            replace(each, algorithm=DEFAULT) if _where(each.place, self.whole) in at else each for each in self.choices
        ]
        return replace(self, choices=kept, lost=self.lost | dict(wrong))


def _where(place: Place, whole: Collection[str]) -> Place:
    """Of the choice for this place: all sizes of a collective can have the same choice."""
    return place._replace(size=0) if place.collective in whole else place


def tuned_from(
    launches: Sequence[tuple[str, int]], folder: Path, wanted: Iterable[Place] = (), whole: Collection[str] = ()
) -> Tuned:
    """``launches``: collective and number of ranks of each race in ``folder``. ``wanted``: the places that should have
    been measured. ``whole``: see Tuned.

    Raises InputError if the launches used several versions of the MPI. Also raises it if launches of the same
    collective and number of ranks differ in nodes, ranks per node or partition."""
    parts = [_part_of(*each, folder) for each in launches]
    versions = sorted({head.version for part in parts for head in part.heads})
    if len(versions) > 1:
        raise InputError(f"{folder} has launches of {' and '.join(versions)}; to measure again, write --overwrite")
    compared = [each for part in parts for each in part.compared]
    lost = {key: why for part in parts for key, why in part.lost.items()}
    choices = {each.place: each for part in parts for each in part.defaults}
    best = _best(compared, lost, whole, {*wanted, *choices, *(each.place for each in compared)})
    confidence = confidence_of(sum(each.algorithm != DEFAULT for each in best), len(compared))
    for each in best:
        choices[each.place] = _with_interval(each, confidence)
    return Tuned(
        parts[0].heads[0].mpi,
        versions[0],
        {part.key: Shape(part.heads[0].nodes, part.heads[0].ppn) for part in parts},
        [choices[place] for place in sorted(choices)],
        lost,
        sum(part.calls for part in parts),
        sorted({*wanted} - {*choices}),
        sum(part.slow for part in parts),
        confidence,
        frozenset({part.key[0] for part in parts} & {*whole}),
    )


class _Rival(NamedTuple):
    """A candidate for one place, or for all sizes of a collective with one choice. ``gain``: over all these sizes."""

    at: list[Choice]
    gain: Gain

    def is_usable(self, lost: Mapping[Lost, str], places: Collection[Place]) -> bool:
        """Whether it can be used at all of these places, and is at none of them slower as its interval says. A false
        alarm only keeps the MPI's own choice."""
        if any(Lost(*each.place, each.candidate) in lost for each in self.at):
            return False
        return len(self.at) == len(places) and not any(is_slower(each) for each in self.at)


def is_slower(one: Choice) -> bool:
    """Whether the candidate is slower than the MPI's own choice, as the interval says."""
    return one.gain is not None and one.gain.high < 1


def _best(
    compared: Sequence[Choice], lost: Mapping[Lost, str], whole: Collection[str], places: Iterable[Place]
) -> list[Choice]:
    """One choice for each place. If several candidates are faster than the MPI's own choice, the fastest of them is
    chosen."""
    rivals = _rivals(compared, whole)
    of_choice = defaultdict(list)
    for place in places:
        of_choice[_where(place, whole)].append(place)
    there: dict[Place, list[tuple[bool, _Rival]]] = defaultdict(list)
    for each, is_faster in zip(rivals, are_faster([each.gain for each in rivals]), strict=True):
        where = _where(each.at[0].place, whole)
        there[where].append((is_faster and each.is_usable(lost, of_choice[where]), each))
    return [one for found in there.values() for one in _chosen(found)]


def _rivals(compared: Sequence[Choice], whole: Collection[str]) -> list[_Rival]:
    groups: dict[tuple[Place, str], list[Choice]] = defaultdict(list)
    for each in compared:
        groups[_where(each.place, whole), each.candidate].append(each)
    return [_Rival(at, _gain_over(at)) for at in groups.values()]


def _gain_over(at: Sequence[Choice]) -> Gain:
    """Each launch gives one number: its mean over the sizes."""
    if len(at) == 1 and at[0].gain:
        return at[0].gain
    complete = all(len(each.logs) == LAUNCHES for each in at)
    means = np.mean([each.logs for each in at], axis=0) if complete else []
    return gain_of([[(float(np.exp(mean)), 1.0)] for mean in means])


def _chosen(rivals: Sequence[tuple[bool, _Rival]]) -> Iterator[Choice]:
    """The choices of the best rival. Each rival stands behind a sign whether it can be used."""
    ranked = sorted(rivals, key=lambda each: (each[0], each[1].gain.times_faster))
    there = {one.place: one for _, rival in ranked for one in rival.at}
    for one in there.values():
        yield replace(one, algorithm=one.candidate if ranked[-1][0] else DEFAULT)


def _with_interval(one: Choice, confidence: float) -> Choice:
    """The intervals of the chosen gains are wider than 95 %: see ``confidence_of``."""
    if one.algorithm == DEFAULT or one.gain is None:
        return one
    return replace(one, gain=one.gain.with_interval(confidence))


class _Head(NamedTuple):
    """Facts about a launch. All launches of a part must agree in all of them but the first two."""

    mpi: str
    version: str
    nodes: int
    ppn: int
    partition: str

    def __str__(self) -> str:
        where = f" of {self.partition}" if self.partition else ""
        return f"{plural(self.nodes, 'node')}{where} with at most {plural(self.ppn, 'rank')} on one"


@dataclass
class _Part:
    """The launches of one collective with one number of ranks. ``compared``: the candidates; their ``algorithm`` is not
    yet chosen, so it is DEFAULT."""

    key: tuple[str, int]
    heads: list[_Head]
    defaults: list[Choice]
    compared: list[Choice]
    lost: dict[Lost, str]
    calls: int
    slow: int


def _part_of(collective: str, ranks: int, folder: Path) -> _Part:
    race = file_of(collective, ranks, RACE, folder)
    search = _search_in(race) if race.exists() else _learnt_in(learnt_file(collective, ranks, folder))
    comparisons = [file_of(collective, ranks, number, folder) for number in range(1, LAUNCHES + 1)]
    there = [path for path in comparisons if path.exists()]
    heads = list(dict.fromkeys([*search.heads, *(head for path in there for head in _head_of(path))]))
    if len({head[2:] for head in heads}) > 1:
        raise InputError(
            f"{folder}: the launches of {collective} with {ranks} ranks were on {' and on '.join(map(str, heads))}; to "
            "measure again, write --overwrite"
        )
    found, unavailable, calls = _compared(there)
    refused = search.refused | unavailable
    defaults = [Choice(Place(collective, ranks, size), DEFAULT, t) for size, t in search.defaults.items()]
    compared = []
    for (size, name), pairs in found.items():
        default_s, own_s = np.median([pair for each in pairs for pair in each] or [(0.0, 0.0)], axis=0)
        pairs += [[]] * (LAUNCHES - len(pairs))  # without pairs in each launch, nothing is proven
        place = Place(collective, ranks, size)
        times = float(default_s), name, float(own_s)
        compared.append(Choice(place, DEFAULT, *times, gain_of(pairs), tuple(logs_of(pairs))))
    lost = {Lost(collective, ranks, *where): why for where, why in refused.items() if why != SLOW}
    return _Part((collective, ranks), heads, defaults, compared, lost, calls + search.calls, len(refused) - len(lost))


class _Search(NamedTuple):
    """``defaults``: the time of the MPI's own choice in seconds, for each message size. ``refused``: the reason for
    each lost algorithm."""

    heads: list[_Head]
    defaults: dict[int, float]
    refused: dict[Where, str]
    calls: int


def _search_in(race: Path) -> _Search:
    table = Table([race])
    defaults = {key.size: point.interval.median for key, point in table.points.items() if key.algorithm == DEFAULT}
    refused = {(key.size, key.algorithm): why for key, why in table.unavailable.items()}
    return _Search([*_head_of(race)], defaults, refused, sum(point.calls for point in table.points.values()))


def _learnt_in(path: Path) -> _Search:
    learnt = read_learnt(path)
    head = learnt.header
    heads = [_Head(head.mpi, head.version, head.nodes, head.ppn, head.partition)] if head else []
    return _Search(heads, learnt.defaults(), {}, sum(each.calls for each in learnt.choices))


def _head_of(path: Path) -> Iterator[_Head]:
    """The head of a file with samples; nothing if the file has no samples."""
    for row in itertools.islice(rows_in([path], COLUMNS, "culmen tune cluster"), 1):
        yield _Head(row["mpi"], row["version"], int(row["nodes"]), int(row["ppn"]), row["partition"])


Pairs = list[list[tuple[float, float]]]


def _compared(paths: Iterable[Path]) -> tuple[dict[Where, Pairs], dict[Where, str], int]:
    """Returns three values: the pairs of times of each candidate in each launch, the reason for each lost algorithm,
    and the number of calls."""
    unavailable: dict[Where, str] = {}
    calls = 0
    out: dict[Where, Pairs] = defaultdict(list)
    for visits in map(visits_of, paths):
        unavailable |= visits.unavailable
        calls += visits.calls
        for size, name in visits.medians:
            if name != DEFAULT:
                out[size, name].append(visits.pairs(size, name))
    return out, unavailable, calls


def write_choices(tuned: Tuned, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(FIELDS)
        for each in tuned.choices:
            place, gain = each.place, each.gain
            shape = tuned.shapes[place.collective, place.ranks]
            where = [tuned.mpi, tuned.version, place.collective, *shape, place.ranks, place.size]
            row = [*where, each.algorithm, f"{each.default_s:.6g}"]
            if gain is not None:
                numbers = (each.candidate_s, gain.times_faster, gain.low, gain.high, gain.p)
                row += [each.candidate, *(f"{value:.6g}" for value in numbers), gain.pairs]
            table.writerow(row + [""] * (len(FIELDS) - len(row)))


def changed_in(path: Path) -> tuple[int, int]:
    """The number of choices that are not the default, and of all choices, in a file of ``write_choices``."""
    with path.open(newline="", encoding="utf-8") as file:
        algorithms = [row["algorithm"] for row in csv.DictReader(file)]
    return len(algorithms) - algorithms.count(DEFAULT), len(algorithms)
