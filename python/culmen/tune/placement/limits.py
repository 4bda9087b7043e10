"""The constraints of a placement: which numbers of ranks and threads fit on a machine."""

from collections.abc import Mapping
from typing import Any

from .line import Line
from .topology import Topology


def used(line: Line) -> int:
    """The number of places for ranks and their threads, as typed."""
    return line.ranks * max(1, line.threads)


def least_used(line: Line, topology: Topology) -> int:
    """The least number of places to use. Fewer would leave most of the machine idle."""
    return min((topology.cores + 1) // 2, used(line))


def limits_of(
    parameters: Mapping[str, Any],
    line: Line,
    topology: Topology,
    listed_ranks: list[int] | None,
    listed_threads: list[int] | None,
) -> dict[str, str]:
    """The constraints: there must not be more threads than places for them, unless the user typed so. There must not be
    so few threads that most cores are idle. But each number that the user lists can be tried."""
    most, least = used(line), least_used(line, topology)
    several, each = _spread_ranks(parameters, line) or listed_ranks or [line.ranks], listed_threads or [1]
    if "nodes" in parameters:
        least = min(least, min(several) * max(1, line.threads))
    ends = (max(several) * min(each), min(several) * max(each))
    if listed_ranks or listed_threads:
        most = max(most, *ends)
    if listed_threads:
        least = min(least, *ends)
    ranks, threads = _figures(parameters, line)
    found = {}
    if "hyper_threads" in parameters or "threads" in parameters:
        found["room"] = f"{ranks} * {threads} <= {_room(parameters, topology, most)}"
    if "threads" in parameters:
        found["busy"] = f"threads == 0 or {ranks} * {threads} >= {least}"
    if _maps_to_sockets(parameters, line, topology):
        found["equal"] = f"binding in ('as typed', 'none') or {ranks} % {len(topology.sockets)} == 0"
    if line.launcher and "binding" in parameters:
        share = f"ceil({ranks} / {len(topology.sockets)}) * {threads}"
        found["sockets"] = f"binding != 'core' or {share} <= {_places(parameters, topology, topology.cores_per_socket)}"
    return found


def _maps_to_sockets(parameters: Mapping[str, Any], line: Line, topology: Topology) -> bool:
    """Whether the launcher gives each socket of each node the same number of ranks, if it binds them. A node would get
    too many ranks if their number is not a multiple of the number of sockets."""
    if line.most_nodes == 1 or len(topology.sockets) == 1 or "binding" not in parameters:
        return False
    known = line.mpi.placement.bindings if line.mpi and line.mpi.placement else {}
    return any("{per_socket}" in word for words in known.values() for word in words)


def _spread_ranks(parameters: Mapping[str, Any], line: Line) -> list[int]:
    """The numbers of ranks of a node, if the number of nodes is varied."""
    return [line.ranks * line.nodes // number for number in parameters.get("nodes", {}).get("choices", ())]


def _figures(parameters: Mapping[str, Any], line: Line) -> tuple[str, str]:
    """Expressions for the ranks of a node, and for the threads of each rank. An unknown number of threads counts as
    1."""
    ranks = "ranks_per_node" if "ranks_per_node" in parameters else str(line.ranks)
    if "nodes" in parameters:
        ranks = f"({line.ranks * line.nodes} / nodes)"
    return ranks, "max(threads, 1)" if "threads" in parameters else str(max(1, line.threads))


def _places(parameters: Mapping[str, Any], topology: Topology, cores: int) -> str:
    more = cores * (topology.threads_per_core - 1)
    return f"{cores} + {more} * (hyper_threads == true)" if "hyper_threads" in parameters else str(cores)


def _room(parameters: Mapping[str, Any], topology: Topology, most: int) -> str:
    """An expression for the number of places. ``most``: the number that must fit in any case."""
    hyper = parameters.get("hyper_threads", {}).get("initial", False)
    room = _places(parameters, topology, topology.cores)
    return f"max({room}, {most})" if most > topology.cores * (topology.threads_per_core if hyper else 1) else room
