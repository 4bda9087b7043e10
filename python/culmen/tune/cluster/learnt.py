"""The choices of the tuner of ``culmen autotune`` in launches of the benchmark: a search with ``--fast``."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from ...base.text import plural
from ...bench.collectives.samples import Header
from ...bench.parts import part_named, rows_in, write_part
from ...launch.mpi.collectives import DEFAULT

_COLUMNS = [
    "mpi", "version", "collective", "nodes", "ppn", "ranks", "size", "launch", "algorithm", "default_s", "chosen_s",
    "calls", "partition", "why_not",
]  # fmt: skip
_WHO = "culmen tune cluster --fast"


@dataclass(frozen=True)
class Choice:
    """Of the tuner, in one launch. ``calls``: those in which it tried algorithms. The times are in seconds."""

    launch: int
    size: int
    algorithm: str
    default_s: float
    chosen_s: float
    calls: int


@dataclass(frozen=True)
class Learnt:
    """The choices of all launches. ``header``: None if there are no choices. ``why_not``: why there are none, so that
    a race was held instead."""

    header: Header | None = None
    choices: list[Choice] = field(default_factory=list)
    why_not: str = ""

    def proposals(self, most: int) -> dict[int, list[str]]:
        """For each message size, the algorithms that the tuner chose instead of the default, at most this number. The
        ones with the largest gains come first."""
        gains: dict[int, dict[str, float]] = defaultdict(dict)
        for each in self.choices:
            if each.algorithm != DEFAULT and each.chosen_s > 0:
                there, gain = gains[each.size], each.default_s / each.chosen_s
                there[each.algorithm] = max(gain, there.get(each.algorithm, 0.0))
        return {
            size: sorted(there, key=there.__getitem__, reverse=True)[:most] for size, there in sorted(gains.items())
        }

    def defaults(self) -> dict[int, float]:
        """The time of a call with the default, in seconds, for each message size."""
        times: dict[int, list[float]] = defaultdict(list)
        for each in self.choices:
            times[each.size].append(each.default_s)
        return {size: median(found) for size, found in sorted(times.items())}

    def proposed(self) -> int:
        """The number of message sizes at which the tuner proposed another algorithm."""
        return len(self.proposals(1))


def learnt_file(collective: str, ranks: int, folder: Path | None = None) -> Path:
    return part_named(f"{collective}-{ranks}-learnt", folder)


def write_learnt(path: Path, header: Header, choices: Iterable[Choice]) -> None:
    mpi, version, collective, ranks, nodes, ppn, partition, _ = header
    head = [mpi, version, collective, nodes, ppn or ranks, ranks]
    write_part(path, _COLUMNS, ([*head, *_row(each), partition, ""] for each in choices))


def _row(one: Choice) -> Sequence[object]:
    return one.size, one.launch, one.algorithm, f"{one.default_s:.9g}", f"{one.chosen_s:.9g}", one.calls


def write_why_not(path: Path, collective: str, ranks: int, why_not: str) -> None:
    write_part(path, _COLUMNS, [["", "", collective, "", "", ranks, *[""] * 7, why_not]])


def read_learnt(path: Path) -> Learnt:
    """Empty if there is no such file. Raises InputError if it is another table."""
    rows = list(rows_in([path], _COLUMNS, _WHO)) if path.exists() else []
    if not rows or rows[0]["why_not"]:
        return Learnt(why_not=rows[0]["why_not"] if rows else "")
    first = rows[0]
    header = Header(
        first["mpi"], first["version"], first["collective"], int(first["ranks"]), int(first["nodes"]),
        int(first["ppn"]), first["partition"],
    )  # fmt: skip
    return Learnt(header, [_choice_in(row) for row in rows])


def _choice_in(row: Mapping[str, str]) -> Choice:
    times = float(row["default_s"]), float(row["chosen_s"])
    return Choice(int(row["launch"]), int(row["size"]), row["algorithm"], *times, int(row["calls"]))


def about_searches(searches: Iterable[tuple[str, int]], folder: Path) -> list[str]:
    """Sentences. ``searches``: collectives and numbers of ranks."""
    found = {each: read_learnt(learnt_file(*each, folder)) for each in searches}
    proposals = sum(each.proposed() for each in found.values())
    points = sum(len(each.defaults()) for each in found.values())
    out = []
    if points:
        of = plural(points, "point")
        out.append(f"The tuner of `culmen autotune` proposed another algorithm for {proposals} of {of}.")
    for (name, ranks), each in found.items():
        if each.why_not:
            out.append(
                f"culmen measured all algorithms of {name} with {ranks} ranks without this tuner: {each.why_not}."
            )
    return out
