"""Whether an MPI does what a file of rules says.

Open MPI: ranks call the collectives, and the functions that run are counted. MPICH does not show its functions. So each
algorithm in its tree gives way to one of another collective: this ends the ranks if, and only if, the call comes there.
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..._core import InputError
from ...bench.collectives.plan import known_collectives
from ...bench.conversation import LostError, RefusedError
from ...bench.session import Session
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import DEFAULT, Algorithm, Collectives, name_and_segment
from . import trees

_CALLS, _TIMEOUT_S = 2, 60.0
_END = "mpir_coll.c"  # in the message with which MPICH ends at an algorithm of another collective


class Expected(NamedTuple):
    """``size``: bytes, as in ``culmen bench collectives``."""

    collective: str
    ranks: int
    size: int
    algorithm: str


def reader_of_rules(launcher: Launcher) -> Collectives:
    """What is known of its MPI. Raises InputError if culmen cannot write its files of rules."""
    known = known_collectives(launcher)
    if not known.rules_file:
        raise InputError(
            f"culmen cannot write tuning files for {launcher.mpi.title} yet; `culmen autotune` tunes a program with "
            "this MPI, or give another --mpi"
        )
    return known


def environment_for(known: Collectives, rules: Path) -> dict[str, str]:
    """The variables with which programs use a file of rules. No component of the MPI is left out, as measurements
    do."""
    files = {known.rules_file: rules}
    if known.node_rules_file:
        files |= {known.node_rules_file: beside(rules)} if beside(rules).exists() else {}
    needed = {name: value for name, value in known.environment.items() if name not in known.only_measuring}
    return needed | {known.prefix + name: str(path.resolve()) for name, path in files.items()}


def beside(rules: Path) -> Path:
    """The second file of MPICH."""
    return rules.with_stem(f"{rules.stem}-node")


def not_as_expected(launcher: Launcher, rules: Path, expected: Iterable[Expected]) -> dict[Expected, str]:
    """What ran instead, or why nothing ran."""
    known = reader_of_rules(launcher)
    changed = [each for each in expected if each.algorithm != DEFAULT]
    return _not_reached(launcher, rules, changed) if known.node_rules_file else _not_run(launcher, rules, expected)


def _not_reached(launcher: Launcher, rules: Path, expected: Iterable[Expected]) -> dict[Expected, str]:
    """For trees. One launch for each call with the file as it is, and one with another algorithm in its place."""
    tree = trees.read_tree(rules)
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        tried = Path(folder) / rules.name
        if beside(rules).exists():
            beside(tried).write_bytes(beside(rules).read_bytes())
        for each in expected:
            call = trees.Call(each.collective, each.ranks, each.size, trees.OF_ALL)
            ways = [trees.way_to_leaf(tree, replace(call, true=true)) for true in (trees.OF_ALL, trees.OF_NODE)]
            wrong = {way[-1] for way in ways} - {trees.name_of_leaf(each.collective, each.algorithm)}
            if wrong:
                out[each] = f"the file has {wrong.pop()}"
                continue
            other = tree
            for way in ways:
                other = trees.with_leaf(other, way, {_decoy(each.collective): {}})
            tried.write_text(json.dumps(other), encoding="utf-8")
            if error := _error_of(launcher, each, rules):
                out[each] = str(error)
            elif _END not in getattr(_error_of(launcher, each, tried), "said", ""):
                out[each] = "another algorithm ran"
    return out


def _decoy(collective: str) -> str:
    other = "bcast" if collective != "bcast" else "allreduce"
    return trees.name_of_leaf(other, "nb")


def _error_of(launcher: Launcher, each: Expected, rules: Path) -> LostError | RefusedError | None:
    """Of the call, or of MPICH's own calls before it, such as those in MPI_Init."""
    environment = environment_for(reader_of_rules(launcher), rules)
    try:
        with Session(launcher, each.ranks, _TIMEOUT_S, environment) as session:
            session.check(each.collective, 0, each.size, 0)
    except (LostError, RefusedError) as error:
        return error
    return None


def _not_run(launcher: Launcher, rules: Path, expected: Iterable[Expected]) -> dict[Expected, str]:
    """By functions. One launch for each number of ranks."""
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
    if each.algorithm == DEFAULT or ran == [name_and_segment(each.algorithm)[0]]:
        return ""
    return f"{' and '.join(ran)} ran" if ran else "no algorithm that culmen knows ran"
