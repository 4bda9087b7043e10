"""What can carry messages on this machine."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..._core import InputError
from ...base.text import did_you_mean
from ...launch.mpi import Launcher, LauncherError, find_launcher, load
from ...launch.programs import own_program
from ..collectives.session import Session
from ..conversation import Conversation, LostError

RAW = ("tcp", "unix", "shm")


@dataclass(frozen=True)
class Route:
    """``name``: raw/tcp, an MPI, or an MPI and its transport. ``launcher``: none for a route without MPI."""

    name: str
    launcher: Launcher | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def open(self, buffer_bytes: int, timeout_s: float) -> Conversation:
        """``buffer_bytes``: of the sockets without MPI; 0: the system's."""
        if self.launcher is not None:
            return Session(self.launcher, 2, timeout_s, self.environment)
        kind = self.name.partition("/")[2]
        return _Raw([str(own_program("pingpong")), kind, str(buffer_bytes)], {}, timeout_s)


class _Raw(Conversation):
    def greet(self, size: int) -> None:
        if size != 2:
            raise LostError("the program does not speak as it should")


def routes() -> list[Route]:
    """All of this machine."""
    out = [Route(f"raw/{kind}") for kind in RAW]
    for name in dict.fromkeys(mpi.name for mpi in load()):
        try:
            launcher = find_launcher(name)
        except LauncherError:
            continue
        if launcher.mpi.collectives is None:  # then there is no benchmark for it
            continue
        out.append(Route(name, launcher))
        out += [Route(f"{name}/{each}", launcher, variables) for each, variables in launcher.mpi.transports.items()]
    return out


def routes_named(names: tuple[str, ...]) -> list[Route]:
    """``raw`` or an MPI's name means all of its routes. Raises InputError for an unknown one."""
    known, out = {route.name: route for route in routes()}, []
    for name in names:
        found = [route for each, route in known.items() if name in (each, each.partition("/")[0])]
        if not found:
            near = did_you_mean(name, list(known))
            raise InputError(f"--routes: there is no route '{name}' here{near}; there are {', '.join(known)}")
        out += [route for route in found if route not in out]
    return out
