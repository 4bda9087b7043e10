"""The coefficients of all models as a table."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..base.text import rounded, shown_error
from ..bench.words import shown_size
from .boundaries import boundaries
from .measured import Series, Times
from .point_to_point import hockney, loggp
from .robust import Estimate
from .segments import Segmented, segmented, without_bend

COLUMNS = [
    "mpi", "collective", "algorithm", "model", "over", "at", "segment_lower", "segment_upper",
    "intercept_us", "intercept_low_us", "intercept_high_us",
    "slope_us_per_x", "slope_low_us_per_x", "slope_high_us_per_x", "points", "outliers", "noise",
]  # fmt: skip
HEADINGS = ["collective", "algorithm", "model", "over", "from", "to", "intercept in µs", "slope"]
MESSAGE = "message"  # in the column `collective`: a single message between two ranks
_LEAST = 4  # points of a segmented model


@dataclass(frozen=True)
class Options:
    """``breaks``: of models over ranks; ``size_breaks``: of models over the size. They are tried first, or with
    ``keep``, they are the breaks. ``socket``: its number of cores, if known; without ``breaks``, the numbers of ranks
    that fill a socket or a node are tried first (``guessed``). ``continuous``: segments touch."""

    breaks: tuple[float, ...] = ()
    size_breaks: tuple[float, ...] = ()
    continuous: bool = False
    keep: bool = False
    socket: int | None = None
    guessed: bool = False


@dataclass(frozen=True)
class Modelled:
    """A series and its model. ``name``: segmented, Hockney or LogGP; only a segmented one has ``found``. ``lines``:
    lower and upper end, intercept (seconds) and slope (seconds per byte or rank). ``unbent``: the user's breaks at
    which no bend was found."""

    series: Series
    name: str
    lines: list[tuple[float, float, Estimate, Estimate]]
    found: Segmented | None = None
    unbent: tuple[float, ...] = ()


def model_series(series: Series, options: Options) -> Modelled:
    given = options.size_breaks if series.over == "size" else options.breaks
    guessed = options.guessed and series.over == "ranks"
    found = segmented(series.x, series.y, given, options.continuous, options.keep and bool(given), guessed=guessed)
    lines = [(s.lower, s.upper, s.intercept, s.slope) for s in found.segments]
    unbent = without_bend(series.x, series.y, found) if given and not guessed else []
    return Modelled(series, "segmented", lines, found, tuple(b for b in unbent if b in given))


def model_all(times: Times, options: Options) -> list[Modelled]:
    """Of single messages, then of all series with enough points."""
    out = []
    for mpi in dict.fromkeys(mpi for mpi, _ in times.of):
        out += model_messages(times.messages(mpi), mpi, "bcast, 2 ranks", options)
    return out + [
        model_series(each, _with_boundaries(options, each, times)) for each in times.series() if len(each.x) >= _LEAST
    ]


def _with_boundaries(options: Options, series: Series, times: Times) -> Options:
    if options.breaks or options.keep or series.over == "size":
        return options
    ppn = {int(ranks): times.ppn[series.mpi, series.collective, int(ranks)] for ranks in series.x}
    return replace(options, breaks=boundaries(ppn, options.socket), guessed=True)


def without_bends(models: Sequence[Modelled], options: Options) -> list[str]:
    """A sentence for each break of the user at which some of the models do not bend."""
    out = []
    for over, breaks in (("ranks", options.breaks), ("size", options.size_breaks)):
        fits = [each for each in models if each.found is not None and each.series.over == over]
        for b in sorted(set(breaks)):
            used = [each for each in fits if each.found is not None and b in each.found.breaks]
            if straight := sum(b in each.unbent for each in used):
                where = f"{_end(over, b)}{' ranks' if over == 'ranks' else ''}"
                out.append(f"No bend found at the break {where} in {straight} of the {len(used)} models that have it.")
    return out


def model_messages(messages: dict[int, float], mpi: str, mapping: str, options: Options) -> list[Modelled]:
    """All three models. Without messages: none."""
    if not messages:
        return []
    sizes = sorted(messages)
    series = Series(mpi, MESSAGE, mapping, "size", 2, [float(m) for m in sizes], [messages[m] for m in sizes])
    ends, line, other = (series.x[0], series.x[-1]), hockney(series.x, series.y), loggp(series.x, series.y)
    return [
        Modelled(series, "Hockney", [(*ends, line.alpha, line.beta)]),
        Modelled(series, "LogGP", [(*ends, other.latency, other.gap)]),
        model_series(series, options),
    ]


def write(path: Path, models: Iterable[Modelled]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for each in models:
            s, found = each.series, each.found
            after = [len(s.x), found.outliers if found else "", f"{found.noise:.3g}" if found else ""]
            for lower, upper, intercept, slope in each.lines:
                numbers = [f"{1e6 * x:.9g}" for x in (*intercept, *slope)]
                head = [s.mpi, s.collective, s.algorithm, each.name, s.over, s.at]
                table.writerow([*head, f"{lower:.9g}", f"{upper:.9g}", *numbers, *after])


def shown_rows(models: Sequence[Modelled]) -> list[list[str]]:
    """For HEADINGS."""
    out = []
    for each in models:
        s = each.series
        at = "" if s.collective == MESSAGE else f" at {s.at} ranks" if s.over == "size" else f" at {shown_size(s.at)}"
        for lower, upper, intercept, slope in each.lines:
            ends = [_end(s.over, lower), _end(s.over, upper)]
            unit, factor = ("ns/B", 1e9) if s.over == "size" else ("µs/rank", 1e6)
            rate = f"{shown(slope.scaled(factor))} {unit}"
            head = [s.collective, s.algorithm, each.name, s.over + at]
            out.append([*head, *ends, shown(intercept.scaled(1e6)), rate])
    return out


def _end(over: str, x: float) -> str:
    return shown_size(round(x)) if over == "size" else f"{x:g}"


def shown(estimate: Estimate) -> str:
    """With half the length of its interval."""
    half = (estimate.high - estimate.low) / 2
    if not half < float("inf"):
        return f"{estimate.value:.3g}"
    return f"{rounded(float(estimate.value), [half])} ± {shown_error(half)}"
