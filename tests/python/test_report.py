"""The page that `culmen report` writes: what is on it, what is left out, and that nothing on it is run."""

import html
import json
import math
import os
import re
from html.parser import HTMLParser

import browser
import numpy as np
import pytest
from culmen.report.build import report
from culmen.report.compare import compare_page, comparison, differences
from culmen.report.convergence import best_so_far, by_evaluations, by_time, elapsed
from culmen.report.correlation import correlations
from culmen.report.failures import failures
from culmen.report.landscape import slices
from culmen.report.parallel import parallel
from culmen.report.timeline import occupation, timeline, totals
from culmen.store.front import front_of
from store_builder import BEGUN_S, build

import culmen

EVIL = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">&lt;"


def configuration(*names, **more):
    space = {name: {"type": "real", "lower": -5.0, "upper": 5.0} for name in names}
    about = {"name": "built", "seed": 7, "folder": "/studies", "evaluator": {"python": "m.py:f"}}
    return {**about, "space": space, "optimizer": {"name": "cmaes"}, "stop": {"evaluations": 400}, **more}


def random_points(n, dimension=2):
    return np.random.default_rng(1).uniform(-5, 5, (n, dimension)).tolist()


@pytest.fixture
def make(tmp_path):
    """make(candidates, outcomes, …) builds a store and reads it."""

    def table(candidates, outcomes, **more):
        more.setdefault(
            "configuration", configuration(*(f"p{i}" for i in range(len(candidates[0])))) if candidates else None
        )
        return culmen.read(build(tmp_path / f"s{len(list(tmp_path.iterdir()))}.db", candidates, outcomes, **more))

    return table


@pytest.fixture
def fit(make):
    """Two workers, one failure in ten, residuals."""
    points = random_points(400)
    outcomes = {
        i: {"value": x * x + y * y, "residuals": [x, y], "worker": i % 2, "at_s": BEGUN_S + i, "duration_s": 1.0}
        if i % 10
        else {"status": "crashed", "message": f"signal {11 + i % 3}", "worker": i % 2, "at_s": BEGUN_S + i}
        for i, (x, y) in enumerate(points)
    }
    return make(points, outcomes, finished="evaluations")


