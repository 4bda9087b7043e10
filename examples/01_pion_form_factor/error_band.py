"""Draws the data, the best fit and its band of one standard deviation: python error_band.py [STORE] [PAGE.html]"""

import sys

import numpy as np
import plotly.graph_objects as go
from pion_form_factor import DATA, form_factor
from plotly.subplots import make_subplots

import culmen

BLUE, PALE, DARK = "#0072b2", "rgba(0, 114, 178, 0.3)", "#222222"


def curve(p: dict[str, float], s: np.ndarray) -> np.ndarray:
    return np.array([abs(form_factor(x, p)) ** 2 for x in s])


def band(errors: culmen.Errors, s: np.ndarray) -> np.ndarray:
    """The standard deviation of the curve: √(gᵀ C g).

    C is the covariance of the parameters. g are the derivatives of the curve, from central differences. Each step is a
    hundredth of the error of a parameter.
    """
    best = {p.name: p.value for p in errors.parameters}
    slopes = []
    for name in errors.free:
        step = 0.01 * errors[name].error
        up, down = ({**best, name: best[name] + side * step} for side in (1, -1))
        slopes.append((curve(up, s) - curve(down, s)) / (2 * step))
    return np.sqrt(np.einsum("is,ij,js->s", slopes, errors.covariance, slopes))


def draw(errors: culmen.Errors) -> go.Figure:
    best = {p.name: p.value for p in errors.parameters}
    s, measured, sigma = np.array(DATA).T
    x = np.linspace(s[0], s[-1], 300)
    fit, width = curve(best, x), band(errors, x)
    at_data = curve(best, s)
    title = f"χ² = {errors.value:.2f}, dof = {errors.dof}"
    figure = make_subplots(rows=2, shared_xaxes=True, row_heights=[0.65, 0.35], vertical_spacing=0.04)
    rows = [
        (1, fit, width, measured, sigma),
        (2, 0 * x, 100 * width / fit, 100 * (measured / at_data - 1), 100 * sigma / at_data),
    ]
    for row, middle, half, points, bars in rows:
        shown = row == 1
        figure.add_scatter(
            x=[*x, *x[::-1]],
            y=[*(middle + half), *(middle - half)[::-1]],
            fill="toself",
            fillcolor=PALE,
            line_width=0,
            hoverinfo="skip",
            name="± 1σ",
            showlegend=shown,
            row=row,
            col=1,
        )
        figure.add_scatter(x=x, y=middle, line_color=BLUE, name="best fit", showlegend=shown, row=row, col=1)
        figure.add_scatter(
            x=s,
            y=points,
            error_y={"array": bars, "color": DARK},
            mode="markers",
            marker_color=DARK,
            name="CMD-2 (2007)",
            showlegend=shown,
            row=row,
            col=1,
        )
    figure.update_yaxes(title="|F<sub>π</sub>|²", row=1, col=1)
    figure.update_yaxes(title="data / fit − 1 (%)", row=2, col=1)
    figure.update_xaxes(title="s (GeV²)", row=2, col=1)
    return figure.update_layout(template="simple_white", title=title, width=900, height=700)


def main() -> None:
    store, page = [*sys.argv[1:], *("pion_form_factor.db", "error_band.html")[len(sys.argv) - 1 :]]
    draw(culmen.errors(store)).write_html(page)  # the page contains plotly.js and needs no network
    print(f"written: {page}")


if __name__ == "__main__":
    main()
