"""The averages and the figures of the page of ``culmen tune cluster``, from samples with known gains."""

import json
import re
from io import StringIO
from math import exp, sqrt
from statistics import stdev
from types import SimpleNamespace

import pytest
from culmen.launch.mpi import Launcher, load
from culmen.launch.mpi.collectives import DEFAULT
from culmen.tune.autotune.page import page
from culmen.tune.autotune.tuned import Choice, Tuning
from culmen.tune.cluster import results
from culmen.tune.cluster.averages import averages
from culmen.tune.cluster.choices import Lost, Place, tuned_from
from culmen.tune.cluster.kept import about_undecided, kept_rows, undecided
from culmen.tune.cluster.page import tuning_page
from culmen.tune.cluster.pairs import LAUNCHES
from culmen.tune.cluster.trial import Trial
from rich.console import Console
from scipy import stats
from tuning_samples import samples, write

MIDDLE = {8: 0.5, 64: 0.3}  # logarithms of the gains
SHIFTS = [0.02 * (k - (LAUNCHES - 1) / 2) for k in range(LAUNCHES)]


def measured(folder, ranks, of_sizes, **header):
    """``of_sizes``: for each size, the logarithm of the gain in the race and in each launch; none: no other algorithm
    was faster."""
    for launch in range(LAUNCHES + 1):
        points = []
        for size, logs in of_sizes.items():
            times = {DEFAULT: 1e-5, "chain": 1e-5 * exp(-logs[launch] if logs else 0)}
            points += [samples(name, size, s) for name, s in times.items() if logs or launch == 0]
        write(folder, "bcast", ranks, launch, points, **header)


def shifted(size, sign):
    return [MIDDLE[size], *(MIDDLE[size] + sign * shift for shift in SHIFTS)]


def figures_of(html):
    """The figures, by the names of their places."""
    data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html, re.DOTALL)
    return {figure["key"]: figure for figure in json.loads(data[1])}


def test_the_interval_of_an_average_comes_from_the_means_of_the_launches(tmp_path):
    """The sizes of a launch share its conditions. In the second case, these cancel out in each launch."""
    measured(tmp_path, 4, {size: shifted(size, 1) for size in MIDDLE})
    measured(tmp_path, 8, {8: shifted(8, 1), 64: shifted(64, -1)})
    together, against = averages(tuned_from([("bcast", 4), ("bcast", 8)], tmp_path))
    half = float(stats.t.ppf(0.975, LAUNCHES - 1)) * stdev(SHIFTS) / sqrt(LAUNCHES)
    assert together.times_faster == pytest.approx(exp(0.4), rel=1e-4)
    assert together.interval == pytest.approx((exp(0.4 - half), exp(0.4 + half)), rel=1e-4)
    assert against.interval == pytest.approx((exp(0.4), exp(0.4)), rel=1e-4)
    assert (together.points, together.least, together.most) == (2, 8, 64)


def test_points_that_keep_the_default_count_as_one(tmp_path):
    measured(tmp_path, 4, {8: shifted(8, 1), 64: []})
    measured(tmp_path, 8, {8: [], 64: []})
    mixed, kept = averages(tuned_from([("bcast", 4), ("bcast", 8)], tmp_path))
    half = float(stats.t.ppf(0.975, LAUNCHES - 1)) * stdev(SHIFTS) / sqrt(LAUNCHES)
    assert mixed.times_faster == pytest.approx(exp(0.25), rel=1e-4)
    assert mixed.interval == pytest.approx((exp(0.25 - half / 2), exp(0.25 + half / 2)), rel=1e-4)
    assert (kept.times_faster, kept.interval) == (1.0, None)


def test_the_error_bars_of_the_figures_are_the_intervals(tmp_path):
    measured(tmp_path, 4, {8: shifted(8, 1), 64: []})
    measured(tmp_path, 8, {8: shifted(8, 1), 64: shifted(64, 1)})
    tuned = tuned_from([("bcast", 4), ("bcast", 8)], tmp_path)
    html = tuning_page(tuned, "", "host")
    figures = figures_of(html)
    means, (mixed, whole) = figures["mean-bcast"]["data"][0], averages(tuned)
    assert means["y"] == pytest.approx([mixed.times_faster, whole.times_faster])
    low, high = zip(mixed.interval, whole.interval, strict=True)
    assert [y + up for y, up in zip(means["y"], means["error_y"]["array"], strict=True)] == pytest.approx(high)
    assert [y - down for y, down in zip(means["y"], means["error_y"]["arrayminus"], strict=True)] == pytest.approx(low)
    (bars, _) = figures["gain-bcast"]["data"]
    (changed,) = [each.gain for each in tuned.choices if each.place == ("bcast", 4, 8)]
    assert bars["x"] == ["8 B", "64 B"] and bars["y"] == pytest.approx([changed.times_faster, 1.0])
    assert bars["error_y"]["array"] == pytest.approx([changed.high - changed.times_faster, 0])
    assert bars["error_y"]["arrayminus"] == pytest.approx([changed.times_faster - changed.low, 0])
    cells = [each for row in rows_of(html, "averages") for each in row]
    assert f"{mixed.interval[0]:.3g} – {mixed.interval[1]:.3g}" in cells


