"""The measurements that the options of the command ask for."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.machine import available_bytes
from ...launch.allocation import ranks_on_a_node, tasks_on_nodes
from ...launch.mpi import Launcher, LauncherError, find_launcher
from ...launch.mpi.collectives import DEFAULT, Collectives
from ...launch.mpi.linked import is_for, module_linked_by
from .. import layouts, mappings
from ..layouts import Layout
from ..suites.programs import program_in
from ..words import MOST_BYTES, check_known, words_of
from .points import BARRIERS, Protocol, blocks_of, roots_of

USUAL = ("bcast", "reduce", "allreduce", "allgather", "alltoall")
MOST_RANKS = 4096  #: in a measurement
_MEMORY_SHARE = 0.5  # of the free memory, for messages


@dataclass(frozen=True)
class Plan:
    """``sizes``: bytes. ``algorithms``: names; empty for all. ``suite``: a folder of programs that measure, if any.
    ``layouts``: if there are any, they are measured instead of all ``ranks`` with all ``mappings``."""

    launcher: Launcher
    mpi: str
    collectives: tuple[str, ...]
    ranks: tuple[int, ...]
    sizes: tuple[int, ...]
    algorithms: tuple[str, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)
    suite: str = ""
    roots: tuple[int, ...] = (0,)
    mappings: tuple[str, ...] = (mappings.OWN,)
    baseline: str = DEFAULT  #: the algorithm that the table and the page compare others with
    layouts: tuple[Layout, ...] = ()

    def points(self) -> list[dict[str, Any]]:
        """One point for each launch. First those with the most ranks, which usually take the longest: the time limit of
        a job is estimated from the first points."""
        launches = self.launches()
        most = max(ranks for ranks, _ in launches)
        return [
            {"collective": name, "ranks": ranks, "mapping": mapping}
            for ranks, mapping in sorted(launches, key=lambda launch: launch[0] < most)
            for name in self.collectives
        ]

    def launches(self) -> list[tuple[int, str]]:
        """Numbers of ranks, each with a mapping."""
        if self.layouts:
            return [(layout.ranks, layout.mapping) for layout in self.layouts]
        return [(ranks, mapping) for ranks in self.ranks for mapping in self.mappings]

    def mapping_of_ranks(self) -> dict[int, str]:
        """The mapping for each number of ranks. There must be one launch for each number, as for a rules file."""
        return dict(self.launches())

    def words(self) -> list[str]:
        """The option for the same numbers of ranks in a job. Layouts have options of their own."""
        return [] if self.layouts else ["--ranks", ",".join(map(str, self.ranks))]

    def fixed(self) -> dict[str, Any]:
        protocol = self.protocol
        return {
            "mpi": self.mpi,
            "sizes": ",".join(map(str, self.sizes)),
            "algorithms": ",".join(self.algorithms) or "all",
            "interval": protocol.interval,
            "budget_s": protocol.budget_s,
            "repetitions": protocol.repetitions,
            "timeout_s": protocol.timeout_s,
            "roots": ",".join(map(str, self.roots)),
            "suite": self.suite,
        }

    def most_s(self) -> float:
        """The longest time of the measurement, approximately, on a machine without other work."""
        known = known_collectives(self.launcher)
        count = sum(
            len(self._chosen(known, name, ranks)) * self._places_of(name)
            for name in self.collectives
            for ranks, _ in self.launches()
        )
        each_s = self.protocol.budget_s if not self.protocol.repetitions else 1e-3 * self.protocol.repetitions
        return count * each_s + len(self.points())

    def _places_of(self, name: str) -> int:
        """The number of combinations of size and root for each algorithm."""
        return (1 if name in BARRIERS else len(self.sizes)) * len(roots_of(name, self.roots))

    def _chosen(self, known: Collectives, name: str, ranks: int) -> list[str]:
        there = [algorithm.name for algorithm in known.algorithms(name, ranks)]
        return [one for one in there if not self.algorithms or one in self.algorithms]

    def check(self, here: bool = True, usual_sizes: bool = False) -> None:
        """Raises InputError if this machine cannot measure it. ``here``: this machine measures, not a job.
        ``usual_sizes``: the user gave no message sizes."""
        known = known_collectives(self.launcher)
        check_known("--collectives", "collective", self.collectives, known.measurable)
        names = {one.name for name in self.collectives for one in known.algorithms(name)}
        for name in self.algorithms:
            check_known(f"--algorithms of {self.launcher.mpi.title}", "algorithm", (name,), sorted(names))
        check_known(f"--baseline of {self.launcher.mpi.title}", "algorithm", (self.baseline,), sorted(names))
        if self.algorithms and self.baseline not in (DEFAULT, *self.algorithms):
            raise InputError(
                f"--baseline {self.baseline}: --algorithms must contain it; it has {_joined(self.algorithms)}"
            )
        empty = [name for name in self.collectives if not self._chosen(known, name, 2)]
        if empty:
            raise InputError(f"--algorithms: {empty[0]} has none of these; it has {_listed(known, empty[0])}")
        if self.suite:
            if own := [name for name in self.collectives if name not in known.of]:
                raise InputError(f"--with: only culmen's own benchmark measures {own[0]}; leave out --with or {own[0]}")
            for path in sorted({program_in(Path(self.suite), name).path for name in self.collectives}):
                if here and not is_for(self.launcher.mpi, path):
                    built, wanted = module_linked_by(path), self.launcher.mpi.title
                    raise InputError(
                        f"--with: {path} was built for {built}, not for {wanted}; write --mpi {built}, or build it "
                        "again with `culmen bench build`"
                    )
            if self.roots != (0,):
                raise InputError("--root: the programs of --with choose the root themselves")
        if max(self.roots) >= min(self.ranks):
            raise InputError(f"--root {max(self.roots)}: it must be from 0 to {min(self.ranks) - 1}")
        ranks = max(self.ranks)
        if here:
            mappings.check(self.launcher, ranks, self.mappings)
            layouts.check_room(self.layouts)
        if self.layouts:
            layouts.flags_of(self.launcher, self.layouts[0].per_node)
        if self.suite and self.layouts:
            raise InputError(f"{layouts.PER_NODE}: the programs of --with are placed as the launcher does it")
        if self.suite and self.mappings != (mappings.OWN,):
            raise InputError("--mapping: the programs of --with are mapped as the launcher does it")
        room = sum(tasks_on_nodes()) if here else 0
        if room and ranks > room:
            raise InputError(
                f"--ranks {ranks}: this allocation has room for {room} ranks; give fewer ranks, or allocate more tasks"
            )
        self._check_memory(here, usual_sizes)

    def _check_memory(self, here: bool, usual_sizes: bool) -> None:
        largest, ranks = max(self.sizes), max(self.ranks)
        name = max(self.collectives, key=lambda each: blocks_of(each, ranks))
        blocks = blocks_of(name, ranks)
        given = f"{name} with {largest} bytes, the largest usual size" if usual_sizes else f"--sizes {largest}"
        instead = "give smaller --sizes, or fewer ranks" if usual_sizes else "give a smaller size or fewer ranks"
        if blocks > 1:
            instead += ", or only collectives such as bcast"
        if largest * blocks > MOST_BYTES:
            most = MOST_BYTES // blocks
            raise InputError(f"{given}: {ranks} ranks exchange at most {most} bytes each in {name}; {instead}")
        on_a_node = max((each.per_node for each in self.layouts), default=ranks_on_a_node(ranks))
        needed, free = 2 * largest * blocks * on_a_node, available_bytes()
        if here and needed > _MEMORY_SHARE * free:
            raise InputError(
                f"{given}: {ranks} ranks need {needed / 1e9:.3g} GB for such messages, but only "
                f"{free / 1e9:.3g} GB are free, of which culmen uses half; {instead}"
            )


def _joined(names: tuple[str, ...]) -> str:
    return ", ".join(names)


def _listed(known: Collectives, collective: str) -> str:
    return ", ".join(one.name for one in known.algorithms(collective))


def collectives_named(text: str, known: Collectives) -> tuple[str, ...]:
    """The collectives of ``--collectives``: names, or the words all, blocking and nonblocking."""
    groups = {
        "all": known.measurable,
        "blocking": [name for name in known.measurable if not name.startswith("i")],
        "nonblocking": [name for name in known.measurable if name.startswith("i")],
    }
    return tuple(dict.fromkeys(name for word in words_of(text, "--collectives") for name in groups.get(word, [word])))


def known_collectives(launcher: Launcher) -> Collectives:
    if launcher.mpi.collectives is None:
        raise InputError(
            f"culmen does not know yet how {launcher.mpi.title} chooses its algorithms; give another --mpi"
        )
    return launcher.mpi.collectives


def launcher_of(mpi: str | None) -> Launcher:
    try:
        return find_launcher(mpi)
    except LauncherError as error:
        raise InputError(f"no collectives can be measured: {error}") from None


def ranks_of(text: str) -> tuple[int, ...]:
    """Numbers such as `2,6`, or ranges. `2-48` has its ends, the powers of two, and 1.5 times these; `2-48:2` has the
    step 2."""
    out: set[int] = set()
    for word in words_of(text, "--ranks"):
        found = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", word)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        step = int(found[3]) if found and found[3] else 0
        if not 2 <= first <= last <= MOST_RANKS or (found and found[3] and not step):
            raise InputError(
                f"--ranks: '{word}' is neither a number from 2 to {MOST_RANKS} nor a range such as 2-48 or 2-48:2"
            )
        if step:
            out |= set(range(first, last + 1, step))
            continue
        usual = {n for k in range(1, 13) for n in (2**k, 3 * 2 ** (k - 1))}
        out |= {first, last} | {n for n in usual if first <= n <= last}
    return tuple(sorted(out))


def ranks_in(layouts: Iterable[Layout]) -> tuple[int, ...]:
    """The numbers of ranks of layouts."""
    return tuple(sorted({layout.ranks for layout in layouts}))


def roots_named(text: str) -> tuple[int, ...]:
    """The ranks that `0,3` names."""
    words = words_of(text, "--root", "write ranks with commas between them")
    for word in words:
        if not word.isdecimal() or int(word) >= MOST_RANKS:
            raise InputError(f"--root: '{word}' is no rank from 0 to {MOST_RANKS - 1}")
    return tuple(dict.fromkeys(map(int, words)))
