"""Runs of ``culmen tune hpl`` with N of the input file that it writes: ``--verify``."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...base.text import lasted
from .output import reason_of
from .plan import Known, limit_s_for
from .report import PRESENT, Case
from .runs import VERIFIED, Runs
from .scaling import Curve, operations
from .space import Settings


@dataclass(frozen=True)
class Verified:
    """``cases``: one run with each kind of settings; the last one is the recommended kind. ``expected``: its GFLOPS by
    the model. ``why``: the reason of the first failed run."""

    cases: list[Case]
    expected: float
    why: str


def verify(kinds: Mapping[str, tuple[Settings, Curve]], n: int, program: str, runs: Runs, known: Known) -> Verified:
    """Runs HPL once with each kind of settings. ``kinds``: by their names, with their curves; the recommended ones come
    last."""
    expected_s = [curve.time_s(n) + known.overhead_s for _, curve in kinds.values()]
    runs.say(f"Last runs with N = {n} of the input file: about {lasted(sum(expected_s))}")
    points = [(settings, n) for settings, _ in kinds.values()]
    values, result = runs.of(VERIFIED, points, f"runs with N = {n}", limit_s_for(max(expected_s)))
    cases = [Case(name, kinds[name][0], n, [value]) for name, value in zip(kinds, values, strict=True)]
    why = reason_of(result.first_failure, program) if result.first_failure else ""
    return Verified(cases, [*kinds.values()][-1][1].gflops(n), why)


def sentences(verified: Verified) -> Iterator[str]:
    """The measured speeds."""
    used, n = verified.cases[-1], verified.cases[-1].n
    gflops = used.gflops[0]
    if math.isnan(gflops):
        yield f"The run with N = {n} of the input file failed: {verified.why}; --memory gives a smaller N."
        return
    time = lasted(operations(n) / gflops * 1e-9)
    yield (
        f"With N = {n} of the input file, one run took {time} and reached {gflops:.4g} GFLOPS; the model expected "
        f"{verified.expected:.4g}."
    )
    present = verified.cases[0]
    if present is used:
        return
    before = present.gflops[0]
    reached = "failed" if math.isnan(before) else f"reached {before:.4g} GFLOPS"
    yield f"One run with the {PRESENT} settings and this N {reached}."
    if before > gflops:
        yield f"With this N, the {PRESENT} settings were faster; --size {n} compares both in several rounds."
