"""The runs of ``culmen tune hpl``: first ones, the search, a check with a larger N, and a comparison."""

import json
import math
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..._core import InputError
from ...base.machine import available_bytes
from ...bench.study import KeptStudy, PointStudy
from ...problem.given import Value
from ...report.files import Kind, replacing
from ...report.reading import Evaluations, read
from ...run.progress.figures import Words
from ...run.progress.monitor import make_monitor
from ...run.result import Result
from ...study_file import StudyFile, checked
from ...tune.hpl.dat import Dat, read_dat
from ...tune.hpl.measured import RUN, How
from ...tune.hpl.plan import FINALISTS, FIRST_N, LOOKS, SLOWEST, Known, Wanted, check_size, memory_of, planned, second_n
from ...tune.hpl.program import Program, all_cores, find_program, nodes, with_blas
from ...tune.hpl.report import CALCULATOR, FOUND, PRESENT, USUAL, Case
from ...tune.hpl.scaling import Curve, fitted
from ...tune.hpl.space import (
    Settings,
    calculator,
    check_names,
    fixed_by,
    ranks_of,
    settings_of,
    shipped,
    space_for,
    squarest,
)
from .codes import RESUMABLE
from .measuring import remove_measurements

COMMAND = "culmen tune hpl"
_MODULE = "culmen.tune.hpl.measured"
_KNOWN, _FOUND, _SEARCH = "known.json", "found.json", "search.db"
_STORES = ("first.db", "second.db", _SEARCH, "check.db")
_OPTIMIZER = {"name": "bayes", "model": "additive"}
_MOST_RUNS = 300
_FIRST_LIMIT_S, _SECOND_LIMIT_S = 30.0, 600.0
_SMALLER, _MOST_SIZES = 0.9, 3  # of N, if the memory is too small for some settings
_LIST = Kind("list of settings", lambda _path, head: head.startswith(b"["))
_FILE = Kind("plan", lambda _path, head: head.startswith(b"{"))


@dataclass(frozen=True)
class Options:
    """As a user gives them."""

    program: Path | None = None
    ranks: int | None = None
    size: int | None = None
    memory: str | None = None
    minutes: float = 15.0
    rounds: int = 5
    only: str | None = None
    fix: Sequence[str] = ()
    present: Path | None = None
    price: float | None = None
    seed: int = 1
    words: Sequence[str] = ()

    def text(self) -> str:
        """What decides about the runs."""
        return json.dumps({**vars(self), "price": None}, default=str)


class StoppedError(Exception):
    """A signal stopped the command."""


