"""What a user asks of ``culmen tune hpl``, and the settings that are known before any run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.machine import available_bytes
from ...problem.given import Value
from ...tune.hpl.baseline import Baseline, baseline_for
from ...tune.hpl.measured import How
from ...tune.hpl.plan import Known, Wanted, check_size, memory_of
from ...tune.hpl.program import Program, all_cores, find_program, nodes, with_blas
from ...tune.hpl.report import CALCULATOR, PRESENT, USUAL
from ...tune.hpl.space import Settings, calculator, check_names, fixed_by, space_for, squarest

COMMAND = "culmen tune hpl"


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


@dataclass
class Asked:
    """Raises InputError if an option is wrong. ``cases``: settings by names of report.py."""

    options: Options
    program: Program = field(init=False)
    cores: int = field(init=False)
    baseline: Baseline = field(init=False)
    cases: dict[str, Settings] = field(init=False)
    wanted: Wanted = field(init=False)
    available: float = field(init=False)  # bytes

    def __post_init__(self) -> None:
        given = self.options
        self.cores = all_cores()
        if (given.ranks or 1) > self.cores:
            raise InputError(f"--ranks {given.ranks}: there are {self.cores} cores; write at most {self.cores}")
        self.program = find_program(given.program, given.words)
        self._fixed = fixed_by(given.fix, self.cores)
        if "blas" in self._fixed:
            self.program = with_blas(self.program, [str(self._fixed["blas"])])
        self.cases = self._known_settings()
        self.available = available_bytes() * nodes()
        memory = memory_of(given.memory, self.available)
        check_size(given.size, memory, self.available)
        self.wanted = Wanted(given.minutes, given.rounds, given.size, memory)
        check_names([*self._fixed, *(self._only or ())], list(self.cases[PRESENT]))
        if not self._may_change():
            raise InputError("nothing is left to search; fix fewer parameters, or name more with --only")

    @property
    def _only(self) -> list[str] | None:
        only = self.options.only
        return None if only is None else [name.strip() for name in only.split(",") if name.strip()]

    def _may_change(self) -> set[str]:
        """The parameters that the user lets culmen change."""
        names = set(self.cases[PRESENT]) if self._only is None else set(self._only)
        return names - set(self._fixed)

    def _known_settings(self) -> dict[str, Settings]:
        ranks = self.options.ranks or self.cores
        self.baseline = baseline_for(self.program, self.options.present, ranks, self.cores)
        cases = {PRESENT: self.baseline.settings, CALCULATOR: calculator(ranks, self.program.present_blas)}
        return {name: {**settings, **self._fixed} for name, settings in cases.items()}

    def text(self) -> str:
        """What decides about the runs."""
        decides = {**vars(self.options), "price": None, "cases": self.cases, "base": self.baseline.dat.text()}
        return json.dumps(decides, default=str)

    def how(self, folder: Path) -> How:
        base = self.baseline.dat.text()
        return How(self.program.path, self.program.words, self.cores, base, str(folder.resolve()))

    # -- settings

    def allowed(self, settings: Settings) -> Settings:
        """As far as they may differ from the present ones."""
        free = self._may_change()
        return {name: settings[name] if name in free else value for name, value in self.cases[PRESENT].items()}

    def usual(self) -> list[Settings]:
        """A calculator's settings with each BLAS, by ranks alone and by threads alone on each node."""
        free, usual = self._may_change(), self.allowed(self.cases[CALCULATOR])
        names, grids = [str(usual["blas"])], [usual["grid"]]
        if "blas" in free:
            names = [*dict.fromkeys([*names, *self.program.blas])]
        if "grid" in free and not self.options.ranks and self.cores > nodes():
            grids.append(squarest(nodes()))
        return [{**usual, "blas": name, "grid": grid} for name in names for grid in grids]

    def before_search(self, known: Known) -> dict[str, Settings]:
        """Settings with which the search begins."""
        out: dict[str, Settings] = {}
        for name, each in {**self.cases, USUAL: known.usual}.items():
            if (settings := self.allowed(each)) not in out.values():
                out[name] = settings
        return out

    def completed(self, params: dict[str, Value]) -> Settings:
        """What is fixed or inactive has the present value."""
        return {name: params.get(name, value) for name, value in self.cases[PRESENT].items()}

    def space(self, known: Known) -> dict[str, dict[str, Any]]:
        kept = {name: folder for name, folder in self.program.blas.items() if name in known.fast_blas}
        starts = [*self.cases.values(), known.usual]
        program = replace(self.program, blas=kept)
        return space_for(program, self.cores, self.options.ranks, starts, self._only, self._fixed)
