"""A folder for the files of runs, which is removed however this process ends."""

import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

from ..._core import InputError

# The script waits for the end of its standard input, which also comes if this process is killed. It tries several
# times, because ranks may still write for a moment.
_REMOVE = 'cat >/dev/null; for k in 1 2 3 4 5 6 7 8 9; do rm -rf "$0" && break; sleep 0.3; done'


class Scratch:
    """``path``: a new folder inside another one. Use it in a ``with`` statement. Raises InputError if the other folder
    cannot be written."""

    def __init__(self, inside: Path) -> None:
        try:
            self.path = Path(tempfile.mkdtemp(prefix="culmen-io-", dir=inside))
        except OSError as e:
            raise InputError(f"--folder {inside}: no folder can be made there: {e.strerror}") from None
        words = ["sh", "-c", _REMOVE, str(self.path)]
        self._remover = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)

    def __enter__(self) -> "Scratch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._remover.stdin is not None
        self._remover.stdin.close()
        self._remover.wait()
