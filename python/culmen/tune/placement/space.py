"""The parameters of a placement: those that make sense for a program on a machine."""

import math
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..._core import InputError
from .limits import least_used, limits_of, used
from .line import Line
from .pages import huge_pages
from .placed import HYPER, TYPED
from .spread import numbers_of_nodes
from .topology import Topology

_LEAST_RUNS, _RUNS_PER_CANDIDATE = 8, 4


@dataclass
class Space:
    """``parameters`` and ``constraints``: tables of a study file. ``left_out``: a sentence for each kind of parameter
    that this machine or program does not have."""

    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    constraints: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    @property
    def runs(self) -> int:
        """A reasonable number of runs for the search."""
        sizes = [len(table.get("choices", (False, True))) for table in self.parameters.values()]
        return max(_LEAST_RUNS, _RUNS_PER_CANDIDATE * math.prod(sizes))


def space_of(
    line: Line, topology: Topology, ranks: list[int] | None, threads: list[int] | None, by_figure: bool = False
) -> Space:
    """``ranks``, ``threads``: the user's list of ranks per node and of threads per rank to try; None if there is none.
    ``by_figure``: a figure of the program is tuned, not its wall time. Raises InputError if an option does not fit the
    program."""
    space = Space()
    if ranks and not line.launcher:
        raise InputError("--ranks is for programs that mpiexec starts; this command has no mpiexec")
    if threads and not line.openmp:
        line = Line(**{**vars(line), "openmp": True})
    if topology.threads_per_core > 1 and (line.launcher or line.openmp):
        space.parameters["hyper_threads"] = {"type": "boolean", "initial": _uses_hyper_threads(line, topology)}
    elif topology.threads_per_core == 1:
        space.left_out.append("Hyper-threads: each core has one hardware thread.")
    if line.launcher:
        _add_ranks(space, line, topology, ranks, by_figure)
        _add_nodes(space, line, topology)
    if line.openmp:
        _add_threads(space, line, topology, threads)
    elif line.launcher:
        space.left_out.append(
            "Threads: the program is not linked with OpenMP; --threads 1,2,4 tries them all the same."
        )
    else:
        _add_cores(space, topology)
    if line.launcher or line.openmp:
        _add_binding(space, line, topology)
    space.constraints = limits_of(space.parameters, line, topology, ranks, threads)
    _add_memory(space, line, topology)
    _add_pages(space)
    return space


def plan_of(line: Line, topology: Topology, folder: Path) -> dict[str, Any]:
    """The plan for placed.py. ``folder``: the folder in which the program runs."""
    return {
        "folder": str(folder),
        "variables": line.variables,
        "before": line.before,
        "launcher": line.launcher,
        "options": line.options,
        "ranks": line.ranks,
        "nodes": line.nodes,
        "most_nodes": line.most_nodes,
        "threads": line.threads,
        "openmp": line.openmp,
        "program": line.program,
        "words": asdict(line.mpi.placement) if line.mpi and line.mpi.placement else {},
        "sockets": [cores[: topology.cores_per_socket] for cores in topology.sockets],
        "numa": [cpus for cpus in topology.numa.values() if cpus],
        "cores": topology.cores,
        "tunables": line.variables.get("GLIBC_TUNABLES", os.environ.get("GLIBC_TUNABLES", "")),
    }


def _uses_hyper_threads(line: Line, topology: Topology) -> bool:
    """Whether the program uses hyper-threads as typed."""
    if line.mpi and line.mpi.placement and line.mpi.placement.hyper_threads:
        return any(role == HYPER for role, _ in line.options)
    return used(line) > topology.cores


def _ordinal(values: set[int], initial: int) -> dict[str, Any]:
    return {"type": "ordinal", "choices": sorted(values | {initial}), "initial": initial}


def _add_ranks(space: Space, line: Line, topology: Topology, given: list[int] | None, by_figure: bool) -> None:
    if not given and not by_figure:  # fewer ranks may do less work
        space.left_out.append(
            "Ranks: their number stays, because the work may depend on it; --figure REGEX or --ranks N-N varies it."
        )
        return
    sockets, most = len(topology.sockets), topology.cores * topology.threads_per_core
    least = 1 if line.openmp else least_used(line, topology)
    tried = {*given} if given else {k for k in range(sockets, most + 1, sockets) if k >= least}
    if len(tried | {line.ranks}) > 1:
        space.parameters["ranks_per_node"] = _ordinal(tried, line.ranks)


