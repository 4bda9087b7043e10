"""Runs a program with the tuner preloaded."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ...launch.preloading import check_command, library_for, run_preloaded, run_watched

_PREFIX = "CULMEN_TUNING_"
_LIBRARY, _EXAMPLE = "autotune", "culmen autotune"


@dataclass(frozen=True)
class Command:
    """An MPI program, and the tuner's settings: names of variables without CULMEN_TUNING_, and their values. mpi: as
    for ``library_for``.

    Raises InputError if the program does not exist or has no MPI that culmen knows.
    """

    words: list[str]
    settings: Mapping[str, str] = field(default_factory=dict)
    mpi: str | None = None
    library: Path = field(init=False)

    def __post_init__(self) -> None:
        check_command(self.words)
        object.__setattr__(self, "library", library_for(self.words, _LIBRARY, _EXAMPLE, self.mpi))

    def run(self, limit_s: float | None) -> int:
        """Without the tuner. limit_s, and what it raises: see ``run_watched``."""
        return run_watched(self.words, None, {}, limit_s)

    def tune(self, dump: Path | None, load: Path | None) -> int:
        """dump: the file for the choices. load: a file with choices that hold from the first call on."""
        return self._tune(dump, load, run_preloaded)

    def tune_watched(self, dump: Path | None, load: Path | None, limit_s: float | None) -> int:
        """The same. limit_s, and what it raises: see ``run_watched``."""
        return self._tune(dump, load, partial(run_watched, limit_s=limit_s))

    def _tune(self, dump: Path | None, load: Path | None, run: Callable[..., int]) -> int:
        files = {"DUMP": dump, "LOAD": load}
        paths = {name: str(path.resolve()) for name, path in files.items() if path is not None}
        # Settings that are already in the environment must not be mixed with these.
        own = dict.fromkeys((name for name in os.environ if name.startswith(_PREFIX)), "")
        variables = own | {f"{_PREFIX}{name}": value for name, value in {**self.settings, **paths}.items()}
        return run(self.words, self.library, variables)
