"""Mappings of ranks: whether the next rank is on the next core, socket or node."""

import os
from collections.abc import Sequence

from .._core import InputError
from ..launch.allocation import ranks_on_a_node, tasks_on_nodes
from ..launch.launcher import cores, cores_of_sockets, names_hosts, stays_here
from ..launch.mpi import Launcher
from . import layouts
from .words import check_known, words_of

OWN = ""  # the launcher's own mapping
SOCKET, NODE = "socket", "node"
NAMES = ("core", SOCKET, NODE)


def mappings_of(text: str | None) -> tuple[str, ...]:
    """The mappings that the option names. Raises InputError for an unknown one."""
    if text is None:
        return (OWN,)
    words = words_of(text, "--mapping")
    check_known("--mapping", "mapping", words, NAMES)
    return words


def is_on_two_nodes() -> bool:
    """Whether a launcher puts two ranks on two nodes, or may do so because a file names its hosts."""
    return ranks_on_a_node(2) == 1 or names_hosts(os.environ)


def check(launcher: Launcher, ranks: int, mappings: Sequence[str]) -> None:
    """Raises InputError if this machine, or this allocation, has no core for each rank, or no second node or socket."""
    for mapping in mappings:
        flags_of(launcher, ranks, mapping)
        if mapping in (NODE, SOCKET) and _nodes() == 1:
            _check_second(mapping)


def _nodes() -> int:
    """The number of nodes on which a launcher starts ranks here; 0 if it is not known."""
    if names_hosts(os.environ):
        return 0
    return len(tasks_on_nodes()) or int(stays_here(os.environ))


def _check_second(mapping: str) -> None:
    if mapping == NODE:
        raise InputError("--mapping node: there is only one node here; leave it out, or measure in a job with several")
    if len(cores_of_sockets()) == 1:
        raise InputError("--mapping socket: culmen may use only one socket here; leave it out")


def flags_of(launcher: Launcher, ranks: int, mapping: str) -> list[str]:
    """Words for the launcher. Raises InputError if there are more ranks on a node than cores."""
    if mapping == OWN:
        return []
    if per_node := layouts.per_node_of(mapping):
        return layouts.flags_of(launcher, per_node)
    known = launcher.mpi.mappings
    if mapping not in known:
        raise InputError(f"--mapping: culmen does not know how {launcher.mpi.title} maps ranks")
    there = ranks_on_a_node(ranks)
    if there > cores():
        raise InputError(
            f"--mapping {mapping}: each rank needs a core, but {there} ranks on a node have {cores()}; give fewer ranks"
        )
    return known[mapping]
