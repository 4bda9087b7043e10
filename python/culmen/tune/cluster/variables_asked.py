"""The request of ``culmen tune cluster --variables``."""

from dataclasses import dataclass
from typing import Any

from ..._core import InputError
from ...bench.words import words_of
from ...launch.mpi import Launcher
from ...launch.mpi.variables import GROUPS
from .pairs import LAUNCHES

ROUNDS = 10  # of a race, at most
_LAUNCH_S = 2.0
_VISITS_S = 0.05  # of one collective and size in a launch


@dataclass(frozen=True)
class VariableTuning:
    """``groups``: groups of variables. ``ranks``: number of ranks of each launch. ``collectives``, ``sizes``: measured
    in each launch. ``allow_sysctl``: culmen may raise the kernel's limits. ``mapping``: how the launcher maps ranks to
    nodes; empty for its own mapping."""

    launcher: Launcher
    mpi: str
    groups: tuple[str, ...]
    collectives: tuple[str, ...]
    sizes: tuple[int, ...]
    ranks: int
    timeout_s: float
    allow_sysctl: bool = False
    mapping: str = ""

    def fixed(self) -> dict[str, Any]:
        return {
            "mpi": self.mpi,
            "ranks": self.ranks,
            "collectives": ",".join(self.collectives),
            "sizes": ",".join(map(str, self.sizes)),
            "timeout_s": self.timeout_s,
        } | ({"mapping": self.mapping} if self.mapping else {})

    def launch_s(self) -> float:
        return _LAUNCH_S + _VISITS_S * len(self.sizes) * (len(self.collectives) + 1)

    def most_s(self) -> float:
        """Approximate upper limit of the duration in seconds, on a machine without other work."""
        values = [each.values for each in self.launcher.mpi.variables if each.group in self.groups]
        return self.launch_s() * sum(ROUNDS * (len(each) + 1) for each in values) + self.launch_s() * LAUNCHES * 4


def groups_of(text: str | None) -> tuple[str, ...]:
    """The groups that the option names. Raises InputError for an unknown group."""
    if text is None:
        return ()
    words = words_of(text, "--variables")
    for word in words:
        if word not in (*GROUPS, "all"):
            raise InputError(f"--variables: '{word}' is not one of {', '.join(GROUPS)} and all")
    return GROUPS if "all" in words else tuple(group for group in GROUPS if group in words)
