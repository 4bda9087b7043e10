"""The folder with the results of a measurement, and the stores there."""

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from .. import _core
from .._core import InputError
from ..run.progress.monitor import Monitor
from .study import later_rounds, refuse_in_use


class KeptStore:
    """The store of a folder with results. With ``scratch``, it lies in a new folder there during the measurement, and
    the folder with results contains a copy. So the results can be on a network file system. Use it in a ``with``
    statement.

    ``place``: the path of the store inside the block. Raises InputError if ``scratch`` cannot be written.
    """

    def __init__(self, store: Path, scratch: Path | None) -> None:
        self._store = self.place = store
        self._folder, self._told = None, -1
        if scratch is None:
            return
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="culmen-", dir=scratch))
            self.place = self._folder / store.name
            if store.exists():
                shutil.copyfile(store, self.place)
        except OSError as error:
            raise InputError(f"--scratch {scratch}: no store can be written there: {error.strerror}") from None

    def __enter__(self) -> "KeptStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self.copy()
            shutil.rmtree(self._folder, ignore_errors=True)

    def watching(self, monitor: Monitor) -> Monitor:
        """A monitor that also copies the store after each point."""
        return _Copying(monitor, self) if self._folder is not None else monitor

    def see(self, told: int) -> None:
        """``told``: the number of points that were measured."""
        if told != self._told and self.place.exists():
            self._told = told
            self.copy()

    def copy(self) -> None:
        """Copies the store to the folder with results. The copy there is always complete."""
        if self._folder is None or not self.place.exists():
            return
        copy, new = self._folder / "copy.db", self._store.with_name(f".{self._folder.name}.{platform.node()}")
        copy.unlink(missing_ok=True)
        with suppress(_core.CulmenError, OSError):  # the next copy may succeed, and the run continues
            try:
                _core.Store.copy(str(self.place), str(copy))
                shutil.copyfile(copy, new)
                new.replace(self._store)
            finally:
                new.unlink(missing_ok=True)


class _Copying:
    def __init__(self, monitor: Monitor, kept: KeptStore) -> None:
        self._monitor, self._kept, self.slice_s = monitor, kept, monitor.slice_s

    def update(self, progress: _core.Progress) -> None:
        self._monitor.update(progress)
        self._kept.see(progress.evaluations)

    def close(self) -> None:
        self._monitor.close()


def remove_rounds(store: Path) -> None:
    """Removes the store, and the stores of the points that were measured again. Raises as remove_measurements()
    does."""
    remove_measurements(*later_rounds(store), store)  # the later ones also if the first was removed


def remove_measurements(*stores: Path) -> None:
    """Raises InputError, and removes nothing, if a process measures in one of these stores."""
    refuse_in_use(*stores)
    for store in stores:
        for file in _core.files_of_store(str(store)):
            Path(file).unlink(missing_ok=True)


def folder_for(path: Path) -> Path:
    """The folder for results. Raises InputError if it cannot be made or written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise InputError(f"--output {path}: the folder cannot be made: {e.strerror}") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise InputError(f"--output {path}: the folder is not writable; give another one")
    return path


@contextmanager
def folder_of_results(path: Path) -> Iterator[Path]:
    """The same as ``folder_for``. If the block fails, a folder that was made and is still empty is removed."""
    is_new = not path.exists()
    folder = folder_for(path)
    try:
        yield folder
    except BaseException:
        if is_new:
            with suppress(OSError):  # it has results
                folder.rmdir()
        raise
