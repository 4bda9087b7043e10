"""The runs of ``culmen tune hpl``: first ones, the search, a check with a larger N, and a comparison."""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..._core import InputError
from ...base.machine import available_bytes
from ...bench.study import KeptStudy, PointStudy
from ...launch.launcher import cores
from ...problem.given import Value
from ...report.files import Kind, replacing
from ...report.reading import Evaluations, read
from ...run.progress.figures import Words
from ...run.progress.monitor import make_monitor
from ...run.result import Result
from ...study_file import StudyFile, checked
from ...tune.hpl.dat import Dat, read_dat
from ...tune.hpl.measured import How
from ...tune.hpl.plan import FINALISTS, FIRST_N, LOOKS, Plan, Wanted, check_size, memory_of, planned, second_n
from ...tune.hpl.program import Program, find_program, with_blas
from ...tune.hpl.report import CALCULATOR, FOUND, PRESENT, Case
from ...tune.hpl.scaling import Curve, fitted
from ...tune.hpl.space import (
    Settings,
    calculator,
    fixed_by,
    ranks_of,
    settings_of,
    shipped,
    space_for,
)
from .codes import RESUMABLE
from .measuring import remove_measurements

COMMAND = "culmen tune hpl"
_MODULE = "culmen.tune.hpl.measured"
_PLAN, _SEARCH = "plan.json", "search.db"
_STORES = ("first.db", "second.db", _SEARCH, "check.db")
_OPTIMIZER = {"name": "bayes", "model": "additive"}
_MOST_RUNS = 300
_FIRST_LIMIT_S = 600.0
_SMALLER, _MOST_SIZES = 0.9, 3  # of N, if the memory is too small for some settings
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

    def __post_init__(self) -> None:
        given = self.options
        self.cores = cores()
        if (given.ranks or 1) > self.cores:
            raise InputError(f"--ranks {given.ranks}: there are {self.cores} cores; write at most {self.cores}")
        self.program = find_program(given.program, given.words)
        self.fixed = fixed_by(given.fix, self.cores)
        if "blas" in self.fixed:
            self.program = with_blas(self.program, [str(self.fixed["blas"])])
        self.base = Dat() if given.present is None else read_dat(given.present)
        self.cases = self._known_settings()
        self.available = available_bytes()
        memory = memory_of(given.memory, self.available)
        check_size(given.size, memory, self.available)
        self.wanted = Wanted(given.minutes, given.rounds, given.size, memory)
        only = None if given.only is None else [name.strip() for name in given.only.split(",")]
        starts = list(self.cases.values())
        self.space = space_for(self.program, self.cores, given.ranks, starts, only, self.fixed)

    def _known_settings(self) -> dict[str, Settings]:
        ranks, blas = self.options.ranks or self.cores, self.program.present_blas
        present = shipped(self.program.is_hpcc, ranks, blas)
        if self.options.present is not None:
            present = {**settings_of(self.base), "blas": blas}
            if ranks_of(present) > self.cores:
                raise InputError(
                    f"{self.options.present} needs {ranks_of(present)} ranks, but there are {self.cores} cores"
                )
        cases = {PRESENT: present, CALCULATOR: calculator(ranks, blas)}
        return {name: {**settings, **self.fixed} for name, settings in cases.items()}

    # -- the steps

    def plan(self) -> Plan:
        """From the first runs, or as it was kept."""
        file, request = self.folder / _PLAN, self.options.text()
        if file.exists():
            kept = json.loads(file.read_text(encoding="utf-8"))
            if kept["request"] != request:
                raise InputError(
                    f"{self.folder} holds runs with other options; give another folder with --output, or write "
                    "--overwrite to measure again"
                )
            return Plan.of(kept["plan"])
        curves, overhead_s = self._first_runs()
        plan = planned(self.wanted, curves[PRESENT], curves[CALCULATOR], overhead_s)
        with replacing(file, _FILE, force=True) as path:
            content = {"request": request, "plan": vars(plan), "curves": {k: vars(c) for k, c in curves.items()}}
            path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        return plan

    def curves(self) -> dict[str, Curve]:
        kept = json.loads((self.folder / _PLAN).read_text(encoding="utf-8"))["curves"]
        return {name: Curve(**values) for name, values in kept.items()}

    def _first_runs(self) -> tuple[dict[str, Curve], float]:
        largest = min(self.wanted.memory_n, self.wanted.size or self.wanted.memory_n)
        names, seen, others_s = list(self.cases), {name: [] for name in self.cases}, []  # type: ignore[var-annotated]
        n = min(FIRST_N, largest)
        for store in ("first.db", "second.db"):
            points = [(self.cases[name], n) for name in names]
            values, found = self.run_points(store, points, "first runs", _FIRST_LIMIT_S)
            for name, value in zip(names, values, strict=True):
                if math.isnan(value):
                    self._refuse(store, name, found)
                seen[name].append((n, value))
            others_s += _beside_hpl(read(self.folder / store))
            n = second_n(fitted(seen[CALCULATOR]), self.wanted)
        return {name: fitted(runs) for name, runs in seen.items()}, min(others_s)

    def _refuse(self, store: str, name: str, result: Result) -> None:
        remove_measurements(self.folder / store)
        raise InputError(f"HPL failed with the settings '{name}': {result.first_failure.splitlines()[0]}")

    def search(self, plan: Plan) -> list[Settings]:
        """The best settings, the recommended ones first, and those of the calculators."""
        kept = KeptStudy(self._search_file(plan), Path.cwd(), COMMAND, self.folder / _SEARCH, "settings")
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
        usual = self.cases[CALCULATOR]
        return finalists if usual in finalists else [*finalists, usual]

    def _complete(self, params: dict[str, Value]) -> Settings:
        """What is fixed or inactive has the present value."""
        return {name: params.get(name, value) for name, value in self.cases[PRESENT].items()}

    def _search_file(self, plan: Plan) -> StudyFile:
        searched = {name for name, table in self.space.items() if "value" not in table}
        if not searched:
            raise InputError("nothing is left to search; fix fewer parameters, or name more with --only")
        fixed = {"n": plan.search_n, "limit_s": plan.limit_s, "how": self.how.text()}
        tables = {
            "name": "tune-hpl",
            "seed": self.options.seed,
            "space": {**self.space, **{name: {"value": value} for name, value in fixed.items()}},
            "starts": [self._start(settings, searched) for settings in self.cases.values()],
            "evaluator": {"python": f"{_MODULE}:measure", "time_limit_s": plan.limit_s + 60, "give_up_after": 25},
            "objectives": {"gflops": "maximize"},
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
        return How(self.program.path, self.program.words, self.cores, self.base.text())

    def best_of(self, finalists: list[Settings], plan: Plan) -> tuple[Settings, Curve]:
        """By the expected speed with the final N; and how its time grows."""
        searched = read(self.folder / _SEARCH)
        looks: list[list[tuple[int, float]]] = [[] for _ in finalists]
        for row in np.flatnonzero(searched.feasible):
            settings = self._complete(searched.named(int(row)))
            if settings in finalists:
                looks[finalists.index(settings)].append((plan.search_n, float(searched.values[row, 0])))
        if plan.check_n is None or len(finalists) == 1:
            return finalists[0], fitted(looks[0])
        order = [k for _ in range(LOOKS) for k in range(len(finalists))]
        curves = self.curves().values()
        limit_s = plan.limit_for(list(curves), plan.check_n)
        points = [(finalists[k], plan.check_n) for k in order]
        values, _ = self.run_points("check.db", points, "runs of the best with a larger N", limit_s)
        for k, value in zip(order, values, strict=True):
            if not math.isnan(value):
                looks[k].append((plan.check_n, value))
        fits = [(fitted(look), k) for k, look in enumerate(looks) if any(n == plan.check_n for n, _ in look)]
        if not fits:
            return finalists[0], fitted(looks[0])
        curve, k = max(fits, key=lambda fit: fit[0].gflops(plan.final_n))
        return finalists[k], curve

    def compare(self, new: Settings, plan: Plan) -> list[Case]:
        """All kinds of settings in turns. If the new ones do not get their memory, all run again with a smaller N."""
        different: dict[str, Settings] = {}
        for name, settings in {**self.cases, FOUND: new}.items():
            if settings not in different.values():
                different[name] = settings
        out: list[Case] = []
        n = plan.final_n
        for _ in range(_MOST_SIZES):
            cases, why = self._in_turns(different, n, plan)
            out += cases
            if all(case.known for case in cases) or "memory" not in why:
                return out
            n = int(n * _SMALLER)
            self.say(f"Some settings did not get their memory; all run again with N = {n}")
        return out

    def _in_turns(self, different: dict[str, Settings], n: int, plan: Plan) -> tuple[list[Case], str]:
        names: list[str] = []
        rng = random.Random(self.options.seed)  # noqa: S311 - an order
        for _ in range(self.options.rounds):
            turn = list(different)
            rng.shuffle(turn)
            names += turn
        limit_s = plan.limit_for(list(self.curves().values()), n)
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
        (self.folder / _PLAN).unlink(missing_ok=True)

    def stores(self) -> list[Path]:
        places = [*(self.folder / name for name in _STORES), *sorted(self.folder.glob("comparison-*.db"))]
        return [place for place in places if place.exists()]

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, flush=True)


def _beside_hpl(found: Evaluations) -> list[float]:
    """Seconds of each run that HPL does not measure: its start, and other benchmarks of hpcc."""
    columns = found.columns
    return [float(columns["wall_time_s"][row] - columns["hpl_time_s"][row]) for row in np.flatnonzero(found.feasible)]
