"""The figures of a page as files of their own, for papers and slides."""

import asyncio
import json
import re
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

from .._core import InputError
from .style import key_of

KINDS = ("svg", "png", "pdf")
BROWSERS = ("google-chrome", "chromium", "chromium-browser", "chromium-headless-shell")
_HEIGHT = 420  # of a figure that has none
_SCALE = 2  # pixels of a png for each unit of length
_FIGURES = re.compile(r'<script type="application/json" id="figures">(.*?)</script>', re.S)
_WITHOUT_KALEIDO = "images need the Python package kaleido; install it with `pip install 'culmen[images]'`"
_WITHOUT_BROWSER = f"images are drawn by a browser; install Chromium or Chrome (on PATH: {', '.join(BROWSERS)})"


def write_images(page: Path, folder: Path, kind: str, width: int) -> list[Path]:
    """Writes ``folder``/KEY.``kind`` for each figure of the page, ``width`` pixels wide, and returns their paths. If a
    menu of the figure chooses the lines, there is a file KEY-CHOICE.``kind`` for each choice.

    ``kind``: one of KINDS. The folder is made if there is none. Raises InputError if the page is none of culmen or has
    no figure, if kaleido or a browser is missing, or if a file cannot be written.
    """
    figures = _figures_in(page)
    browsers = [path for path in map(shutil.which, BROWSERS) if path]
    if not browsers:
        raise InputError(_WITHOUT_BROWSER)
    try:
        from kaleido import Kaleido  # takes longer to load than most commands run
    except ImportError:  # also of a kaleido before 1.0
        raise InputError(_WITHOUT_KALEIDO) from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = {folder / f"{name}.{kind}": drawn for figure in figures for name, drawn in _states(figure).items()}
        for browser in browsers:
            errors = asyncio.run(_write(Kaleido, written, browser, width))
            if not errors:
                return list(written)
    except OSError as error:
        raise InputError(f"no image can be written into {folder}: {error.strerror or error}") from None
    raise InputError(f"{' and '.join(browsers)} could not draw the figures of {page}: {errors[0]}")


def _figures_in(page: Path) -> list[dict[str, Any]]:
    try:
        found = _FIGURES.search(page.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise InputError(f"{page} cannot be read: {error.strerror}") from None
    if found is None:
        store = page if page.suffix == ".db" else "STUDY.db"
        raise InputError(f"{page} is no page of culmen; `culmen report {store}` writes one")
    try:
        figures: list[dict[str, Any]] = json.loads(found[1])
    except json.JSONDecodeError:
        raise InputError(f"{page} is damaged; write the page again") from None
    if not figures:
        raise InputError(f"{page} has no figure")
    return figures


def _states(figure: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The figure for each choice of the menu that chooses its lines, by the names of the files. Without the menus,
    because nobody can use them in an image."""
    layout = {name: value for name, value in figure["layout"].items() if name != "updatemenus"}
    menus = [menu["buttons"] for menu in figure["layout"].get("updatemenus", [])]
    choices: list[Any] = next(
        (buttons for buttons in menus if all(each["args"][0] == "visible" for each in buttons)), []
    )
    if len(choices) < 2:
        return {key_of(figure["key"]): figure | {"layout": layout}}
    return {
        key_of(figure["key"], each["label"]): {
            "data": [line | {"visible": seen} for line, seen in zip(figure["data"], each["args"][1], strict=True)],
            "layout": layout | {"title": {"text": each["label"]}},
        }
        for each in choices
    }


async def _write(kaleido_of: Any, figures: dict[Path, dict[str, Any]], browser: str, width: int) -> list[Exception]:
    """Errors of the browser. The part of plotly that draws is the page's own, so nothing is loaded from the network."""
    from choreographer.errors import BrowserDepsError, BrowserFailedError

    errors: list[Exception] = []
    library = resources.files(__package__) / "plotly/plotly-basic.min.js"
    with resources.as_file(library) as drawing:
        try:
            async with kaleido_of(plotlyjs=drawing, mathjax=False, path=browser) as kaleido:
                for path, figure in figures.items():
                    size = {"width": width, "height": figure["layout"].get("height", _HEIGHT)}
                    drawn = {"data": figure["data"], "layout": figure["layout"]}
                    options = {"format": path.suffix[1:], **size, "scale": _SCALE if path.suffix == ".png" else 1}
                    errors += await kaleido.write_fig(drawn, path=path, opts=options) or ()
        except (BrowserFailedError, BrowserDepsError):
            errors.append(RuntimeError("the browser does not start"))
    return errors
