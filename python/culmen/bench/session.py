"""A launch of the native benchmark, which measures one collective, or messages. See src/mpibench/main.c."""

import os
import re
from collections.abc import Mapping

from .._core import InputError
from ..launch.allocation import ranks_on_a_node
from ..launch.launcher import cores
from ..launch.mpi import Launcher
from ..launch.mpi.collectives import DEFAULT, Algorithm, Collectives
from ..launch.preloading import flags_of_variables
from ..launch.programs import own_program
from .conversation import Conversation, RefusedError
from .layouts import check_placed, joined, per_node_of
from .mappings import flags_of as mapping_flags
from .parts import settings_of_launchers, situations_here
from .splits import Split

_ALSO = {"MPICH 4": ("MPICH 3.",)}  # their launchers cannot be distinguished


class Session(Conversation):
    """``timeout_s``: the longest time for an answer. ``mapping``: mapping of the ranks; empty for the launcher's own.
    Use it in a ``with`` statement, which ends the ranks.

    Raises InputError if culmen was built without this MPI, or if the ranks load another version of it than the
    launcher's. Raises LostError if the ranks cannot be started.
    """

    def __init__(
        self,
        launcher: Launcher,
        ranks: int,
        timeout_s: float,
        environment: Mapping[str, str] | None = None,
        mapping: str = "",
    ) -> None:
        collectives = launcher.mpi.collectives
        if collectives is None:
            raise InputError(f"culmen does not know the algorithms of {launcher.mpi.title} yet")
        program = own_program(f"mpibench_{launcher.mpi.module}")
        if not program.exists():
            raise InputError(
                f"culmen was built without {launcher.mpi.title}; build it where that MPI's mpicc is on PATH"
            )
        self._collectives = collectives
        on_a_node = per_node_of(mapping) or ranks_on_a_node(ranks)
        self.oversubscribed = on_a_node > cores()
        words = situations_here(launcher, on_a_node)
        flags = [flag for each in words for flag in each.flags] + mapping_flags(launcher, ranks, mapping)
        variables = dict(collectives.environment)
        for each in words:
            variables |= {name: value for name, value in each.environment.items() if name not in os.environ}
        whole = {**settings_of_launchers(), **variables, **(environment or {})}
        flags += flags_of_variables(launcher, environment or {}, {**os.environ, **whole})
        command = [launcher.program, *joined(flags), "-n", str(ranks), str(program)]
        super().__init__(command, whole, timeout_s, ranks)
        self._launcher = launcher
        self._now: dict[str, int] = {}  # variables that were set
        self._usual: dict[str, int] = {}
        self._communicators: dict[str, int] = {}

    def __enter__(self) -> "Session":
        super().__enter__()
        title = self._launcher.mpi.title  # with the first number of the version
        if not self.version.startswith((f"{title}.", *_ALSO.get(title, ()))):
            self._end()
            raise InputError(
                f"{self._launcher.program} is {title}, but its ranks load {self.version}; build culmen where the mpicc "
                f"of {title} is on PATH"
            )
        return self

    def choose(self, collective: str, algorithm: Algorithm) -> int:
        """From now on, calls with the communicator that it returns use this algorithm."""
        key = f"{collective} {algorithm.name}"
        if not self._collectives.keeps(collective):
            usual = self._collectives.algorithms(collective)[0].variables
            self._set({**self._usual, **algorithm.variables})  # a collective may call another one
            self._usual |= usual
            return 0
        if key not in self._communicators:
            before = self._priorities() if algorithm.name != DEFAULT else {}
            self._set(algorithm.variables | dict.fromkeys(before, 0))
            self._communicators[key] = int(self._ask("new"))
            self._set(self._collectives.at_rest(collective, algorithm) | before)
        return self._communicators[key]

    def _priorities(self) -> dict[str, int]:
        """The usual priorities of components that take calls before the algorithms."""
        for name in self._collectives.before:
            if name not in self._usual:
                try:
                    self._usual[name] = int(self.value_of(name)[0])
                except RefusedError:  # this component is switched off
                    self._usual[name] = 0
        return {name: self._usual[name] for name in self._collectives.before if self._usual[name]}

    def split(self, groups: str) -> None:
        """From now on, only these ranks call collectives, all communicators at the same time. ``groups``: see
        splits.groups_text()."""
        self._ask(f"split {groups}")
        self._communicators.clear()

    def nodes(self) -> tuple[int, int]:
        """The number of nodes of a communicator, and the most ranks on one of them."""
        number, most = self._ask("nodes").split()
        return int(number), int(most)

    def check(self, collective: str, communicator: int, size: int, root: int) -> None:
        """Makes one call. Raises RefusedError if the MPI refuses it or a result is wrong."""
        self._ask(f"check {collective} {communicator} {size} {root}")

    def repeat(self, collective: str, communicator: int, size: int, root: int, calls: int) -> None:
        """The same with several calls, each after a barrier."""
        self._ask(f"repeat {collective} {communicator} {size} {root} {calls}")

    def time(
        self, collective: str, communicator: int, size: int, root: int, calls: int, window_s: float
    ) -> tuple[list[float], set[str]]:
        """The times of the calls in seconds, negative if a rank was late, and the functions of the MPI that ran in
        each call on each rank. If the MPI shows them, also "sends:1,0": the number of messages that each rank sends
        in a call."""
        answer = self._ask(f"time {collective} {communicator} {size} {root} {calls} {round(1e9 * window_s)}").split()
        return [1e-9 * int(word) for word in answer[:calls]], set(answer[calls:])

    def value_of(self, variable: str) -> list[str]:
        """The value of a control variable of MPI_T at rank 0, and the name of the value if it has one. Raises
        RefusedError if there is no such variable."""
        return self._ask(f"get {variable}").split(" ") or [""]

    def netmods(self) -> list[str]:
        """The components of MPICH that carry messages between nodes; empty for other MPIs."""
        found = re.search(r"Device:\s+ch4:([\w ]*?)(?:\s+MPI|\s\s|$)", self.library)
        return found[1].split() if found else []

    def memory(self) -> tuple[int, int]:
        """Bytes of the rank that has most memory: the largest value since its start or since the last call, and the
        present one."""
        most, now = self._ask("memory").split()
        return int(most), int(now)

    def exchange_with_all(self, size: int) -> None:
        """Sends messages of ``size`` bytes between all pairs of ranks, with one buffer at each rank."""
        self._ask(f"peers - {size}")

    def _set(self, variables: dict[str, int]) -> None:
        for name, value in variables.items():
            if self._now.get(name) != value:
                self._ask(f"set {name} {value}")
                self._now[name] = value


