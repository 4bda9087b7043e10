"""The MPIs that culmen supports: one data file per MPI and version, and one for what its versions share.

To support another version of Open MPI or MPICH, add a data file and a test. Another MPI needs more: see "A version of
an MPI" in ARCHITECTURE.md.
"""

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from ...base.toml import tomllib
from ..programs import said_by
from .collectives import Collectives
from .variables import Names, Variable, sorted_by_group
from .versions import versions

_BARE = ("mpiexec", "mpirun")


@dataclass(frozen=True)
class Words:
    """Additions to the launcher's command line and environment in one situation."""

    flags: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Placement:
    """The options of a launcher that say where ranks run. Names of options are without hyphens at the start.

    ``flags``: the options without a value; ``pairs``: with two values; all others have one. ``ranks``: they give the
    number of ranks; ``hosts``: the names of hosts; ``hostfiles``: a file with them. ``replaced``: they bind or map
    ranks; ``replaced_per_node``: they give the ranks of a node. The other fields are words to add. In words, the
    figures of tune/placement/placed.py stand in braces. ``bindings``: for each of them the words; ``orders``: for each
    of them the figure ``order``. ``bound_per_node``: added to these words if there are several nodes.
    ``hyper_threads``: ranks may use hardware threads; ``hyper_modifier``: the figure ``modifier`` then, instead of
    these words. ``modifiers``: words that do the same as a modifier of a replaced option.
    """

    ranks: list[str]
    hosts: list[str]
    hostfiles: list[str]
    replaced: list[str]
    replaced_per_node: list[str]
    flags: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    variable: list[str] = field(default_factory=list)
    per_node: list[str] = field(default_factory=list)
    bound_per_node: list[str] = field(default_factory=list)
    hyper_threads: list[str] = field(default_factory=list)
    hyper_modifier: str = ""
    modifiers: dict[str, list[str]] = field(default_factory=dict)
    bindings: dict[str, list[str]] = field(default_factory=dict)
    orders: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Tcp:
    """How the buffers of its TCP sockets are set: words with ``{bytes}``. ``chosen_in``: options or variables that list
    the ways of messages. ``linked``: a library that it needs for this."""

    flags: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    chosen_in: list[str] = field(default_factory=list)
    linked: str = ""


@dataclass(frozen=True)
class FileAccess:
    """How its MPI-IO is set. ``romio``: the name of ROMIO among two libraries for MPI-IO, empty if it is the only one;
    ``own``: the name of the other one; ``chosen_by``: the variable that chooses. ``variables``, ``values``: of the
    other one, by the names of settings.
    """

    romio: str = ""
    own: str = ""
    chosen_by: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    values: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Mpi:
    """One MPI and version, as in its data file; ``always`` and the fields after it are situations of a launch.

    ``hosts``: its option for a list such as ``a:4,b:4``. ``host_file``: the variable with the path of a file of hosts.
    ``libraries``: by which programs link it. ``compiler_in``: the variable with which its mpicc calls another C
    compiler. ``naps``: after a rank's failure its launcher sleeps, even without ranks, until SIGCHLD wakes it.
    ``hasty``: its launcher ends the other ranks as soon as a connection of a rank closes, which is before that rank has
    ended. ``shm_bytes_per_rank``: bytes of /dev/shm that it takes at its start; ``small_shm``: if fewer are free.
    ``collectives``: None if culmen does not know how their algorithms are chosen. ``transports``: for each of them the
    environment variables that choose it. ``mappings``: for each of them the launcher's flags. ``variables``: in the
    order in which they are tuned. ``placement``, ``tcp``, ``io``: None if culmen does not know these options and
    settings.
    """

    title: str
    name: str
    module: str
    recognise: str
    launchers: list[str]
    hosts: str
    host_file: str
    libraries: list[str]
    compiler_in: str = ""
    naps: bool = False
    hasty: bool = False
    shm_bytes_per_rank: int = 0
    always: Words = Words()
    oversubscribed: Words = Words()
    root: Words = Words()
    one_machine: Words = Words()
    small_shm: Words = Words()
    collectives: Collectives | None = None
    transports: dict[str, dict[str, str]] = field(default_factory=dict)
    mappings: dict[str, list[str]] = field(default_factory=dict)
    placement: Placement | None = None
    tcp: Tcp | None = None
    io: FileAccess | None = None
    variables: tuple[Variable, ...] = ()
    names: Names = field(default_factory=Names)


