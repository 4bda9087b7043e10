"""The result of a tuning, as one HTML page."""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

from ...bench.drawing import lead_of
from ...report.page import Section, page, place_of, preformatted, table, text
from ...report.style import GREY, LINE_COLOURS, Figure, axis, layout
from .results import HEADINGS, Tuned, rows_of, sentences

_MARGIN = {"l": 70, "r": 20, "t": 30, "b": 55}


def tuning_page(
    name: str,
    tuned: Tuned,
    command: str = "culmen tune command",
    more: Sequence[Section] = (),
    drawn: Sequence[Figure] = (),
) -> str:
    """The HTML page. ``name``: the name of the recipe. ``command``: the command that writes the page. ``more``:
    sections after the verdict. ``drawn``: figures before the others."""
    figures = [*drawn, *_figures(tuned)]
    verdict = "".join(f"<p>{text(sentence)}</p>" for sentence in sentences(tuned))
    sections = [
        Section("verdict", "Verdict", verdict),
        *more,
        *_logs(tuned),
        Section("settings", "Settings", table(rows_of(tuned), HEADINGS, numbers=(1, 2, 3))),
        *(Section(f"section-{figure.key}", figure.title, place_of(figure)) for figure in figures),
    ]
    return page(f"Settings of {name}", lead_of(command), sections, figures)


def _logs(tuned: Tuned) -> Iterator[Section]:
    """The ends of the logs of builds that failed."""
    failed = [each for each in tuned.failures if each.end]
    parts = (f"<p>{text(each.why)}</p>{preformatted(chr(10).join(each.end))}" for each in failed)
    if failed:
        yield Section("logs", "Ends of the logs of failed builds", "".join(parts))


def _figures(tuned: Tuned) -> Iterator[Figure]:
    if tuned.compared is not None:
        yield _comparison(tuned.compared.rounds, tuned.goal)
    if tuned.effects:
        yield _effects(tuned)
    yield _search(tuned)


def _comparison(pairs: list[tuple[float, float]], goal: str) -> Figure:
    rounds = list(range(1, len(pairs) + 1))
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": rounds,
            "y": [None if math.isnan(pair[k]) else pair[k] for pair in pairs],
            "line": {"color": colour},
            "marker": {"size": 8},
        }
        for k, (name, colour) in enumerate((("present settings", GREY), ("best found", LINE_COLOURS[0])))
    ]
    about = "Runs with both settings, in turns. Only these runs decide."
    plain = layout(height=340, margin=_MARGIN)
    plain |= {"xaxis": axis("round", dtick=1), "yaxis": axis(goal, rangemode="tozero")}
    return Figure("comparison", "Present and best settings", about, data, plain)


def _effects(tuned: Tuned) -> Figure:
    effects = tuned.effects[::-1]  # the largest one stands at the top
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": [effect.size for effect in effects],
            "y": [effect.name for effect in effects],
            "marker": {"color": [LINE_COLOURS[0] if effect.matters else GREY for effect in effects]},
            "error_x": {
                "type": "data",
                "symmetric": False,
                "array": [max(0.0, effect.high - effect.size) for effect in effects],
                "arrayminus": [max(0.0, effect.size - effect.low) for effect in effects],
            },
            "showlegend": False,
        }
    ]
    about = (
        "The worst over the best value of a parameter, all else equal, and its range in resampled runs. Grey: not seen."
    )
    plain = layout(height=120 + 32 * len(effects), margin={**_MARGIN, "l": 160})
    plain |= {"xaxis": axis("worst / best value"), "yaxis": axis("", type="category")}
    return Figure("effects", "What the parameters do", about, data, plain)


def _search(tuned: Tuned) -> Figure:
    better = max if tuned.maximize else min
    worst = -math.inf if tuned.maximize else math.inf
    known = [worst if math.isnan(value) else value for value in tuned.values]
    best = [value if math.isfinite(value) else None for value in accumulate(known, better)]
    runs = list(range(1, len(known) + 1))
    data = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "runs",
            "x": runs,
            "y": [value if math.isfinite(value) else None for value in known],
            "marker": {"color": GREY, "size": 6},
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": "best so far",
            "x": runs,
            "y": best,
            "line": {"color": LINE_COLOURS[0], "shape": "hv"},
        },
    ]
    about = "The runs of the search. The best single run may be luck."
    plain = layout(height=360, margin=_MARGIN)
    plain |= {"xaxis": axis("run"), "yaxis": axis(tuned.goal, rangemode="tozero")}
    return Figure("search", "The search", about, data, plain)
