"""The trees with which MPICH 4.0 chooses the algorithms of collectives. culmen reads, interprets and makes them.

A tree is JSON: its keys are conditions such as "comm_size<8", and its leaves name algorithms. The library contains a
tree, and a file replaces the whole tree. These facts were found by experiments with MPICH 4.0.2:

- Of the conditions in one list, the first one that is true counts. MPICH never goes back to another one.
- "avg_msg_size" and "total_msg_size" are bytes of this rank's arguments. Not every collective has both.
- An unknown condition or algorithm ends the program in MPI_Init. So does a condition with nothing below it, and a list
  of sizes or numbers without "=any" at its end.
- If the tree has no algorithm for a call, the call ends the program.
- Up to the first condition that is not about the communicator, MPICH evaluates the conditions once for each
  communicator. It evaluates all further conditions in each call. In these, "comm_size<8" is also true for 8.
- MPICH maps the file into memory, and reads it up to a zero byte. So its size must not be a multiple of a page.
- Blanks in conditions do not count. A comment /* … */ may come first.
- A second tree, of compositions, comes before this one. Most compositions combine algorithms within and between nodes,
  so that no algorithm of the first tree is used for the communicator itself. It has the same conditions.
"""

import copy
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...launch.mpi.collectives import DEFAULT, Collectives
from .file import Row, Rules, RulesError, Table

Tree = dict[str, Any]

_TEXT = re.compile(rb'\{\s*"collective=[^\0]+')
_COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)
ALGORITHM, COMPOSITION = "algorithm=MPIR_", "composition="  # the beginnings of leaves
ELEMENT = 4  # bytes of an element in the benchmark's reductions
_PAGE = 4096  # bytes; pages are multiples of it
_MOST = 2**31 - 1  # largest bound
_DEEPEST = 100  # levels of a tree that culmen reads
_SHOWN = 40  # characters of a long condition
_KEYS = {"own": "avg_msg_size", "all_ranks": "total_msg_size"}
_CONDITIONS = [
    re.compile(pattern)
    for pattern in (
        r"(collective)()=(\w+)",
        r"(comm_type)()=(intra|inter)",
        r"(comm_size)()=(pow2|node_comm_size|any)",
        r"(comm_size)(<=|<)(\d+)",
        r"(comm_avg_ppn)(<=)(\d+)",
        r"(comm_hierarchy)()=(parent|node_roots|node|flat|any)",
        r"(count)(<=)(\d+)",
        r"(count)(<)(pow2)",
        r"(count)()=(any)",
        r"((?:avg|total)_msg_size)(<=|<)(\d+)",
        r"((?:avg|total)_msg_size)()=(any)",
        r"(is_(?:multi_threaded|commutative|sendbuf_inplace|op_built_in|block_regular|node_consecutive))()=(yes|no)",
    )
]


@dataclass(frozen=True)
class Call:
    """``size``: bytes of a message, as in ``culmen bench collectives``. ``true``: other conditions that are true."""

    collective: str
    ranks: int
    size: int
    true: frozenset[str]


# Conditions that are true for calls of the benchmark: in the communicator itself, and in its part within one node.
# MPICH uses the latter if it combines algorithms within and between nodes.
_OF_BENCHMARK = frozenset(
    (
        "is_multi_threaded=no", "comm_type=intra", "is_commutative=yes", "is_sendbuf_inplace=no", "is_op_built_in=yes",
        "is_block_regular=yes", "is_node_consecutive=yes",
    )
)  # fmt: skip
OF_NODE = _OF_BENCHMARK | {"comm_hierarchy=node"}
OF_ALL = _OF_BENCHMARK | {"comm_hierarchy=parent", "comm_size=node_comm_size"}

PARENT, FLAT = "parent", "flat"  # communicators on several nodes, with several ranks on a node or one


def of_nodes(nodes: int, most: int) -> tuple[frozenset[str], ...]:
    """The same for the benchmark on these nodes. ``most``: the most ranks on one."""
    if kind := kind_of(nodes, most):
        return (_OF_BENCHMARK | {f"comm_hierarchy={kind}"},)
    return OF_ALL, OF_NODE


