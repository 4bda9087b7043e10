"""``culmen compare``."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .arguments import Force


def compare(
    first: Annotated[Path, typer.Argument(metavar="A.db", help="The store of the first study.")],
    second: Annotated[Path, typer.Argument(metavar="B.db", help="The store of the second study.")],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page that shows how the best value improved.")
    ] = None,
    force: Force = False,
) -> None:
    work.compare.compare_stores(first, second, html, force)
