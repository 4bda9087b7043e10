"""How ``culmen tune hpl`` runs HPL, and the files in its folder."""

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...base.exit_codes import RESUMABLE
from ...bench.kept import StoppedError, remove_measurements
from ...bench.study import KeptStudy, PointStudy
from ...report.reading import read
from ...run.progress.figures import Words
from ...run.progress.monitor import Monitor, make_monitor
from ...run.result import Result
from .asked import COMMAND
from .measured import RUN, How
from .space import Settings

MODULE = "culmen.tune.hpl.measured"
KNOWN, FOUND, BY_CHANCE = "known.json", "found.json", "random.json"
FIRST, SECOND, SEARCH, CHECK = "first.db", "second.db", "search.db", "check.db"
RANDOM = "random.db"
_COMPARISON = "comparison-{}.db"
_SPARE_S = 60  # so that HPL is stopped by its own limit


@dataclass(frozen=True)
class Runs:
    how: How
    folder: Path
    quiet: bool

    def of(
        self, store: str, points: Sequence[tuple[Settings, int]], what: str, limit_s: float
    ) -> tuple[list[float], Result]:
        """The speed of each point, which is settings and N; NaN if its run failed."""
        place = self.folder / store
        columns: dict[str, list[Any]] = {
            "settings": [json.dumps(settings) for settings, _ in points],
            "n": [n for _, n in points],
        }
        same = {name: values[0] for name, values in columns.items() if len(set(values)) == 1}
        rows = [{name: values[k] for name, values in columns.items() if name not in same} for k in range(len(points))]
        fixed = {**same, "limit_s": limit_s, "how": self.how.text()}
        study = PointStudy(COMMAND, rows, fixed, f"{MODULE}:measure_settings", limit_s + _SPARE_S, place)
        study.open()
        result = self.conduct(study, what)
        found = read(place)
        values = dict.fromkeys(range(len(points)), math.nan)
        for row in np.flatnonzero(found.feasible):
            values[int(found.columns["number"][row])] = float(found.values[row, 0])
        return list(values.values()), result

    def conduct(self, kept: KeptStudy, what: str) -> Result:
        result = kept.conduct(lambda: self.monitor(what), RESUMABLE)
        if result.reason == "interrupted":
            raise StoppedError
        return result

    def monitor(self, what: str) -> Monitor:
        return make_monitor(not self.quiet, Words(what, ""))

    def overhead_s(self, store: str) -> float:
        """Time of a run, in seconds, that HPL does not measure: the start, and other benchmarks of hpcc."""
        found = read(self.folder / store)
        own = found.columns["wall_time_s"] - found.columns["hpl_time_s"]
        return float(np.min(own[found.feasible]))

    def other_memory(self, store: str) -> float:
        """Largest memory of all ranks together in bytes, without the matrix; NaN if no run reports it."""
        found = read(self.folder / store).columns.get("other_memory", np.array([]))
        return float(np.nanmax(found)) if np.isfinite(found).any() else math.nan

    def comparison(self, n: int) -> str:
        """The name of the store of a comparison."""
        return _COMPARISON.format(n)

    def stores(self) -> list[Path]:
        """All stores, except that of the random search, which is only for comparison."""
        places = [self.folder / name for name in (FIRST, SECOND, SEARCH, CHECK)]
        places += sorted(self.folder.glob(_COMPARISON.format("*")))
        return [place for place in places if place.exists()]

    def begin_again(self) -> None:
        for store in [*self.stores(), self.folder / RANDOM]:
            remove_measurements(store)
        for name in (KNOWN, FOUND, BY_CHANCE):
            (self.folder / name).unlink(missing_ok=True)

    def remove_folders(self) -> None:
        """Removes the folders of runs that were killed."""
        for folder in self.folder.glob(f"{RUN}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, flush=True)
