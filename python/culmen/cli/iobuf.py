"""``culmen iobuf``."""

from typing import Annotated

import typer

from . import work


def iobuf(
    context: typer.Context,
    size: Annotated[
        str | None,
        typer.Option(
            "--size", metavar="SIZE", help="Size of a buffer, from 4K to 1G, rounded up to a power of two. Default: 1M."
        ),
    ] = None,
    large: Annotated[
        str | None,
        typer.Option(
            "--large",
            metavar="SIZE",
            help="A call uses no buffer if it reads or writes at least this number of bytes, or at least half the size "
            "of a buffer. Default: 32K.",
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
            help="If the program reads a file in sequence: number of buffers that culmen reads in advance. Default: 2.",
        ),
    ] = None,
    write_behind: Annotated[
        int | None,
        typer.Option(
            "--write-behind",
            metavar="N",
            min=0,
            max=64,
            help="Largest number of full buffers of a file that wait until a background thread writes them. With 0, "
            "the program itself writes each full buffer. Default: 2.",
        ),
    ] = None,
    delay_ms: Annotated[
        int | None,
        typer.Option(
            "--delay-ms",
            metavar="N",
            min=1,
            max=3_600_000,
            help="Longest time in milliseconds until culmen passes written bytes to the system. Default: 200.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", metavar="SIZE", help="Largest total size of the buffers of a process. Default: 256M."),
    ] = None,
    files: Annotated[
        str | None,
        typer.Option(
            "--files",
            metavar="PATTERN,…",
            help="Buffer only these files, for example '*.dat,/scratch/*'. culmen compares a pattern without a slash "
            "with the name of a file without its folder. Default: all files.",
        ),
    ] = None,
    exceptions: Annotated[
        list[str] | None,
        typer.Option(
            "--except",
            metavar="PATTERN,…",
            help="Do not buffer these files, even if --files or --for names them. You can give this option several "
            "times.",
        ),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="PATTERN:NAME=VALUE,…",
            help="For the files that match the pattern: values that replace the values of the options above, for "
            "example '*.dat:size=4M,buffers=8'. The names are size, large, buffers, read_ahead and write_behind. You "
            "can give this option several times. If several patterns match a file, culmen uses the first of these "
            "patterns.",
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report", help="When the program has ended, print a summary of the buffering on standard error."
        ),
    ] = False,
    library: Annotated[
        bool,
        typer.Option(
            "--library", help="Only print the path of the library that makes the buffers. For use with LD_PRELOAD."
        ),
    ] = False,
) -> None:
    given = work.iobuf.Given(
        size=size,
        large=large,
        buffers=buffers,
        read_ahead=read_ahead,
        write_behind=write_behind,
        delay_ms=delay_ms,
        memory=memory,
        files=files,
        exceptions=tuple(exceptions or ()),
        rules=tuple(rules or ()),
    )
    raise typer.Exit(work.iobuf.run(list(context.args), given, report, library))
