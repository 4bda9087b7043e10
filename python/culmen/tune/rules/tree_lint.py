"""What a tree of MPICH really does, in words, and what is wrong with it."""

from collections.abc import Iterator
from pathlib import Path

from ...bench.words import shown_size
from ...launch.mpi.collectives import Collectives
from .trees import OF_ALL, Call, Tree, Trees, size_name, way_to_leaf
from .tried import Expected, beside

_LARGEST = 2**26  # bytes of a message that a test sends
_SHOWN = 5
Row = tuple[str, int, int, int | None, str]  # collective, ranks, first and last size (None: no end), algorithm


class TreeLint:
    """``built_in``: the trees of the library, with which the file is compared. ``most_ranks``: numbers of ranks up to
    this one are looked at, within one node."""

    def __init__(self, tree: Tree, built_in: Trees, known: Collectives, most_ranks: int) -> None:
        self._tree, self._built_in, self._known, self._most_ranks = tree, built_in, known, most_ranks

    def findings(self, path: Path) -> Iterator[str]:
        """``path``: of the file."""
        missing = [key.partition("=")[2] for key in self._built_in.algorithms if key not in self._tree]
        if missing:
            more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
            yield f"The file has nothing for {', '.join(missing[:_SHOWN])}{more}: programs that call them end."
        unknown = sorted(set(_leaves(self._tree)) - set(_leaves(self._built_in.algorithms)) - self._names())
        if unknown:
            yield f"culmen does not know {', '.join(unknown)}: if MPICH does not, it ends every program in MPI_Init."
        for name in self._known.of:
            if self._wrong_size(name):
                yield f"{name}: MPICH has only {size_name(name, self._known)} for it; calls end the program."
        for name in _never(self._tree):
            yield f"{name} never holds: a condition before it is true for the same calls."
        before = [key.partition("=")[2] for key in self._built_in.node if key in self._tree]
        if not beside(path).exists():
            yield (
                f"There is no {beside(path).name}, so MPICH may use the node's own ways for {', '.join(before)}, and "
                "asks this file only where it does not."
            )

    def differences(self) -> list[Row]:
        """Where the file has another algorithm than the library, for calls within one node."""
        out: list[Row] = []
        for name in self._known.of:
            if f"collective={name}" not in self._tree or self._wrong_size(name):
                continue
            for ranks in range(2, self._most_ranks + 1):
                out += self._of(name, ranks)
        return out

    def expected(self) -> Iterator[Expected]:
        """A call for each difference."""
        for name, ranks, first, last, leaf in self.differences():
            if not leaf.startswith("MPIR_") or name not in self._known.of:
                continue
            size = min(-(-max(first, 1) // 8) * 8, last if last is not None else _LARGEST)
            short = leaf.removeprefix(f"MPIR_{name.capitalize()}_").partition("_")[2]
            if "in_rules" in self._known.of[name] and size % 8 == 0 and size <= _LARGEST:
                yield Expected(name, ranks, 0 if name == "barrier" else size, short)

    def _of(self, name: str, ranks: int) -> Iterator[Row]:
        starts = sorted({0, *_sizes(self._tree, ranks), *_sizes(self._built_in.algorithms, ranks)})
        spans: list[Row] = []
        for first, following in zip(starts, [*starts[1:], None], strict=True):
            call = Call(name, ranks, first, OF_ALL)
            own, usual = (_leaf(tree, call) for tree in (self._tree, self._built_in.algorithms))
            last = None if following is None else following - 1
            if own == usual:
                continue
            if spans and (spans[-1][4], spans[-1][3]) == (own, first - 1):
                first = spans.pop()[2]
            spans.append((name, ranks, first, last, own))
        yield from spans

    def _names(self) -> set[str]:
        return {
            f"algorithm=MPIR_{name.capitalize()}_{kind}_{each}"
            for name, table in self._known.of.items()
            for each in table["algorithms"]
            for kind in ("intra", "allcomm")
        }

    def _wrong_size(self, name: str) -> bool:
        """Whether the tree asks for a size that MPICH does not have for this collective."""
        has = size_name(name, self._known)
        keys = set(_keys(self._tree.get(f"collective={name}", {})))
        asked = {key.partition("<")[0].partition("=")[0] for key in keys if key.startswith(("avg_msg", "total_msg"))}
        return bool(has) and bool(asked - {has})


def _leaf(tree: Tree, call: Call) -> str:
    way = way_to_leaf(tree, call)
    return way[-1].partition("=")[2] if way and way[-1].startswith("algorithm=") else "nothing: the program ends"


def _keys(tree: Tree) -> Iterator[str]:
    for key, below in tree.items():
        yield key
        yield from _keys(below)


def _leaves(tree: Tree) -> Iterator[str]:
    return (key for key in _keys(tree) if key.startswith("algorithm="))


def _sizes(tree: Tree, ranks: int) -> Iterator[int]:
    """The first sizes that conditions are not true for; all that follow are in the same span."""
    for key in _keys(tree):
        name, sign, value = key.partition("<")
        if sign and name in ("avg_msg_size", "total_msg_size", "count") and value.strip("=").isdigit():
            end = int(value.strip("=")) + value.startswith("=")
            yield -(-end // ranks) if name == "total_msg_size" else end * 4 if name == "count" else end


def _never(tree: Tree) -> Iterator[str]:
    """Conditions after one that is always true, or after a larger bound of the same kind."""
    seen: dict[str, int] = {}
    for key, below in tree.items():
        name, sign, value = key.partition("<")
        bound = int(value.strip("=")) + value.startswith("=") if sign and value.strip("=").isdigit() else None
        if "" in seen or (bound is not None and bound <= seen.get(name, -1)):
            yield key
        elif bound is not None:
            seen[name] = bound
        if key.endswith("=any") or key.startswith("algorithm="):
            seen[""] = 0
        yield from _never(below)


def in_words(rows: list[Row]) -> list[list[str]]:
    """For a table: the same for several numbers of ranks is one line."""
    out: list[tuple[Row, int]] = []
    for row in sorted(rows, key=lambda row: (row[0], row[2], row[4], row[1])):
        if out and (out[-1][0][0], *out[-1][0][2:]) == (row[0], *row[2:]) and out[-1][1] == row[1] - 1:
            out[-1] = (out[-1][0], row[1])
        else:
            out.append((row, row[1]))
    return [
        [name, f"{low} – {high}" if high > low else str(low), _shown(first, last), leaf]
        for (name, low, first, last, leaf), high in out
    ]


def _shown(first: int, last: int | None) -> str:
    if last is None:
        return "all" if not first else f"from {shown_size(first)}"
    if not first:
        return f"up to {shown_size(last)}"
    return shown_size(first) if first == last else f"{shown_size(first)} – {shown_size(last)}"
