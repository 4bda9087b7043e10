"""How a command line spreads its ranks over the nodes of a job."""

import os
import re
import subprocess
from collections import Counter
from dataclasses import replace

from ..._core import InputError
from .line import Line

_TIMEOUT_S = 120
_ASKS = ["uname", "-n"]  # prints the name of the node


def with_nodes_used(line: Line) -> Line:
    """The line with the nodes on which its ranks start, and the ranks on each of them. To find this out, the launcher
    starts a small program. ``most_nodes`` of the result is 1 if the nodes do not get equal numbers of ranks. Raises
    InputError if the launcher fails."""
    total = line.ranks * line.nodes
    counts = _ranks_of_nodes(line)
    if sum(counts.values()) != total or len({*counts.values()}) != 1:
        return replace(line, most_nodes=1)
    return replace(line, nodes=len(counts), ranks=total // len(counts))


def _ranks_of_nodes(line: Line) -> Counter[str]:
    options = [word for _, group in line.options for word in group]
    words = [*line.before, line.launcher, *options, *_ASKS]
    try:
        done = subprocess.run(
            words, env=os.environ | line.variables, capture_output=True, text=True, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        raise InputError(f"{line.launcher} could not start the program {_ASKS[0]} to find the nodes: {e}") from None
    if done.returncode:
        why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise InputError(f"{line.launcher} could not start the program {_ASKS[0]} to find the nodes: {why}")
    names = (re.split(r"[\s:>\]]", text.strip())[-1] for text in done.stdout.splitlines())  # -l writes "[3] name"
    return Counter(name for name in names if name)


def numbers_of_nodes(line: Line, most_ranks: int) -> list[int]:
    """The numbers of nodes among which the ranks can be shared out evenly. ``most_ranks``: of a node."""
    total = line.ranks * line.nodes
    fitting = {k for k in range(1, line.most_nodes + 1) if total % k == 0 and total // k <= most_ranks}
    return sorted(fitting | {line.nodes})