def keeps_ranks(line: Line, given: list[int] | None, by_figure: bool) -> bool:
    """Whether each run has the number of ranks that was typed."""
    return given == [line.ranks] or (not given and not by_figure)


def _add_nodes(space: Space, line: Line, topology: Topology) -> None:
    """Adds the number of nodes, for the ranks that were typed."""
    if "ranks_per_node" in space.parameters or line.most_nodes == 1:
        return
    places = topology.cores * (topology.threads_per_core if "hyper_threads" in space.parameters else 1)
    each = 1 if line.openmp else max(1, line.threads)  # the number of threads may be varied
    tried = numbers_of_nodes(line, max(places // each, line.ranks))
    if len(tried) > 1:
        space.parameters["nodes"] = _ordinal({*tried}, line.nodes)


def _add_threads(space: Space, line: Line, topology: Topology, given: list[int] | None) -> None:
    """Adds the number of threads. 0 is OpenMP's own choice, if the user gives no number."""
    if line.launcher:
        room = topology.cores_per_socket * topology.threads_per_core
        tried = {k for k in range(1, room + 1) if room % k == 0 or topology.cores_per_socket % k == 0}
    else:
        step, most = len(topology.sockets), topology.cores * topology.threads_per_core
        tried = {k for k in range(step, most + 1, step) if k >= (topology.cores + 1) // 2}
    tried = {*given} if given else tried
    if len(tried | {line.threads}) > 1:
        space.parameters["threads"] = _ordinal(tried, line.threads)


def _add_cores(space: Space, topology: Topology) -> None:
    space.left_out.append("Threads: the program is not linked with OpenMP; --threads 1,2,4 tries them all the same.")
    step = len(topology.sockets)
    tried = {k for k in range(step, topology.cores + 1, step) if k >= (topology.cores + 1) // 2}
    if shutil.which("taskset") is None:
        space.left_out.append("Cores: there is no program taskset; the package util-linux has it.")
    elif len(tried) > 1:
        space.parameters["cores"] = _ordinal(tried, topology.cores)


def _add_binding(space: Space, line: Line, topology: Topology) -> None:
    sockets, nodes = len(topology.sockets), sum(bool(cpus) for cpus in topology.numa.values())
    choices = [TYPED, "none", "core"]
    if nodes > 1 and nodes != sockets and line.launcher:
        choices.append("numa")
    if sockets > 1:
        choices.append("socket")
    known = line.mpi.placement.bindings if line.mpi and line.mpi.placement else {}
    if line.mpi and not known:
        space.left_out.append(f"Binding: culmen does not know these options of {line.mpi.title}.")
        return
    space.parameters["binding"] = {"choices": choices, "initial": TYPED}
    if sockets == 1:
        if line.launcher:
            space.left_out.append("Order of ranks: the machine has one socket.")
        return
    bound = ("core", "numa", "socket") if line.launcher else ("core",)
    names = ", ".join(f"'{name}'" for name in bound if name in choices)
    condition = f"binding in ({names})" if len(bound) > 1 else f"binding == {names}"
    space.parameters["order"] = {"choices": ["core", "socket"], "active_when": condition}


def _add_memory(space: Space, line: Line, topology: Topology) -> None:
    """Adds the memory policy. Ranks on several sockets need memory from all NUMA nodes. So with ranks, only nodes
    without cores are tried alone, because these may have faster memory."""
    if len(topology.numa) < 2:
        space.left_out.append("Memory policy: the machine has one NUMA node.")
    elif shutil.which("numactl") is None:
        space.left_out.append("Memory policy: there is no program numactl; install it to try memory policies.")
    else:
        alone = [f"node {node}" for node, cpus in topology.numa.items() if not cpus or not line.launcher]
        space.parameters["memory"] = {"choices": [TYPED, "interleave", "local", *alone], "initial": TYPED}


def _add_pages(space: Space) -> None:
    kinds, left_out = huge_pages()
    space.left_out += left_out
    if kinds:
        space.parameters["pages"] = {"choices": [TYPED, *kinds], "initial": TYPED}
