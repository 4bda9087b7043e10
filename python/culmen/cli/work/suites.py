"""``culmen bench build``: builds a suite of benchmarks."""

from pathlib import Path

from rich.console import Console
from rich.markup import escape

from ...base.exit_codes import FINISHED
from ...base.terminal import on_terminal
from ...bench.collectives.plan import launcher_of
from ...bench.suites.building import Built, build
from ...bench.suites.sources import name_of

_FOLDER = Path("bench-suites")
_NAMED = 6  # programs in the last line


def build_suite(sources: Path, mpi: str | None, output: Path | None, overwrite: bool, quiet: bool) -> int:
    """Builds it, unless this was done before, and returns an exit code. Raises InputError."""
    launcher = launcher_of(mpi)
    folder = output or _FOLDER / f"{name_of(sources)}-{launcher.mpi.name}"
    if quiet or not on_terminal():
        built = build(sources, launcher, folder, overwrite, lambda _: None)
    else:
        console = Console()
        with console.status("") as status:
            built = build(sources, launcher, folder, overwrite, lambda text: status.update(escape(text)))
    if not quiet:
        _say(built, launcher.mpi.title, mpi)
    return FINISHED


def _say(built: Built, title: str, mpi: str | None) -> None:
    names = sorted({Path(name).name for name in built.programs})
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    print(f"{'Built' if built.anew else 'Built before'} for {title}: {shown}")
    words = f" --mpi {mpi}" if mpi else ""
    print(f"To measure: culmen bench collectives --with {built.folder}{words}")
