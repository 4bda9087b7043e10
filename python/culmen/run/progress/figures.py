"""The figures of a run's progress, in the columns of the terminal."""

from collections import deque
from typing import NamedTuple

from ... import _core
from ...base.text import clock, counts, few, per_second, plural

_RECENT_S = 5.0
_LONG_S = 30.0  # without a result
_SHORTEST_BAR, _LONGEST_BAR = 12, 40
_NOT_YET = ("starting", "replaying")


class Words(NamedTuple):
    """``counted``: the name of the counted items. ``best``: the name of the best value; empty if values and workers
    have no meaning for the user."""

    counted: str = "evaluations"
    best: str = "best"


USUAL = Words()


def layout(progress: _core.Progress, recent: "Recent", width: int, words: Words = USUAL) -> tuple[int, str]:
    """Columns for the bar (0: no room, or no budget) and the text beside it, together at most ``width``.

    If there is no room, the least important parts are left out.
    """
    parts = [counted(progress, words), *figures(progress, recent, words), clock(progress.elapsed_s)]
    if len("  ".join(parts)) + _SHORTEST_BAR > width:
        parts[0] = parts[0].removesuffix(f" {words.counted}")
    while len(parts) > 1 and len("  ".join(parts)) > width:
        parts.pop()
    text = "  ".join(parts)[: max(width, 0)]
    room = min(_LONGEST_BAR, width - len(text) - 2)
    return (room if progress.budget and room >= _SHORTEST_BAR - 2 else 0), text


class Recent:
    """Rate and busy workers over the last few seconds of this run, without evaluations of former starts.

    With short evaluations the number of busy workers varies quickly, so it is a mean over several looks.
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


def counted(progress: _core.Progress, words: Words = USUAL) -> str:
    return f"{counts(progress.evaluations, progress.budget)} {words.counted}"


def figures(progress: _core.Progress, recent: Recent, words: Words = USUAL) -> list[str]:
    """Best value, rate, workers, and failures; the most important parts come first."""
    parts = [] if progress.phase in ("running", "done") else [progress.phase]
    if not words.best:
        starting = progress.phase == "running" and not progress.workers
        parts += ["starting"] if starting else _time_left(progress, recent.rate)
        return parts + _mishaps(progress)
    parts += [] if progress.best_value is None else [f"{words.best} {progress.best_value:.6g}"]
    if progress.phase == "running":
        busy = f"{few(recent.busy)}/{progress.workers} busy" if progress.workers else _waiting(progress)
        parts += [*_time_left(progress, recent.rate), *_hung(progress, recent.rate), per_second(recent.rate), busy]
    return parts + _mishaps(progress)


def _waiting(progress: _core.Progress) -> str:
    return "waiting for workers" + (f" (lost: {progress.last_loss})" if progress.last_loss else "")


def _mishaps(progress: _core.Progress) -> list[str]:
    out = [f"{count} {name}" for name in ("failed", "retried", "lost") if (count := getattr(progress, name))]
    if progress.refused:
        out.append(f"{plural(progress.refused, 'worker')} refused (the last one: {progress.last_refusal})")
    return out


def _hung(progress: _core.Progress, rate: float) -> list[str]:
    """The evaluation that has run longest, if no result has arrived for a while."""
    if rate > 0 or progress.oldest is None or progress.oldest_for_s < _LONG_S:
        return []
    return [f"evaluation {progress.oldest} has run for {clock(progress.oldest_for_s)} (time_limit_s can stop it)"]


def _time_left(progress: _core.Progress, rate: float) -> list[str]:
    """The remaining time, from the rate of the last seconds; empty without a budget, or before a rate is known."""
    left = progress.budget - progress.evaluations
    return [f"{clock(left / rate)} left"] if progress.budget and left > 0 and rate > 0 else []
