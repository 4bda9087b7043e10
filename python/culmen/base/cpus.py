"""The sockets, cores and NUMA nodes of this machine, as the kernel's files describe them."""

import os
from pathlib import Path

SYS = Path("/sys/devices/system")


def usable() -> set[int]:
    """The CPUs that this process may use. A batch system may give a job only a part of a machine."""
    return os.sched_getaffinity(0)


def sockets_of(cpus: set[int], root: Path = SYS) -> list[list[list[int]]]:
    """The sockets of these CPUs: for each socket its cores, and for each core its hardware threads. Empty if the kernel
    does not tell."""
    found: dict[int, dict[str, list[int]]] = {}
    try:
        for cpu in sorted(cpus):
            place = root / "cpu" / f"cpu{cpu}" / "topology"
            socket = found.setdefault(int((place / "physical_package_id").read_text()), {})
            socket.setdefault((place / "thread_siblings_list").read_text(), []).append(cpu)
    except (OSError, ValueError):
        return []
    return [list(found[number].values()) for number in sorted(found)]


def numa_of(cpus: set[int], root: Path = SYS) -> dict[int, list[int]]:
    """The NUMA nodes of these CPUs, and the CPUs of each node. A node may have only memory."""
    found = {}
    for node in (root / "node").glob("node[0-9]*"):
        try:
            there = cpu_list((node / "cpulist").read_text().strip())
        except OSError:
            there = []
        if not there or cpus & {*there}:
            found[int(node.name.removeprefix("node"))] = sorted(cpus & {*there})
    return dict(sorted(found.items()))


def cpu_list(text: str) -> list[int]:
    """The numbers in a list of the kernel, such as 0-3,8."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