def kind_of(nodes: int, most: int) -> str:
    """PARENT or FLAT; empty: the ranks are on one node. ``most``: the most ranks on one."""
    return "" if nodes == 1 else PARENT if most > 1 else FLAT


def built_in(library: Path, leaf: str = ALGORITHM) -> Tree:
    """The tree that the library contains. ``leaf``: the beginning of its leaves. Raises InputError if it contains
    none."""
    for match in _TEXT.finditer(library.read_bytes()):
        with_leaves = _parsed(match[0])
        if next(leaves(with_leaves), "").startswith(leaf):
            return with_leaves
    raise InputError(
        f"{library} does not contain the rules by which MPICH chooses algorithms, so culmen cannot write tuning files "
        "for it"
    )


def _parsed(text: bytes) -> Tree:
    """The tree in a text; empty if it is no tree."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def leaves(tree: Tree) -> Iterator[str]:
    """All algorithms or compositions of a tree."""
    for key, below in tree.items():
        if key.startswith(("algorithm=", COMPOSITION)):
            yield key
        elif isinstance(below, dict):
            yield from leaves(below)


def is_same(one: Tree, other: Tree) -> bool:
    """Whether two trees choose the same: the order of the conditions counts."""
    return json.dumps(one) == json.dumps(other)


def is_tree(path: Path) -> bool:
    """Whether a file begins like a tree."""
    try:
        return _COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"), count=1).lstrip().startswith("{")
    except OSError:
        return False


def read_tree(path: Path) -> Tree:
    """The tree in a file, without blanks in conditions. Raises InputError if it cannot be read, RulesError if MPICH
    would end each program that reads it."""
    try:
        text = _COMMENT.sub("", path.read_text(encoding="utf-8"), count=1)
        found = json.loads(text)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise RulesError(f"{path} is no tree of MPICH: {error}") from None
    if not isinstance(found, dict):
        raise RulesError(f"{path} is no tree of MPICH: it must begin with {{")
    if "rule_file_version" in found:
        raise InputError(
            f"{path} has rules of Open MPI 6 in JSON, and no tree of MPICH; `culmen tune lint {path}` without --mpi "
            "explains them"
        )
    if path.stat().st_size % _PAGE == 0:
        raise RulesError(
            f"{path} has {path.stat().st_size} bytes, a multiple of a page of memory, so MPICH reads beyond its end; "
            "add a blank at the end"
        )
    if (depth := _depth(found)) > _DEEPEST:
        raise InputError(f"{path} has {depth} levels of conditions; culmen reads trees with at most {_DEEPEST}")
    try:
        return _checked(found, [])
    except _BoundError as error:
        raise RulesError(f"{path}: {error}") from None
    except RulesError as error:
        raise RulesError(f"{path}: {error} MPICH ends each program that reads the file.") from None


def _depth(tree: Tree) -> int:
    depth, level = 0, [tree]
    while level := [below for each in level for below in each.values() if isinstance(below, dict)]:
        depth += 1
    return depth


class _BoundError(RulesError):
    """A number is so large that MPICH reads another one."""


def _checked(tree: Tree, way: list[str]) -> Tree:
    out: Tree = {}
    for written, below in tree.items():
        key = written.replace(" ", "")
        if key.startswith(COMPOSITION):
            other = "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE"
            raise RulesError(f"'{key}' is for the file of another variable, {other}.")
        if not isinstance(below, dict):
            raise RulesError(f"'{_shown([*way, key])}' is followed by '{below}' instead of {{…}}.")
        if not way and not key.startswith("collective="):
            raise RulesError(f"'{key}' stands where only conditions such as 'collective=bcast' may be.")
        if not key.startswith("algorithm="):
            _, sign, bound = _parts(key)
            if sign and bound != "pow2" and (len(bound) > len(str(_MOST)) or int(bound) > _MOST):
                raise _BoundError(f"the number of '{key[:_SHOWN]}…' is too large; the largest is {_MOST}")
            if not below:
                raise RulesError(f"'{_shown([*way, key])}' has nothing below it.")
            below = _checked(below, [*way, key])
        out[key] = below if not key.startswith("algorithm=") else {}
    last = next(reversed(out), "")
    if way and not last.startswith("algorithm=") and not _ends_a_list(last):
        raise RulesError(
            f"'{_shown([*way, last])}' is the last condition of a list; '{_parts(last)[0]}=any' must follow."
        )
    return out


def _shown(way: list[str]) -> str:
    return " → ".join(way)


def _ends_a_list(key: str) -> bool:
    name, _, value = _parts(key)
    return value == "any" or name in ("comm_type", "comm_hierarchy", "collective") or name.startswith("is_")


def way_to_leaf(tree: Tree, call: Call) -> list[str]:
    """The conditions that MPICH follows, and then the algorithm. If there is no algorithm for the call, the list ends
    with a condition."""
    way: list[str] = []
    by_communicator = True
    while tree:
        for key in tree:
            by_communicator = by_communicator and is_of_communicator(key)
            if key.startswith(("algorithm=", COMPOSITION)):
                return [*way, key]
            if _holds(for_any_time(key, by_communicator), call):
                way.append(key)
                tree = tree[key]
                break
        else:
            break
    return way


def is_of_communicator(key: str) -> bool:
    """Whether a condition is about the communicator alone."""
    return key.startswith(("collective=", "comm_", "is_node_consecutive="))


def for_any_time(key: str, by_communicator: bool) -> str:
    """An equal condition whose meaning does not depend on when MPICH evaluates it."""
    if not re.match(r"comm_size<\d", key):
        return key
    return f"comm_size<={int(key.removeprefix('comm_size<')) - by_communicator}"


def _movable(tree: Tree, by_communicator: bool = True) -> Tree:
    """A copy of a tree that makes the same choices below any other condition."""
    out = {}
    for key, below in tree.items():
        by_communicator = by_communicator and is_of_communicator(key)
        out[for_any_time(key, by_communicator)] = _movable(below, by_communicator)
    return out


def _holds(key: str, call: Call) -> bool:
    if key in call.true:
        return True
    name, sign, value = _parts(key)
    if name == "collective":
        return value == call.collective
    if value == "any":
        return True
    if name == "comm_size" and value == "pow2":
        return call.ranks & (call.ranks - 1) == 0
    if name == "count" and value == "pow2":
        return call.size < bytes_of_pow2(call.ranks)
    if not sign:
        return False  # it is not in call.true
    numbers = {
        "comm_size": call.ranks,
        "comm_avg_ppn": call.ranks,
        "count": call.size // ELEMENT,
        "avg_msg_size": call.size,
        "total_msg_size": call.size * call.ranks,
    }
    return numbers[name] <= int(value) if sign == "<=" else numbers[name] < int(value)


def bytes_of_pow2(ranks: int) -> int:
    """Bytes of the benchmark's messages whose number of elements is the largest power of two up to the number of
    ranks."""
    return ELEMENT << (ranks.bit_length() - 1)


def _parts(key: str) -> tuple[str, str, str]:
    found = next((found for each in _CONDITIONS if (found := each.fullmatch(key))), None)
    if not found:
        raise RulesError(f"MPICH does not know the condition '{key}'.")
    return found[1], found[2], found[3]


def name_of_leaf(collective: str, algorithm: str) -> str:
    """The name of a leaf, such as algorithm=MPIR_Bcast_intra_binomial."""
    kind = "allcomm" if algorithm in ("nb", "linear") else "intra"
    return f"algorithm=MPIR_{collective.capitalize()}_{kind}_{algorithm}"


def with_rules(usual: Tree, rules: Rules, known: Collectives, between: Mapping[str, Rules] | None = None) -> Tree:
    """The tree with rules before its own conditions. ``rules``: for communicators within one node. ``between``: for
    those on several nodes, by their kind, PARENT or FLAT. If a rule has no algorithm, or if its algorithm is not right
    for a call, MPICH chooses as before."""
    return _with(usual, rules, between or {}, partial(_chosen, known=known, leaf_of=name_of_leaf))


def with_routes(usual: Tree, between: Mapping[str, Rules], known: Collectives) -> Tree:
    """The tree of compositions, with which MPICH asks its other tree for the calls of these rules. ``usual``: the
    library's tree of compositions."""

    def leaf_of(collective: str, _algorithm: str) -> str:
        return COMPOSITION + known.of[collective]["route"]

    routed = {
        kind: Rules(tuple(table for table in rules.tables if "route" in known.of[table.name]))
        for kind, rules in between.items()
    }
    return _with(usual, Rules(()), routed, partial(_chosen, known=known, leaf_of=leaf_of))


