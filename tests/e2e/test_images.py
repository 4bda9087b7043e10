"""``culmen images``: the figures of pages as files."""

import os
import shutil
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from culmen.report.images import BROWSERS, write_images
from culmen.report.page import Section, page, place_of
from culmen.report.style import Figure, axis, layout
from harness import culmen

from culmen import InputError

pytestmark = pytest.mark.no_numbers

FIGURE = Figure(
    "line",
    "A line",
    "About it.",
    [{"type": "scatter", "x": [1, 2, 3], "y": [4, 5, 9], "name": "found"}],
    layout(height=300, title={"text": "The line of 27 points"}) | {"xaxis": axis("x"), "yaxis": axis("y")},
)


@pytest.fixture
def made(tmp_path):
    """A page with one figure."""
    path = tmp_path / "made.html"
    path.write_text(page("Made", "", [Section("line", "A line", place_of(FIGURE))], [FIGURE]))
    return path


@pytest.fixture
def browser():
    """One of this machine."""
    if not (there := next(filter(None, map(shutil.which, BROWSERS)), None)):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"none of {', '.join(BROWSERS)} is on PATH")
    return there


def test_a_figure_becomes_a_drawing(made, browser):
    done = culmen("images", made.name, cwd=made.parent)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Wrote 1 image into made: line.svg\n", "")
    drawing = ElementTree.parse(made.parent / "made/line.svg").getroot()  # noqa: S314
    assert (drawing.get("width"), drawing.get("height")) == ("900", "300")
    words = [element.text for element in drawing.iter() if element.tag.endswith("text")]
    assert "The line of 27 points" in words


def choice(label, *visible):
    return {"label": label, "method": "restyle", "args": ["visible", list(visible)]}


def test_each_choice_of_the_lines_becomes_a_drawing(tmp_path, browser):
    scales = {"buttons": [{"label": "linear", "method": "relayout", "args": [{"xaxis.type": "linear"}]}]}
    menus = [{"buttons": [choice("2 ranks", True, False), choice("4 ranks", False, True)]}, scales]
    lines = [FIGURE.data[0] | {"visible": False, "name": "few"}, FIGURE.data[0] | {"name": "many"}]
    shown = [line | {"showlegend": True} for line in lines]
    figure = Figure("times", "Times", "About them.", shown, layout(updatemenus=menus))
    (tmp_path / "made.html").write_text(page("Made", "", [Section("times", "Times", place_of(figure))], [figure]))
    done = culmen("images", "made.html", cwd=tmp_path)
    written = "Wrote 2 images into made: times-2-ranks.svg, times-4-ranks.svg\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, written, "")
    for ranks, name, other in ((2, "few", "many"), (4, "many", "few")):
        drawing = ElementTree.parse(tmp_path / f"made/times-{ranks}-ranks.svg").getroot()  # noqa: S314
        words = {element.text for element in drawing.iter() if element.tag.endswith("text")}
        assert {f"{ranks} ranks", name} <= words
        assert not {other, "linear"} & words


def test_without_kaleido_no_folder_is_made(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "kaleido", None)  # cannot be imported
    monkeypatch.setattr(shutil, "which", lambda name: name)
    with pytest.raises(InputError, match="images need the Python package kaleido; install it with"):
        write_images(made, made.with_suffix(""), "svg", 900)
    assert not made.with_suffix("").exists()


@pytest.mark.parametrize(("kind", "begin"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_other_kinds_have_the_size_that_was_asked_for(kind, begin, made, browser):
    done = culmen("images", made.name, "--format", kind, "--width", "500", "-o", "drawn", cwd=made.parent)
    assert done.returncode == 0, done.stderr
    content = (made.parent / f"drawn/line.{kind}").read_bytes()
    assert content.startswith(begin)
    if kind == "png":
        assert (int.from_bytes(content[16:20]), int.from_bytes(content[20:24])) == (1000, 600)


def test_wrong_words_are_one_sentence(made, tmp_path):
    (tmp_path / "other.html").write_text("<p>no figure</p>")
    (tmp_path / "damaged.html").write_text(made.read_text().replace('"key":"line"', '"key":"line'))
    (tmp_path / "empty.html").write_text(page("Empty", "", [], []))
    for words, said in {
        (made.name, "--format", "jpg"): "--format must be svg, png or pdf, got 'jpg'",
        ("missing.html",): "missing.html cannot be read: No such file or directory",
        ("other.html",): "other.html is no page of culmen; `culmen report STUDY.db` writes one",
        ("damaged.html",): "damaged.html is damaged; write the page again",
        ("empty.html",): "empty.html has no figure",
        (made.name, "--width", "1"): "--width",
    }.items():
        done = culmen("images", *words, cwd=tmp_path)
        assert done.returncode == 2, words
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_what_is_missing_is_said(made, tmp_path):
    done = culmen("images", made.name, cwd=tmp_path, PATH="/nowhere")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "install Chromium or Chrome" in done.stderr


def test_a_folder_that_cannot_be_made_is_said(made, tmp_path, browser):
    done = culmen("images", made.name, "-o", f"{made.name}/inside", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "no image can be written into" in done.stderr


def test_a_browser_that_does_not_start_is_replaced_by_the_next_one(made, tmp_path, browser):
    broken, other = (tmp_path / name for name in BROWSERS[:2])
    for path, line in ((broken, "exit 1"), (other, f'exec {browser} "$@"')):
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
    done = culmen("images", made.name, cwd=made.parent, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    other.unlink()
    alone = culmen("images", made.name, "-o", "none", cwd=made.parent, PATH=f"{tmp_path}:/nowhere")
    assert alone.returncode == 2, alone.stdout
    assert f"{broken} could not draw the figures of {made.name}: the browser does not start" in alone.stderr
