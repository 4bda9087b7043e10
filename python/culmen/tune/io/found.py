"""The line that a user types after a tuning, and its file with hints."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...report.files import Kind, replacing
from ..command.line import settings_of, typed_line
from ..command.results import Tuned
from . import applied

HINTS = "romio-hints"
_HINTS_FILE = Kind("file with hints", lambda _path, head: True)


@dataclass(frozen=True)
class Found:
    """``hints``: the text of a file that the line names; None if it names none. ``striping``: the words of a command
    that sets the striping of the folder; empty if the striping stays."""

    line: str
    hints: str | None
    striping: list[str]


def found_in(tuned: Tuned, variables: Mapping[str, str], plan: dict[str, Any], folder: Path, file: Path) -> Found:
    """``variables``: those that the command needs anyway. ``folder``: the folder of the program's files. ``file``: the
    absolute path for the hints."""
    settings = settings_of(tuned.new if tuned.is_better else tuned.old)
    changed = applied.variables_of(plan, settings, str(file))
    variables = {**variables, **changed}
    forwarded = applied.buffered(settings, applied.forwarding(plan, changed))
    line = typed_line(variables, [word.replace(applied.FOLDER, str(folder)) for word in forwarded])
    if not tuned.is_better:
        return Found(line, None, [])
    hints = applied.hints_of(plan, settings) if str(file) in variables.values() else None
    return Found(line, hints, applied.striping_of(settings, str(folder)))


def about_mpi_io(plan: dict[str, Any], settings: dict[str, str]) -> list[str]:
    """A sentence if these settings change MPI-IO: culmen does not know whether the program uses MPI-IO."""
    if not applied.variables_of(plan, settings, HINTS):
        return []
    return ["The settings of MPI-IO have an effect only if the program calls functions named MPI_File_…."]


def write_hints(text: str, file: Path) -> None:
    with replacing(file, _HINTS_FILE, force=True) as path:
        path.write_text(text, encoding="utf-8")
