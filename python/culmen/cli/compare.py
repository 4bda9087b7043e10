"""``culmen compare``."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .arguments import Force


def compare(
    first: Annotated[Path, typer.Argument(metavar="A.db", help="One study's store.")],
    second: Annotated[Path, typer.Argument(metavar="B.db", help="Another study's store.")],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page with both convergences to this file.")
    ] = None,
    force: Force = False,
) -> None:
    work.compare.compare_stores(first, second, html, force)
