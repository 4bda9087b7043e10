"""Messages over TCP between two ranks of an MPI, without its messages. See src/mpibench/sockets.h."""

from ...launch.mpi import Launcher
from ..conversation import LostError, RefusedError
from ..session import Session

_VERSION = "TCP on "


class Sockets(Session):
    """``buffer_bytes``: of the sockets; 0 for the system's own. The others: as for Session. Raises LostError if the two
    ranks cannot be connected."""

    def __init__(self, launcher: Launcher, timeout_s: float, mapping: str, buffer_bytes: int) -> None:
        super().__init__(launcher, 2, timeout_s, {}, mapping)
        self._buffer_bytes = buffer_bytes

    def __enter__(self) -> "Sockets":
        super().__enter__()
        try:
            interface = self._ask(f"sockets - {self._buffer_bytes}")
        except RefusedError as error:
            self._end()
            raise LostError(str(error)) from None
        self.version = f"{_VERSION}{interface}"
        return self

    def time_messages(self, size: int, calls: int) -> list[float]:
        return [1e-9 * int(word) for word in self._ask(f"socketpong - {size} {calls}").split()]


def interface_in(version: str) -> str:
    """The network interface of such a route, from its version; empty for other routes."""
    return version.removeprefix(_VERSION) if version.startswith(_VERSION) else ""