def _with(
    usual: Tree, rules: Rules, between: Mapping[str, Rules], chosen: Callable[[Table | None, Tree], Tree]
) -> Tree:
    out = copy.deepcopy(usual)
    for name in sorted({table.name for each in (rules, *between.values()) for table in each.tables}):
        key = f"collective={name}"
        if key in out:
            out[key] = of = _split(out[key])
            own = _movable(of["comm_type=intra"])
            within = chosen(rules.table(name), own)
            kinds = {f"comm_hierarchy={kind}": chosen(each.table(name), own) for kind, each in between.items()}
            of["comm_type=intra"] = {
                "comm_hierarchy=node": within,
                "comm_size=node_comm_size": copy.deepcopy(within),
                **kinds,
                "comm_size=any": copy.deepcopy(own),
            }
    return out


def _split(usual: Tree) -> Tree:
    """Some collectives have one algorithm for communicators of both types."""
    return usual if "comm_type=intra" in usual else {"comm_type=intra": usual, "comm_type=inter": usual}


def _chosen(table: Table | None, usual: Tree, known: Collectives, leaf_of: Callable[[str, str], str]) -> Tree:
    if table is None:
        return copy.deepcopy(usual)
    by_size = partial(_by_size, table.name, usual=usual, known=known, leaf_of=leaf_of)
    return _steps("comm_size", [(each.ranks, by_size(each.rows)) for each in table.ranks])


