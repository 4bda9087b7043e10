"""The worlds of a profile: a command may start several MPI programs, or one program several times."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from rich.table import Table

from .._core import InputError
from .late import with_late_senders
from .recorded import Rank, programs_of
from .tables import plain_table

HEADINGS = ["world", "begins s", "seconds", "ranks", "program"]


@dataclass(frozen=True)
class Worlds:
    """All worlds, in the order in which they began. ``chosen``: the index of the one that is shown."""

    all: list[list[Rank]]
    chosen: int
    is_sure: bool = True
    """Whether it is known which ranks belong together."""

    @property
    def ranks(self) -> list[Rank]:
        return self.all[self.chosen]


def worlds_of(ranks: list[Rank], number: int | None = None) -> Worlds:
    """number: of the chosen world, from 1; None for the world with the most time of all its ranks. There must be at
    least one rank. Raises InputError if there is no such world."""
    by_name: dict[tuple[int, int], list[Rank]] = defaultdict(list)
    for rank in ranks:
        by_name[rank.world, rank.size].append(rank)
    divided = {key: _divided(there) for key, there in by_name.items()}
    every = sorted((world for worlds in divided.values() for world in worlds), key=_begin_s)
    found = [with_late_senders(world) for world in every]
    is_sure = all(not _overlap(worlds) for (name, size), worlds in divided.items() if name == 0 and size > 1)
    if number is not None and not 1 <= number <= len(found):
        there = "one world" if len(found) == 1 else f"the worlds 1 to {len(found)}"
        raise InputError(f"--world: the profile has {there}, got {number}")
    chosen = number - 1 if number else max(range(len(found)), key=lambda k: (_time_s(found[k]), -k))
    return Worlds(found, chosen, is_sure)


def _divided(ranks: list[Rank]) -> list[list[Rank]]:
    """Worlds of one size, whose launchers gave them one name, or none. Each has a rank once, and its ranks live at the
    same time."""
    worlds: list[list[Rank]] = []
    for rank in sorted(ranks, key=lambda rank: rank.begin_s):
        for world in worlds:
            if all(other.rank != rank.rank and rank.begin_s <= _end_s(other) for other in world):
                world.append(rank)
                break
        else:
            worlds.append([rank])
    return [sorted(world, key=lambda rank: rank.rank) for world in worlds]


def _end_s(rank: Rank) -> float:
    return float("inf") if rank.seconds is None else rank.begin_s + rank.init_s + rank.seconds


def _begin_s(world: list[Rank]) -> float:
    return min(rank.begin_s for rank in world)


def _time_s(world: list[Rank]) -> float:
    return sum(rank.known_s for rank in world)


def _overlap(worlds: list[list[Rank]]) -> bool:
    """Whether two worlds exist at the same time."""
    spans = sorted((_begin_s(world), max(_end_s(rank) for rank in world)) for world in worlds)
    return any(later[0] < earlier[1] for earlier, later in pairwise(spans))


def remark_on(worlds: Worlds) -> str:
    """Says which world is shown; empty if there is only one."""
    number = len(worlds.all)
    if number == 1:
        return ""
    said = (
        f"The command started MPI {number} times. Each time made a world of ranks, with its own MPI_COMM_WORLD. This "
        f"is world {worlds.chosen + 1} of {number}; --world chooses another one."
    )
    if worlds.is_sure:
        return said
    return f"{said} The launcher does not say which ranks belong together, so ranks may be in the wrong world."


def rows_of(worlds: Worlds) -> list[list[str]]:
    """Rows with the columns HEADINGS."""
    first_s = _begin_s(worlds.all[0])
    return [
        [str(number), f"{_begin_s(world) - first_s:.4g}", f"{max(rank.known_s for rank in world):.4g}",
         str(world[0].size), programs_of(world)]
        for number, world in enumerate(worlds.all, 1)
    ]  # fmt: skip


def table_of(worlds: Worlds) -> Table:
    """For a terminal."""
    table = plain_table(HEADINGS[0])
    for name in HEADINGS[1:-1]:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(HEADINGS[-1], overflow="fold")
    for row in rows_of(worlds):
        table.add_row(*row)
    return table
