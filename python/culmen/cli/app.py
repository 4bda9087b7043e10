"""The command line of `culmen`: its own options, and its commands."""

from typing import Annotated

import typer

from .commands import EXIT_CODES, Commands

app = typer.Typer(
    cls=Commands,
    help="Finds the best parameters of anything that can be run.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 110, "help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # boxes and colours would double the time that a help takes
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from .. import _core  # the engine, which no other help needs

        print(_core.build)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass
