"""The request of ``culmen tune hpl``, and the settings that are known before any run."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.machine import available_bytes
from ...problem.given import Value
from .baseline import Baseline, baseline_for
from .checked import check_ranks, check_rest, check_verify
from .choosing import bound, found_programs, left_out, machine_settings
from .measured import How
from .options import Options
from .plan import Known, Wanted, check_size, memory_of
from .program import Program, all_cores, nodes
from .programs import Programs
from .report import CALCULATOR, PRESENT, SHIPPED, USUAL
from .space import Settings, bindings_of, calculator, check_names, check_tcp, fixed_by, shipped, space_for, squarest

COMMAND = "culmen tune hpl"


@dataclass
class Asked:
    """``folder``: the folder for builds. ``say``: gets messages about builds. ``cases``: settings, by names of
    report.py. ``left_out``: a sentence for each kind of parameter that has no effect here. ``builds``: see
    found_programs. Raises InputError if an
    option is wrong."""

    options: Options
    folder: Path = Path("tune-hpl")
    say: Callable[[str], None] = field(default=lambda _: None, repr=False)
    builds: bool = True
    programs: Programs = field(init=False)
    left_out: list[str] = field(init=False)
    cores: int = field(init=False)
    baseline: Baseline = field(init=False)
    cases: dict[str, Settings] = field(init=False)
    wanted: Wanted = field(init=False)
    available: float = field(init=False)  # bytes

    def __post_init__(self) -> None:
        given = self.options
        self.cores = all_cores()
        check_ranks(given.ranks, self.cores)
        check_verify(given)
        self._fixed = fixed_by(given.fix, self.cores)
        self.available = available_bytes() * nodes()
        memory = memory_of(given.memory, self.available)
        check_size(given.size, memory, self.available)
        found, failed = found_programs(given, self.folder, self.say, self.builds)
        self.programs = bound(found.with_values(self._fixed), self.cores)
        if (binding := self._fixed.get("binding")) not in (None, *bindings_of(self.programs)):
            raise InputError(f"--fix binding={binding}: write one of {', '.join(bindings_of(self.programs))}")
        check_tcp(self._fixed)
        self.left_out = [*failed, *left_out(self.programs, self.cores)]
        self.cases = self._known_settings()
        different = [each for at, each in enumerate(self.cases.values()) if each not in [*self.cases.values()][:at]]
        kinds = len(different) + 1 + given.compare_random
        self.wanted = Wanted(given.minutes, given.rounds, given.size, memory, kinds)
        check_names([*self._fixed, *(self.options.only_names or ())], list(self.cases[PRESENT]))
        check_rest(self._may_change())

    def _may_change(self) -> set[str]:
        """The parameters that the user lets culmen change."""
        names = set(self.cases[PRESENT]) if self.options.only_names is None else set(self.options.only_names)
        return names - set(self._fixed)

    @property
    def program(self) -> Program:
        """The program of the present settings."""
        return self.programs.present

    def _known_settings(self) -> dict[str, Settings]:
        ranks, machine = self.options.ranks or self.cores, machine_settings(self.programs)
        self.baseline = baseline_for(self.program, self.options.present, ranks, self.cores)
        blas = self.program.present_blas
        cases = {PRESENT: self.baseline.settings, SHIPPED: shipped(ranks, blas), CALCULATOR: calculator(ranks, blas)}
        return {name: {**settings, **machine, **self._fixed} for name, settings in cases.items()}

    def text(self) -> str:
        """Everything that determines the runs, as JSON."""
        decides = {
            **vars(self.options),
            "price": None,
            "cases": self.cases,
            "base": self.baseline.dat.text(),
            "programs": self.programs.content(),
        }
        return json.dumps(decides, default=str)

    def how(self, folder: Path) -> How:
        base = self.baseline.dat.text()
        return How(self.programs.content(), self.cores, base, str(folder.resolve()))

    # -- settings

    def allowed(self, settings: Settings) -> Settings:
        """The settings, with the present values of parameters that may not change."""
        free = self._may_change()
        return {name: settings[name] if name in free else value for name, value in self.cases[PRESENT].items()}

    def usual(self) -> list[Settings]:
        """The settings of a calculator with each BLAS: once with its own grid, and once with one rank for each node.
        Then the settings of a calculator with each build."""
        free, usual = self._may_change(), self.allowed(self.cases[CALCULATOR])
        names, grids = [str(usual["blas"])], [usual["grid"]]
        if "blas" in free:
            names = [*dict.fromkeys([*names, *self.program.blas])]
        if "grid" in free and not self.options.ranks and self.cores > nodes():
            grids.append(squarest(nodes()))
        out = [{**usual, "blas": name, "grid": grid} for name in names for grid in grids]
        builds = [self.allowed({**usual, **chosen}) for chosen in self.programs.each()]
        return out + [each for each in builds if each not in out and self.is_built(each)]

    def is_built(self, settings: Settings) -> bool:
        return self.programs.choice_of(settings) in self.programs.by_choice

    def before_search(self, known: Known) -> dict[str, Settings]:
        """Settings with which the search begins."""
        out: dict[str, Settings] = {}
        for name, each in {**self.cases, USUAL: known.usual}.items():
            if (settings := self.allowed(each)) not in out.values():
                out[name] = settings
        return out

    def completed(self, params: dict[str, Value]) -> Settings:
        """The settings, with the present values of parameters that are fixed or inactive."""
        return {name: params.get(name, value) for name, value in self.cases[PRESENT].items()}

    def space(self, known: Known) -> dict[str, dict[str, Any]]:
        return self._space_for(self._worth_a_search(known), [*self.cases.values(), known.usual])

    def whole_space(self) -> dict[str, dict[str, Any]]:
        """The space before any run. It also has libraries and builds that may be slow."""
        return self._space_for(self.programs, [*self.cases.values()])

    def _space_for(self, programs: Programs, starts: list[Settings]) -> dict[str, dict[str, Any]]:
        given = self.options
        return space_for(programs, self.cores, given.ranks, starts, given.only_names, self._fixed)

    def constraints(self, known: Known) -> dict[str, str]:
        searched = {name for name, table in self.space(known).items() if "value" not in table}
        return self._worth_a_search(known).constraints(searched)

    def _worth_a_search(self, known: Known) -> Programs:
        """The programs without slow BLAS libraries, and without builds whose runs failed."""
        names = self.programs.names
        failed = {tuple(str(each[name]) for name in names) for each, _, speed in known.tried if not speed}
        ran = {tuple(str(each[name]) for name in names) for each, _, speed in known.tried if speed}
        kept = self.programs.without(failed - ran - {self.programs.choice})
        return kept.with_blas([name for name in self.program.blas if name in known.fast_blas])
