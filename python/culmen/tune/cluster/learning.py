"""The evaluator of ``culmen tune cluster --fast``. The tuner of ``culmen autotune`` searches in a few launches of the
benchmark, which call all collectives often. The comparisons are the same as without ``--fast``."""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...bench.collectives.samples import Header
from ...bench.conversation import LostError, RefusedError
from ...bench.parts import part_named
from ...bench.session import Ranks, Session
from ...launch.allocation import partition
from ...launch.mpi import Launcher, find_launcher
from ...launch.mpi.collectives import Collectives
from ...launch.preloading import preloaded
from ...launch.programs import own_library
from ..autotune.tuned import Tuning, read_tuning
from ..rules.made import one_for_all_sizes
from . import measured
from .in_force import fixed_in
from .learnt import Choice, learnt_file, write_learnt, write_why_not
from .measured import RACE

# Calls of each algorithm in the tuner's race, in each launch. There are two launches, because a launch has random
# conditions, such as addresses in memory. If calls take long, there is only the first one.
_REPETITIONS = (3, 9)
LAUNCHES = len(_REPETITIONS)
_LOOK_ROUNDS, _LOOKED_AGAIN = 15, 3  # tune_look_rounds and tune_most_looked_again in src/mpiprobe/autotune/race.h
_RECHECK, _LONGER = 1, 4  # the calls before the first further comparison, and `longer` in cells.c
_SECOND_LOOKS = 2 * _LOOKED_AGAIN * _LOOK_ROUNDS + _RECHECK + _LONGER * _RECHECK  # calls for two further comparisons
_AT_ONCE = 16  # calls for which the ranks get one command
_PREFIX = "CULMEN_TUNING_"
_ONE_RULE = "its rule holds for all message sizes, but this tuner chooses for each size"


class _Trouble(Exception):
    """The launch ended, or computed a wrong result, while it called this collective."""

    def __init__(self, collective: str, why: str) -> None:
        super().__init__(why)
        self.collective, self.why = collective, why


@dataclass(frozen=True)
class _Cell:
    """The collectives of all launches with one number of ranks. ``environment``: of the ranks, without the tuner's."""

    launcher: Launcher
    names: tuple[str, ...]
    ranks: int
    sizes: tuple[int, ...]
    mapping: str
    environment: Mapping[str, str]
    budget_s: float
    timeout_s: float
    allowed: tuple[bool, bool]  #: same_types and commutative, see Collectives.safe_algorithms()

    @property
    def known(self) -> Collectives:
        assert self.launcher.mpi.collectives is not None
        return self.launcher.mpi.collectives

    def safe(self, name: str) -> list[str]:
        return [one.name for one in self.known.safe_algorithms(name, self.ranks, *self.allowed)]

    def limit_s(self, name: str) -> float:
        """For the calls with one message size in a launch."""
        return self.budget_s * len(self.safe(name))

    def sizes_of(self, name: str) -> tuple[int, ...]:
        return self.sizes if name != "barrier" else (0,)


