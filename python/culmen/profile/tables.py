"""Tables of a profile in a terminal."""

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table


class PlainTable(Table):
    """A table whose figures and names are never cut: it is wider than a narrow terminal instead."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for column in self.columns:
            if column.no_wrap:
                column.min_width = max(cell_len(str(cell)) for cell in (column.header, *column.cells))
        if self._least(console, options) > options.max_width:
            self.padding = 0
        width = max(options.max_width, self._least(console, options))
        yield from super().__rich_console__(console, options.update(max_width=width))

    def _least(self, console: Console, options: ConsoleOptions) -> int:
        return Measurement.get(console, options.update(max_width=10_000), self).minimum


def plain_table(first: str) -> Table:
    """A table with this first column. Print it with ``crop=False``."""
    table = PlainTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column(first, no_wrap=True, overflow="ignore")
    return table
