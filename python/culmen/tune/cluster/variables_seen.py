"""The gains, failures and memory that the stores of ``culmen tune cluster --variables`` contain."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from ...launch.mpi.collectives import DEFAULT
from ...launch.mpi.variables import Variable
from ...report.failures import first_line
from ...report.reading import Evaluations
from .pairs import gain_of
from .setting_gains import Memory, Tried


def tried_in(found: Evaluations, variable: Variable) -> list[Tried]:
    """Each round of a race has each value once, so the n-th launches of two values are a pair."""
    launches = {value: found.columns["choice"] == value for value in (DEFAULT, *variable.values)}
    times = {value: found.values[there, 0] for value, there in launches.items()}
    out = []
    for value in variable.values:
        pairs = list(zip(times[DEFAULT], times[value], strict=False))
        whole = [pair for pair in pairs if not np.isnan(pair).any()]
        gain = gain_of([[pair] for pair in whole]) if whole else None
        out.append(Tried(variable.name, value, gain, _first_failure(found, np.flatnonzero(launches[value]))))
    return out


def _first_failure(found: Evaluations, rows: Iterable[int]) -> str:
    """The message of the first failure; empty if none of these evaluations failed."""
    row = next((row for row in rows if found.failed[row]), None)
    if row is None:
        return ""
    outcome = found.store.outcomes(int(found.evaluation[row]), 1)[0]
    return re.sub(r"^[\w.]+Error: ", "", first_line(outcome["message"]))


def memory_of(transport: str, found: Evaluations, there: Sequence[int], counts: Sequence[int]) -> Memory:
    """``there``: the rows of the transport's launches. ``counts``: their numbers of ranks, in ascending order."""
    if failed := _first_failure(found, there):
        return Memory(transport, failed=failed)
    with_messages = [float(found.values[row, 0]) for row in there]
    of_init, after_init = (float(found.columns[name][there[-1]]) for name in ("most_of_init", "after_init"))
    per_peer = None
    if len(counts) > 1:
        per_peer = (with_messages[-1] - with_messages[0]) / (counts[-1] - counts[0])
    return Memory(transport, of_init, after_init, with_messages[-1], per_peer)
