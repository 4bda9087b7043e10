"""Numbers and names as they are written for people."""

from pathlib import Path


def shown(value: object, digits: int = 6) -> str:
    """Reals with this number of significant digits; everything else unchanged."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def counts(done: int, limit: int | None, in_flight: int = 0) -> str:
    """Evaluations that count for the study's rules, their limit, and those that workers have now."""
    return f"{done}" + (f"/{limit}" if limit else "") + (f", {in_flight} in flight" if in_flight else "")


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
    """'; did you mean …?' if one of the known names begins with the given one or is similar, else empty."""
    from difflib import get_close_matches  # needed only after a mistake

    begun = [name for name in known if name.startswith(given)] if len(given) > 2 else []
    near = begun if len(begun) == 1 else get_close_matches(given, known, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def near_file(path: Path, ending: str) -> str:
    """'; did you mean …?' if the folder has a file of this ending with a similar name; the ending may be missing."""
    name = path.stem if path.suffix == ending else path.name
    near = did_you_mean(name, [found.stem for found in path.parent.glob(f"*{ending}")])
    return near and f"{near[:-2]}{ending}'?"
