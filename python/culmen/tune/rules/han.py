"""The second file of Open MPI 5: which of its components takes a call on several nodes.

On several nodes, the component han takes most calls before tuned, and tuned has the rules. These facts were found by
experiments with Open MPI 5.0.11:

- For each collective, the file has levels. Level 2 is the communicator itself, which must be on several nodes.
- For each level, it has numbers of ranks, and for each of them message sizes with the name of a component. As in the
  file with rules, the last number and the last size that are not too large hold.
- The first number of ranks must be 1, and the first size 0.
- A message size is that of one rank, also for allgather.
- For a collective that is not in the file, han takes all calls.
- Comments may be at the beginning. After a mistake, the whole file counts as empty, with a message.
"""

from collections.abc import Iterator

from ...launch.mpi.collectives import Collectives
from .file import Ranks, Rules

_HAN, _GLOBAL, _LEVELS = "han", 2, 1


def han_file(rules: Rules, known: Collectives, about: list[str]) -> str:
    """The text. Calls with a rule go to the component with the rules, all others to han."""
    tables = [table for table in rules.tables if "route" in known.of[table.name]]
    lines = [*(f"# {line}" for line in about), f"{len(tables)} # collectives"]
    for table in tables:
        lines += [f"{table.number} # {table.name}", str(_LEVELS), str(_GLOBAL), str(len(table.ranks))]
        scaled = known.of[table.name]["in_rules"]["sizes"] == "all_ranks"
        for ranks in table.ranks:
            rows = list(_rows(ranks, known.of[table.name]["route"], max(1, ranks.ranks) if scaled else 1))
            lines += [f"{max(1, ranks.ranks)} {len(rows)} # ranks", *(f"{size} {name}" for size, name in rows)]
    return "\n".join(lines) + "\n"


def _rows(ranks: Ranks, component: str, factor: int) -> Iterator[tuple[int, str]]:
    """``factor``: the file with rules counts this multiple of a rank's message."""
    before = ""
    for row in ranks.rows:
        name = component if row.algorithm else _HAN
        if name != before:
            yield -(-row.size // factor), name
        before = name
