"""Rules of which the first one that fits holds."""

import heapq
from collections.abc import Iterator, Sequence

from .file import Span


def first_that_fit(spans: Sequence[Span]) -> Iterator[tuple[Span, int | None]]:
    """All values from 0 on, in pieces. For each piece, the place of the first span that contains it; None if no span
    does."""
    order = sorted(range(len(spans)), key=lambda place: spans[place][0])
    ends = [last + 1 for _, last in spans if last is not None]
    found: list[tuple[int, int | None]] = []  # from this value on
    open_places: list[int] = []
    begun = 0
    for edge in sorted({0, *(first for first, _ in spans), *ends}):
        while begun < len(order) and spans[order[begun]][0] <= edge:
            heapq.heappush(open_places, order[begun])
            begun += 1
        while open_places and _ends_before(spans[open_places[0]], edge):
            heapq.heappop(open_places)
        place = open_places[0] if open_places else None
        if not found or found[-1][1] != place:
            found.append((edge, place))
    for (first, place), last in zip(found, [*(first - 1 for first, _ in found[1:]), None], strict=True):
        yield (first, last), place


def _ends_before(span: Span, edge: int) -> bool:
    return span[1] is not None and span[1] < edge
