"""What is measured of a collective, and how."""

from dataclasses import dataclass

from ...launch.mpi.collectives import DEFAULT, Algorithm
from ..sampling import Limits, Series


@dataclass(frozen=True)
class Protocol(Limits):
    """``timeout_s``: of one answer of the ranks."""

    timeout_s: float = 60.0
    root: int = 0


@dataclass
class Point(Series):
    """One algorithm with one message size."""

    algorithm: Algorithm = Algorithm(DEFAULT, {})  # noqa: RUF009 - it is frozen
    size: int = 0
    checked: bool = False  #: one call gave the right result, or it is unavailable
    verified: bool = True
    unavailable: str = ""  #: why it cannot be measured
