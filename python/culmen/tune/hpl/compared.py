"""The comparison of ``culmen tune hpl``: runs with all kinds of settings in turns."""

from ...bench.verdict import in_turns
from .asked import Asked
from .output import is_short_of_memory
from .plan import Known
from .report import FOUND, PRESENT, RANDOM, Case
from .runs import Runs
from .space import Settings

_SMALLER, _MOST_SIZES = 0.9, 3  # factor of N, and number of tries, if the memory is too small for some settings


def compare(new: Settings, by_chance: Settings | None, asked: Asked, runs: Runs, known: Known) -> list[Case]:
    """If some settings do not get their memory, all run again with a smaller N. ``by_chance``: the best settings of a
    random search."""
    kinds = _kinds(new, by_chance, asked)
    out: list[Case] = []
    n = known.plan.final_n
    for at in range(_MOST_SIZES):
        cases = _compared(kinds, n, asked, runs, known)
        out += cases
        short = [case.name for case in cases if any(map(is_short_of_memory, case.failures))]
        if not short:
            break
        runs.say(f"Not enough memory for N = {n}: {', '.join(short)}")
        n = int(n * _SMALLER)
        if at + 1 < _MOST_SIZES:
            runs.say(f"Some settings did not get their memory; all run again with N = {n}")
    return out


def _kinds(new: Settings, by_chance: Settings | None, asked: Asked) -> dict[str, Settings]:
    """The kinds of settings, without duplicates."""
    kinds = {PRESENT: asked.cases[PRESENT]}
    for name, settings in asked.cases.items():
        if settings not in (*kinds.values(), new):
            kinds[name] = settings
    if by_chance is not None and by_chance not in (*kinds.values(), new):
        kinds[RANDOM] = by_chance
    if new != kinds[PRESENT]:
        kinds[FOUND] = new
    return kinds


def _compared(kinds: dict[str, Settings], n: int, asked: Asked, runs: Runs, known: Known) -> list[Case]:
    names = in_turns(list(kinds), asked.options.rounds, asked.options.seed)
    points = [(kinds[name], n) for name in names]
    values, _ = runs.of(runs.comparison(n), points, f"runs in turns with N = {n}", known.limit_s(n))
    failed = runs.failures(runs.comparison(n))
    by_name: dict[str, list[float]] = {name: [] for name in kinds}
    for name, value in zip(names, values, strict=True):
        by_name[name].append(value)
    failures = {name: [failed[k] for k, own in enumerate(names) if own == name and k in failed] for name in kinds}
    return [Case(name, kinds[name], n, by_name[name], failures[name]) for name in kinds]
