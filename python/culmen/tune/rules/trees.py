"""The trees by which MPICH 4 chooses the algorithms of collectives: read, asked and made.

A tree is JSON: its keys are conditions such as "comm_size<8", and its leaves name algorithms. MPICH reads one tree of
algorithms, and before it one of the node's own ways. For both, its library contains a tree, which a file replaces as a
whole. What it does was found out with MPICH 4.0.2:

- Of the conditions beside each other, the first one that is true counts. MPICH never goes back to another one.
- Nothing after a condition in the tree of the node means that the tree of algorithms is asked.
- "avg_msg_size" and "total_msg_size" are bytes; each collective has one of them.
- A condition or an algorithm that MPICH does not know ends the program in MPI_Init.
- Where the tree of algorithms has nothing, a call ends the program.
- Up to the first condition that is not about the communicator, MPICH asks the conditions once for each communicator.
  After it, it asks them in each call. There, "comm_size<8" is also true for 8.
- A comment /* … */ may come first.
"""

import copy
import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...launch.mpi.collectives import DEFAULT, Collectives
from .file import Row, Rules, RulesError, Table

Tree = dict[str, Any]

_TEXT = re.compile(rb'\{\s*"collective=[^\0]+')
_ELEMENT = 4  # bytes, of the reductions of the benchmark
_KEYS = {"own": "avg_msg_size", "all_ranks": "total_msg_size"}
_COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Trees:
    """``algorithms``: of all nodes. ``node``: of the node's own ways."""

    algorithms: Tree
    node: Tree


@dataclass(frozen=True)
class Call:
    """``size``: bytes of a message, as in ``culmen bench collectives``. ``true``: further conditions that hold."""

    collective: str
    ranks: int
    size: int
    true: frozenset[str]


# What holds for calls of the benchmark: in the communicator itself, and in the part of it within one node, which MPICH
# asks for where it combines algorithms within and between nodes.
_OF_BENCHMARK = frozenset(
    (
        "is_multi_threaded=no", "comm_type=intra", "is_commutative=yes", "is_sendbuf_inplace=no", "is_op_built_in=yes",
        "is_block_regular=yes", "is_node_consecutive=yes",
    )
)  # fmt: skip
OF_NODE = _OF_BENCHMARK | {"comm_hierarchy=node"}
OF_ALL = _OF_BENCHMARK | {"comm_hierarchy=parent", "comm_size=node_comm_size"}


def built_in(library: Path) -> Trees:
    """The trees that the library contains. Raises InputError if it contains none."""
    found = [tree for match in _TEXT.finditer(library.read_bytes()) if (tree := _parsed(match[0]))]
    of_algorithms = next((tree for tree in found if _leaf_starts(tree) == "algorithm=MPIR"), None)
    of_node = next((tree for tree in found if _leaf_starts(tree) == "algorithm=MPIDI"), None)
    if of_algorithms is None or of_node is None:
        raise InputError(
            f"{library} does not contain the rules by which MPICH chooses algorithms; culmen writes tuning files for "
            "MPICH 4.0 and 4.1"
        )
    return Trees(of_algorithms, of_node)


def _parsed(text: bytes) -> Tree | None:
    try:
        return dict(json.loads(text))
    except ValueError:
        return None


def _leaf_starts(tree: Tree) -> str:
    """Of its first leaf, up to the first line."""
    while tree:
        key, tree = next(iter(tree.items()))
    return key.partition("_")[0]


