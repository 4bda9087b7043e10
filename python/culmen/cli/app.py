"""The commands and their options."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import completion

_EXIT_CODES = """
Exit codes: 0 the study reached its end (or its wall time), 1 an error during the run, or every evaluation failed,
2 bad input, nothing was evaluated, 75 stopped before the end by Ctrl-C, SIGTERM, SIGHUP or SIGUSR1:
`culmen resume` goes on.
"""

app = typer.Typer(
    help="Finds the best parameters of anything that can be run.",
    epilog=_EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 110},
    rich_markup_mode=None,  # boxes and colours cost half of what a help takes
)

Workers = Annotated[
    int | None,
    typer.Option(min=1, max=65_536, help="Evaluations at a time; default: the study file's, else one per CPU."),
]
Evaluations = Annotated[
    int | None, typer.Option(min=1, max=2**63 - 1, help="Evaluations in all, instead of the study's own limit.")
]
Target = Annotated[float | None, typer.Option(help="A value that is good enough, instead of the study's own.")]
Stagnation = Annotated[
    int | None,
    typer.Option(min=1, max=2**63 - 1, help="Evaluations without an improvement, instead of the study's own."),
]
WallTime = Annotated[
    float | None,
    typer.Option("--wall-time", min=0, metavar="SECONDS", help="Seconds of this start, instead of the study's own."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors and warnings only.")]
NoPrefetch = Annotated[
    bool, typer.Option("--no-prefetch", help="Send a worker its next candidate only when it has answered.")
]
NoErrors = Annotated[
    bool, typer.Option("--no-errors", help="Leave out the errors of the parameters at the end of a least-squares fit.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace the file whatever it is, but for a store or a study file.")
]
StudyFile = Annotated[
    Path, typer.Argument(metavar="STUDY.toml", help="The study file.", autocompletion=completion.study_files)
]
StoreFile = Annotated[
    Path, typer.Argument(metavar="STUDY.db", help="The study's store.", autocompletion=completion.stores)
]


def _show_version(wanted: bool) -> None:
    if wanted:
        from .. import _core

        print(_core.build)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


@app.command()
def init(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Of the study file to write: NAME.toml.")] = Path(
        "study"
    ),
    kind: Annotated[
        Literal["python", "library", "command"],
        typer.Option(help="Of the evaluator: a Python function, a function in C, a program."),
    ] = "python",
) -> None:
    """Write a commented study file and a small model to begin with."""
    from .init import init_study

    init_study(name, kind)


@app.command(epilog=_EXIT_CODES)
def check(
    study: StudyFile,
    evaluate: Annotated[
        int,
        typer.Option(min=0, max=100_000, metavar="N", help="Evaluations on trial, which are kept nowhere; 0: none."),
    ] = 3,
) -> None:
    """Explain a study file, try it, name its mistakes and its cost."""
    from .check import check_study

    raise typer.Exit(check_study(study, evaluate))


@app.command(epilog=_EXIT_CODES)
def run(
    study: StudyFile,
    workers: Workers = None,
    worker_processes: Annotated[
        bool, typer.Option("--worker-processes", help="Workers are processes of their own, not threads of the master.")
    ] = False,
    threads: Annotated[
        bool, typer.Option("--threads", help="Workers are threads of the master, also where processes are usual.")
    ] = False,
    no_prefetch: NoPrefetch = False,
    store: Annotated[
        Path | None,
        typer.Option(help="The store to make; default: the study file's, else NAME.db in the current folder."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Instead of the study file's.")] = None,
    evaluations: Evaluations = None,
    target: Target = None,
    stagnation: Stagnation = None,
    wall_time: WallTime = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew where the store holds a study already.")
    ] = False,
    no_errors: NoErrors = False,
    quiet: Quiet = False,
) -> None:
    """Run a study, on local workers or on the ranks of MPI."""
    from .run import run_study

    place = "threads" if threads else "processes" if worker_processes else "auto"
    given = {
        "evaluations": evaluations,
        "target": target,
        "stagnation": stagnation,
        "wall_time_s": wall_time,
        "workers": workers,
    }
    raise typer.Exit(run_study(study, given, place, not no_prefetch, store, seed, overwrite, quiet, not no_errors))


@app.command(epilog=_EXIT_CODES)
def resume(
    store: StoreFile,
    workers: Workers = None,
    evaluations: Evaluations = None,
    target: Target = None,
    stagnation: Stagnation = None,
    wall_time: WallTime = None,
    no_prefetch: NoPrefetch = False,
    no_errors: NoErrors = False,
    quiet: Quiet = False,
) -> None:
    """Go on with a study that was stopped or killed. Nothing that was finished is done again."""
    from .run import resume_study

    given = {
        "evaluations": evaluations,
        "target": target,
        "stagnation": stagnation,
        "wall_time_s": wall_time,
        "workers": workers,
    }
    raise typer.Exit(resume_study(store, given, not no_prefetch, quiet, not no_errors))


@app.command()
def status(
    store: StoreFile,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again and again until nobody runs the study.")
    ] = False,
    every: Annotated[
        float | None, typer.Option(min=0.1, metavar="SECONDS", help="Seconds between two looks of --watch; default: 2.")
    ] = None,
) -> None:
    """Show how far a study is; also while it runs."""
    from .status import show_status

    raise typer.Exit(show_status(store, json, watch, every))


@app.command()
def report(
    store: StoreFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The page to write; default: STUDY.html beside the store."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    force: Force = False,
) -> None:
    """Write all about a study on one HTML page; also while it runs."""
    from .report import write_report

    write_report(store, output, show, force)


@app.command()
def export(
    store: StoreFile,
    csv: Annotated[bool, typer.Option("--csv", help="Text, one line an evaluation; this is the default.")] = False,
    json: Annotated[bool, typer.Option("--json", help="An array of objects, with residuals.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="Columns of Apache Parquet, with residuals.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Its ending may tell the format; default: standard output."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write all evaluations as CSV, JSON or Parquet. Also while the study runs."""
    from .export import export_store

    given = {"csv": csv, "json": json, "parquet": parquet}
    export_store(store, [name for name, wanted in given.items() if wanted], output, force)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="A.db", help="One study's store.")],
    second: Annotated[Path, typer.Argument(metavar="B.db", help="Another's.")],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with both convergences here, too.")
    ] = None,
    force: Force = False,
) -> None:
    """Show two studies beside each other, and how they differ."""
    from .compare import compare_stores

    compare_stores(first, second, html, force)