def measure(p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    """As ``measured.measure``, except that one search is for several collectives. If the tuner cannot search for a
    collective, there is a race of its algorithms."""
    if int(p["launch"]) != RACE:
        return measured.measure(p)
    begun, cell = time.monotonic(), _cell_of(p)
    for name in cell.names:  # from an earlier measurement with other options
        for path in (learnt_file(name, cell.ranks), measured.file_of(name, cell.ranks, RACE)):
            path.unlink(missing_ok=True)
    calls, why_not = _learn(cell)
    figures = {"points": len(cell.names) * len(cell.sizes), "calls": calls, "unmeasured": 0.0}
    for name, why in why_not.items():
        _, of_race = measured.measure({**p, "collective": name, "earlier": ""})
        write_why_not(learnt_file(name, cell.ranks), name, cell.ranks, why)
        figures |= {each: figures[each] + of_race[each] for each in ("calls", "unmeasured")}
    return figures["unmeasured"], figures | {"seconds": time.monotonic() - begun}


def _cell_of(p: Mapping[str, Any]) -> _Cell:
    launcher = find_launcher(None if p["mpi"] == "default" else p["mpi"])
    known = launcher.mpi.collectives
    assert known is not None
    names, sizes = tuple(p["collective"].split(",")), tuple(int(word) for word in p["sizes"].split(","))
    return _Cell(
        launcher, names, int(p["ranks"]), sizes, p.get("mapping", ""),
        known.without_rules | json.loads(p.get("variables", "{}")), float(p["budget_s"]), float(p["timeout_s"]),
        (bool(p["same_types"]), bool(p["commutative"])),
    )  # fmt: skip


def _learn(cell: _Cell) -> tuple[int, dict[str, str]]:
    """Writes the choices of the tuner. Returns the number of calls, and why there are no choices for some collectives:
    a collective with trouble is left out of further launches, because nobody knows which algorithm made the trouble."""
    fixed = fixed_in(cell.launcher)
    why_not = {name: f"its algorithm is fixed by {fixed[name]}" for name in cell.names if name in fixed}
    why_not |= {name: _ONE_RULE for name in cell.names if one_for_all_sizes(name, cell.known)}
    while names := tuple(name for name in cell.names if name not in why_not):
        try:
            header, found = _launches(replace(cell, names=names))
        except _Trouble as trouble:
            why_not[trouble.collective] = trouble.why
            continue
        except LostError as lost:  # at the start, at the end, or between two collectives
            return 0, why_not | dict.fromkeys(names, str(lost))
        for name in names:
            if why := found[name].why_not(cell.sizes_of(name)):
                why_not[name] = why
            else:
                write_learnt(learnt_file(name, cell.ranks), header._replace(collective=name), found[name].choices)
        return sum(each.calls for name in names for each in found[name].choices), why_not
    return 0, why_not


@dataclass
class _Found:
    """The choices for a collective. ``off``: why the tuner was not active in a launch."""

    choices: list[Choice]
    off: str = ""

    def why_not(self, sizes: Sequence[int]) -> str:
        """Why the choices are not used; empty if they are."""
        lacking = {*sizes} - {each.size for each in self.choices}
        if self.off:
            return f"the tuner was not active: {self.off}"
        if lacking == {*sizes}:
            return "the tuner has no choice for this collective"
        return f"the tuner made no choice for {min(lacking)} bytes" if lacking else ""


def _launches(cell: _Cell) -> tuple[Header, dict[str, _Found]]:
    found = {name: _Found([]) for name in cell.names}
    header = Header("", "", "", cell.ranks)
    for group in range(max(len(_groups(cell, name)) for name in cell.names)):
        sizes = {name: groups[group] for name in cell.names if group < len(groups := _groups(cell, name))}
        for number, repetitions in enumerate(_REPETITIONS, group * LAUNCHES + 1):
            header, tuning, took_s = _launch(cell, sizes, repetitions)
            for name in sizes:
                found[name].off = found[name].off or tuning.off
                found[name].choices += _choices_of(cell, tuning, name, sizes[name], number)
            if took_s > sum(len(there) * cell.limit_s(name) for name, there in sizes.items()):
                break
    return header, found


def _groups(cell: _Cell, name: str) -> list[list[int]]:
    """Sizes that can be in one launch: the tuner has one choice for all sizes from a power of two to the next one."""
    groups: list[list[int]] = []
    for size in cell.sizes_of(name):
        free = (each for each in groups if class_of(name, size, cell.ranks) != class_of(name, each[-1], cell.ranks))
        group = next(free, None)
        if group is None:
            groups.append(group := [])
        group.append(size)
    return groups


def class_of(collective: str, size: int, ranks: int) -> int:
    """The smallest size for which the tuner has the same choice. See src/mpiprobe/autotune/wrappers.py."""
    bytes_of_all = size * ranks if collective in ("reduce_scatter", "allgatherv") else size
    return 1 << (bytes_of_all.bit_length() - 1) if bytes_of_all else 0


def _choices_of(cell: _Cell, tuning: Tuning, name: str, sizes: Sequence[int], launch: int) -> Iterator[Choice]:
    there = {each.size: each for each in tuning.choices if each.collective == name and each.ranks == cell.ranks}
    safe = cell.safe(name)
    for size in sizes:
        each = there.get(class_of(name, size, cell.ranks))
        if each and each.algorithm in safe and each.default_s > 0:
            yield Choice(launch, size, each.algorithm, each.default_s, each.chosen_s, each.calls)


def _launch(cell: _Cell, sizes: Mapping[str, Sequence[int]], repetitions: int) -> tuple[Header, Tuning, float]:
    """One launch under the tuner, and the time of its calls in seconds. Raises _Trouble and LostError."""
    library = own_library(f"autotune_{cell.launcher.mpi.module}")
    if not library.exists():
        raise LostError(f"culmen was built without its tuner for {cell.launcher.mpi.title}")
    dump = part_named(f"{cell.ranks}-learnt").with_suffix(".tuning")
    dump.parent.mkdir(parents=True, exist_ok=True)
    dump.unlink(missing_ok=True)
    environment = {**cell.environment, **preloaded(library, _settings(cell, dump, repetitions))}
    with Ranks(cell.launcher, cell.ranks, cell.timeout_s, cell.mapping, environment) as launched:
        session = launched.session
        begun = time.monotonic()
        for name, there in sizes.items():
            for size in there:
                _call_often(cell, session, name, size, repetitions)
        took_s = time.monotonic() - begun
        bad_end = launched.end()
    header = Header(cell.launcher.mpi.name, launched.version, "", cell.ranks, *launched.nodes, partition())
    try:
        return header, read_tuning(dump), took_s
    except InputError as error:
        raise LostError(bad_end or f"the tuner left no choices: {error}") from None
    finally:
        with suppress(OSError):
            dump.unlink()


def _settings(cell: _Cell, dump: Path, repetitions: int) -> dict[str, str]:
    """The tuner's own ones. Those in the environment must not be mixed with them."""
    excluded = [
        f"{name}/{one.name}"
        for name in cell.names
        for one in cell.known.algorithms(name, cell.ranks)
        if one.name not in cell.safe(name)
    ]
    own = {
        "DUMP": str(dump.resolve()),
        "COLLECTIVES": ",".join(cell.names),
        "WITHOUT": ",".join(excluded),
        "REPETITIONS": str(repetitions),
        "RECHECK": str(_RECHECK),
        "SAME_TYPES": "1" if cell.allowed[0] else "",
    }
    others = dict.fromkeys((name for name in os.environ if name.startswith(_PREFIX)), "")
    return others | {f"{_PREFIX}{name}": value for name, value in own.items()}


def _call_often(cell: _Cell, session: Session, name: str, size: int, repetitions: int) -> None:
    """Calls until the tuner has chosen and has checked its choice twice. If this takes longer than the limit, it checks
    less often."""
    begun = time.monotonic()
    least = len(cell.safe(name)) * repetitions + 2  # the warm-up, the race and the confirmation
    try:
        for done in range(0, least + _SECOND_LOOKS, _AT_ONCE):
            if done >= least and time.monotonic() - begun > cell.limit_s(name):
                return
            session.repeat(name, 0, size, 0, _AT_ONCE)
    except (RefusedError, LostError) as error:
        raise _Trouble(name, f"under the tuner, with {size} bytes: {error}") from None
