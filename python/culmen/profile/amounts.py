"""Amounts as people read them."""


def shown_range(least: int, most: int) -> str:
    """Such as "8 to 15 B"."""
    if least == most:
        return shown_bytes(least)
    first, last = shown_bytes(least), shown_bytes(most)
    return f"{first.split()[0]} to {last}" if first.split()[1] == last.split()[1] else f"{first} to {last}"


def shown_bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if count >= 100 else f"{count:.3g} {unit}"
        count /= 1024
    raise AssertionError
