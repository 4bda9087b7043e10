"""``culmen tune hpl``: its options."""

from pathlib import Path
from typing import Annotated

import typer

from . import work
from .given import NOT_GIVEN, Given, with_settings
from .jobs import DryTuning, Scratch, job_of_tuning, typed
from .measuring_options import NoProgress, Overwrite
from .tune_lines import Price, UseHours, UseRuns


@with_settings
def hpl(
    context: typer.Context,
    program: Annotated[
        Path | None,
        typer.Option(
            "--program", metavar="FILE", help="xhpl or hpcc. Default: xhpl on PATH, or hpcc if there is no xhpl."
        ),
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option(
            "--ranks",
            metavar="N",
            show_default=False,
            min=1,
            help="Number of MPI ranks. By default, culmen tries all numbers that meet two conditions: the number "
            "divides the number of cores, and each node gets the same number of ranks. The threads of the "
            "BLAS use the other cores.",
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            "--size",
            metavar="N",
            show_default=False,
            min=200,
            help="Matrix size N, both in the comparison at the end and in the input file that culmen writes. By "
            "default, these two sizes differ. The comparison uses the largest N that is possible within --minutes. The "
            "input file contains the largest N that fits into the memory.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", metavar="SIZE", help="Memory for the matrix, such as 16G or 80%. Default: 80%."),
    ] = None,
    minutes: Annotated[
        float,
        typer.Option(
            "--minutes",
            metavar="M",
            show_default=False,
            min=0.1,
            max=10000,
            help="About how long all runs of HPL take in total, in minutes. Default: 15.",
        ),
    ] = 15.0,
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds",
            metavar="N",
            min=3,
            max=1000,
            show_default=False,
            help="At the end, run HPL N times with the present settings, and N times with the new settings. "
            "Default: 5.",
        ),
    ] = 5,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="NAME,…", help="The search varies only these parameters, such as nb,grid,blas."),
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            "--fix",
            metavar="NAME=VALUE",
            help="Give a parameter this value. The search does not change it. Example: --fix blas=openblas",
        ),
    ] = None,
    present: Annotated[
        Path | None,
        typer.Option(
            "--present",
            metavar="FILE",
            help="Your HPL.dat. By default, culmen looks for an input file in the current folder and in the folder of "
            "the program. If culmen finds no file, it uses usual settings.",
        ),
    ] = None,
    build: Annotated[
        Path | None,
        typer.Option(
            "--build",
            metavar="SOURCES",
            help="The sources of HPL or HPC Challenge, as a folder or an archive. culmen builds them with each MPI, "
            "compiler and list of flags. The search also varies the MPI, the compiler and the flags.",
        ),
    ] = None,
    compilers: Annotated[
        str | None,
        typer.Option(
            "--compilers",
            metavar="NAME,…",
            help="With --build: the C compilers. Default: gcc, clang and others on PATH.",
        ),
    ] = None,
    flags: Annotated[
        list[str] | None,
        typer.Option(
            "--flags",
            metavar="FLAGS,…",
            help='With --build: the lists of flags. Default: "-O2,-O3 -march=native". Can be repeated.',
        ),
    ] = None,
    mpis: Annotated[
        str | None,
        typer.Option(
            "--mpis",
            metavar="NAME,…",
            help="With --build: names of MPIs, such as openmpi,mpich, or paths of mpiexec. Default: all MPIs that have "
            "a compiler mpicc.",
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            "--link",
            metavar="WORDS",
            help='With --build: the words that tell the linker which BLAS to use, such as "-L/opt/lib -lblis". '
            "Default: the BLAS of the system.",
        ),
    ] = None,
    compare_random: Annotated[
        bool,
        typer.Option(
            "--compare-random",
            help="Also make a random search of the same duration, and compare the best settings of this random search "
            "with the new settings.",
        ),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="At the end, also run HPL with N of the input file that culmen writes: once with the present "
            "settings, and once with the recommended ones. These runs can take much longer than --minutes.",
        ),
    ] = False,
    price: Price = None,
    use_hours: UseHours = None,
    use_runs: UseRuns = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for the results. Default: tune-hpl."),
    ] = None,
    overwrite: Overwrite = False,
    job: Given = NOT_GIVEN,
    dry_run: DryTuning = False,
    scratch: Scratch = None,
    quiet: NoProgress = False,
) -> None:
    options = work.tune_hpl.Options(
        program, ranks, size, memory, minutes, rounds, only, tuple(fix or ()), present, build, compilers,
        tuple(flags or ()), mpis, link, compare_random, price, work.tune_hpl.Use(use_hours, use_runs),
        words=tuple(context.args), verify=verify,
    )  # fmt: skip
    asked = job_of_tuning(job, dry_run)
    words = typed(context, without=())
    if asked is not None:
        raise typer.Exit(work.tune_submit.submit_hpl(options, asked, words, output, overwrite, quiet))
    if dry_run:
        raise typer.Exit(work.tune_hpl.show_plan(options, output))
    command = work.tune_submit.typed_words("hpl", words, list(context.args))
    raise typer.Exit(work.tune_hpl.tune_hpl(options, output, overwrite, quiet, scratch, command))