class Ranks:
    """Sessions, one after the other: a new one starts after ranks were lost. Use it in a ``with`` statement.

    ``timeout_s``, ``mapping``, ``environment``: as for Session. ``split``: the communicators that call; None for one
    with all ranks.
    """

    def __init__(
        self,
        launcher: Launcher,
        ranks: int,
        timeout_s: float,
        mapping: str = "",
        environment: Mapping[str, str] | None = None,
        split: Split | None = None,
    ) -> None:
        self._launcher, self.number, self._timeout_s, self._mapping = launcher, ranks, timeout_s, mapping
        self._environment, self._split = environment, split
        self._session: Session | None = None
        self.version = ""
        self.nodes = (1, ranks)

    def __enter__(self) -> "Ranks":
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()

    @property
    def session(self) -> Session:
        if self._session is None:
            session = Session(self._launcher, self.number, self._timeout_s, self._environment, self._mapping)
            self._session = session.__enter__()
            self.version = self._session.version
            if self._split:
                self._session.split(self._split.groups)
            self.nodes = self._session.nodes()
            if self._split:
                self._split.check(self.nodes)
            else:
                check_placed(self._mapping, self.number, self.nodes)
        return self._session

    @property
    def known(self) -> Collectives | None:
        return self._launcher.mpi.collectives

    def functions(self, collective: str) -> set[str]:
        """The functions of the MPI's library that contain the algorithms; none if the MPI does not show them."""
        known = self.known
        return {one.function for one in known.algorithms(collective)} - {""} if known else set()

    def end(self) -> str:
        """Ends the ranks. Returns why they did not end well; empty if they did."""
        session, self._session = self._session, None
        if session is None:
            return ""
        session.__exit__(None, None, None)
        return session.bad_end