@app.command()
def errors(
    store: StoreFile,
    workers: Workers = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Also intervals of the profile likelihood, which may be asymmetric.")
    ] = False,
    confidence: Annotated[
        float | None, typer.Option(help="Of these intervals; default: 0.683, that of one standard deviation.")
    ] = None,
    up: Annotated[
        float,
        typer.Option(help="By how much the value rises over one error: 1 where it is a χ², 0.5 where it is ±log L."),
    ] = 1.0,
    again: Annotated[bool, typer.Option("--again", help="Also where the store holds them already.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the errors of the best parameters. Further evaluations find them, once; the store keeps them."""
    from .errors import show_errors

    raise typer.Exit(show_errors(store, workers, profile, confidence, up, again, json))


def command_names() -> list[str]:
    functions = [command.callback for command in app.registered_commands]
    return [function.__name__ for function in functions if function]


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
)
def launch(
    context: typer.Context,
    n: Annotated[int, typer.Option("-n", min=2, max=65_536, help="Ranks: one master and n - 1 workers.")],
    mpi: Annotated[
        str | None,
        typer.Option(help="Which MPI: openmpi or mpich; default: CULMEN_MPI, else what mpiexec says it is."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the mpiexec line only.")] = False,
) -> None:
    """Run a culmen command, or another program, under MPI."""
    from ..base.terminal import draw_through_pipes
    from ..launch.launcher import launch as launch_mpi

    draw_through_pipes()
    raise typer.Exit(launch_mpi(n, context.args, mpi, dry_run))


@app.command()
def optimizers(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="This one only.", show_default=False, autocompletion=completion.optimizers),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON list.")] = False,
) -> None:
    """List the optimizers: what each is for, its needs and options."""
    from .optimizers import show_optimizers

    show_optimizers(name, json)


@app.command()
def schema() -> None:
    """Print the JSON schema of study files, for editors."""
    import json

    from ..study_file import StudyFile

    print(json.dumps(StudyFile.model_json_schema(), indent=2))


@app.command()
def include() -> None:
    """Print the folder of <culmen/evaluator.h>. For compilers: cc -I"$(culmen include)"."""
    from .. import _core

    print(Path(_core.__file__).parent / "include")