def is_tree(path: Path) -> bool:
    """Whether a file begins as one."""
    try:
        return _COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"), count=1).lstrip().startswith("{")
    except OSError:
        return False


def read_tree(path: Path) -> Tree:
    """Raises InputError if it cannot be read, RulesError if it is no such tree."""
    try:
        text = _COMMENT.sub("", path.read_text(encoding="utf-8"), count=1)
        return dict(json.loads(text))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise RulesError(f"{path} is no tree of MPICH: {error}") from None


def check(tree: Tree, path: Path) -> None:
    """Raises RulesError for what ends every program that reads the file."""
    for key, below in tree.items():
        try:
            if not key.startswith("algorithm="):
                _parts(key)
            if not isinstance(below, dict):
                raise RulesError(f"'{key}' is followed by '{below}' instead of {{…}}")
        except RulesError as error:
            raise RulesError(f"{path}: {error}") from None
        check(below, path)


def way_to_leaf(tree: Tree, call: Call) -> list[str]:
    """The conditions that MPICH follows, and at last the algorithm; no algorithm comes last if there is none."""
    way: list[str] = []
    by_communicator = True
    while tree:
        for key in tree:
            by_communicator = by_communicator and _is_of_communicator(key)
            if key.startswith("algorithm=") or _holds(key if by_communicator else _in_a_call(key), call):
                way.append(key)
                tree = tree[key]
                break
        else:
            break
    return way


def _is_of_communicator(key: str) -> bool:
    return key.startswith(("collective=", "comm_"))


def _in_a_call(key: str) -> str:
    """A condition that has the meaning that this one has when MPICH asks it in each call."""
    return key.replace("comm_size<", "comm_size<=") if key.startswith("comm_size<") and "=" not in key else key


def _for_any_time(key: str, by_communicator: bool) -> str:
    """A condition that means the same whenever MPICH asks it."""
    if not key.startswith("comm_size<") or "=" in key:
        return key
    return f"comm_size<={int(key.removeprefix('comm_size<')) - 1}" if by_communicator else _in_a_call(key)


def _movable(tree: Tree, by_communicator: bool = True) -> Tree:
    """A copy that chooses the same below any other condition."""
    out = {}
    for key, below in tree.items():
        by_communicator = by_communicator and _is_of_communicator(key)
        out[_for_any_time(key, by_communicator)] = _movable(below, by_communicator)
    return out


def _holds(key: str, call: Call) -> bool:
    """Whether a condition is true. Raises RulesError for one that MPICH does not know."""
    if key in call.true:
        return True
    name, sign, value = _parts(key)
    if name == "collective":
        return value == call.collective
    if value == "any":
        return True
    if name == "comm_size" and value == "pow2":
        return call.ranks & (call.ranks - 1) == 0
    if name == "count" and value == "pow2":  # fewer elements than the largest power of two in the number of ranks
        return call.size // _ELEMENT < 1 << (call.ranks.bit_length() - 1)
    if not value.isdigit():
        return False  # it is not among those that hold
    numbers = {
        "comm_size": call.ranks,
        "comm_avg_ppn": call.ranks,
        "count": call.size // _ELEMENT,
        "avg_msg_size": call.size,
        "total_msg_size": call.size * call.ranks,
    }
    if name not in numbers:
        return False
    return numbers[name] <= int(value) if sign == "<=" else numbers[name] < int(value)


_NAMES = (
    "collective", "comm_type", "comm_size", "comm_hierarchy", "comm_avg_ppn", "count", "avg_msg_size", "total_msg_size",
    "is_multi_threaded", "is_commutative", "is_sendbuf_inplace", "is_op_built_in", "is_block_regular",
    "is_node_consecutive",
)  # fmt: skip


def _parts(key: str) -> tuple[str, str, str]:
    found = re.fullmatch(r"(\w+?)(<=|<|=)(\w+)", key)
    if not found or found[1] not in _NAMES:
        raise RulesError(f"MPICH does not know the condition '{key}', and ends every program that reads it")
    return found[1], found[2], found[3]


def name_of_leaf(collective: str, algorithm: str) -> str:
    """As in a tree: algorithm=MPIR_Bcast_intra_binomial."""
    kind = "allcomm" if algorithm == "nb" else "intra"
    return f"algorithm=MPIR_{collective.capitalize()}_{kind}_{algorithm}"


def with_rules(trees: Trees, rules: Rules, known: Collectives) -> Trees:
    """The trees in which rules come first. They hold where they were measured: within one node, in programs whose
    threads do not call MPI at the same time. MPICH chooses as before where a rule has no algorithm, and where an
    algorithm is not right for a call."""
    algorithms, node = copy.deepcopy(trees.algorithms), copy.deepcopy(trees.node)
    for table in rules.tables:
        for tree, to_next in ((algorithms, False), (node, True)):
            of = tree.get(f"collective={table.name}", {})
            if "comm_type=intra" in of:
                of["comm_type=intra"] = _measured_first(table, _movable(of["comm_type=intra"]), known, to_next)
    return Trees(algorithms, node)


def _measured_first(table: Table, usual: Tree, known: Collectives, to_next: bool) -> Tree:
    """``to_next``: the tree of the node has nothing where a rule has an algorithm."""
    by_ranks = [(each.ranks, _by_size(table.name, each.rows, usual, known, to_next)) for each in table.ranks]
    chosen = _steps("comm_size", by_ranks)
    return {
        "comm_hierarchy=node": chosen,
        "comm_size=node_comm_size": copy.deepcopy(chosen),
        "comm_size=any": copy.deepcopy(usual),
    }


def _by_size(collective: str, rows: tuple[Row, ...], usual: Tree, known: Collectives, to_next: bool) -> Tree:
    table = known.of[collective]
    names = [DEFAULT, *table["algorithms"]]
    leaves = []
    for row in rows:
        name = names[row.algorithm]
        leaf: Tree = {} if to_next else {name_of_leaf(collective, name): {}}
        needs = ["is_multi_threaded=no", *table.get("needs", {}).get(name, [])]
        leaves.append((row.size, copy.deepcopy(usual) if name == DEFAULT else _if_right(leaf, needs, usual)))
    return _steps(size_name(collective, known), leaves)


def size_name(collective: str, known: Collectives) -> str:
    """In conditions; empty if MPICH has no size for the collective."""
    return _KEYS.get(known.of[collective].get("in_rules", {}).get("sizes", ""), "")


def _steps(name: str, values: list[tuple[int, Tree]]) -> Tree:
    """``values``: each with its start, from small to large. Each holds up to the next start."""
    if len(values) == 1:
        return values[0][1]
    out = {f"{name}<={start - 1}": value for (_, value), (start, _) in itertools.pairwise(values)}
    return {**out, f"{name}=any": values[-1][1]}


def _if_right(leaf: Tree, needs: list[str], usual: Tree) -> Tree:
    """The leaf where all conditions hold; "not " comes before one that must not hold."""
    for need in reversed(needs):
        condition = need.removeprefix("not ")
        name, _, value = _parts(condition)
        other = f"{name}={'any' if value not in ('yes', 'no') else 'no' if value == 'yes' else 'yes'}"
        holds, fails = (leaf, copy.deepcopy(usual)) if condition == need else (copy.deepcopy(usual), leaf)
        leaf = {condition: holds, other: fails}
    return leaf


def with_leaf(tree: Tree, way: list[str], leaf: Tree) -> Tree:
    """A copy that has something else at the end of a way."""
    out = copy.deepcopy(tree)
    place = out
    for key in way[:-2]:
        place = place[key]
    place[way[-2]] = leaf
    return out


def text(tree: Tree, about: list[str]) -> str:
    """The file. ``about``: comments for its head."""
    return "/* " + "\n   ".join(about) + " */\n" + json.dumps(tree, indent=1) + "\n"
