"""The figures of a report: nothing overlaps or runs off the page, and each shows what it says."""

import json
import math
import os
import re
from pathlib import Path
from urllib.parse import unquote

import browser
import numpy as np
import pytest
from culmen.report.build import report
from culmen.report.convergence import by_evaluations
from culmen.report.landscape import against_value, slices
from culmen.report.parallel import parallel
from culmen.report.results import residuals
from culmen.report.scales import logarithmic
from culmen.report.style import breadth, short_names
from store_builder import BEGUN_S, build

import culmen

WIDTHS = (1000, 1300, 1920)
METHODS = ["incomplete_cholesky_with_threshold", "algebraic_multigrid", "broken_on_this_machine", "none"]
FIRST, SECOND = f"method == '{METHODS[0]}'", f"method == '{METHODS[1]}'"
REAL = {"type": "real", "lower": -1.0, "upper": 1.0}
THREE = {
    "x": {**REAL, "lower": -5.0, "upper": 5.0},
    "temperature": {"type": "real", "lower": 1.0, "upper": 1e5, "scale": "log"},
    "method": {"type": "categorical", "choices": METHODS},
}
TWELVE = {
    "relaxation_factor_of_the_outer_iteration": {**REAL, "lower": 0.7012, "upper": 0.7019},
    "method": {"type": "categorical", "choices": METHODS},
    "drop_tolerance": {"type": "real", "lower": 1e-8, "upper": 0.1, "scale": "log", "active_when": FIRST},
    "fill_level": {"type": "integer", "lower": 0, "upper": 3, "active_when": FIRST},
    "levels": {"type": "integer", "lower": 100_000, "upper": 100_004, "active_when": SECOND},
    "smoother": {"type": "ordinal", "choices": ["gauss-seidel", "jacobi", "chebyshev"], "active_when": SECOND},
    "pin": {"type": "boolean"},
    "threads": {"type": "integer", "lower": 1, "upper": 64, "scale": "log"},
    **{f"w{k}": REAL for k in range(4)},
}
FORTY = {f"coefficient_{k:02}{'_of_a_long_expansion' if k % 3 else ''}": REAL for k in range(36)}
for many in (4, 16, 28, 40):
    FORTY[f"kind_{many}"] = {"type": "categorical", "choices": [f"choice number {n}" for n in range(many)]}


def study(folder: Path, space: dict, objectives=("value",), evaluations=300, **more):
    """Random candidates. The third method always fails; every ninth evaluation violates a limit."""
    rng = np.random.default_rng(5)
    kinds = list(space.values())
    candidates = [[_number(kind, rng) for kind in kinds] for _ in range(evaluations)]
    method = list(space).index("method") if "method" in space else None
    outcomes = {}
    for i, x in enumerate(candidates):
        values = [abs(x[0]) + 10.0 ** rng.uniform(-3, 3), *rng.normal(size=len(objectives) - 1)]
        outcomes[i] = {"values": values, "violation": float(i % 9 == 0)}
        if method is not None and x[method] == 2:
            outcomes[i] = {"status": "failed", "message": "illegal instruction"}
        outcomes[i] |= {"worker": i % 3, "at_s": BEGUN_S + i, "duration_s": 1.0}
    ways = {name: "maximize" if k == 1 else "minimize" for k, name in enumerate(objectives)}
    configuration = {"name": "a name of a study, " * 5, "space": space, "objectives": ways, "seed": 1, **more}
    return culmen.read(build(folder / "study.db", candidates, outcomes, configuration=configuration))


def _number(kind: dict, rng) -> float:
    if kind["type"] in ("categorical", "ordinal", "boolean"):
        return float(rng.integers(len(kind.get("choices", "no"))))
    low, high = kind["lower"], kind["upper"]
    x = math.exp(rng.uniform(math.log(low), math.log(high))) if kind.get("scale") == "log" else rng.uniform(low, high)
    return float(round(x)) if kind["type"] == "integer" else float(x)


LONG = ("energy_per_particle_in_millihartree", "wall_time_of_all_the_steps_s", "accuracy", "memory_on_the_first_node")
CAPITALS = {f"{'W' * 28 if k % 2 else 'MAXIMUM_TEMPERATURE_OF_WALL'}_{k}": REAL for k in range(13)}
STUDIES = {
    "three": (THREE,),
    "twelve": (TWELVE,),
    "forty": (FORTY,),
    "capitals": (CAPITALS,),
    "pareto": (THREE, LONG),
    "two": (THREE, LONG[:2]),
}
SLOW = ("forty", "capitals", "two")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in STUDIES]
)
def test_nothing_overlaps_or_runs_off_the_page(name, tmp_path):
    chromium = browser.find()
    if chromium is None:
        assert not os.environ.get("CI"), "CI has no browser: .ci/run installs one"
        pytest.skip("there is no browser; CONTRIBUTING.md says how to get one")
    text = report(study(tmp_path, *STUDIES[name]))
    seen = measured(text, tmp_path, chromium)
    assert sorted(seen) == list(WIDTHS)
    for width, found in seen.items():
        assert found["texts"] > 50, width
        assert not found["wrong"], f"{width} pixels: {found['wrong'][:20]}"