@dataclass(frozen=True)
class Launcher:
    """A launcher on this machine, and its MPI."""

    program: str
    mpi: Mpi


class LauncherError(ValueError):
    """No launcher fits the request; the text is one sentence."""


@cache
def load() -> tuple[Mpi, ...]:
    """Every MPI that culmen supports."""
    files = sorted((f for f in resources.files(__name__).iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    found = {file.name.removesuffix(".toml"): tomllib.loads(file.read_text(encoding="utf-8")) for file in files}
    return tuple(_parse(data) for _, data in versions(found))


def _parse(data: dict[str, Any]) -> Mpi:
    collectives, placement = data.pop("collectives", None), data.pop("placement", None)
    io, tcp = data.pop("io", None), data.pop("tcp", None)
    variables, names = data.pop("variables", {}), data.pop("names", {})
    tables = {name: data.pop(name, {}) for name in ("transports", "mappings")}
    fields: dict[str, Any] = {key: Words(**v) if isinstance(v, dict) else v for key, v in data.items()}
    return Mpi(
        **fields,
        collectives=Collectives(**collectives) if collectives else None,
        placement=Placement(**placement) if placement else None,
        tcp=Tcp(**tcp) if tcp else None,
        io=None if io is None else FileAccess(**io),
        variables=sorted_by_group(Variable.of(name, table) for name, table in variables.items()),
        names=Names(**names),
        **tables,
    )


def with_library(version: str) -> Mpi | None:
    """The MPI whose library gives itself this version, such as "Open MPI v4.1.4"."""
    found = re.match(r"(Open MPI|MPICH)\D*(\d+)", version)
    return next((mpi for mpi in load() if found and mpi.title == f"{found[1]} {found[2]}"), None)


def recognise(version: str) -> Mpi | None:
    """The MPI whose launcher prints this text for ``--version``."""
    return next((mpi for mpi in load() if re.search(mpi.recognise, version)), None)


def find_launcher(wanted: str | None) -> Launcher:
    """``wanted``: the name of an MPI or the path of a launcher. None: the MPI of mpiexec, else any that is found.

    Raises LauncherError.
    """
    if wanted and "/" in wanted:
        return _at(wanted)
    names = list(dict.fromkeys(mpi.name for mpi in load()))
    if wanted and wanted not in names:
        raise LauncherError(f"there is no MPI '{wanted}'; {_instead()}")
    own = [name for mpi in load() if wanted in (None, mpi.name) for name in mpi.launchers]
    order = [*own, *_BARE] if wanted else [*_BARE, *own]
    for launcher in _present(order):
        if wanted in (None, launcher.mpi.name):
            return launcher
    raise LauncherError(
        f"no launcher of {wanted or 'an MPI'} is on PATH (looked for {', '.join(dict.fromkeys(order))}); "
        f"install one, or give the path of its mpiexec as --mpi PATH"
    )


def _instead() -> str:
    """The MPIs that a user can write on this machine."""
    mpis = load()
    found = dict.fromkeys(there.mpi.name for there in _present([*_BARE, *(n for mpi in mpis for n in mpi.launchers)]))
    if not found:
        return "this machine has none on PATH; install one, or write the path of its mpiexec"
    return f"write {', '.join(found)} or the path of an mpiexec"


def _present(names: Iterable[str]) -> Iterable[Launcher]:
    for name in dict.fromkeys(names):
        program = shutil.which(name)
        mpi = recognise(said_by(program, "--version")) if program else None
        if program and mpi:
            yield Launcher(name, mpi)


def _at(path: str) -> Launcher:
    if not os.access(path, os.X_OK):
        raise LauncherError(
            f"'{path}' cannot be run as a program; --mpi must be openmpi, mpich, intel or the path of an mpiexec"
        )
    version = said_by(path, "--version")
    mpi = recognise(version)
    if mpi is None:
        known = ", ".join(mpi.title for mpi in load())
        said = version.strip().partition("\n")[0]
        raise LauncherError(
            f"'{path}' is not a launcher that culmen supports (it prints '{said}'); supported are {known}"
        )
    return Launcher(path, mpi)
