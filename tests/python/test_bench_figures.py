"""The plots of ``culmen bench collectives``."""

import json
import re

import pytest
from bench_tables import TIMES, few_visits, figures_of, page_of, table_of
from culmen.bench.collectives import winners
from culmen.bench.collectives.samples import Table
from culmen.launch.mpi.collectives import DEFAULT
from culmen.report.style import GREY


def test_points_without_an_interval_have_no_error_bars(tmp_path):
    figure = {each.key: each for each in figures_of(few_visits(tmp_path))}["size-openmpi-bcast"]
    (line,) = figure.data
    assert (line["error_y"]["array"], line["error_y"]["arrayminus"]) == ([0, 0], [0, 0])


def test_the_page_has_a_map_and_the_times(tmp_path):
    paths = [
        table_of(tmp_path, TIMES),
        table_of(tmp_path, TIMES, ranks=8),
        table_of(tmp_path, {(DEFAULT, 0): 1e-6}, "barrier"),
    ]
    text = page_of(Table(paths))
    assert "bcast, openmpi: the fastest algorithm" in text
    assert "bcast, openmpi: time against message size" in text
    assert "barrier, openmpi: time against the number of ranks" in text
    assert not re.search("barrier, openmpi: the", text)
    json.dumps([figure.plain() for figure in figures_of(Table(paths))], allow_nan=False)


def test_a_menu_shows_the_lines_of_one_number_of_ranks(tmp_path):
    found = Table([table_of(tmp_path, TIMES), table_of(tmp_path, TIMES, ranks=8)])
    drawn = {figure.key: figure for figure in figures_of(found)}
    for key, labels in (
        ("size-openmpi-bcast", ["4 ranks", "8 ranks"]),
        ("ranks-openmpi-bcast", ["8 B", "16 B", "32 B"]),
    ):
        figure = drawn[key]
        menu = figure.layout["updatemenus"][0]
        assert [button["label"] for button in menu["buttons"]] == labels
        shown = [button["args"][1] for button in menu["buttons"]]
        assert {len(lines) for lines in shown} == {len(figure.data)}
        assert [sum(lines) for lines in zip(*shown, strict=True)] == [1] * len(figure.data)
        assert [line["visible"] for line in figure.data] == shown[menu["active"]]
        names = [line["name"] for line, visible in zip(figure.data, shown[0], strict=True) if visible]
        assert names == [DEFAULT, "binomial", "chain"]


def test_another_baseline_changes_the_table_and_the_grey_line(tmp_path):
    times = {(DEFAULT, 8): 4e-6, ("linear", 8): 8e-6, ("ring", 8): 2e-6}
    found = Table([table_of(tmp_path, times)])
    won = {name: winners.winners(found, name)[0] for name in (DEFAULT, "linear", "ring", "nowhere")}
    assert [won[name].name for name in won] == ["ring"] * 4
    assert won[DEFAULT].gain == pytest.approx(2, rel=0.05)
    assert won["linear"].gain == pytest.approx(4, rel=0.05)
    assert won["ring"].gain == 1
    assert not won["nowhere"].compared
    assert winners.headings("linear")[-1] == "times faster than linear"
    figure = {each.key: each for each in figures_of(found, "linear")}["size-openmpi-bcast"]
    grey = [line["name"] for line in figure.data if line["line"]["color"] == GREY]
    assert grey == ["linear"]
    menu = figure.layout["updatemenus"][2]
    assert [button["label"] for button in menu["buttons"]][menu["active"]] == "baseline: linear"
    for number, button in enumerate(menu["buttons"]):
        assert [k for k, colour in enumerate(button["args"][0]["line.color"]) if colour == GREY] == [number]
    json.dumps(figure.plain(), allow_nan=False)


def test_bandwidths_are_drawn_against_size_and_ranks(tmp_path):
    times = {(DEFAULT, 0): 1e-6, (DEFAULT, 1000): 1e-6, (DEFAULT, 4000): 2e-6}
    found = Table([table_of(tmp_path, times), table_of(tmp_path, {(DEFAULT, 0): 1e-6}, "barrier")])
    drawn = {figure.key: figure for figure in figures_of(found)}
    line = drawn["rate-size-openmpi-bcast"].data[0]
    assert line["x"] == [1000, 4000]
    assert line["y"] == pytest.approx([1000, 2000], rel=0.05)
    assert min(line["error_y"]["array"] + line["error_y"]["arrayminus"]) >= 0
    assert "rate-ranks-openmpi-bcast" in drawn
    assert not any("barrier" in key for key in drawn if key.startswith("rate"))


def test_each_of_many_algorithms_has_a_symbol_of_its_own(tmp_path):
    found = Table([table_of(tmp_path, {(f"way {k}", 8): 1e-6 for k in range(13)} | {(DEFAULT, 8): 1e-6})])
    figure = {each.key: each for each in figures_of(found)}["size-openmpi-bcast"]
    assert len({line["marker"]["symbol"] for line in figure.data}) == 14