def measured(text: str, folder: Path, chromium: str) -> dict:
    """The measurements of measure.js on the page, by the page's width."""
    script = Path(__file__).with_name("measure.js").read_text()
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    (folder / "page.html").write_text(text.replace("</body>", f"<script>{script}</script></body>"))
    frames = "".join(f'<iframe src="page.html" style="width:{w}px;height:900px;border:0"></iframe>' for w in WIDTHS)
    around = f"""<!DOCTYPE html><script>
        window.addEventListener("message", (e) => {{
            document.body.insertAdjacentHTML("beforeend", "<pre class=found></pre>");
            document.body.lastChild.textContent = encodeURIComponent(JSON.stringify(e.data));
        }});</script><body>{frames}</body>"""
    (folder / "around.html").write_text(around)
    shown = browser.show(folder / "around.html", chromium)
    found = [json.loads(unquote(data)) for data in re.findall(r'<pre class="found">(.*?)</pre>', shown.page)]
    return {one["width"]: one for one in found}


def test_failed_and_infeasible_candidates_stand_below_each_parameter(tmp_path):
    table = study(tmp_path, THREE)
    figure = against_value(table)
    panel = {figure.layout[f"xaxis{k}"]["title"]["text"]: f"x{k}" for k in ("", 2, 3)}
    for name, rows in (("failed", table.failed), ("violated", table.violation > 0)):
        below = {t["xaxis"]: t["x"] for t in figure.data if t["name"] == name}
        for i, parameter in enumerate(THREE):
            assert below[panel[parameter]].tolist() == sorted(set(table.x[rows, i].tolist()))
        assert f" {name}" in figure.about
    assert {t["name"] for t in slices(table).data} & {"failed", "violated"} == {"failed"}


def test_panels_without_failures_have_no_room_for_them(tmp_path):
    rows = {i: {"value": float(i)} for i in range(3)}
    path = build(tmp_path / "s.db", [[0.1], [0.2], [0.3]], rows, configuration={"name": "s", "space": {"x": REAL}})
    figure = against_value(culmen.read(path))
    assert "failed" not in figure.about
    assert not any("failed" in axis.get("ticktext", ()) for axis in figure.layout.values() if isinstance(axis, dict))


def test_each_line_of_parallel_coordinates_goes_on_to_its_rank(tmp_path):
    table = study(tmp_path, TWELVE)
    assert not table.active.all()
    for trace in parallel(table).data:
        lines = trace["y"].reshape(-1, 14)
        assert np.isfinite(lines[:, : 12 if trace["name"] == "failed" else 13]).all()
    assert lines[0, 12] == 1, "the best"


@pytest.mark.parametrize(("evaluations", "best"), [(5, 1), (80, 8), (2000, 60)])
def test_the_best_tenth_is_highlighted_and_at_most_sixty(evaluations, best, tmp_path):
    space = {"x": REAL, "y": REAL}
    candidates = np.random.default_rng(2).uniform(-1, 1, (evaluations, 2)).tolist()
    rows = {i: {"value": x[0]} for i, x in enumerate(candidates)}
    path = build(tmp_path / "s.db", candidates, rows, configuration={"name": "s", "space": space})
    figure = parallel(culmen.read(path))
    highlighted = {t["name"]: len(t["x"]) // 4 for t in figure.data}
    assert highlighted.get("best tenth", 0) + highlighted["the best"] == best
    assert any(f"the best {best} of" in note for note in figure.notes)


def test_axes_of_whole_numbers_have_no_ticks_between(tmp_path):
    rows = {i: {"value": 5.0, "residuals": [1.0, 2.0]} for i in range(2)}
    space = {"n": {"type": "integer", "lower": 0, "upper": 2}}
    path = build(tmp_path / "s.db", [[0.0], [2.0]], rows, configuration={"name": "s", "space": space})
    table = culmen.read(path)
    for figure in (residuals(table), by_evaluations(table), against_value(table)):
        assert figure.layout["xaxis"]["dtick"] == 1, figure.title


def test_names_are_cut_where_they_do_not_differ():
    assert short_names(["abcdefgh1", "abcdefgh2", "c"], 6) == ["ab…gh1", "ab…gh2", "c"]
    assert short_names(["1abcdefgh", "2abcdefgh"], 6) == ["1abcd…", "2abcd…"]
    assert short_names(["a<b", "c"], 6) == ["a&lt;b", "c"]


def test_names_in_wide_letters_are_cut_to_fewer_of_them():
    assert short_names(["iiiiiiiiii", "ABCDEFGHIJ", "WWWWWWWWWW"], 10) == ["iiiiiiiiii", "ABCDEFG…", "WWWWW…"]
    one, other = short_names(["WWWWWWWWWW1", "WWWWWWWWWW2"], 6)
    assert (one[-2:], other[-2:]) == ("W1", "W2")
    assert max(map(breadth, (one, other))) <= 6


def test_logarithmic_axes_have_ticks_at_powers_of_ten_or_at_1_2_and_5():
    assert logarithmic(1e-8, 0.1, 4)["dtick"] == 2
    assert logarithmic(0.01, 0.3, 4)["ticktext"] == ["0.01", "0.02", "0.05", "0.1", "0.2"]
    assert logarithmic(1e5, 6e5, 4)["ticktext"] == ["10<sup>5</sup>", "2·10<sup>5</sup>", "5·10<sup>5</sup>"]
    assert "tickvals" not in logarithmic(3.0, 4.0, 4)
