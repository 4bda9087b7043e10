"""The calls of each function by the sizes of their data, as a table of text."""

from collections import defaultdict
from dataclasses import dataclass

from rich.table import Table

from .amounts import shown_bytes
from .chosen import bytes_of
from .recorded import Calls, Rank
from .tables import plain_table

HEADINGS = ("function", "size", "calls", "bytes", "seconds", "of run", "least µs", "most µs")


@dataclass
class Sized:
    """The calls of one function in one size class, over all ranks and communicators."""

    calls: int = 0
    bytes: int = 0
    seconds: float = 0
    ended_s: float = 0
    """The part of ``seconds`` of ranks whose whole time is known."""
    least_s: float = float("inf")
    most_s: float = 0

    def add(self, calls: Calls, has_ended: bool) -> None:
        self.calls += calls.calls
        self.bytes += calls.bytes
        self.seconds += calls.total_s
        self.ended_s += calls.total_s if has_ended else 0
        self.least_s = min(self.least_s, calls.least_s)
        self.most_s = max(self.most_s, calls.most_s)


def rows_of(ranks: list[Rank]) -> list[list[str]]:
    """Rows with the columns HEADINGS: functions with data, the one with the most time first, and their sizes."""
    functions: dict[str, dict[tuple[int, int], Sized]] = defaultdict(lambda: defaultdict(Sized))
    for rank in ranks:
        for calls in rank.calls:
            if calls.bytes and (size := bytes_of(calls)):
                functions[calls.function][size].add(calls, bool(rank.seconds))
    run_s = sum(rank.thread_s for rank in ranks if rank.seconds)
    most = sorted(functions.items(), key=lambda item: -sum(each.seconds for each in item[1].values()))
    return [_row(name, size, each, run_s) for name, sizes in most for size, each in sorted(sizes.items())]


def _row(name: str, size: tuple[int, int], each: Sized, run_s: float) -> list[str]:
    share = f"{each.ended_s / run_s:.1%}" if run_s else "–"
    least, most = (f"{seconds * 1e6:,.1f}" for seconds in (each.least_s, each.most_s))
    amounts = [f"{each.calls:,}", shown_bytes(each.bytes), f"{each.seconds:,.4f}", share, least, most]
    return [name, f"from {shown_bytes(size[0])}", *amounts]


def table_of(ranks: list[Rank]) -> Table | None:
    """For a terminal; None if no call has data."""
    rows = rows_of(ranks)
    if not rows:
        return None
    table = plain_table(HEADINGS[0])
    for name in HEADINGS[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table
