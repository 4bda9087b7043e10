"""How figures and names are written for people."""

from pathlib import Path


def shown(value: object, digits: int = 6) -> str:
    """Reals with so many digits; all else as it is."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def counts(done: int, limit: int | None, in_flight: int = 0) -> str:
    """Evaluations: those that count for the study's rules, of how many, and those that workers have now."""
    return f"{done}" + (f"/{limit}" if limit else "") + (f", {in_flight} in flight" if in_flight else "")


def per_second(rate: float) -> str:
    return f"{rate:.0f}/s" if rate >= 10 else f"{rate:.2g}/s"


def few(workers: float) -> str:
    """With one decimal where it counts."""
    return f"{workers:.0f}" if workers >= 9.95 else f"{workers:.1f}".removesuffix(".0")


def clock(seconds: float) -> str:
    minutes, s = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{s:02}"


def lasted(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 60 else clock(seconds)


def did_you_mean(given: str, known: list[str]) -> str:
    """'; did you mean …?' where one of the known names is near, else nothing."""
    from difflib import get_close_matches  # wanted after a mistake only

    near = get_close_matches(given, known, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def near_file(path: Path, ending: str) -> str:
    """'; did you mean …?' where its folder holds one of that ending with nearly that name, be it without the ending."""
    name = path.stem if path.suffix == ending else path.name
    near = did_you_mean(name, [found.stem for found in path.parent.glob(f"*{ending}")])
    return near and f"{near[:-2]}{ending}'?"
