"""``culmen iobuf``: runs a program with buffers for its files."""

import sys
import tempfile
from pathlib import Path

from ..._core import InputError
from ...base.exit_codes import as_of_a_shell
from ...launch.preloading import check_command, run_preloaded
from ...tune.iobuf.report import read_reports, sentences
from ...tune.iobuf.settings import Given, library, variables_of

__all__ = ["Given", "run"]

_EXAMPLE = "example: culmen iobuf -- ./app"


def run(words: list[str], given: Given, report: bool, only_library: bool) -> int:
    """Returns the program's exit code. Raises InputError."""
    own, variables = library(), variables_of(given)
    if only_library:
        print(own)
        return 0
    if not words:
        raise InputError(f"a command after -- is missing; {_EXAMPLE}")
    check_command(words)
    if not report:
        return as_of_a_shell(run_preloaded(words, own, variables))
    with tempfile.TemporaryDirectory(prefix="culmen-iobuf-") as folder:
        code = as_of_a_shell(run_preloaded(words, own, variables | {"CULMEN_IOBUF_REPORT": folder}))
        for sentence in sentences(read_reports(Path(folder)), code != 0):
            print(f"culmen: {sentence}", file=sys.stderr)
    return code
