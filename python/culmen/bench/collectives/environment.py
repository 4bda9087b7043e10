"""The file about the machine and the MPI with which the samples next to it were measured."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ... import _core
from ..._core import InputError
from ...base.text import plural
from ...launch.allocation import nodes_of_job, partition, ranks_on_a_node
from ...launch.launcher import cores, cores_of_sockets, situations
from ..conversation import LostError
from ..parts import rows_in
from ..session import Ranks
from ..suites.programs import version_of
from .plan import Plan
from .samples import COLUMNS

FILE = "environment.json"
_SETTINGS = ("OMPI_MCA_", "PRTE_MCA_", "HYDRA_", "MPIR_CVAR_", "SLURM_CPU_BIND")  # of launchers and libraries
_NO_LOAD = 0.5  # a smaller load comes from the system itself
_INSTEAD = "give another folder with --output, or write --overwrite to measure all again"


def write(folder: Path, plan: Plan) -> None:
    """Writes the file. Call this before the first launch, so that the load is that of other programs."""
    (folder / FILE).write_text(json.dumps(_here(plan), indent=2) + "\n", encoding="utf-8")


def read(folder: Path) -> dict[str, Any]:
    """The content of the file; empty if there is none, or if it cannot be read."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def was_busy(about: Mapping[str, Any], ranks: int) -> str:
    """A sentence if other programs used cores of the ranks when the measurement began; otherwise empty. ``about``: the
    content of the file."""
    try:
        load, cores_there = float(about["load"][0]), int(about["cores"])
    except (KeyError, IndexError, TypeError, ValueError):
        return ""
    if load <= max(cores_there - ranks, 0) + _NO_LOAD:
        return ""
    return (
        f"The load was {load:.3g} on {plural(cores_there, 'core')} when the measurement began: the times include other "
        "programs."
    )


def refuse_other(folder: Path, plan: Plan, samples: Sequence[Path]) -> None:
    """Raises InputError if earlier samples are of another machine, or of another MPI or version of it.

    The nodes of a partition count as one machine: a scheduler may choose others for the rest of the launches."""
    before = read(folder)
    host, here = before.get("host", ""), platform.node()
    if host and host != here and not (partition() and partition() == before.get("partition")):
        raise InputError(f"{folder} has samples of the machine {host}, but this is {here}; {_INSTEAD}")
    if versions := _versions_in(samples):
        now = _version(plan)
        for version in sorted(versions):
            if now and version != now:
                raise InputError(f"{folder} has samples of {version}, but this measures {now}; {_INSTEAD}")


def _versions_in(samples: Sequence[Path]) -> set[str]:
    """All samples of a file have the same version."""
    rows = [next(rows_in([path], COLUMNS, "culmen bench collectives"), None) for path in samples]
    return {row["version"] for row in rows if row} - {""}


def _version(plan: Plan) -> str:
    """The version as samples name it; empty if no ranks can be started."""
    if plan.suite:
        return version_of(plan.launcher)
    try:
        with Ranks(plan.launcher, 2, plan.protocol.timeout_s) as ranks:
            return ranks.session.version
    except LostError:
        return ""


def _here(plan: Plan) -> dict[str, Any]:
    launcher, ranks = plan.launcher, max(plan.ranks)
    words = situations(launcher, ranks_on_a_node(ranks), here=True)
    return {
        "mpi": launcher.mpi.title,
        "versions": [version_of(launcher)],
        "launcher": launcher.program,
        "flags": [flag for each in words for flag in each.flags],
        "mappings": [mapping or "the launcher's own" for mapping in plan.mappings],
        "settings": {name: text for name, text in sorted(os.environ.items()) if name.startswith(_SETTINGS)},
        "host": platform.node(),
        "nodes": nodes_of_job(),
        "partition": partition(),
        "kernel": platform.release(),
        "cpus": _core.usable_cpus(),
        "cores": cores(),
        "cores_of_sockets": cores_of_sockets(),
        "affinity": sorted(os.sched_getaffinity(0)),
        "load": os.getloadavg(),
        "culmen": _core.build,
        **{name: value for name, value in plan.fixed().items() if name != "mpi"},
    }
