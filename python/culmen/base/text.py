"""Numbers and names as they are written for people."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

ALL = 17  # significant digits: any double reads back equal
_MOST = 10  # of a value with an error
_FIXED = (1e-4, 1e9)  # numbers in this range are written without an exponent


def shown(value: object, digits: int = 6) -> str:
    """Reals with this number of significant digits; everything else unchanged."""
    if isinstance(value, float) and digits >= ALL:
        return repr(value)
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def shown_error(error: float | None, digits: int | None = None, sign: str = "") -> str:
    """With two significant digits, or with ``digits``. ``sign``: "+" puts a sign before positive numbers."""
    if error is None:
        return ""
    plus = sign if error > 0 else ""
    if digits is not None or not error or not math.isfinite(error):
        return plus + shown(float(error), digits or 2)
    if not _FIXED[0] <= abs(error) < _FIXED[1]:
        return f"{plus}{error:.1e}"
    return plus + _fixed(error, _exponent(error) - 1)


def rounded(value: object, errors: Iterable[float | None], digits: int | None = None) -> str:
    """A value, rounded to the second significant digit of its smallest error, but with at least two significant digits.
    Without errors, it has ten significant digits. ``digits`` replaces both rules."""
    known = [error for error in errors if error and math.isfinite(error)]
    if digits is not None or not known or not isinstance(value, float) or not math.isfinite(value):
        return shown(value, digits or _MOST)
    place = _exponent(min(known)) - 1
    if not value:
        return _fixed(value, place) if _FIXED[0] <= max(known) < _FIXED[1] else "0"
    count = max(_exponent(value) - place, 1)
    if count >= _MOST:
        return shown(value, _MOST)
    fixed = _FIXED[0] <= abs(value) < _FIXED[1]
    return _fixed(value, _exponent(value) - count) if fixed else f"{value:.{count}e}"


def _exponent(x: float) -> int:
    """The exponent of the first digit, after rounding to two digits."""
    return int(f"{x:.1e}".partition("e")[2])


def _fixed(x: float, place: int) -> str:
    """Rounded to the digit of 10^place."""
    text = f"{round(x, -place):.{max(0, -place)}f}"
    return text.removeprefix("-") if not float(text) else text


def enumerated(names: Sequence[str]) -> str:
    """Such as "a, b and c"."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def shown_share(share: float) -> str:
    """In percent. A small share does not look like none."""
    return f"{share:.0%}" if share >= 0.01 else "less than 1%"


def span_of(values: Sequence[float]) -> str:
    """The smallest and the largest value with three digits; one of them if they look equal."""
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} – {high}"


def plural(n: int, one: str) -> str:
    return f"{n} {one if n == 1 else one + 's'}"


def grouped(n: int) -> str:
    """With a space between thousands."""
    return f"{n:,}".replace(",", " ")


def counts(done: int, limit: int | None, waiting: int = 0, proposed: int = 0) -> str:
    """Evaluations that count for the study's rules, and their limit. ``waiting``: evaluations that ended before an
    earlier one. ``proposed``: candidates without a result."""
    more = [f"{waiting} more are stored and wait for an earlier one"] if waiting else []
    more += [f"{proposed} proposed"] if proposed else []
    return ", ".join([f"{done}" + (f"/{limit}" if limit else ""), *more])


def per_second(rate: float) -> str:
    return f"{rate:.0f}/s" if rate >= 10 else f"{rate:.2g}/s"


def few(workers: float) -> str:
    """One decimal for small numbers, none for large ones."""
    return f"{workers:.0f}" if workers >= 9.95 else f"{workers:.1f}".removesuffix(".0")


def clock(seconds: float) -> str:
    minutes, s = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{s:02}"


def lasted(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 60 else clock(seconds)


def did_you_mean(given: str, known: list[str]) -> str:
    """'; did you mean …?' if a known name begins with the given one or is similar, else empty."""
    from difflib import get_close_matches  # needed only after a mistake

    begun = [name for name in known if name.startswith(given)] if len(given) > 2 else []
    near = begun if len(begun) == 1 else get_close_matches(given, known, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def near_file(path: Path, ending: str) -> str:
    """'; did you mean …?' if the folder has a file of this ending with a similar name; the ending may be missing."""
    name = path.stem if path.suffix == ending else path.name
    found = list(path.parent.glob(f"*{ending}"))
    if near := did_you_mean(name, [file.stem for file in found]):
        return f"{near[:-2]}{ending}'?"
    return did_you_mean(path.name, [file.name for file in found]) if path.suffix else ""
