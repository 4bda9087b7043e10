"""Tables of a profile in a terminal."""

from rich import box
from rich.table import Table


def plain_table(first: str) -> Table:
    """A table with this first column."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column(first, no_wrap=True, overflow="ignore")
    return table
