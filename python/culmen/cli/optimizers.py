"""``culmen optimizers``."""

from typing import Annotated

import typer

from .. import _core, adapters
from . import work


def _complete(incomplete: str) -> list[str]:
    """A library is imported only if its name is typed already."""
    library, colon, _ = incomplete.partition(":")
    others = adapters.catalogue(library if colon and library in adapters.FAMILIES else None)
    names = [*_core.optimizer_names(), *(entry["name"] for entry in others)]
    return sorted(name for name in names if name.startswith(incomplete))


def optimizers(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Show only this optimizer, or all optimizers of this library: optuna, pycma, nevergrad or pygmo.",
            show_default=False,
            autocompletion=_complete,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON list.")] = False,
) -> None:
    work.optimizers.show_optimizers(name, json)