class Page(HTMLParser):
    """The page as a browser reads it: tags by name, the text, and the content of scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.words, self.attributes = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.lasttag == "script" and self.scripts:
            self.scripts[-1] += data
        else:
            self.words.append(data)


def figures_of(text):
    return {f["key"]: f for f in json.loads(re.search(r'id="figures">(.*?)</script>', text, re.DOTALL)[1])}


def test_a_report_has_all_its_sections_and_figures(fit):
    text = report(fit)
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", text)
    assert titles == [
        *(
            "Summary",
            "Convergence",
            "Residuals of the best evaluation",
            "Parameters",
            "Correlation",
            "Workers",
            "Failures",
        ),
        *("Configuration, versions, machine", "How to reproduce this study"),
    ]
    drawn = figures_of(text)
    assert list(drawn) == ["convergence", "time", "residuals", "parameters", "slices", "parallel", "timeline"]
    assert set(re.findall(r'class="plot" id="(\w+)"', text)) == set(drawn)
    assert len(text) < 5_000_000


def test_a_report_says_how_to_do_it_again(fit):
    text = report(fit)
    assert "culmen run built.toml --seed 7 --store again.db" in text
    assert "# with culmen 0.1.0" in text
    assert "p0 = { type = &quot;real&quot;, lower = -5.0, upper = 5.0 }" in text


def test_a_report_needs_nothing_else(fit):
    loads = [a for a in Page(report(fit)).attributes if a[1] in ("src", "href") and not a[2].startswith("#")]
    assert loads == []


def test_hostile_names_and_messages_stay_text(make):
    outcomes = {i: {"value": float(i), "extras": {EVIL: 1.0 * i}} for i in range(1, 30)}
    outcomes[0] = {"status": "failed", "message": EVIL}
    table = make(
        random_points(30), outcomes, configuration=configuration(EVIL, "<b>bold</b>", objectives={EVIL: "minimize"}),
        name=EVIL,
    )  # fmt: skip
    text = report(table)
    page = Page(text)
    assert len(page.scripts) == 3
    assert "img" not in page.tags
    assert not any(name.startswith("on") for _, name, _ in page.attributes)
    assert "<img" not in json.dumps(figures_of(text))
    assert "script-src 'sha256-" in text
    browse(text, table.path.parent, title=EVIL)


@pytest.mark.parametrize("name", ["empty", "one", "all_failed", "program", "huge", "constant", "infeasible", "running"])
def test_a_report_on_whatever_there_is(make, name):
    points = random_points(300)
    huge = {i: {"value": (-1) ** i * 10.0 ** (i + 8)} for i in range(300)}
    table = {
        "empty": lambda: make([], {}),
        "one": lambda: make([[1.0]], {0: {"value": 3.0}}),
        "all_failed": lambda: make([[1.0]] * 3, {i: {"status": "failed", "message": ""} for i in range(3)}),
        "program": lambda: make(points, {i: {"value": p[0]} for i, p in enumerate(points)}, configuration=None),
        "huge": lambda: make(points, huge),
        "constant": lambda: make([[1.0]] * 20, {i: {"value": 0.0} for i in range(20)}),
        "infeasible": lambda: make(points, {i: {"value": p[0], "violation": 1.0} for i, p in enumerate(points)}),
        "running": lambda: make(points, {i: {"value": points[i][0]} for i in range(200)}, told=list(range(150))),
    }[name]()
    text = report(table)
    assert "NaN" not in json.dumps(figures_of(text))
    if name in ("one", "huge"):
        browse(text, table.path.parent)


def test_a_report_and_a_comparison_are_drawn_without_an_error(fit, make):
    browse(report(fit), fit.path.parent)
    other = make(random_points(50), {i: {"value": 1.0 + i} for i in range(50)})
    browse(compare_page(fit, other), fit.path.parent)


def browse(text, folder, title=None):
    """Opens the page where a browser is there: all is drawn, the console stays empty."""
    name = browser.find()
    if name is None:
        assert not os.environ.get("CI"), "CI has no browser: .ci/run installs one"
        pytest.skip("there is no browser; CONTRIBUTING.md says how to get one")
    path = folder / "page.html"
    path.write_text(text)
    shown = browser.show(path, name)
    assert not shown.console
    assert f'data-drawn="{len(figures_of(text))}"' in shown.page
    assert shown.page.count('class="main-svg"') >= len(figures_of(text))
    if title:
        assert html.unescape(re.search("<title>(.*?)</title>", shown.page, re.DOTALL)[1]) == title
        assert "img" not in Page(shown.page).tags


def test_the_best_so_far_never_rises_and_ends_at_the_best(fit):
    line = next(trace for trace in by_evaluations(fit).data if trace["name"] == "best so far")
    assert (np.diff(line["y"]) <= 0).all()
    assert line["y"][-1] == fit.values[fit.best, 0]
    assert line["x"][-1] == 400


def test_a_maximized_objective_rises(make):
    points = random_points(100)
    table = make(
        points, {i: {"value": -p[0]} for i, p in enumerate(points)},
        configuration=configuration("a", "b", objectives={"gain": "maximize"}),
    )  # fmt: skip
    line = next(trace for trace in by_evaluations(table).data if trace["name"] == "best so far")
    assert (np.diff(line["y"]) >= 0).all()
    assert line["y"][-1] == max(p[0] for p in points)


def test_a_page_stays_below_5_megabytes(make):
    points = random_points(2500, 150)
    rows = {
        i: {"values": [x[0], -x[1], x[2]], "extras": {f"extra {k}": x[k] for k in range(30)}, "worker": i % 200}
        if i % 5
        else {"status": "failed", "message": f"{i} " + "x" * 20_000}
        for i, x in enumerate(points)
    }
    text = report(make(points, rows))
    assert len(text.encode()) < 5_000_000
    assert "24 of 150 parameters are shown," in text


def long_choices(count, length):
    space = {"c": {"type": "categorical", "choices": [f"{i} <&>" + "long " * (length // 5) for i in range(count)]}}
    space |= {"x": {"type": "real", "lower": 0.0, "upper": 1.0}}
    return {**configuration(), "space": space}


def test_a_page_stays_below_5_megabytes_whatever_choices_there_are(make):
    points = [[float(i * 97 % 20_000), i / 500] for i in range(500)]
    rows = {i: {"value": x[1]} if i % 5 else {"status": "failed", "message": "no"} for i, x in enumerate(points)}
    text = report(make(points, rows, configuration=long_choices(20_000, 300)))
    assert len(text.encode()) < 5_000_000
    assert "more characters are left out." in text
    layout = figures_of(text)["parameters"]["layout"]
    assert 0 < max(len(axis.get("ticktext", ())) for name, axis in layout.items() if name.startswith("xaxis")) <= 60


def test_what_is_too_large_for_a_page_is_named_where_it_would_be(make):
    rows = {i: {"value": float(i)} for i in range(4)}
    text = report(make([[0.0, 0.5]] * 4, rows, configuration=long_choices(2, 6_000_000)))
    assert len(text.encode()) < 5_000_000
    assert re.search(r'<section id="summary".*?<p class="note">Left out: it has 6.0 MB', text, re.DOTALL)
    assert "Best so far" in text or "convergence" in figures_of(text)


def test_what_violates_a_constraint_is_no_best(make):
    table = make([[1.0]] * 3, {0: {"value": 5.0}, 1: {"value": 1.0, "violation": 2.0}, 2: {"value": 4.0}})
    assert best_so_far(table, table.order).tolist() == [5, 5, 4]
    assert [trace["name"] for trace in by_evaluations(table).data][:2] == ["evaluation", "constraint violated"]


def test_pauses_between_starts_are_no_time(make):
    rows = {
        i: {"value": 1.0, "at_s": BEGUN_S + i + (10_000 if i >= 5 else 0), "epoch": 1 + (i >= 5)} for i in range(10)
    }
    table = make([[1.0]] * 10, rows)
    seconds, starts = elapsed(table)
    assert seconds.max() < 20
    assert len(starts) == 2
    assert len(by_time(table).layout["shapes"]) == 1


def test_failures_are_marked_where_they_happened(fit):
    marks = next(trace for trace in by_evaluations(fit).data if trace["name"] == "failed")
    assert marks["x"].tolist() == list(range(1, 401, 10))


def test_figures_say_what_was_left_out(make):
    points = random_points(30_000, 1)
    table = make(points, {i: {"value": p[0] ** 2} for i, p in enumerate(points)})
    figure = by_evaluations(table)
    assert len(figure.data[0]["x"]) < 4000
    assert any("of 30\u202f000 are drawn" in note for note in figure.notes)


def test_correlation_is_spearmans(make):
    points = random_points(500)
    found = correlations(make(points, {i: {"value": math.exp(a) - 0 * b} for i, (a, b) in enumerate(points)}))
    assert found.names[0] == "p0"
    assert found.matrix[0, found.names.index("value")] == pytest.approx(1)
    assert abs(found.matrix[1, 0]) < 0.15


def test_correlation_with_what_never_varies_is_none(make):
    found = correlations(make([[1.0, float(i % 5)] for i in range(20)], {i: {"value": float(i)} for i in range(20)}))
    assert math.isnan(found.matrix[found.names.index("p0"), 0])


@pytest.mark.parametrize("count", [2, 3])
def test_the_front_is_what_nothing_dominates(make, count):
    values = np.random.default_rng(3).integers(0, 12, (200, count)).astype(float)
    table = make(random_points(200), {i: {"values": row.tolist()} for i, row in enumerate(values)})
    dominated = [any((o <= v).all() and (o < v).any() for o in values) for v in values]
    assert {tuple(v) for v in values[front_of(table)]} == {
        tuple(v) for v, d in zip(values, dominated, strict=True) if not d
    }


def test_the_front_has_no_infeasible_member(make):
    rows = {0: {"values": [1.0, 1.0], "violation": 1.0}, 1: {"values": [2.0, 2.0]}, 2: {"values": [3.0, 1.0]}}
    assert front_of(make([[1.0]] * 3, rows)).tolist() == [1, 2]


def test_the_timeline_adds_up_what_workers_did(make):
    rows = {
        0: {"value": 1.0, "worker": 0, "at_s": BEGUN_S + 4, "duration_s": 4.0},
        1: {"status": "failed", "worker": 1, "at_s": BEGUN_S + 10, "duration_s": 5.0},
        2: {"value": 1.0, "worker": 0, "at_s": BEGUN_S + 9, "duration_s": 2.0},
    }
    table = make([[1.0]] * 3, rows)
    total = totals(table)
    begin = BEGUN_S + 3  # when its master started, as the builder has it
    assert (total.workers, total.wall_s) == (2, BEGUN_S + 10 - begin)
    assert (total.computed_s, total.failed_s) == (6, 5)
    assert total.waited_s == 2 * 7 - 11
    shares = occupation(table)
    width = shares.edges_s[1]
    assert shares.computed.sum(axis=1) * width == pytest.approx([3, 0])  # the time before the beginning is cut off
    assert shares.failed.sum(axis=1) * width == pytest.approx([0, 5])
    assert [trace["name"] for trace in timeline(table).data] == ["computed", "failed"]


def test_slices_are_near_the_best_and_parallel_lines_lead_through_it(fit):
    near = slices(fit).data[0]
    assert len(near["x"]) <= 160
    lines = parallel(fit)
    assert lines.data[-1]["name"] == "the best"
    assert len(lines.data[-1]["x"]) == 4  # two parameters, the rank, and the gap


def test_failures_are_grouped_and_come_with_their_logs(make):
    points = random_points(100)
    table = make(points, {i: {"status": "failed", "message": f"exit code {i % 2}\ntrace {i}"} for i in range(100)})
    folder = table.path.with_suffix(".work") / "0"
    folder.mkdir(parents=True)
    (folder / "stderr.txt").write_text("x" * 9000 + "no such grid\n")
    found = failures(table)
    assert found.kinds == [("failed", "exit code 0", 50), ("failed", "exit code 1", 50)]
    assert len(found.shown) == 10
    (log,) = found.shown[0].logs.values()
    assert log.endswith("no such grid\n")
    assert len(log) < 4100
    assert "no such grid" in report(table)


def test_a_comparison_says_when_each_reached_the_others_best(make):
    slow = make([[1.0]] * 5, {i: {"value": 5.0 - i} for i in range(5)})
    quick = make([[1.0]] * 5, {i: {"value": 2.0} for i in range(5)}, configuration=configuration("p0", seed=8))
    assert comparison(slow, quick)[-1] == ("evaluations to reach the other's best", "4", "not reached")
    assert differences(slow, quick) == [("seed", "7", "8")]
    assert differences(slow, slow) == []


def test_a_comparison_takes_what_differs_by_rounding_for_the_same(make):
    ends = (0.1 + 0.2, 0.3)
    one, other = (make([[1.0]] * 2, {0: {"value": 5.0}, 1: {"value": end}}) for end in ends)
    assert comparison(one, other)[-1] == ("evaluations to reach the other's best", "2", "2")


def test_a_notebooks_figure_is_plotlys(fit):
    figure = fit.plot()
    assert type(figure).__name__ == "Figure"
    assert "evaluations" in figure.layout.xaxis.title.text
