"""Numbers of ranks at which a further socket or node is used, where the slope of a model over ranks may change."""

import itertools
from collections.abc import Mapping

from .segments import MOST

_MOST = MOST - 1  # breaks of a model


def boundaries(ppn: Mapping[int, int], socket: int | None) -> tuple[float, ...]:
    """The smallest of them; each is the greatest number of ranks before the change.

    ``ppn``: for each measured number of ranks, the most ranks on a node; 0 if it is unknown. ``socket``: cores of a
    socket, if known. Ranks are assumed to fill a socket and a node before they use the next one.
    """
    known = sorted((ranks, most) for ranks, most in ppn.items() if 0 < most <= ranks)
    found = (_change(*before, *after, socket) for before, after in itertools.pairwise(known))
    return tuple(float(each) for each in itertools.islice((each for each in found if each is not None), _MOST))


def _change(before: int, most: int, after: int, later: int, socket: int | None) -> int | None:
    """Between two measured numbers of ranks. ``most``, ``later``: the most ranks on a node."""
    old = _used(before, most, socket)
    if _used(after, later, socket) == old:
        return None
    nodes = -(-after // later)
    spread = nodes == -(-before // most) and later != most  # over the same nodes
    last = before
    for ranks in range(before, after):
        if _used(ranks, -(-ranks // nodes) if spread else later, socket) == old:
            last = ranks
    return last


def _used(ranks: int, most: int, socket: int | None) -> tuple[int, int]:
    """Nodes and sockets."""
    full, rest = divmod(ranks, most)
    nodes = full + (rest > 0)
    return nodes, full * -(-most // socket) + -(-rest // socket) if socket else nodes
