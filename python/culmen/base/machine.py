"""The machine on which a study was started: its store keeps these facts and the versions, for the report."""

import math
import os
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .. import _core

KEY = "machine"
_SAME_MEMORY = 0.05  # kernels keep different parts for themselves
_ENOUGH_OF_CPUINFO = 4096


def here() -> dict[str, Any]:
    """Host, system, processor, usable CPUs, memory, Python; in an MPI launch also the MPI and the number of ranks."""
    facts = {
        "host": platform.node(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu(),
        "cpus": _core.usable_cpus(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "python": platform.python_version(),
    }
    launch = _core.detect_launch()
    if launch.is_rank:
        facts["mpi"] = _core.mpi_library() or launch.kind
        facts["ranks"] = launch.size
    return facts


def other_machine(there: Mapping[str, Any]) -> str:
    """A clause that names both machines if their times cannot be compared: another processor, number of usable CPUs, or
    memory. Otherwise empty. ``there``: facts as from here(); what is not in them is not compared."""
    now = here()
    memory, memory_now = there.get("memory_gib"), now["memory_gib"]
    same_memory = memory is None or math.isclose(memory, memory_now, rel_tol=_SAME_MEMORY)
    if same_memory and all(there.get(name, now[name]) == now[name] for name in ("cpu", "cpus")):
        return ""
    return f"made on {_said(there)}, but this is {_said(now)}"


def _said(facts: Mapping[str, Any]) -> str:
    cpus = facts.get("cpus", "unknown")
    return f"{facts.get('host')} ({facts.get('cpu')}, {cpus} usable CPUs, {facts.get('memory_gib')} GiB)"


def available_bytes(root: Path = Path("/")) -> float:
    """Memory that this program can still get, limited by the machine and by its control groups. Infinite if the system
    does not say. ``root``: the folder with ``proc`` and ``sys``."""
    return min([_of_machine(root), *_of_groups(root)])


def _of_machine(root: Path) -> float:
    found = _table_in(root / "proc/meminfo").get("MemAvailable:")
    return math.inf if found is None else found * 1024


def _of_groups(root: Path) -> Iterator[float]:
    """The free memory of each control group of this process that limits the memory, and of its parent groups:
    cgroups(7)."""
    mounted = root / "sys/fs/cgroup"
    for line in _lines_of(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _free_in(mounted, path, _SECOND)
            yield from _free_in(mounted / "unified", path, _SECOND)
        elif "memory" in controllers.split(","):
            yield from _free_in(mounted / "memory", path, _FIRST)


class _Files(NamedTuple):
    limit: str
    used: str
    cache: str  # in memory.stat: what the system gives back when memory is short


_FIRST = _Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_SECOND = _Files("memory.max", "memory.current", "inactive_file")


def _free_in(mounted: Path, path: str, files: _Files) -> Iterator[float]:
    group = mounted / path.lstrip("/")
    for folder in [group, *group.parents]:
        if not folder.is_relative_to(mounted):
            return
        limit, used = _number_in(folder / files.limit), _number_in(folder / files.used)
        if limit is not None and used is not None:
            yield max(0, limit - used + _table_in(folder / "memory.stat").get(files.cache, 0))


def _lines_of(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []


def _table_in(file: Path) -> dict[str, int]:
    words = (line.split() for line in _lines_of(file))
    return {pair[0]: int(pair[1]) for pair in words if len(pair) > 1 and pair[1].isdecimal()}


def _number_in(file: Path) -> int | None:
    """None if there is none, as in a group without a limit."""
    text = "".join(_lines_of(file))
    return int(text) if text.isdecimal() else None


def _cpu() -> str:
    try:
        with Path("/proc/cpuinfo").open() as file:
            text = file.read(_ENOUGH_OF_CPUINFO)
    except OSError:
        return ""
    return text.partition("model name")[2].partition("\n")[0].strip(" \t:")
