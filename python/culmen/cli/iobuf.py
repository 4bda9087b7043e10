"""``culmen iobuf``."""

from typing import Annotated

import typer

from . import work


def iobuf(
    context: typer.Context,
    size: Annotated[
        str | None,
        typer.Option("--size", metavar="SIZE", help="Size of a buffer, from 4K to 1G, a power of two. Default: 1M."),
    ] = None,
    large: Annotated[
        str | None,
        typer.Option(
            "--large",
            metavar="SIZE",
            help="Calls of at least this size, or of half a buffer, go straight to the file. Default: 32K.",
        ),
    ] = None,
    buffers: Annotated[
        int | None,
        typer.Option("--buffers", metavar="N", min=1, max=64, help="Largest number of buffers of a file. Default: 4."),
    ] = None,
    read_ahead: Annotated[
        int | None,
        typer.Option(
            "--read-ahead",
            metavar="N",
            min=0,
            max=64,
            help="Number of buffers to read ahead if the program reads a file in sequence. Default: 2.",
        ),
    ] = None,
    write_behind: Annotated[
        int | None,
        typer.Option(
            "--write-behind",
            metavar="N",
            min=0,
            max=64,
            help="Number of full buffers of a file that may wait to be written in the background. With 0, the program "
            "itself writes each full buffer. Default: 2.",
        ),
    ] = None,
    delay_ms: Annotated[
        int | None,
        typer.Option(
            "--delay-ms",
            metavar="N",
            min=1,
            max=3_600_000,
            help="Longest time in milliseconds until written bytes go to the system. Default: 200.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", metavar="SIZE", help="Most memory for the buffers of a process. Default: 256M."),
    ] = None,
    files: Annotated[
        str | None,
        typer.Option(
            "--files",
            metavar="PATTERN,…",
            help="Buffer only these files, for example '*.dat,/scratch/*'. A pattern without a slash is for the name "
            "of the file, without its folder. Default: all files.",
        ),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="PATTERN:NAME=VALUE,…",
            help="Other settings for these files, for example '*.dat:size=4M,buffers=8'. The names are size, large, "
            "buffers, read_ahead and write_behind. You can give this option several times; the first pattern that fits "
            "counts.",
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="After the program, print what the library did, on standard error.")
    ] = False,
    library: Annotated[
        bool, typer.Option("--library", help="Only print the path of the library, for LD_PRELOAD.")
    ] = False,
) -> None:
    settings = (size, large, buffers, read_ahead, write_behind, delay_ms, memory, files, tuple(rules or ()))
    raise typer.Exit(work.iobuf.run(list(context.args), settings, report, library))
