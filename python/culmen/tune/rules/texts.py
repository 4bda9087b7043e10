"""The files with rules, as the MPI reads them."""

import re
from collections.abc import Mapping
from pathlib import Path

from ..._core import InputError
from ...launch.mpi import Launcher
from ...launch.programs import own_program, said_by
from . import trees
from .file import Rules, written
from .tried import beside, reader_of_rules


def texts_of(rules: Rules, launcher: Launcher, about: list[str]) -> Mapping[str, str]:
    """By their names; the main file comes first. ``about``: comments for their heads. Raises InputError."""
    known = reader_of_rules(launcher)
    if not known.node_rules_file:
        return {known.rules_name: written(rules, about)}
    made = trees.with_rules(built_in(launcher), rules, known)
    name = Path(known.rules_name)
    return {name.name: trees.text(made.algorithms, about), beside(name).name: trees.text(made.node, about)}


def built_in(launcher: Launcher) -> trees.Trees:
    """The trees of the MPI's library. Raises InputError if it has none."""
    return trees.built_in(_library(launcher))


def _library(launcher: Launcher) -> Path:
    """Of the MPI: the one that its programs load."""
    for name in launcher.mpi.libraries:
        found = re.search(
            rf"{re.escape(name)} => (\S+)", said_by("ldd", str(own_program(f"mpibench_{launcher.mpi.module}")))
        )
        if found:
            return Path(found[1])
    raise InputError(f"the library of {launcher.mpi.title} ({', '.join(launcher.mpi.libraries)}) is not found")
