"""The files with rules, as the MPI reads them."""

import os
import re
import tempfile
from functools import cache
from pathlib import Path

from ..._core import InputError
from ...bench.conversation import LostError, RefusedError
from ...bench.session import Session
from ...launch.mpi import Launcher
from ...launch.programs import own_program, said_by
from . import trees
from .composed import Made, Texts, composed
from .reader import environment_for, reader_of_rules
from .tried import TIMEOUT_S, Expected, decoy, ended_there, error_of

_PROBE = Expected("reduce_scatter_block", 2, 64, "")  # nothing in MPI_Init calls it
# The variable of a file for algorithms within one node, which have priority. Debian's MPICH has no such algorithms, and
# never reads the file.
_OF_NODE = "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE"


def texts_of(made: Made, launcher: Launcher, about: list[str]) -> Texts:
    """The files. ``about``: comments for their heads. Raises InputError."""
    return composed(made, reader_of_rules(launcher), lambda leaf: built_in(launcher, leaf), about)


def built_in(launcher: Launcher, leaf: str = trees.ALGORITHM) -> trees.Tree:
    """The tree of the MPI's library with such leaves; not to be changed. Raises InputError if it has none."""
    return _tree_in(library_of(launcher), leaf)


_tree_in = cache(trees.built_in)  # a library has tens of megabytes


def library_of(launcher: Launcher) -> Path:
    """Of the MPI: the one that its programs load. Raises InputError if it is not found."""
    linked = said_by("ldd", str(own_program(f"mpibench_{launcher.mpi.module}")))
    for name in launcher.mpi.libraries:
        if found := re.search(rf"{re.escape(name)} => (/\S+)", linked):
            return Path(found[1])
    raise InputError(f"the library of {launcher.mpi.title} ({', '.join(launcher.mpi.libraries)}) is not found")


def check_reader(launcher: Launcher) -> None:
    """Raises InputError if culmen cannot write rules for this MPI, or cannot try them. It starts two ranks."""
    known = reader_of_rules(launcher)
    if known.rules_kind == "table":
        return
    usual = built_in(launcher)
    try:
        with Session(launcher, 2, TIMEOUT_S) as session:
            version = session.version
            session.check(_PROBE.collective, 0, _PROBE.size, 0)
    except (LostError, RefusedError) as failed:
        raise InputError(f"two ranks of {launcher.mpi.title} cannot be started here: {failed}") from None
    if not version.startswith(f"{known.rules_version}."):
        raise InputError(f"culmen cannot write tuning files for {version} yet, but for {known.rules_version}")
    if error := error_of(launcher, _PROBE, {_OF_NODE: str(Path(os.devnull) / "missing")}):
        raise InputError(
            f"this {version} has algorithms of its own for one node, for which culmen cannot write rules ({error})"
        )
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / known.rules_name
        tree = {**usual, f"collective={_PROBE.collective}": {"comm_type=intra": {decoy(_PROBE.collective): {}}}}
        other.write_text(trees.text(tree, ["a test"]), encoding="utf-8")
        if not ended_there(error_of(launcher, _PROBE, environment_for(known, other))):
            raise InputError(f"this {version} was built without assertions, so culmen cannot check what it writes")
