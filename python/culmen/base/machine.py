"""The machine on which a study was started: its store keeps these facts and the versions, for the report."""

import math
import os
import platform
from pathlib import Path
from typing import Any

from .. import _core

KEY = "machine"
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


def available_bytes() -> float:
    """Memory that programs can still get; infinite if the system does not say."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return math.inf


def _cpu() -> str:
    try:
        with Path("/proc/cpuinfo").open() as file:
            text = file.read(_ENOUGH_OF_CPUINFO)
    except OSError:
        return ""
    return text.partition("model name")[2].partition("\n")[0].strip(" \t:")
