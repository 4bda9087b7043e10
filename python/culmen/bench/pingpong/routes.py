"""The routes for messages on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..._core import InputError
from ...base.text import did_you_mean
from ...launch.mpi import Launcher, LauncherError, find_launcher, load
from ...launch.programs import own_program
from ..conversation import Conversation
from ..mappings import NODE, OWN, check
from ..session import Session
from ..words import one_size, short_size
from .sockets import Sockets

RAW = ("tcp", "unix", "shm")
BETWEEN = "raw-tcp"
"""The route by TCP where the ranks of an MPI are, without its messages."""
_WITHOUT_BUFFERS = "raw/shm"


@dataclass(frozen=True)
class Route:
    """``name``: raw/tcp, an MPI, or an MPI and its transport, also with the mapping of its ranks: openmpi/tcp+node, or
    with the size of its buffers: raw/tcp+64K. ``launcher``: none for a route without MPI."""

    name: str
    launcher: Launcher | None = None
    environment: dict[str, str] = field(default_factory=dict)
    mapping: str = OWN
    buffer: str = ""

    @property
    def is_between(self) -> bool:
        return self.name.partition("/")[2].partition("+")[0] == BETWEEN

    def mapped(self, mapping: str) -> Route:
        return self if mapping == OWN else replace(self, name=f"{self.name}+{mapping}", mapping=mapping)

    def buffered(self, buffer: str) -> Route:
        """With this size of the buffers."""
        return replace(self, name=f"{self.name}+{buffer}", buffer=buffer) if buffer else self

    def open(self, buffer_bytes: int, timeout_s: float) -> Conversation:
        """``buffer_bytes``: buffer size of the sockets without MPI, unless the route has its own; 0 for the system's
        own."""
        if self.launcher is not None and self.is_between:
            return Sockets(self.launcher, timeout_s, self.mapping, buffer_bytes)
        if self.launcher is not None:
            return Session(self.launcher, 2, timeout_s, self.environment, self.mapping)
        kind = self.name.partition("/")[2].partition("+")[0]
        size = one_size(self.buffer, "--buffer") if self.buffer else buffer_bytes
        return Conversation([str(own_program("pingpong")), kind, str(size)], {}, timeout_s)


def routes(between: bool = False) -> list[Route]:
    """All routes of this machine. ``between``: also those that are of use only between two nodes."""
    return [route for route in _all_routes() if between or not route.is_between]


def _all_routes() -> list[Route]:
    return [route for first in ("raw", *dict.fromkeys(mpi.name for mpi in load())) for route in _routes_of(first)]


def _routes_of(first: str) -> list[Route]:
    """The routes whose names begin with ``first``: raw, or an MPI."""
    if first == "raw":
        return [Route(f"raw/{kind}") for kind in RAW]
    try:
        launcher = find_launcher(first)
    except LauncherError:
        return []
    if launcher.mpi.collectives is None:  # then Session cannot start it
        return []
    more = [Route(f"{first}/{each}", launcher, variables) for each, variables in launcher.mpi.transports.items()]
    return [Route(first, launcher), *more, Route(f"{first}/{BETWEEN}", launcher)]


def route_named(name: str) -> Route:
    """The route with this name. Only its own launcher is searched for."""
    whole, _, more = name.partition("+")
    (found,) = (route for route in _routes_of(whole.partition("/")[0]) if route.name == whole)
    return found.buffered(more) if found.launcher is None else found.mapped(more)


def routes_named(names: tuple[str, ...], between: bool = False) -> list[Route]:
    """``raw`` or an MPI's name means all of its routes; ``between`` as for routes(). Raises InputError for an unknown
    one."""
    known, out = {route.name: route for route in _all_routes()}, []
    usual = {route.name for route in routes(between)}
    for name in names:
        found = [
            route for each, route in known.items() if name == each or (name == each.partition("/")[0] and each in usual)
        ]
        if not found:
            near = did_you_mean(name, list(known))
            raise InputError(f"--routes: there is no route '{name}' here{near}; there are {', '.join(known)}")
        out += [route for route in found if route not in out]
    return out


def buffered(found: list[Route], sizes: Sequence[int]) -> list[Route]:
    """Each route of sockets without MPI also with each of these sizes of its buffers."""
    names = ["", *map(short_size, sizes)]
    return [
        route.buffered(name)
        for route in found
        for name in (names if route.launcher is None and route.name != _WITHOUT_BUFFERS else names[:1])
    ]


def mapped(found: list[Route], mappings: Sequence[str], here: bool) -> list[Route]:
    """Each route of an MPI with each mapping. ``here``: this machine measures. Raises InputError if it cannot."""
    if here:
        for route in found:
            if route.launcher is not None:
                check(route.launcher, 2, mappings)
    return [route.mapped(mapping) for route in found for mapping in _mappings_of(route, mappings)]


def _mappings_of(route: Route, mappings: Sequence[str]) -> Sequence[str]:
    if route.launcher is None:
        return (OWN,)
    return [each for each in mappings if each in (OWN, NODE)] if route.is_between else mappings
