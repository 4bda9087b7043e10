"""The tuning file, which the preloaded library writes and reads. See src/mpiprobe/autotune/file.c."""

import shlex
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..._core import InputError
from ...launch.mpi.collectives import DEFAULT

_FIRST, _LONGEST = "culmen-tuning\t1", 100  # characters of the first line


@dataclass(frozen=True)
class Choice:
    """The algorithm for calls of one collective on one communicator. The messages have at least ``size`` bytes and less
    than twice as many. The times are of one call, or 0 if they were not measured. ``members``: the communicator's ranks
    in the world, for example "0-3"; empty in older files."""

    communicator: str
    ranks: int
    collective: str
    size: int
    algorithm: str
    default_s: float
    chosen_s: float
    calls: int
    members: str = ""

    @property
    def gain_s(self) -> float:
        """Time in seconds that the choice would save if all calls used it."""
        return self.calls * (self.default_s - self.chosen_s)


@dataclass(frozen=True)
class Tuning:
    """``off``: why nothing was tuned; empty if the tuner was active. ``left_out``: number of communicators that were
    not tuned because the tuner's memory was used up. ``no_choice``: the collectives that the program called but for
    which culmen can choose no algorithm in this MPI."""

    mpi: str
    ranks: int
    processor: str
    off: str
    choices: list[Choice]
    left_out: int = 0
    no_choice: tuple[str, ...] = ()

    @property
    def changed(self) -> list[Choice]:
        return [choice for choice in self.choices if choice.algorithm != DEFAULT]


def check_no_tuning(path: Path) -> None:
    """Raises InputError if a file has choices of ``culmen autotune``, and no rules of an MPI."""
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
        if file.readline(_LONGEST).rstrip("\n") == _FIRST:
            raise InputError(
                f"{path} is a file of `culmen autotune`, and has no rules of an MPI; load it with "
                f"`culmen autotune --load {shlex.quote(str(path))}`"
            )


def read_tuning(path: Path) -> Tuning:
    """Raises InputError if it cannot be read or is no tuning file."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InputError(f"the tuning file {path} cannot be read: {error.strerror}") from None
    if not lines or lines[0] != _FIRST:
        raise InputError(f"{path} is no tuning file of `culmen autotune`")
    header: dict[str, str] = {}
    choices: list[Choice] = []
    communicator, ranks, members = "", 0, ""
    for number, line in enumerate(lines[1:], 2):
        words = line.split("\t")
        try:
            if words[0] == "communicator":
                communicator, ranks, members = words[1], int(words[2]), "".join(words[3:4])
            elif len(words) == 2:
                header[words[0]] = words[1]
            else:
                collective, size, algorithm, default, chosen, calls = words
                if not size.isdecimal():
                    raise ValueError
                us = 1e-6 * float(default), 1e-6 * float(chosen)
                point = (communicator, ranks, collective, int(size), algorithm)
                choices.append(Choice(*point, *us, int(calls), members))
        except (ValueError, IndexError):
            raise InputError(f"{path}, line {number}: '{line}' is no line of a tuning file") from None

    def count_of(name: str) -> int:
        return int(header[name]) if header.get(name, "").isdecimal() else 0

    return Tuning(
        header.get("mpi", ""),
        count_of("ranks"),
        header.get("processor", ""),
        header.get("off", ""),
        sorted(choices, key=lambda choice: -choice.gain_s),
        count_of("left_out"),
        tuple(filter(None, header.get("no_choice", "").split(","))),
    )
