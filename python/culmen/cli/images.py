"""``culmen images``."""

from pathlib import Path
from typing import Annotated

import typer

from . import work


def images(
    page: Annotated[
        Path,
        typer.Argument(metavar="PAGE.html", help="A page that a command of culmen has written.", show_default=False),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="The folder for the images. Default: the path of the page without .html.",
        ),
    ] = None,
    kind: Annotated[str, typer.Option("--format", metavar="NAME", help="svg, png or pdf.")] = "svg",
    width: Annotated[int, typer.Option(metavar="N", min=200, max=10000, help="Width of an image in pixels.")] = 900,
) -> None:
    work.images.write(page, output, kind, width)
