"""Where a measurement began. All its launches must be of one version of the MPI and one kind of CPU."""

import json
import os
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.machine import here
from ...bench.parts import write_whole

FILE = "measured-on.json"
UNKNOWN_CPU = "unknown CPU"


def check_origin(folder: Path, version: str, resumed: bool) -> None:
    """Writes the file for a new measurement. Raises InputError if a measurement would be resumed with another version
    of the MPI or another CPU."""
    now = {"version": version, "machine": here(), "load": os.getloadavg()}
    before = _read(folder) if resumed else {}
    if not before:
        write_whole(folder / FILE, json.dumps(now, indent=2) + "\n")
    elif _named(before) != _named(now):
        raise InputError(
            f"{folder} was measured with {_named(before)}, but here is {_named(now)}; give another folder with "
            "--output, or write --overwrite to measure again"
        )


def facts_in(folder: Path) -> dict[str, Any]:
    """``machine`` and ``load``; empty if an earlier version of culmen made the measurement."""
    return {name: value for name, value in _read(folder).items() if name in ("machine", "load")}


def said_of(folder: Path) -> str:
    """The host and its CPU."""
    machine = facts_in(folder).get("machine", {})
    return f"{machine.get('host', 'unknown host')}, {machine.get('cpu') or UNKNOWN_CPU}"


def _named(facts: dict[str, Any]) -> str:
    return f"{facts['version']} on {facts['machine'].get('cpu') or UNKNOWN_CPU}"


def _read(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return found if isinstance(found["version"], str) and isinstance(found["machine"], dict) else {}
    except (OSError, ValueError, TypeError, LookupError):
        return {}
