"""Tables in parts: each point of a study writes its own, and the command joins them."""

import csv
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from .._core import InputError

FOLDER = "CULMEN_BENCH_FOLDER"  # environment variable: the folder of the results


def part_named(name: str) -> Path:
    return Path(os.environ.get(FOLDER, "."), "samples", f"{name}.csv")


def write_part(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """The file is there as a whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    with new.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(rows)
    new.replace(path)


def calls_in(visits: Iterable[list[float]], warm_up: Iterable[bool]) -> Iterator[tuple[int, int, float, bool]]:
    """The visit, the repetition, the time, and whether it was warm-up, of each call."""
    repetition = 0
    for visit, (times, cold) in enumerate(zip(visits, warm_up, strict=True)):
        for t in times:
            yield visit, repetition, t, cold
            repetition += 1


def rows_in(paths: Iterable[Path], columns: Sequence[str], command: str) -> Iterator[dict[str, str]]:
    """Raises InputError if one cannot be read, or is no table of the command."""
    for path in paths:
        try:
            with path.open(newline="", encoding="utf-8") as file:
                table = csv.DictReader(file)
                if table.fieldnames != columns:
                    raise InputError(f"{path} is no table of `{command}`")
                yield from table
        except (OSError, UnicodeDecodeError, csv.Error) as e:
            raise InputError(f"{path} cannot be read: {getattr(e, 'strerror', None) or e}") from None


def join(paths: Iterable[Path], to: Path, columns: Sequence[str]) -> None:
    """All rows in one file."""
    with to.open("w", encoding="utf-8") as file:
        file.write(",".join(columns) + "\r\n")
        for path in paths:
            with path.open(encoding="utf-8") as part:
                next(part)
                shutil.copyfileobj(part, file)
