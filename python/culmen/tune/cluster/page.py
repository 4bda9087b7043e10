"""The gains: a table for the terminal, and plots on one HTML page."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ...base.text import plural, span_of
from ...bench.drawing import lead_of
from ...bench.words import shown_size
from ...launch.mpi.collectives import DEFAULT
from ...report.page import Section, page, place_of, table, text
from ...report.style import GREY, LINE_COLOURS, Figure, axis, layout
from .averages import Average, averages
from .choices import Choice, Shape, Tuned

HEADINGS = ["collective", "ranks", "size", "algorithm", "default in µs", "algorithm in µs", "times faster", "from – to"]
TEXTS = (HEADINGS[0], HEADINGS[2], HEADINGS[3], HEADINGS[7])


def rows_of(choices: Sequence[Choice]) -> list[list[str]]:
    """Neighbouring sizes with the same algorithm share a line."""
    out = []
    for _, group in groupby(choices, lambda c: (c.place.collective, c.place.ranks, c.algorithm)):
        same = list(group)
        first, last = same[0], same[-1]
        sizes = [shown_size(each.place.size) for each in (first, last)]
        gains = [each.gain for each in same if each.gain is not None]
        row = [first.place.collective, str(first.place.ranks)]
        row += [
            "–" if first.place.collective == "barrier" else sizes[0] if first is last else " – ".join(sizes),
            first.algorithm,
            span_of([1e6 * each.default_s for each in same]),
        ]
        if first.algorithm == DEFAULT:
            out.append([*row, "–", "–", "–"])
            continue
        row += [span_of([1e6 * each.candidate_s for each in same]), span_of([g.times_faster for g in gains])]
        out.append([*row, f"{min(g.low for g in gains):.3g} – {max(g.high for g in gains):.3g}"])
    return out


def lost_rows(tuned: Tuned) -> list[list[str]]:
    """Collective, ranks, message sizes, algorithm, reason: sizes with the same reason share a line."""
    sizes: dict[tuple[str, int, str, str], list[int]] = defaultdict(list)
    for (name, ranks, size, algorithm), why in tuned.lost.items():
        sizes[name, ranks, algorithm, why].append(size)
    places: dict[tuple[str, int], set[int]] = defaultdict(set)
    for place in (*(choice.place for choice in tuned.choices), *tuned.unmeasured):
        places[place.collective, place.ranks].add(place.size)
    out = []
    for (name, ranks, algorithm, why), there in sizes.items():
        whole = places[name, ranks] <= set(there)
        out.append([name, str(ranks), "all" if whole else ", ".join(map(shown_size, sorted(there))), algorithm, why])
    return out


def about_slow(tuned: Tuned) -> str:
    """Empty if no algorithm was left out."""
    if not tuned.slow:
        return ""
    what = plural(tuned.slow, "combination")
    return f"culmen did not measure {what} of algorithm and point: the models of `culmen model` predict long times."


def about_shapes(tuned: Tuned, within_node: bool) -> str:
    """Sentences about the nodes of the ranks, and about where the rules hold. ``within_node``: the rules hold only for
    ranks of one node."""
    by_ranks = sorted({(ranks, shape) for (_, ranks), shape in tuned.shapes.items()})
    said = [f"{ranks} ranks on {_on(shape)}" for ranks, shape in by_ranks]
    if within_node:
        return f"Measured with {', '.join(said)}. The rules hold only within one node."
    return f"Measured with {', '.join(said)}. The rules also hold if so many ranks are on other numbers of nodes."


def _on(shape: Shape) -> str:
    return "1 node" if shape.nodes == 1 else f"{shape.nodes} nodes (at most {shape.ppn} on one)"


def tuning_page(tuned: Tuned, use: str, machine: str, within_node: bool = False, more: Sequence[Section] = ()) -> str:
    """The HTML page. ``use``: the commands that use the choices. ``machine``: the machine of the measurement.
    ``within_node``: see about_shapes. ``more``: sections after the first one."""
    figures = list(_figures(tuned))
    lead = lead_of("culmen tune cluster", here=False)
    lead += f"<p>{text(f'{tuned.version}; {machine}. {about_shapes(tuned, within_node)}')}</p>"
    sections = [Section("use", "Use the choices", f"<pre>{text(use)}</pre>"), *more]
    sections.append(Section("averages", "Average over all message sizes", _averages(tuned)))
    sections += [Section(f"section-{f.key}", f.title, place_of(f)) for f in figures]
    left_out = f"<p>{text(about_slow(tuned))}</p>" if tuned.slow else ""
    choices = table(rows_of(tuned.choices), HEADINGS, numbers=(1, 4, 5, 6))
    sections.append(Section("choices", "All choices", choices + left_out))
    if tuned.lost:
        headings = ["collective", "ranks", "message sizes", "algorithm", "reason"]
        about = table(lost_rows(tuned), headings, numbers=(1,))
        sections.append(Section("lost", "Algorithms that were not used", about))
    return page("Tuned collectives", lead, sections, figures)


def _averages(tuned: Tuned) -> str:
    rows = [
        [each.collective, str(each.ranks), str(each.points), f"{each.times_faster:.3g}", _from_to(each.interval)]
        for each in averages(tuned)
    ]
    about = (
        "The geometric mean over all message sizes. A point that keeps the default counts as 1. The interval comes "
        "from the launches: each launch gives one mean."
    )
    headings = ["collective", "ranks", "message sizes", "times faster (geometric mean)", "from – to"]
    return f"<p>{about}</p>" + table(rows, headings, numbers=(1, 2, 3))


def _from_to(interval: tuple[float, float] | None) -> str:
    return f"{interval[0]:.3g} – {interval[1]:.3g}" if interval else "–"


def _figures(tuned: Tuned) -> Iterator[Figure]:
    means = list(averages(tuned))
    for name, group in groupby(tuned.choices, lambda c: c.place.collective):
        here = list(group)
        if name != "barrier":
            yield _against_size(name, here)
        if len({c.place.ranks for c in here}) > 1:
            yield _against_ranks(name, [each for each in means if each.collective == name])


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
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": ranks,
            "y": [each.times_faster for each in means],
            "error_y": _ends([(each.times_faster, each.interval) for each in means]),
            "line": {"color": LINE_COLOURS[0]},
            "marker": {"size": 8},
            "showlegend": False,
        }
    ]
    about = (
        "The geometric mean over all message sizes of how many times faster a call is, with its confidence interval."
    )
    plain = layout(height=320, margin={"l": 60, "r": 20, "t": 30, "b": 55})
    plain |= {
        "xaxis": axis("ranks", type="log", tickvals=ranks),
        "yaxis": axis("times faster", rangemode="tozero"),
        "shapes": [_line_at_one()],
    }
    return Figure(f"mean-{name}", f"{name}: gain against the number of ranks", about, data, plain)


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
