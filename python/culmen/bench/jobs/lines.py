"""The progress of jobs: a bar for each of them on a terminal, otherwise a line for each change."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from ...base.terminal import on_terminal
from ...base.text import clock
from ...launch.scheduler.job import Phase, Place


class JobLines(Protocol):
    def see(self, name: str, place: Place, done: int) -> None:
        """``done``: the number of points that were measured."""
        ...


@contextmanager
def job_lines(what: str, points: int, quiet: bool) -> Iterator[JobLines]:
    """``what``: the kind of the points. ``points``: their number in each job."""
    if quiet:
        yield _Silent()
    elif not on_terminal():
        yield _Lines(what, points)
    else:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(what),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns) as progress:
            yield _Bars(progress, points)


def said(place: Place) -> str:
    """The state of a job as a word, and the scheduler's reason."""
    word = place.phase.value if place.phase is not Phase.ENDED else place.word.lower().replace("_", " ")
    return f"{word} ({place.why})" if place.why and place.phase is not Phase.ENDED else word


class _Silent:
    def see(self, name: str, place: Place, done: int) -> None:
        pass


class _Lines:
    def __init__(self, what: str, points: int) -> None:
        self._what, self._points = what, points
        self._last: dict[str, str] = {}

    def see(self, name: str, place: Place, done: int) -> None:
        far = "" if place.phase is Phase.PENDING else f", {done} of {self._points} {self._what}"
        line = said(place) + far
        if self._last.get(name) != line:
            ran = f", {clock(place.ran_s)}" if place.phase is Phase.RUNNING and place.ran_s else ""
            print(f"culmen: job {name}: {line}{ran}", flush=True)
        self._last[name] = line


class _Bars:
    def __init__(self, progress: Any, points: int) -> None:
        self._progress, self._points = progress, points
        self._rows: dict[str, Any] = {}

    def see(self, name: str, place: Place, done: int) -> None:
        if name not in self._rows:
            self._rows[name] = self._progress.add_task(f"job {name}", total=self._points, start=False, state="")
        if place.phase is not Phase.PENDING:
            self._progress.start_task(self._rows[name])
        if place.phase in (Phase.ENDED, Phase.UNKNOWN):
            self._progress.stop_task(self._rows[name])
        self._progress.update(self._rows[name], completed=done, state=said(place))
