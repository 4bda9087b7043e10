"""Draws what the studies found as one page: python plots.py [PAGE.html]

It reads the folders that `culmen tune command` has written for the four techniques, together.toml and scaling.toml.
Figures of studies that have not run stay empty.
"""

import sys
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from together import SCALING, TECHNIQUES, result_of

import culmen

BLUE, ORANGE, GREY, DARK = "#0072b2", "#e69f00", "#8a8a8a", "#222222"  # of Okabe and Ito
TITLES = ("Time without reading and writing", "Time of reading and writing", "Each technique alone, and all together")


def times(columns: tuple[str, ...], tuned: bool) -> tuple[list[int], np.ndarray]:
    """Numbers of ranks; rows of the lower quartile, the median and the upper quartile of the sum of these columns."""
    store = Path("tune-scaling") / "search.db"
    if not store.exists():
        return [], np.zeros((0, 3))
    found = culmen.read(store)
    seconds = sum(np.asarray(found.columns[name], dtype=float) for name in columns)
    of: dict[int, list[float]] = {}
    for run, each_s in zip(found.columns["run"], seconds, strict=True):
        ranks, is_tuned = SCALING[int(run)]
        if is_tuned == tuned and np.isfinite(each_s):
            of.setdefault(ranks, []).append(each_s)
    rows = [np.quantile(of[ranks], [0.25, 0.5, 0.75]) for ranks in sorted(of)]
    return sorted(of), np.array(rows).reshape(-1, 3)


def add_times(figure: go.Figure, row: int, name: str, columns: tuple[str, ...], tuned: bool, dash: str) -> None:
    ranks, rows = times(columns, tuned)
    low, middle, high = rows.T
    figure.add_scatter(
        x=ranks,
        y=middle,
        error_y={"array": high - middle, "arrayminus": middle - low},
        name=name,
        mode="lines+markers",
        line={"color": BLUE if tuned else ORANGE, "dash": dash},
        legendgroup=str(row),
        row=row,
        col=1,
    )


def add_ideal(figure: go.Figure) -> None:
    ranks, rows = times(("compute_s",), False)
    if ranks:
        ideal = [rows[0, 1] * ranks[0] / each for each in ranks]
        line = {"color": DARK, "dash": "dot"}
        figure.add_scatter(x=ranks, y=ideal, name="ideal", mode="lines", line=line, legendgroup="1", row=1, col=1)


def add_waterfall(figure: go.Figure) -> None:
    """The time that remains, in percent of the present time. Grey: culmen says to keep the present settings."""
    figure.add_bar(x=["present"], y=[100], marker_color=ORANGE, showlegend=False, row=3, col=1)
    for study in (*TECHNIQUES, "together"):
        result = result_of(study)
        verdict = result and result["comparison"]
        if result is None:
            continue
        gain, low, high = (100 * verdict[key] if verdict else 0.0 for key in ("gain", "low", "high"))
        better = result["use"] == "best_found"
        total = study == "together"
        figure.add_bar(
            x=[study],
            base=[0 if total else 100],
            y=[100 - gain if total else -gain],
            error_y={"array": [gain - low], "arrayminus": [high - gain], "color": DARK, "visible": verdict is not None},
            marker={"color": BLUE if better else GREY},
            hovertext=f"{gain:.1f} % less time, interval of 95 %: {low:.1f} to {high:.1f} %",
            showlegend=False,
            row=3,
            col=1,
        )
        text = f"{gain:.1f} % less<br>({low:.1f} to {high:.1f})" if verdict else "nothing<br>better found"
        figure.add_annotation(x=study, y=118, text=text, showarrow=False, row=3, col=1)


def draw() -> go.Figure:
    figure = make_subplots(rows=3, subplot_titles=TITLES, vertical_spacing=0.1)
    for tuned, when in ((False, "before"), (True, "after")):
        add_times(figure, 1, f"compute, {when}", ("compute_s",), tuned, "solid")
        add_times(figure, 2, f"write, {when}", ("write_s",), tuned, "solid")
        add_times(figure, 2, f"read, {when}", ("read_s",), tuned, "dash")
    add_ideal(figure)
    add_waterfall(figure)
    for row in (1, 2):
        figure.update_xaxes(title="ranks", type="log", tickvals=sorted({ranks for ranks, _ in SCALING}), row=row, col=1)
        figure.update_yaxes(title="s", rangemode="tozero", row=row, col=1)
    figure.update_yaxes(title="time in % of present", range=[0, 130], row=3, col=1)
    return figure.update_layout(template="simple_white", width=900, height=1300, legend_tracegroupgap=380)


def main() -> None:
    page = sys.argv[1] if len(sys.argv) > 1 else "techniques.html"
    draw().write_html(page)  # the page contains plotly.js and needs no network
    print(f"written: {page}")


if __name__ == "__main__":
    main()
