"""The plots of a table of collectives, as one HTML page."""

import math
from collections.abc import Iterator, Sequence

from ...launch.mpi.collectives import DEFAULT
from ...report.heat_map import heat_map
from ...report.page import Section, page, place_of, table, text
from ...report.style import Figure, key_of, layout
from ..drawing import lead_of
from ..words import shown_size
from .lines import against_ranks, against_size
from .points import BARRIERS
from .samples import Table
from .winners import Winner, headings, rows_of

_ABOUT = "The median time of a call, with its interval of 95 %."
_RATE = "The message size divided by the median time of a call, with its interval of 95 %."


def collectives_page(found: Table, won: Sequence[Winner], baseline: str = DEFAULT) -> str:
    """The HTML page. ``won``: the winners of the table. ``baseline``: the algorithm that others are compared with."""
    figures = list(_figures(found, won, baseline))
    versions = sorted({point.version for point in found.points.values()})
    lead = lead_of("culmen bench collectives", ", ".join(versions))
    sections = [Section(f"section-{f.key}", f.title, place_of(f)) for f in figures]
    sections.append(
        Section("winners", "Fastest algorithms", table(rows_of(won, baseline), headings(baseline), numbers=(2, 5, 6)))
    )
    return page("Collectives", lead, sections, figures)


def _figures(found: Table, won: Sequence[Winner], baseline: str = DEFAULT) -> Iterator[Figure]:
    yield from _comparisons(found)
    for mpi, collective in sorted({key[:2] for key in found.points}):
        here = [w for w in won if (w.mpi, w.collective) == (mpi, collective)]
        points = {key: point for key, point in found.points.items() if key[:2] == (mpi, collective)}
        if collective not in BARRIERS:
            if any(w.compared for w in here):
                yield _map(mpi, collective, [w for w in here if w.compared], baseline)
            yield against_size(points, mpi, collective, _ABOUT, baseline)
        yield against_ranks(points, mpi, collective, _ABOUT, baseline)
        if collective not in BARRIERS:
            yield against_size(points, mpi, collective, _RATE, baseline, rate=True)
            yield against_ranks(points, mpi, collective, _RATE, baseline, rate=True)


def _comparisons(found: Table) -> Iterator[Figure]:
    """If there are several partitions: the MPI's own choice on each of them."""
    if not found.several_partitions:
        return
    points = {
        key._replace(mpi="partitions", algorithm=key.mpi): point
        for key, point in found.points.items()
        if key.algorithm == DEFAULT
    }
    about = "The median time of a call with the MPI's own choice, with its interval of 95 %, on each partition."
    for collective in sorted({key.collective for key in points}):
        here = {key: point for key, point in points.items() if key.collective == collective}
        if collective not in BARRIERS:
            yield against_size(here, "partitions", collective, about)
        yield against_ranks(here, "partitions", collective, about)


def _map(mpi: str, collective: str, won: list[Winner], baseline: str) -> Figure:
    """Ranks × size, with the name of the fastest algorithm."""
    ranks, sizes = sorted({w.ranks for w in won}), sorted({w.size for w in won})
    at = {(w.ranks, w.size): w for w in won}
    cells = [[at.get((n, size)) for size in sizes] for n in ranks]
    about = (
        f"Each cell names the fastest algorithm. The colour shows how many times faster it is than {baseline}. "
        f"White: {baseline}, which no other algorithm beats beyond doubt."
    )
    gains = [[math.log2(w.gain) if w else None for w in row] for row in cells]
    most = math.ceil(max(1.0, *(math.log2(w.gain) for w in won)))
    ticks = {"tickvals": list(range(most + 1)), "ticktext": [str(2**k) for k in range(most + 1)]}
    data, parts = heat_map(
        [shown_size(size) for size in sizes],
        [str(n) for n in ranks],
        gains,
        [[_said(w, baseline) if w else "" for w in row] for row in cells],
        {"title": {"text": "times faster"}, **ticks},
        [[text(w.name) if w and w.name != baseline else "" for w in row] for row in cells],
    )
    plain = layout(height=max(260, 120 + 34 * len(ranks))) | parts
    plain["xaxis"]["title"], plain["yaxis"]["title"] = {"text": "message size"}, {"text": "ranks"}
    return Figure(key_of("map", mpi, collective), f"{collective}, {mpi}: the fastest algorithm", about, data, plain)


def _said(w: Winner, baseline: str) -> str:
    us = w.found.interval.median * 1e6
    gain = "" if w.name == baseline else f", {w.gain:.3g} times faster ({w.least_gain:.3g} to {w.most_gain:.3g})"
    return text(f"{w.ranks} ranks, {shown_size(w.size)}: {w.name}, {us:.3g} µs{gain}")
