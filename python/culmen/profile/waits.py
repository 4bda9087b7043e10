"""Which rank waited for which late rank, as far as samples show it."""

from collections import defaultdict
from functools import cache, partial
from typing import NamedTuple

from ..report.heat_map import heat_map
from ..report.style import Figure, layout
from .communicators import members_of
from .recorded import Rank

_WAIT_FOR_PEER = {"MPI_Recv", "MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"}
_LEAST_KNOWN = 0.5  # of the measured waits: below, a longer wait may be one whose late rank is not known


class Waits(NamedTuple):
    """``seconds``: for each rank that waited, and each late rank. ``unknown_s``: waits for ranks that are not known."""

    seconds: dict[tuple[int, int], float]
    unknown_s: float


def waits_of(ranks: list[Rank]) -> Waits:
    """The waits in the sampled calls and messages."""
    members = cache(partial(members_of, ranks))
    found: dict[tuple[int, int], float] = defaultdict(float)
    unknown_s = 0.0
    for rank in ranks:
        for calls in rank.calls:
            late = calls.waited_for
            if calls.function in _WAIT_FOR_PEER and calls.peer >= 0:
                to = members(calls.communicator, calls.ranks).get(calls.peer)
                late = () if to is None else ((to, calls.waited_s),)
            for other, seconds in late:
                found[rank.rank, other] += seconds if other != rank.rank else 0
            unknown_s += 0 if late else calls.waited_s
    return Waits({pair: seconds for pair, seconds in found.items() if seconds > 0}, unknown_s)


def longest_wait(ranks: list[Rank]) -> str:
    """A sentence about the longest wait; empty if there is none, or if the late rank of most waits is not known."""
    seconds, unknown_s = waits_of(ranks)
    known_s = sum(seconds.values())
    if not seconds or known_s < _LEAST_KNOWN * (known_s + unknown_s):
        return ""
    waiter, late = max(seconds, key=lambda pair: seconds[pair])
    return f"In the measured calls, rank {waiter} waited longest for rank {late}: {seconds[waiter, late]:.3g} s in all."


def waits_figure(ranks: list[Rank]) -> Figure | None:
    """None if no sample shows a wait for a known rank."""
    size, waits = ranks[0].size, waits_of(ranks)
    if not waits.seconds:
        return None
    amount = [[waits.seconds.get((i, j), 0.0) for j in range(size)] for i in range(size)]
    names = [str(k) for k in range(size)]
    said = [[f"rank {i} waited for rank {j}: {amount[i][j]:.3g} s" for j in range(size)] for i in range(size)]
    data, parts = heat_map(names, names, amount, said, {"title": {"text": "seconds"}})
    about = "The time for which a rank waited for a late rank, in the calls and messages that culmen measured."
    figure = Figure("waits", "Waits for late ranks", about, data, layout(height=520) | parts)
    figure.layout["xaxis"]["title"], figure.layout["yaxis"]["title"] = {"text": "late rank"}, {"text": "waiting rank"}
    if waits.unknown_s > 0:
        figure.notes.append(
            f"Further waits of {waits.unknown_s:.3g} s are not drawn: for example, in MPI_Allreduce all ranks wait for "
            "each other, and the profile does not say which rank was late."
        )
    return figure
