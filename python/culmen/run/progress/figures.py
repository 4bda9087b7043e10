"""The figures of a run's progress, in as many columns as there are."""

from collections import deque

from ... import _core
from ...base.text import clock, counts, few, per_second

_RECENT_S = 5.0
_SHORTEST_BAR, _LONGEST_BAR = 12, 40
_NOT_YET = ("starting", "replaying")


def layout(progress: _core.Progress, recent: "Recent", width: int, best: str = "best") -> tuple[int, str]:
    """Columns for the bar (0: there is no room, or no budget) and the text beside it, together at most ``width``.

    What matters least is left out where there is no room.
    """
    parts = [counted(progress), *figures(progress, recent, best), clock(progress.elapsed_s)]
    if len("  ".join(parts)) + _SHORTEST_BAR > width:
        parts[0] = parts[0].removesuffix(" evaluations")
    while len(parts) > 1 and len("  ".join(parts)) > width:
        parts.pop()
    text = "  ".join(parts)[: max(width, 0)]
    room = min(_LONGEST_BAR, width - len(text) - 2)
    return (room if progress.budget and room >= _SHORTEST_BAR - 2 else 0), text


class Recent:
    """Rate and busy workers over the last few seconds of the run itself: a former run's evaluations are no speed.

    What is busy at one moment says little where evaluations are short, so it is averaged over the moments looked at.
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int, int]] = deque()

    def see(self, progress: _core.Progress) -> None:
        if progress.phase in _NOT_YET:
            self._seen.clear()
        elif progress.phase == "running":
            self._seen.append((progress.elapsed_s, progress.evaluations, progress.busy))
            while len(self._seen) > 2 and self._seen[1][0] < progress.elapsed_s - _RECENT_S:
                self._seen.popleft()

    @property
    def rate(self) -> float:
        """Evaluations a second."""
        if len(self._seen) < 2:
            return 0.0
        (start_s, before, _), (end_s, now, _) = self._seen[0], self._seen[-1]
        return (now - before) / (end_s - start_s) if end_s > start_s else 0.0

    @property
    def busy(self) -> float:
        return sum(busy for *_, busy in self._seen) / max(len(self._seen), 1)


def counted(progress: _core.Progress) -> str:
    return f"{counts(progress.evaluations, progress.budget)} evaluations"


def figures(progress: _core.Progress, recent: Recent, best: str = "best") -> list[str]:
    """Best value, rate, workers, and what is out of the ordinary; what matters most comes first."""
    parts = [] if progress.phase in ("running", "done") else [progress.phase]
    parts += [] if progress.best_value is None else [f"{best} {progress.best_value:.6g}"]
    if progress.phase == "running":
        busy = f"{few(recent.busy)}/{progress.workers} busy" if progress.workers else "waiting for workers"
        parts += [*_time_left(progress, recent.rate), per_second(recent.rate), busy]
    return parts + [f"{count} {name}" for name in ("failed", "retried", "lost") if (count := getattr(progress, name))]


def _time_left(progress: _core.Progress, rate: float) -> list[str]:
    """By the rate of the last seconds; nothing where there is no budget, or no rate yet."""
    left = progress.budget - progress.evaluations
    return [f"{clock(left / rate)} left"] if progress.budget and left > 0 and rate > 0 else []
