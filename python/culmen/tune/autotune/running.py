"""Runs a program with the tuner preloaded."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...launch.preloading import check_command, library_for, run_preloaded

_PREFIX = "CULMEN_TUNING_"
_LIBRARY, _EXAMPLE = "autotune", "culmen autotune"


@dataclass(frozen=True)
class Command:
    """An MPI program, and the tuner's settings: names of variables without CULMEN_TUNING_, and their values.

    Raises InputError if the program does not exist or has no MPI that culmen knows.
    """

    words: list[str]
    settings: Mapping[str, str] = field(default_factory=dict)
    library: Path = field(init=False)

    def __post_init__(self) -> None:
        check_command(self.words)
        object.__setattr__(self, "library", library_for(self.words, _LIBRARY, _EXAMPLE))

    def run(self) -> int:
        """Runs the program without the tuner. Returns its exit code."""
        return run_preloaded(self.words, None, {})

    def tune(self, dump: Path | None, load: Path | None) -> int:
        """Runs the program with the tuner. Returns its exit code. ``dump``: the file to which the choices are written.
        ``load``: a file whose choices are used from the first call on."""
        files = {"DUMP": dump, "LOAD": load}
        paths = {name: str(path.resolve()) for name, path in files.items() if path is not None}
        # Settings that are already in the environment must not be mixed with these.
        own = dict.fromkeys((name for name in os.environ if name.startswith(_PREFIX)), "")
        variables = own | {f"{_PREFIX}{name}": value for name, value in {**self.settings, **paths}.items()}
        return run_preloaded(self.words, self.library, variables)