@dataclass
class Tuner:
    options: Options
    folder: Path
    quiet: bool
    program: Program = field(init=False)
    cores: int = field(init=False)
    cases: dict[str, Settings] = field(init=False)
    wanted: Wanted = field(init=False)
    available: float = field(init=False)
    known: Known = field(init=False)  # after the first runs

    def __post_init__(self) -> None:
        given = self.options
        self.cores = all_cores()
        if (given.ranks or 1) > self.cores:
            raise InputError(f"--ranks {given.ranks}: there are {self.cores} cores; write at most {self.cores}")
        self.program = find_program(given.program, given.words)
        self.fixed = fixed_by(given.fix, self.cores)
        if "blas" in self.fixed:
            self.program = with_blas(self.program, [str(self.fixed["blas"])])
        self.base = Dat() if given.present is None else read_dat(given.present)
        self.cases = self._known_settings()
        self.available = available_bytes() * nodes()
        memory = memory_of(given.memory, self.available)
        check_size(given.size, memory, self.available)
        self.wanted = Wanted(given.minutes, given.rounds, given.size, memory)
        names = [*self.fixed, *(name.strip() for name in (given.only or "").split(",") if name.strip())]
        check_names(names, list(self.cases[PRESENT]))
        if not self._may_change():
            raise InputError("nothing is left to search; fix fewer parameters, or name more with --only")

    def _may_change(self) -> set[str]:
        """The parameters that the user lets culmen change."""
        only = self.options.only
        names = set(self.cases[PRESENT]) if only is None else {name.strip() for name in only.split(",")}
        return names - set(self.fixed)

    def _known_settings(self) -> dict[str, Settings]:
        ranks, blas = self.options.ranks or self.cores, self.program.present_blas
        present = shipped(ranks, blas) if self.program.is_hpcc else calculator(ranks, blas)
        if self.options.present is not None:
            present = {**settings_of(self.base), "blas": blas}
            if ranks_of(present) > self.cores:
                raise InputError(
                    f"{self.options.present} needs {ranks_of(present)} ranks, but there are {self.cores} cores"
                )
        cases = {PRESENT: present, CALCULATOR: calculator(ranks, blas)}
        return {name: {**settings, **self.fixed} for name, settings in cases.items()}

    # -- the steps

    def first(self) -> Known:
        """The first runs, or what is kept of them."""
        file, request = self.folder / _KNOWN, self.options.text()
        if file.exists():
            kept = json.loads(file.read_text(encoding="utf-8"))
            if kept["request"] != request:
                raise InputError(
                    f"{self.folder} holds runs with other options; give another folder with --output, or write "
                    "--overwrite to measure again"
                )
            self.known = Known.of(kept)
            return self.known
        self.known = self._first_runs()
        with replacing(file, _FILE, force=True) as path:
            path.write_text(self.known.text(request), encoding="utf-8")
        return self.known

    def _first_runs(self) -> Known:
        """A small N with each BLAS, by ranks alone and by threads alone; a larger N with the best of them."""
        n = min(FIRST_N, self.wanted.memory_n, self.wanted.size or FIRST_N)
        present, tried = self.cases[PRESENT], self._usual()
        first = self._speeds("first.db", [present, *tried], n, _FIRST_LIMIT_S)
        best = self._best_of_each_blas(tried, first[1:])
        ahead = max(speed for _, speed in best.values())
        kept = [settings for settings, speed in best.values() if speed >= SLOWEST * ahead]
        larger = second_n(fitted([(n, ahead)]), self.wanted)
        asked = [present, *(each for each in (self.cases[CALCULATOR], *kept) if each != present)]
        asked = [each for k, each in enumerate(asked) if each not in asked[:k]]
        again = self._speeds("second.db", asked, larger, _SECOND_LIMIT_S)
        runs = [*zip([present, *tried], [n] * len(first), first, strict=True)]
        runs += zip(asked, [larger] * len(again), again, strict=True)
        usual = max((k for k, each in enumerate(asked) if each in kept), key=lambda k: again[k])
        named = {**self.cases, USUAL: asked[usual]}
        curves = {name: _curve_of(settings, runs) for name, settings in named.items()}
        plan = planned(self.wanted, curves[PRESENT], curves[USUAL], overhead_s := self._overhead_s())
        last = {str(each["blas"]): (each, m, speed or None) for each, m, speed in runs if each in tried and not speed}
        last |= {str(each["blas"]): (each, n, speed) for each, speed in best.values()}
        last |= {str(each["blas"]): (each, larger, speed) for each, _, speed in runs[len(first) :] if each in kept}
        return Known(plan, asked[usual], list(last.values()), curves, overhead_s)

    def _speeds(self, store: str, settings: list[Settings], n: int, limit_s: float) -> list[float]:
        """0: the run failed; of the first settings, which are the present ones, it must not."""
        values, result = self.run_points(store, [(each, n) for each in settings], f"first runs with N = {n}", limit_s)
        if math.isnan(values[0]):
            self._refuse(store, result)
        return [0.0 if math.isnan(value) else value for value in values]

    def _best_of_each_blas(self, tried: list[Settings], speeds: list[float]) -> dict[str, tuple[Settings, float]]:
        best: dict[str, tuple[Settings, float]] = {}
        for settings, speed in zip(tried, speeds, strict=True):
            name = str(settings["blas"])
            if speed > best.get(name, ({}, 0.0))[1]:
                best[name] = settings, speed
        return best or {str(self.cases[PRESENT]["blas"]): (self.cases[PRESENT], 1e-9)}

    def _overhead_s(self) -> float:
        return min(_beside_hpl(read(self.folder / "second.db")))

    def _usual(self) -> list[Settings]:
        """A calculator's settings with each BLAS, with ranks on all cores and with threads on all cores."""
        usual = self.cases[CALCULATOR]
        names = (
            [*dict.fromkeys([str(usual["blas"]), *self.program.blas])] if "blas" not in self.fixed else [usual["blas"]]
        )
        grids = [usual["grid"]]
        if not self.options.ranks and "grid" not in self.fixed and self.cores > nodes():
            grids.append(squarest(nodes()))
        return [{**usual, "blas": name, "grid": grid} for name in names for grid in grids]

    def _refuse(self, store: str, result: Result) -> None:
        remove_measurements(self.folder / store)
        raise InputError(f"HPL failed with the present settings: {result.first_failure.splitlines()[0]}")

    def space(self) -> dict[str, dict[str, Any]]:
        fast = self.known.fast_blas
        kept = {name: folder for name, folder in self.program.blas.items() if name in fast}
        only = None if self.options.only is None else [name.strip() for name in self.options.only.split(",")]
        starts = [*self.cases.values(), self.known.usual]
        return space_for(replace(self.program, blas=kept), self.cores, self.options.ranks, starts, only, self.fixed)

    def search(self) -> list[Settings]:
        """The best settings, the recommended ones first, and those that were known before. A search that has ended is
        not continued: its time was up."""
        file = self.folder / _FOUND
        if file.exists():
            kept: list[Settings] = json.loads(file.read_text(encoding="utf-8"))
            return kept
        finalists = self._search()
        with replacing(file, _LIST, force=True) as path:
            path.write_text(json.dumps(finalists, indent=2) + "\n", encoding="utf-8")
        return finalists

    def _search(self) -> list[Settings]:
        kept = KeptStudy(self._search_file(), Path.cwd(), COMMAND, self.folder / _SEARCH, "settings")
        kept.open()
        result = self._conduct(kept, "runs")
        if result.best is None:
            raise InputError(f"no run of the search succeeded: {result.first_failure}")
        best = [result.recommended.params] if result.recommended else []
        found = read(self.folder / _SEARCH)
        rows = sorted(np.flatnonzero(found.feasible), key=lambda row: -found.values[row, 0])
        best += [found.named(int(row)) for row in rows]
        different = {json.dumps(each): each for each in map(self._complete, best)}
        finalists = list(different.values())[:FINALISTS]
        before = [each for name, each in self._known_before().items() if not self.known.is_slow(name)]
        return finalists + [each for each in before if each not in finalists]

    def _known_before(self) -> dict[str, Settings]:
        """Settings with which the search begins; as far as they may differ from the present ones."""
        out: dict[str, Settings] = {}
        free = self._may_change()
        for name, each in {**self.cases, USUAL: self.known.usual}.items():
            settings = {key: each[key] if key in free else value for key, value in self.cases[PRESENT].items()}
            if settings not in out.values():
                out[name] = settings
        return out

    def _complete(self, params: dict[str, Value]) -> Settings:
        """What is fixed or inactive has the present value."""
        return {name: params.get(name, value) for name, value in self.cases[PRESENT].items()}

    def _search_file(self) -> StudyFile:
        plan, space = self.known.plan, self.space()
        searched = {name for name, table in space.items() if "value" not in table}
        if not searched:
            raise InputError("nothing is left to search, because these parameters have one value here; name more")
        fixed = {"n": plan.search_n, "limit_s": plan.limit_s, "how": self.how.text()}
        tables = {
            "name": "tune-hpl",
            "seed": self.options.seed,
            "space": {**space, **{name: {"value": value} for name, value in fixed.items()}},
            "starts": [self._start(settings, searched) for settings in self._known_before().values()],
            "evaluator": {"python": f"{_MODULE}:measure", "time_limit_s": plan.limit_s + 60, "give_up_after": 25},
            "objectives": {"log_gflops": "maximize"},
            "optimizer": _OPTIMIZER,
            "stop": {"evaluations": _MOST_RUNS, "wall_time_s": plan.search_s},
            "run": {"workers": 1, "prefetch": False},
        }
        file: StudyFile = checked(StudyFile, tables, COMMAND)
        return file

    def _start(self, settings: Settings, searched: set[str]) -> Settings:
        inactive = {"swap_threshold"} if settings["swap"] != "mix" else set()
        return {name: value for name, value in settings.items() if name in searched - inactive}

    @property
    def how(self) -> How:
        return How(self.program.path, self.program.words, self.cores, self.base.text(), str(self.folder.resolve()))

    def best_of(self, finalists: list[Settings]) -> tuple[Settings, Curve]:
        """By the expected speed with the final N; and how its time grows."""
        plan, searched = self.known.plan, read(self.folder / _SEARCH)
        looks: list[list[tuple[int, float]]] = [[] for _ in finalists]
        order = [k for _ in range(LOOKS) for k in range(len(finalists))]
        points = [(finalists[k], plan.check_n) for k in order]
        limit_s = self.known.limit_s(plan.check_n)
        values, _ = self.run_points("check.db", points, "runs of the best with a larger N", limit_s)
        for k, value in zip(order, values, strict=True):
            if not math.isnan(value):
                looks[k].append((plan.check_n, value))
        if not any(looks):
            raise InputError(f"no run with N = {plan.check_n} succeeded; see {self.folder / 'check.db'}")
        for row in np.flatnonzero(searched.feasible):
            settings = self._complete(searched.named(int(row)))
            if settings in finalists and looks[finalists.index(settings)]:
                looks[finalists.index(settings)].append((plan.search_n, math.exp(searched.values[row, 0])))
        fits = [(fitted(look), k) for k, look in enumerate(looks) if look]
        curve, k = max(fits, key=lambda fit: fit[0].gflops(plan.final_n))
        return finalists[k], curve

    def compare(self, new: Settings) -> list[Case]:
        """All kinds of settings in turns. If the new ones do not get their memory, all run again with a smaller N."""
        different: dict[str, Settings] = {}
        for name, settings in {**self.cases, FOUND: new}.items():
            if settings not in different.values():
                different[name] = settings
        out: list[Case] = []
        n = self.known.plan.final_n
        for _ in range(_MOST_SIZES):
            cases, why = self._in_turns(different, n)
            out += cases
            if all(case.known for case in cases) or "memory" not in why:
                return out
            n = int(n * _SMALLER)
            self.say(f"Some settings did not get their memory; all run again with N = {n}")
        return out

    def _in_turns(self, different: dict[str, Settings], n: int) -> tuple[list[Case], str]:
        names: list[str] = []
        rng = random.Random(self.options.seed)  # noqa: S311 - an order
        for _ in range(self.options.rounds):
            turn = list(different)
            rng.shuffle(turn)
            names += turn
        limit_s = self.known.limit_s(n)
        points = [(different[name], n) for name in names]
        values, result = self.run_points(f"comparison-{n}.db", points, f"runs in turns with N = {n}", limit_s)
        by_name: dict[str, list[float]] = {name: [] for name in different}
        for name, value in zip(names, values, strict=True):
            by_name[name].append(value)
        return [Case(name, different[name], n, by_name[name]) for name in different], result.first_failure

    # -- runs

    def run_points(
        self, store: str, points: list[tuple[Settings, int]], what: str, limit_s: float
    ) -> tuple[list[float], Result]:
        """The speed of each point; NaN if its run failed."""
        fixed = {"n": points[0][1], "limit_s": limit_s, "how": self.how.text()}
        texts = [{"settings": json.dumps(settings)} for settings, _ in points]
        if len({text["settings"] for text in texts}) == 1:
            fixed["settings"] = texts[0]["settings"]
        place = self.folder / store
        study = PointStudy(COMMAND, texts, fixed, f"{_MODULE}:measure_settings", limit_s + 60, place)
        study.open()
        result = self._conduct(study, what)
        found = read(place)
        values = dict.fromkeys(range(len(points)), math.nan)
        for row in np.flatnonzero(found.feasible):
            values[int(found.columns["number"][row])] = float(found.values[row, 0])
        return list(values.values()), result

    def _conduct(self, kept: KeptStudy, what: str) -> Result:
        result = kept.conduct(lambda: make_monitor(not self.quiet, Words(what, "")), RESUMABLE)
        if result.reason == "interrupted":
            raise StoppedError
        return result

    def begin_again(self) -> None:
        for store in [*(self.folder / name for name in _STORES), *self.folder.glob("comparison-*.db")]:
            remove_measurements(store)
        for name in (_KNOWN, _FOUND):
            (self.folder / name).unlink(missing_ok=True)

    def remove_folders(self) -> None:
        """Those of runs that were killed."""
        for folder in self.folder.glob(f"{RUN}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def stores(self) -> list[Path]:
        places = [*(self.folder / name for name in _STORES), *sorted(self.folder.glob("comparison-*.db"))]
        return [place for place in places if place.exists()]

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, flush=True)


def _curve_of(settings: Settings, runs: Sequence[tuple[Settings, int, float]]) -> Curve:
    """Settings without a successful run are infinitely slow."""
    own = [(n, speed) for each, n, speed in runs if each == settings and speed]
    return fitted(own) if own else Curve(1.0, 0.0)


def _beside_hpl(found: Evaluations) -> list[float]:
    """Seconds of each run that HPL does not measure: its start, and other benchmarks of hpcc."""
    columns = found.columns
    return [float(columns["wall_time_s"][row] - columns["hpl_time_s"][row]) for row in np.flatnonzero(found.feasible)]
