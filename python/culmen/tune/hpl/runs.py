"""How ``culmen tune hpl`` runs HPL, and the files in its folder."""

import json
import math
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ...base.exit_codes import RESUMABLE
from ...bench.kept import KeptStore, remove_measurements
from ...bench.parts import for_evaluators
from ...bench.stopping import StoppedError
from ...bench.study import KeptStudy, PointStudy
from ...report.reading import read
from ...run.progress.figures import Words
from ...run.progress.monitor import Monitor, make_monitor
from ...run.result import Result
from ..command.failed import reasons_in
from ..command.tuner import PAGE_NAME, rest_s
from .asked import COMMAND
from .measured import RUN, How
from .space import Settings

MODULE = "culmen.tune.hpl.measured"
KNOWN, FOUND, BY_CHANCE, RESULT = "known.json", "found.json", "random.json", "result.json"
FIRST, SECOND, SEARCH, CHECK = "first.db", "second.db", "search.db", "check.db"
RANDOM, VERIFIED = "random.db", "verified.db"
_NAMES = (FIRST, SECOND, SEARCH, CHECK, RANDOM, VERIFIED)
_COMPARISON = "comparison-{}.db"
_SPARE_S = 60  # so that HPL is stopped by its own limit


def stores_in(folder: Path) -> list[Path]:
    """All stores of a tuning that are there."""
    stores = [folder / name for name in _NAMES]
    return [store for store in [*stores, *sorted(folder.glob(_COMPARISON.format("*")))] if store.exists()]


def remove_results(folder: Path) -> None:
    """Removes all results, so that a tuning can begin; only the written input file stays. Raises InputError if another
    process tunes there."""
    remove_measurements(*stores_in(folder), *(folder / name for name in _NAMES))
    for name in (KNOWN, FOUND, BY_CHANCE, RESULT, PAGE_NAME):
        (folder / name).unlink(missing_ok=True)


@dataclass(frozen=True)
class Runs:
    """``folder``: for the results. ``scratch``: see KeptStore. Use it in a ``with`` statement."""

    how: How
    folder: Path
    quiet: bool
    scratch: Path | None = None
    _kept: dict[str, KeptStore] = field(default_factory=dict, init=False, repr=False)
    _open: ExitStack = field(default_factory=ExitStack, init=False, repr=False)

    def __enter__(self) -> "Runs":
        for_evaluators(self.folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def store(self, name: str) -> Path:
        """Where it is now."""
        if name not in self._kept:
            self._kept[name] = self._open.enter_context(KeptStore(self.folder / name, self.scratch))
        return self._kept[name].place

    def remove(self, name: str) -> None:
        for store in {self.store(name), self.folder / name}:
            remove_measurements(store)

    def of(
        self, store: str, points: Sequence[tuple[Settings, int]], what: str, limit_s: float
    ) -> tuple[list[float], Result]:
        """The speed of each point, which is settings and N; NaN if its run failed."""
        place = self.store(store)
        columns: dict[str, list[Any]] = {
            "settings": [json.dumps(settings) for settings, _ in points],
            "n": [n for _, n in points],
        }
        same = {name: values[0] for name, values in columns.items() if len(set(values)) == 1}
        rows = [{name: values[k] for name, values in columns.items() if name not in same} for k in range(len(points))]
        fixed = {**same, "limit_s": limit_s, "how": self.how.text()}
        study = PointStudy(COMMAND, rows, fixed, f"{MODULE}:measure_settings", limit_s + _SPARE_S, place)
        study.open()
        result = self.conduct(study, store, what)
        found = read(place)
        values = dict.fromkeys(range(len(points)), math.nan)
        for row in np.flatnonzero(found.feasible):
            values[int(found.columns["number"][row])] = float(found.values[row, 0])
        return list(values.values()), result

    def failures(self, store: str) -> dict[int, str]:
        """Of the points of a store that failed: the reason, in one line, by the number of the point."""
        found = read(self.store(store))
        numbers = found.columns["number"]
        return {int(numbers[row]): why for row in range(len(numbers)) for why in reasons_in(found, [row])}

    def conduct(self, kept: KeptStudy, store: str, what: str, wall_time_s: float | None = None) -> Result:
        """``wall_time_s``: None: as the study says."""
        result = kept.conduct(lambda: self.monitor(store, what), RESUMABLE, wall_time_s=wall_time_s)
        if result.reason == "interrupted":
            raise StoppedError
        return result

    def monitor(self, store: str, what: str) -> Monitor:
        self.store(store)
        return self._kept[store].watching(make_monitor(not self.quiet, Words(what, "")))

    def left_s(self, store: str, whole_s: float) -> float:
        return rest_s(self.store(store), whole_s, self.say)

    def overhead_s(self, store: str) -> float:
        """Time of a run, in seconds, that HPL does not measure: the start, and other benchmarks of hpcc."""
        found = read(self.store(store))
        own = found.columns["wall_time_s"] - found.columns["hpl_time_s"]
        return float(np.min(own[found.feasible]))

    def other_memory(self, store: str) -> float:
        """Largest memory of all ranks together in bytes, without the matrix; NaN if no run reports it."""
        found = read(self.store(store)).columns.get("other_memory", np.array([]))
        return float(np.nanmax(found)) if np.isfinite(found).any() else math.nan

    def comparison(self, n: int) -> str:
        """The name of the store of a comparison."""
        return _COMPARISON.format(n)

    def stores(self) -> list[Path]:
        """All stores, except that of the random search, which is only for comparison."""
        names = [FIRST, SECOND, SEARCH, CHECK, VERIFIED, *sorted(self._comparisons())]
        return [place for place in map(self.store, names) if place.exists()]

    def _comparisons(self) -> set[str]:
        """The names of their stores, also if these are not copied to the folder yet."""
        there = {place.name for place in self.folder.glob(_COMPARISON.format("*"))}
        return there | {name for name in self._kept if Path(name).match(_COMPARISON.format("*"))}

    def begin_again(self) -> None:
        remove_results(self.folder)

    def remove_folders(self) -> None:
        """Removes the folders of runs that were killed."""
        for folder in self.folder.glob(f"{RUN}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, flush=True)
