"""Whether Open MPI does what a rules file says: ranks call the collectives, and the functions that run are counted."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..._core import InputError
from ...bench.collectives.plan import known_collectives
from ...bench.conversation import LostError, RefusedError
from ...bench.session import Session
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import DEFAULT, Algorithm, Collectives

_CALLS, _TIMEOUT_S = 2, 60.0


class Expected(NamedTuple):
    """``size``: bytes, as in ``culmen bench collectives``."""

    collective: str
    ranks: int
    size: int
    algorithm: str


def reader_of_rules(launcher: Launcher) -> Collectives:
    """What is known of its MPI. Raises InputError if this MPI reads no rules files."""
    known = known_collectives(launcher)
    if not known.rules_file:
        raise InputError(f"{launcher.mpi.title} reads no rules files; give --mpi openmpi")
    return known


def environment_for(known: Collectives, rules: Path) -> dict[str, str]:
    """The variables with which programs use a rules file. No component of the MPI is left out, as measurements do."""
    needed = {name: value for name, value in known.environment.items() if name != known.components}
    return needed | {known.prefix + known.rules_file: str(rules.resolve())}


def not_as_expected(launcher: Launcher, rules: Path, expected: Iterable[Expected]) -> dict[Expected, str]:
    """What ran instead, or why nothing ran. One launch for each number of ranks."""
    known = reader_of_rules(launcher)
    by_ranks: dict[int, list[Expected]] = defaultdict(list)
    for each in expected:
        by_ranks[each.ranks].append(each)
    out: dict[Expected, str] = {}
    for ranks, there in by_ranks.items():
        left = list(there)
        while left:
            try:
                with Session(launcher, ranks, _TIMEOUT_S, environment_for(known, rules)) as session:
                    while left:
                        each = left[0]
                        if said := _try(session, each, known.algorithms(each.collective, ranks)):
                            out[each] = said
                        left.pop(0)
            except LostError as error:
                out[left.pop(0)] = str(error)
    return out


def _try(session: Session, each: Expected, algorithms: Iterable[Algorithm]) -> str:
    """Empty if it is as expected."""
    names = {one.function: one.name for one in algorithms if one.function}
    try:
        session.check(each.collective, 0, each.size, 0)
        _, functions = session.time(each.collective, 0, each.size, 0, _CALLS, 0.0)
    except RefusedError as error:
        return str(error)
    ran = sorted(names[function] for function in functions if function in names)
    if each.algorithm == DEFAULT or ran == [each.algorithm]:
        return ""
    return f"{' and '.join(ran)} ran" if ran else "no algorithm that culmen knows ran"
