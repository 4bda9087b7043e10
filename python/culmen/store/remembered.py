"""The evaluations of a run without a store, in memory."""

import json
from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import _core
from .opening import Begun, Opened


class Remembered(Opened):
    """Takes the place of an open store."""

    store: Any
    begun: Begun

    def __init__(self, history: _core.History, config: _core.StudyConfig) -> None:
        super().__init__(Path())
        self.store = _Store(history)
        self.begun = Begun(Path(), config.name, config.fingerprint, json.loads(config.configuration or "{}"))
        self.space = config.space
        self.summary: dict[str, Any] = {}


class _Store:
    """The part of a _core.Store that a table of evaluations needs."""

    def __init__(self, history: _core.History) -> None:
        self._history = history

    def columns(self) -> dict[str, Any]:
        return self._history.columns()

    def outcomes(self, first: int = 0, count: int = 1000) -> list[dict[str, Any]]:
        wanted = self._in_order[bisect_left(self._in_order, (first, 0)) :][:count]
        return [self._history.told(number, 1)[0] for _, number in wanted]

    @cached_property
    def _in_order(self) -> list[tuple[int, int]]:
        """Each evaluation with its place in the order of telling."""
        columns = self.columns()
        return sorted(zip(columns["evaluation"].tolist(), columns["told"].tolist(), strict=True))