def test_gains_are_drawn_against_the_number_of_nodes(tmp_path):
    shapes = {4: (1, 4), 8: (2, 4), 16: (4, 4), 2: (2, 1)}
    for ranks, (nodes, ppn) in shapes.items():
        measured(tmp_path, ranks, {8: shifted(8, 1)}, nodes=nodes, ppn=ppn)
    tuned = tuned_from([("bcast", ranks) for ranks in shapes], tmp_path)
    data = figures_of(tuning_page(tuned, "", "host"))["nodes-bcast"]["data"]
    assert {line["name"]: line["x"] for line in data} == {"1 rank per node": [2], "4 ranks per node": [1, 2, 4]}
    assert data[1]["y"] == pytest.approx([exp(0.5)] * 3, rel=1e-4)
    assert all(up > 0 for up in data[1]["error_y"]["array"])
    one = tuned_from([("bcast", 4)], tmp_path)
    assert "nodes-bcast" not in figures_of(tuning_page(one, "", "host"))


def test_points_that_keep_the_default_are_listed_with_the_reason(tmp_path):
    noisy = [0.5, *(0.2 * (-1) ** k for k in range(LAUNCHES))]
    small = [0.5, *[0.01] * LAUNCHES]
    measured(tmp_path, 4, {8: [], 16: [], 32: noisy, 64: [], 128: small, 256: [0.5] * (LAUNCHES + 1)})
    tuned = tuned_from([("bcast", 4)], tmp_path, [Place("bcast", 4, 512)])
    tuned = tuned.without({Lost("bcast", 4, 256, "chain"): "tried, but binomial ran"})
    html = tuning_page(tuned, "", "host")
    rows = [(row[2], row[3], row[4]) for row in rows_of(html, "kept") if row]
    none = "no other algorithm was faster in the search"
    assert rows == [
        ("8 B – 16 B", none, "–"),
        ("32 B", "the times varied too much to decide", "chain"),
        ("64 B", none, "–"),
        ("128 B", "less than 2% faster", "chain"),
        ("256 B", "could not be used: tried, but binomial ran", "chain"),
        ("512 B", "the measurement failed", "–"),
    ]
    assert "Average over message sizes from 8 B to 256 B" in html


def test_a_wide_interval_is_no_proof_that_the_default_is_as_good(tmp_path):
    """The gains of the launches are between 1/4 and 4, or between 0.99 and 1.01."""
    wide, narrow = ([0.0, *(middle * (-1) ** k for k in range(LAUNCHES))] for middle in (1.4, 0.01))
    measured(tmp_path, 4, {8: wide, 64: narrow})
    tuned = tuned_from([("bcast", 4)], tmp_path)
    assert [each.place.size for each in undecided(tuned)] == [8]
    assert [row[3] for row in kept_rows(tuned)] == [
        "the times varied too much to decide",
        "not clearly faster in the comparison",
    ]
    said = "At 1 point, the times varied too much to decide: an algorithm may be up to 2.87 times faster."
    again = " Measure again with --overwrite when the machine is quiet."
    facts = {"load": [7.25, 3, 1], "machine": {"cpus": 2}}
    assert about_undecided(tuned, {}) == said + again
    load = " When the measurement began, the load of the machine was 7.2, on 2 cores."
    assert about_undecided(tuned, facts) == said + load + again
    assert about_undecided(tuned, {**facts, "machine": {"cpus": 64}}) == said + again
    wanted = SimpleNamespace(variables=())
    end = "There is nothing to install: the file keeps the MPI's own choices."
    assert results.how_to_install(wanted, tuned, tmp_path, Trial()) == end


def test_the_page_shows_no_commands_if_all_points_keep_the_default(tmp_path):
    measured(tmp_path, 4, {8: []})
    html = tuning_page(tuned_from([("bcast", 4)], tmp_path), "", "host")
    assert "Nothing to use" in html and "Use the choices" not in html


@pytest.mark.parametrize("title", ["Open MPI 4", "MPICH 4"])
def test_the_commands_name_srun_and_the_lines_of_a_module_file(tmp_path, title):
    launcher = Launcher("no-mpiexec", next(mpi for mpi in load() if mpi.title == title))
    wanted = SimpleNamespace(plan=SimpleNamespace(launcher=launcher), variables=(("A", "b c"),))
    said = results._use(wanted, tmp_path / "rules", tmp_path)
    assert "for srun and mpiexec:\nexport " in said and "export A='b c'\n" in said
    lines = [line for line in said.splitlines() if line.startswith("setenv ")]
    assert "#%Module1.0\nmodule-whatis {" in said and lines[-1] == "setenv A {b c}"
    assert any(str((tmp_path / "rules").resolve()) in line for line in lines)


def rows_of(html, section):
    """The cells of the rows of a section's table."""
    body = re.search(rf'<section id="{section}".*?</section>', html, re.DOTALL)[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in rows]


def test_the_table_of_autotune_says_that_it_has_no_intervals():
    console = Console(width=300, record=True, file=StringIO())
    choice = Choice("world", 4, "bcast", 64, "ring", 2e-6, 1e-6, 9)
    console.print(page(Tuning("MPI", 4, "", "", [choice])))
    assert "the gains have no confidence interval. `culmen autotune --validate 5` measures" in console.export_text()