def _by_size(
    collective: str, rows: tuple[Row, ...], usual: Tree, known: Collectives, leaf_of: Callable[[str, str], str]
) -> Tree:
    table = known.of[collective]
    names = [DEFAULT, *table["algorithms"]]
    if not any(row.algorithm for row in rows):
        return copy.deepcopy(usual)
    values = []
    for row in rows:
        name = names[row.algorithm]
        leaf: Tree = {leaf_of(collective, name): {}}
        needs = table.get("needs", {}).get(name, [])
        values.append((row.size, copy.deepcopy(usual) if name == DEFAULT else _if_right(leaf, needs, usual)))
    before = table.get("before_sizes")
    return _if_right(_steps(size_name(collective, known), values), [before] if before else [], usual)


def size_name(collective: str, known: Collectives) -> str:
    """The name of the size in conditions; empty if rules of the collective have no size."""
    return _KEYS.get(known.of[collective].get("in_rules", {}).get("sizes", ""), "")


def _steps(name: str, values: list[tuple[int, Tree]]) -> Tree:
    """``values``: each with its start, from small to large. Each holds up to the next start."""
    if len(values) == 1:
        return values[0][1]
    out = {f"{name}<={start - 1}": value for (_, value), (start, _) in itertools.pairwise(values)}
    return {**out, f"{name}=any": values[-1][1]}


def _if_right(leaf: Tree, needs: list[str], usual: Tree) -> Tree:
    """A tree with the leaf for calls for which all conditions hold. "not " stands before a condition that must not
    hold."""
    for need in reversed(needs):
        condition = need.removeprefix("not ")
        name, _, value = _parts(condition)
        other = f"{name}={'any' if value not in ('yes', 'no') else 'no' if value == 'yes' else 'yes'}"
        holds, fails = (leaf, copy.deepcopy(usual)) if condition == need else (copy.deepcopy(usual), leaf)
        leaf = {condition: holds, other: fails}
    return leaf


def with_leaf(tree: Tree, way: list[str], leaf: Tree) -> Tree:
    """A copy that has ``leaf`` in place of the end of ``way``."""
    out = copy.deepcopy(tree)
    place = out
    for key in way[:-2]:
        place = place[key]
    place[way[-2]] = leaf
    return out


def text(tree: Tree, about: list[str]) -> str:
    """The text of the file. ``about``: comments for its head."""
    out = "/* " + "\n   ".join(about) + " */\n" + json.dumps(tree, indent=1) + "\n"
    return out if len(out.encode()) % _PAGE else out + "\n"
