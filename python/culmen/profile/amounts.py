"""Amounts as people read them."""


def shown_bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if count >= 100 else f"{count:.3g} {unit}"
        count /= 1024
    raise AssertionError
