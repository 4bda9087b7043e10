"""The sockets, cores and NUMA nodes of a machine: from hwloc, and otherwise from the kernel (/sys)."""

import os
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..._core import InputError
from ...base.cpus import SYS, numa_of, sockets_of, usable
from ...base.text import plural

_HWLOC = ("lstopo-no-graphics", "lstopo", "hwloc-ls")
_GIVEN = ("HWLOC_SYNTHETIC", "HWLOC_XMLFILE")  # variables that replace this machine
_TIMEOUT_S = 30


@dataclass(frozen=True)
class Topology:
    """``sockets``: for each socket its cores, and for each core the numbers of its hardware threads, as in
    /proc/cpuinfo. ``numa``: for each NUMA node the hardware threads of its cores; a node may have only memory.
    ``source``: where this comes from, for people."""

    sockets: list[list[list[int]]]
    numa: dict[int, list[int]]
    source: str

    @property
    def cores_per_socket(self) -> int:
        """The cores of the smallest socket, because an equal number of ranks must fit on each socket."""
        return min(len(cores) for cores in self.sockets)

    @property
    def threads_per_core(self) -> int:
        return min(len(threads) for cores in self.sockets for threads in cores)

    @property
    def cores(self) -> int:
        return self.cores_per_socket * len(self.sockets)

    def __str__(self) -> str:
        parts = [plural(len(self.sockets), "socket"), f"{plural(self.cores_per_socket, 'core')} per socket"]
        parts.append(f"{plural(self.threads_per_core, 'hardware thread')} per core")
        return f"{', '.join(parts)}, {plural(max(1, len(self.numa)), 'NUMA node')} (from {self.source})"


def read_topology(given: str | None = None) -> Topology:
    """``given``: a file with XML of hwloc, or a synthetic topology such as ``pack:2 numa:1 core:18 pu:2``. None for
    this machine, without CPUs that this process may not use. Raises InputError if it cannot be read."""
    if given is not None and given.endswith(".xml"):
        return _of_file(Path(given))
    program = next((name for name in _HWLOC if shutil.which(name)), None)
    if given is not None:
        if program is None:
            raise InputError("--topology needs the program lstopo of hwloc; install hwloc, or give a file NAME.xml")
        return _parse(_said_by([program, "--of", "xml", "--no-io", "--input", given], given), "hwloc")
    if program is None:
        return from_sys(SYS, usable())
    topology = _parse(_said_by([program, "--of", "xml", "--no-io"], None), "hwloc")
    return topology if any(name in os.environ for name in _GIVEN) else _allowed(topology, usable())


def _of_file(path: Path) -> Topology:
    try:
        return _parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(f"--topology {path} cannot be read: {e}") from None


def _said_by(words: list[str], given: str | None) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise InputError(f"{words[0]} does not describe this machine: {e}") from None
    if done.returncode == 0 and done.stdout.lstrip().startswith("<?xml"):
        return done.stdout
    if given is not None:
        raise InputError(
            f'--topology "{given}" is no topology that hwloc knows; write as in "pack:2 numa:1 core:18 pu:2", or a '
            "file NAME.xml"
        )
    why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    raise InputError(f"{words[0]} does not describe this machine: {why}")


def _parse(xml: str, source: str) -> Topology:
    """The topology in hwloc's XML. Raises InputError if the XML is wrong."""
    try:
        root = ElementTree.fromstring(xml)  # noqa: S314 - of hwloc, or the user's own file
        sockets = [_cores_of(package) for package in _objects(root, "Package")] or [_cores_of(root)]
        numa = {_number(node): _members(node.get("cpuset", "")) for node in _objects(root, "NUMANode")}
    except (ElementTree.ParseError, TypeError, ValueError) as e:
        raise InputError(f"the topology from {source} cannot be read: {e}") from None
    return _checked([cores for cores in sockets if cores], numa, source)


def _objects(root: ElementTree.Element, kind: str) -> Iterator[ElementTree.Element]:
    return (each for each in root.iter("object") if each.get("type") in (kind, "Socket" if kind == "Package" else kind))


def _cores_of(package: ElementTree.Element) -> list[list[int]]:
    cores = [[_number(unit) for unit in _objects(core, "PU")] for core in _objects(package, "Core")]
    return [core for core in cores if core] or [[_number(unit)] for unit in _objects(package, "PU")]


def _number(thing: ElementTree.Element) -> int:
    return int(thing.get("os_index", "0"))


def _members(bits: str) -> list[int]:
    """The numbers in a set such as 0x00000001,,0xffffffff: words of 32 bits, the highest first; an empty word is 0."""
    total = 0
    for word in bits.split(","):
        total = total << 32 | int(word or "0", 16)
    return [k for k in range(total.bit_length()) if total >> k & 1]


def _checked(sockets: list[list[list[int]]], numa: dict[int, list[int]], source: str) -> Topology:
    if not sockets:
        raise InputError(f"the topology from {source} has no cores")
    return Topology(sockets, numa, source)


def _allowed(topology: Topology, cpus: set[int]) -> Topology:
    """The topology with only these CPUs, because a batch system may give a job only a part of a machine."""
    sockets = [[[cpu for cpu in core if cpu in cpus] for core in cores] for cores in topology.sockets]
    whole = [[core for core in cores if core] for cores in sockets]
    numa = {node: [cpu for cpu in there if cpu in cpus] for node, there in topology.numa.items()}
    used = {node: there for node, there in numa.items() if there or not topology.numa[node]}
    return _checked([cores for cores in whole if cores], used, topology.source)


def from_sys(root: Path, cpus: set[int]) -> Topology:
    """The topology from the kernel's files below ``root``, such as /sys/devices/system. ``cpus``: the CPUs that are
    used."""
    sockets = sockets_of(cpus, root) or [[[cpu] for cpu in sorted(cpus)]]
    return _checked(sockets, numa_of(cpus, root), "/sys")
