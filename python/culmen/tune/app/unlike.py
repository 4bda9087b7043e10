"""Whether calls took about as long in the benchmark as in the program."""

import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from .cells import Cell, sizes_of

_FACTOR = 10  # less is usual: a program does other things between its calls


def remarks_on_times(cells: Sequence[Cell], choices: Path) -> Iterator[str]:
    """A sentence for each cell whose calls took much longer or shorter. ``choices``: a file of ``write_choices``."""
    times = _defaults_in(choices)
    for cell in cells:
        there = [s for size in sizes_of(cell) or {0} for s in times[cell.collective, cell.ranks, size]]
        if not there or not cell.call_s:
            continue
        said = f"{cell.collective} with {cell.ranks} ranks and {cell.least} bytes took {_shown(cell.call_s)} a call in "
        said += f"the program, but {_shown(sorted(there)[len(there) // 2])} in the benchmark: "
        if min(there) > _FACTOR * cell.call_s:
            yield f"{said}the machine may have been busy; measure again with --overwrite when it is quiet."
        elif cell.call_s > _FACTOR * max(there):
            yield f"{said}in the program, ranks may wait for each other, which no algorithm changes."


def _defaults_in(choices: Path) -> dict[tuple[str, int, int], list[float]]:
    """For each place, the time of a call with the default in seconds."""
    out = defaultdict(list)
    with choices.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            out[row["collective"], int(row["ranks"]), int(row["size"])].append(float(row["default_s"]))
    return out


def _shown(seconds: float) -> str:
    return f"{1e6 * seconds:.3g} µs"
