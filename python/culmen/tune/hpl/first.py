"""The first runs of ``culmen tune hpl``, from which it plans all others."""

import json
import math
from collections.abc import Iterable

from ..._core import InputError
from ...report.files import Kind, replacing
from .asked import Asked
from .output import reason_of
from .plan import FIRST_N, SLOWEST, Known, limit_s_for, planned, second_n
from .programs import NAMES
from .report import PRESENT, USUAL
from .runs import FIRST, KNOWN, SECOND, Runs
from .scaling import fitted
from .space import Settings

_FIRST_LIMIT_S = 120.0  # launchers may be slow
_FILE = Kind("plan", lambda _path, head: head.startswith(b"{"))
Measured = tuple[Settings, int, float]  # with N, and GFLOPS; 0 if the run failed


def first(asked: Asked, runs: Runs) -> Known:
    """The result of the first runs, from its file if they were made before. Raises InputError if HPL fails with the
    present settings."""
    file, request = runs.folder / KNOWN, asked.text()
    if file.exists():
        try:
            kept = json.loads(file.read_text(encoding="utf-8"))
            known = Known.of(kept)
        except (ValueError, LookupError, TypeError, AttributeError):
            raise InputError(f"{file} is damaged; write --overwrite to measure again") from None
        if kept["request"] != request:
            raise InputError(
                f"{runs.folder} holds runs with other options; give another folder with --output, or write "
                "--overwrite to measure again"
            )
        return known
    known = _first_runs(asked, runs)
    with replacing(file, _FILE, force=True) as path:
        path.write_text(known.text(request), encoding="utf-8")
    return known


def _first_runs(asked: Asked, runs: Runs) -> Known:
    """Runs a small N with all usual settings, and a larger N with the best of them."""
    n, tried = first_n(asked), asked.usual()
    points = [(each, n) for each in first_settings(asked)]
    small = _measured(asked, runs, FIRST, points, _FIRST_LIMIT_S)
    best = _best_of_each([each for each in small if each[0] in tried]) or small[:1]
    ahead = max(speed for _, _, speed in best)
    kept = [settings for settings, _, speed in best if speed >= SLOWEST * ahead]
    large = _larger_runs(asked, runs, small, kept, ahead)
    fastest = max((each for each in large if each[0] in kept), key=lambda each: each[2])[0]
    every = [*small, *large]
    curves = {name: fitted(own) for name, each in {**asked.cases, USUAL: fastest}.items() if (own := _of(each, every))}
    overhead_s = runs.overhead_s(SECOND)
    plan = planned(asked.wanted, curves[PRESENT], curves[USUAL], overhead_s)
    last = {_library(each[0]): each for each in small if each[0] in tried and not each[2]}
    last |= {_library(each[0]): each for each in best}
    last |= {_library(each[0]): each for each in large if each[0] in kept}
    return Known(plan, fastest, [(each, m, speed or None) for each, m, speed in last.values()], curves, overhead_s)


def first_n(asked: Asked) -> int:
    return min(FIRST_N, asked.wanted.memory_n, asked.wanted.size or FIRST_N)


def first_settings(asked: Asked) -> list[Settings]:
    """The settings of the first runs. The first ones are the present settings."""
    return _different([*asked.cases.values(), *asked.usual()])


def _larger_runs(asked: Asked, runs: Runs, small: list[Measured], kept: list[Settings], ahead: float) -> list[Measured]:
    """Runs a larger N. Slow settings get a smaller N than the best ones. ``kept``: the best settings. ``ahead``: the
    speed of the fastest of them."""
    points = []
    longest_s = 0.0
    for settings, n, speed in small:
        if speed and (settings in kept or settings in asked.cases.values()):
            m = second_n(fitted([(n, ahead if speed >= SLOWEST * ahead else speed)]), asked.wanted)
            points.append((settings, m))
            longest_s = max(longest_s, fitted([(n, speed)]).time_s(m))
    return _measured(asked, runs, SECOND, points, limit_s_for(longest_s) + _FIRST_LIMIT_S)


def _different(settings: Iterable[Settings]) -> list[Settings]:
    out: list[Settings] = []
    for each in settings:
        if each not in out:
            out.append(each)
    return out


def _measured(
    asked: Asked, runs: Runs, store: str, points: list[tuple[Settings, int]], limit_s: float
) -> list[Measured]:
    """Runs all points. Raises InputError if the first one fails: it has the present settings."""
    sizes = sorted({n for _, n in points})
    values, result = runs.of(store, points, f"first runs with N = {' and '.join(map(str, sizes))}", limit_s)
    if math.isnan(values[0]):
        runs.remove(store)
        why = reason_of(result.first_failure, asked.program.path)
        raise InputError(f"HPL failed with the present settings: {why}")
    return [(*point, 0.0 if math.isnan(value) else value) for point, value in zip(points, values, strict=True)]


def _library(settings: Settings) -> tuple[str, ...]:
    """The BLAS and the build of these settings."""
    return tuple(str(settings.get(name)) for name in ("blas", *NAMES))


def _best_of_each(measured: list[Measured]) -> list[Measured]:
    """The fastest run with each BLAS and each build."""
    best: dict[tuple[str, ...], Measured] = {}
    for each in measured:
        name = _library(each[0])
        if each[2] and (name not in best or each[2] > best[name][2]):
            best[name] = each
    return list(best.values())


def _of(settings: Settings, measured: list[Measured]) -> list[tuple[int, float]]:
    """N and GFLOPS of the runs with these settings that did not fail."""
    return [(n, speed) for each, n, speed in measured if each == settings and speed]
