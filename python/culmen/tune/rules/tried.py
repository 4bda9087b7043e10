"""Checks that an MPI follows a file of rules.

With Open MPI, ranks call the collectives, and the functions that run are counted. MPICH does not show its functions.
Therefore each algorithm in its tree is replaced by one of another collective. This ends the ranks if a call reaches it.
"""

import itertools
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...bench.conversation import LostError, RefusedError
from ...bench.session import Session
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import DEFAULT, Algorithm, Collectives, parts_of
from . import trees
from .composed import routes_beside
from .reader import environment_for, reader_of_rules

TIMEOUT_S = 60.0  # of a call
_CALLS = 2


class Expected(NamedTuple):
    """``size``: bytes, as in ``culmen bench collectives``."""

    collective: str
    ranks: int
    size: int
    algorithm: str


@dataclass(frozen=True)
class _Trial:
    """How the ranks of a trial are launched."""

    launcher: Launcher
    beside: Mapping[str, str]  # further variables of the environment
    mappings: Mapping[tuple[str, int], str]  # by the collective and the number of ranks

    def environment(self, rules: Path) -> dict[str, str]:
        return {**self.beside, **environment_for(reader_of_rules(self.launcher), rules)}

    def mapping(self, each: Expected) -> str:
        return self.mappings.get((each.collective, each.ranks), "")

    def nodes(self, ranks: int, mapping: str) -> tuple[int, int]:
        """The number of nodes, and the most ranks on one."""
        environment = reader_of_rules(self.launcher).without_rules
        with Session(self.launcher, ranks, TIMEOUT_S, {**self.beside, **environment}, mapping) as session:
            return session.nodes()

    def error_of(self, each: Expected, rules: Path) -> LostError | RefusedError | None:
        return error_of(self.launcher, each, self.environment(rules), self.mapping(each))


def not_as_expected(
    launcher: Launcher,
    rules: Path,
    expected: Sequence[Expected],
    beside: Mapping[str, str] | None = None,
    mappings: Mapping[tuple[str, int], str] | None = None,
) -> dict[Expected, str]:
    """For each call that is not as expected, the algorithm that ran instead, or why nothing ran. ``beside``: further
    variables of the environment. ``mappings``: mappings of the ranks, by the collective and their number."""
    known = reader_of_rules(launcher)
    changed = [each for each in expected if each.algorithm != DEFAULT]
    trial = _Trial(launcher, beside or {}, mappings or {})
    if known.rules_kind == "tree":
        return _not_reached(trial, rules, changed)
    return _not_run(trial, rules, expected)


def _not_reached(trial: _Trial, rules: Path, expected: Iterable[Expected]) -> dict[Expected, str]:
    """The check for trees. It makes two launches for each leaf: one with the file as it is, and one with another
    algorithm in place of the leaf."""
    tree = trees.read_tree(rules)
    out: dict[Expected, str] = {}
    seen: dict[tuple[str, ...], str] = {}
    nodes = cache(trial.nodes)
    with tempfile.TemporaryDirectory() as folder:
        tried = _beside_routes(Path(folder), rules, reader_of_rules(trial.launcher))
        for each in expected:
            call = trees.Call(each.collective, each.ranks, each.size, trees.OF_ALL)
            try:
                kinds = trees.of_nodes(*nodes(each.ranks, trial.mapping(each)))
            except LostError as lost:
                out[each] = str(lost)
                continue
            ways = [trees.way_to_leaf(tree, replace(call, true=true)) for true in kinds]
            leaf = trees.name_of_leaf(each.collective, each.algorithm)
            there = [way for way in ways if way[-1] == leaf]
            if not there:
                out[each] = f"the file has {ways[0][-1]}"
                continue
            key = (str(each.ranks), *itertools.chain(*there))
            if key not in seen:
                other = tree
                for way in there:
                    other = trees.with_leaf(other, way, {decoy(each.collective): {}})
                tried.write_text(trees.text(other, ["a test"]), encoding="utf-8")
                error = trial.error_of(each, rules)
                reached = ended_there(trial.error_of(each, tried))
                seen[key] = str(error) if error else "" if reached else "another algorithm ran"
            if seen[key]:
                out[each] = seen[key]
    return out


def _beside_routes(folder: Path, rules: Path, known: Collectives) -> Path:
    """The path for other rules in this folder, with the same second file."""
    out = folder / rules.name
    new, old = routes_beside(out, known), routes_beside(rules, known)
    if new and old and old.exists():
        shutil.copyfile(old, new)
    return out


def decoy(collective: str) -> str:
    """A leaf that ends the ranks in a call of this collective."""
    other = "bcast" if collective != "bcast" else "allreduce"
    return trees.name_of_leaf(other, "nb")


def ended_there(error: Exception | None) -> bool:
    """Whether MPICH reached an algorithm of another collective."""
    return "mpir_coll.c" in getattr(error, "said", "")


def error_of(
    launcher: Launcher, each: Expected, environment: dict[str, str], mapping: str = ""
) -> LostError | RefusedError | None:
    """The error of the call, or of the MPI's own calls before it, such as those in MPI_Init. None if there was none."""
    try:
        with Session(launcher, each.ranks, TIMEOUT_S, environment, mapping) as session:
            session.check(each.collective, 0, each.size, 0)
    except (LostError, RefusedError) as error:
        return error
    return None


def _not_run(trial: _Trial, rules: Path, expected: Iterable[Expected]) -> dict[Expected, str]:
    """The check by functions, with one launch for each number of ranks and mapping."""
    known = reader_of_rules(trial.launcher)
    launches: dict[tuple[int, str], list[Expected]] = defaultdict(list)
    for each in expected:
        launches[each.ranks, trial.mapping(each)].append(each)
    out: dict[Expected, str] = {}
    for (ranks, mapping), there in launches.items():
        left = list(there)
        while left:
            try:
                environment = trial.environment(rules)
                with Session(trial.launcher, ranks, TIMEOUT_S, environment, mapping) as session:
                    while left:
                        each = left[0]
                        if said := _try(session, each, known.algorithms(each.collective, ranks)):
                            out[each] = said
                        left.pop(0)
            except LostError as error:
                out[left.pop(0)] = str(error)
    return out


def _try(session: Session, each: Expected, algorithms: Iterable[Algorithm]) -> str:
    """Makes the call. Returns why it is not as expected; empty if it is."""
    names = {one.function: one.name for one in algorithms if one.function}
    try:
        session.check(each.collective, 0, each.size, 0)
        _, functions = session.time(each.collective, 0, each.size, 0, _CALLS, 0.0)
    except RefusedError as error:
        return str(error)
    ran = sorted(names[function] for function in functions if function in names)
    if each.algorithm == DEFAULT or ran == [parts_of(each.algorithm)[0]]:
        return ""
    return f"{' and '.join(ran)} ran" if ran else "no algorithm that culmen knows ran"
