"""Digests of values. Equal values have equal digests in every process, even if they share objects or are deeply
nested."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from .shapes import LEAVES, Shape, digest, leaf_of, shape_of

_ROUNDS = 16  # of comparison with neighbours, at least
_COMPARISONS = 1 << 16
Part = str | int  # a digest; or the number of a value that contains itself


class _Node(NamedTuple):
    label: str
    parts: list[Part]
    ordered: bool


class _Open(NamedTuple):
    """A value that is being looked at."""

    value: Any
    number: int
    shape: Shape
    rest: Iterator[Any]
    parts: list[Part]


class Values:
    """Visits each object once. Therefore cycles end, and shared objects have no additional cost."""

    def __init__(self) -> None:
        self.unseen: list[str] = []  # types of the values that could not be compared
        self._known: dict[int, tuple[Any, Part]] = {}  # with the object, which keeps its id
        self._nodes: dict[int, _Node] = {}  # those that contain themselves
        self._found: dict[int, str] = {}
        self._numbers = 0

    def digest(self, value: Any) -> str:
        part = self._visited(value)
        if isinstance(part, int):
            for group in self._cycles(part):
                self._settle(group)
            return self._found[part]
        return part

    def _visited(self, value: Any) -> Part:
        whole = _Open(None, 0, Shape(""), iter([value]), [])
        stack = [whole]
        while True:
            top = stack[-1]
            deeper = self._first_unknown(top)
            if deeper is not None:
                stack.append(deeper)
                continue
            stack.pop()
            if top is whole:
                return top.parts[0]
            stack[-1].parts.append(self._closed(top))

    def _first_unknown(self, top: _Open) -> _Open | None:
        for value in top.rest:
            if type(value) in LEAVES:
                top.parts.append(leaf_of(value))
            elif (known := self._known.get(id(value))) is not None:
                top.parts.append(self._found.get(known[1], known[1]) if isinstance(known[1], int) else known[1])
            else:
                return self._opened(value)
        return None

    def _opened(self, value: Any) -> _Open:
        shape = shape_of(value)
        if shape.unseen and shape.unseen not in self.unseen:
            self.unseen.append(shape.unseen)
        self._numbers += 1
        self._known[id(value)] = value, self._numbers
        return _Open(value, self._numbers, shape, iter(shape.parts), [])

    def _closed(self, top: _Open) -> Part:
        part = _combined(top.shape.label, top.parts, top.shape.ordered)
        if part is None:
            self._nodes[top.number] = _Node(top.shape.label, top.parts, top.shape.ordered)
            return top.number
        self._known[id(top.value)] = top.value, part
        return part

    def _cycles(self, root: int) -> Iterator[list[int]]:
        """Groups of values that contain each other (Tarjan 1972). Each group comes after the groups that it
        contains."""
        order: dict[int, int] = {root: 0}
        lowest, path, on_path = {root: 0}, [root], {root}
        stack = [(root, self._inner(root))]
        while stack:
            node, rest = stack[-1]
            for inner in rest:
                if inner not in order:
                    order[inner] = lowest[inner] = len(order)
                    path.append(inner)
                    on_path.add(inner)
                    stack.append((inner, self._inner(inner)))
                    break
                if inner in on_path:
                    lowest[node] = min(lowest[node], order[inner])
            else:
                stack.pop()
                if stack:
                    lowest[stack[-1][0]] = min(lowest[stack[-1][0]], lowest[node])
                if lowest[node] == order[node]:
                    at = path.index(node) if path[-1] != node else len(path) - 1
                    group, path[at:] = path[at:], []
                    on_path.difference_update(group)
                    yield group

    def _inner(self, node: int) -> Iterator[int]:
        return (part for part in self._nodes[node].parts if isinstance(part, int) and part not in self._found)

    def _settle(self, group: list[int]) -> None:
        """Compares neighbours until no more values differ. Then the digest of each value depends on all values of the
        group."""
        colours = {number: digest(self._nodes[number].label) for number in group}
        for _ in range(max(_ROUNDS, _COMPARISONS // len(group))):
            finer = {number: self._coloured(self._nodes[number], colours) for number in group}
            settled = len(set(finer.values())) == len(set(colours.values()))
            colours = finer
            if settled:
                break
        whole = digest(*sorted(colours.values()))
        self._found.update((number, digest(colour, whole)) for number, colour in colours.items())

    def _coloured(self, node: _Node, colours: dict[int, str]) -> str:
        texts = (p if isinstance(p, str) else colours.get(p) or self._found[p] for p in node.parts)
        return _combined(node.label, list(texts), node.ordered) or ""


def _combined(label: str, parts: list[Part], ordered: bool) -> str | None:
    """None if a part is not known yet."""
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) < len(parts):
        return None
    return digest(label, *(texts if ordered else sorted(texts)))
