"""Whether a tuner can help a program, and which one."""

from collections import defaultdict

from ..launch.mpi import with_library
from .amounts import shown_range
from .recorded import Rank

_PER_ALGORITHM = 3  # calls that `culmen autotune` makes until it has chosen
_LEFT = 5  # a tuner pays if there are this many times the calls that it needs to choose
_RECEIVES = ("MPI_Recv", "MPI_Irecv", "MPI_Sendrecv", "MPI_Sendrecv_replace")
_PLACEMENT = "`culmen tune placement -- …` looks for a faster placement of the ranks on the cores."
_OTHERS = {"files": "`culmen tune io -- …` looks for faster settings of the I/O.", "waits": _PLACEMENT}


def tuning_of(ranks: list[Rank], function: str, communicator: str, kind: str, sampled: bool) -> list[str]:
    """Sentences about the function that takes the most time. ``sampled``: the run measured waits for late ranks."""
    if kind != "files" and _is_alone(ranks, function, communicator):
        return ["These calls are on one rank alone, so no tuner of culmen can make them faster."]
    if kind in _OTHERS:
        return [_OTHERS[kind]]
    out = []
    name = function.removeprefix("MPI_").lower()
    mpi = with_library(ranks[0].library)
    collectives = mpi.collectives if mpi else None
    if not sampled and (function in _RECEIVES or (collectives is not None and name in collectives.all_names)):
        out.append("A part of this time may be waits for late ranks: `culmen profile --imbalance 10 -- …` measures it.")
    if kind == "messages":
        out.append(_PLACEMENT)
    if collectives is None or name not in collectives.all_names:
        return out
    calls, size_class, size = _most(ranks, function, communicator)
    number = len(collectives.algorithms(name, size)) if size else 0
    if number < 2:
        return out
    needed = _PER_ALGORITHM * number
    sizes = shown_range(2**size_class // 2, 2**size_class - 1) if size_class is not None else "unknown size"
    often = f"Each rank calls {function} {calls:,} times with messages of {sizes}"
    least_calls = _LEFT * needed
    enough = "too seldom for `culmen autotune`" if calls < least_calls else "often enough for `culmen autotune -- …`"
    out.append(
        f"{often}. That is {enough}: there should be at least {least_calls:,} calls, because culmen needs {needed} to "
        f"choose one of {number} algorithms."
    )
    if collectives.rules_file and not collectives.why_no_rules(name):
        out.append("`culmen tune app -- …` looks for a faster algorithm before the program starts.")
    return out


def _is_alone(ranks: list[Rank], function: str, communicator: str) -> bool:
    """Whether no other rank takes part in these calls. Intercommunicators are not among ``numbers``."""
    return ranks[0].size == 1 or all(
        each.ranks == 1 and each.communicator in rank.numbers
        for rank in ranks
        for each in rank.calls
        if (each.function, each.communicators) == (function, communicator)
    )


def _most(ranks: list[Rank], function: str, communicator: str) -> tuple[int, int | None, int]:
    """For the size class with the most time: the most calls of a rank, the class, and the number of ranks of the
    communicator."""
    seconds: dict[int | None, float] = defaultdict(float)
    calls: dict[tuple[int | None, int], int] = defaultdict(int)
    sizes: dict[int | None, int] = {}
    for rank in ranks:
        for each in rank.calls:
            if (each.function, each.communicators) == (function, communicator):
                seconds[each.size_class] += each.total_s
                calls[each.size_class, rank.rank] += each.calls
                sizes[each.size_class] = each.ranks
    if not seconds:
        return 0, 0, 0
    longest = max(seconds, key=seconds.__getitem__)
    return max(n for (of, _), n in calls.items() if of == longest), longest, sizes[longest]
