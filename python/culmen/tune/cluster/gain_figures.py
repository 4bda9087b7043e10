"""The figures of the page of ``culmen tune cluster``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from ...base.text import plural
from ...bench.words import shown_size
from ...launch.mpi.collectives import DEFAULT
from ...report.page import text
from ...report.style import GREY, LINE_COLOURS, Figure, axis, layout
from .averages import Average, averages
from .choices import Choice, Shape, Tuned

_MEAN = "The geometric mean over all message sizes of how many times faster a call is, with its confidence interval."


def figures_of(tuned: Tuned) -> Iterator[Figure]:
    means = list(averages(tuned))
    for name, group in groupby(tuned.choices, lambda c: c.place.collective):
        here = list(group)
        if name != "barrier":
            yield _against_size(name, here)
        if len({c.place.ranks for c in here}) > 1:
            of_it = [each for each in means if each.collective == name]
            yield _against_ranks(name, of_it)
            nodes = {each.ranks: tuned.shapes[name, each.ranks] for each in of_it}
            if len({shape.nodes for shape in nodes.values()}) > 1:
                yield _against_nodes(name, of_it, nodes)


def _against_size(name: str, here: list[Choice]) -> Figure:
    """Bars for each size, one colour for each number of ranks."""
    sizes = sorted({c.place.size for c in here})
    data = []
    for number, ranks in enumerate(sorted({c.place.ranks for c in here})):
        at = {c.place.size: c for c in here if c.place.ranks == ranks}
        there = [at[size] for size in sizes if size in at]
        data.append(
            {
                "type": "bar",
                "name": f"{ranks} ranks",
                "x": [shown_size(c.place.size) for c in there],
                "y": [c.times_faster for c in there],
                "marker": {"color": LINE_COLOURS[number % len(LINE_COLOURS)]},
                "error_y": _ends([(c.times_faster, _interval(c)) for c in there]),
                "hovertext": [text(_said(c)) for c in there],
                "hoverinfo": "text",
            }
        )
    about = (
        "How many times faster a call is with the chosen algorithm, with its confidence interval, from how much "
        "the launches differ. "
        "1: the MPI's own choice is kept."
    )
    plain = layout(height=380, margin={"l": 60, "r": 20, "t": 30, "b": 55})
    plain |= {
        "barmode": "group",
        "xaxis": axis("message size", type="category", categoryarray=[shown_size(size) for size in sizes]),
        "yaxis": axis("times faster", rangemode="tozero"),
        "shapes": [_line_at_one()],
    }
    return Figure(f"gain-{name}", f"{name}: gain against message size", about, data, plain)


def _against_ranks(name: str, means: Sequence[Average]) -> Figure:
    """The mean over the sizes."""
    ranks = [each.ranks for each in means]
    data = [{**_line(ranks, means, 0), "showlegend": False}]
    plain = _mean_layout("ranks", ranks)
    return Figure(f"mean-{name}", f"{name}: gain against the number of ranks", _MEAN, data, plain)


def _against_nodes(name: str, means: Sequence[Average], shapes: Mapping[int, Shape]) -> Figure:
    """The mean over the sizes. One line for each number of ranks per node."""
    data = []
    for number, ppn in enumerate(sorted({shape.ppn for shape in shapes.values()})):
        there = sorted((each for each in means if shapes[each.ranks].ppn == ppn), key=lambda each: each.ranks)
        line = _line([shapes[each.ranks].nodes for each in there], there, number)
        data.append({**line, "name": f"{plural(ppn, 'rank')} per node"})
    plain = _mean_layout("nodes", sorted({shape.nodes for shape in shapes.values()}))
    return Figure(f"nodes-{name}", f"{name}: gain against the number of nodes", _MEAN, data, plain)


def _line(x: Sequence[int], means: Sequence[Average], number: int) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": list(x),
        "y": [each.times_faster for each in means],
        "error_y": _ends([(each.times_faster, each.interval) for each in means]),
        "line": {"color": LINE_COLOURS[number % len(LINE_COLOURS)]},
        "marker": {"size": 8},
    }


def _mean_layout(what: str, values: Sequence[int]) -> dict[str, object]:
    plain = layout(height=320, margin={"l": 60, "r": 20, "t": 30, "b": 55})
    return plain | {
        "xaxis": axis(what, type="log", tickvals=list(values)),
        "yaxis": axis("times faster", rangemode="tozero"),
        "shapes": [_line_at_one()],
    }


def _interval(choice: Choice) -> tuple[float, float] | None:
    return (choice.gain.low, choice.gain.high) if choice.gain and choice.algorithm != DEFAULT else None


def _ends(values: Iterable[tuple[float, tuple[float, float] | None]]) -> dict[str, object]:
    """The error bars of values with intervals."""
    ends = [(value, interval or (value, value)) for value, interval in values]
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - value for value, (_, high) in ends],
        "arrayminus": [value - low for value, (low, _) in ends],
    }


def _said(choice: Choice) -> str:
    where = f"{choice.place.ranks} ranks, {shown_size(choice.place.size)}: {choice.algorithm}"
    gain = choice.gain
    if gain is None:
        return f"{where}; no other algorithm was faster in the race"
    found = f"{gain.times_faster:.3g} times faster ({gain.low:.3g} to {gain.high:.3g})"
    if choice.algorithm == DEFAULT:
        return f"{where}; {choice.candidate} was {found}, which is not beyond doubt"
    return f"{where}, {found}"


def _line_at_one() -> dict[str, object]:
    line = {"color": GREY, "width": 1, "dash": "dash"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": line}
