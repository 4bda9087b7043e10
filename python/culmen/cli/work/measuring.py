"""The end of the commands of ``culmen bench``: sentences, tables and exit codes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...base.again import same_command
from ...base.exit_codes import FAILED, FINISHED, RESUMABLE
from ...bench import parts
from ...bench.measuring import End
from ...report.files import Kind, replacing

_PARQUET = Kind("table", lambda _path, head: head.startswith(b"PAR1"))


def say_failures(failures: Sequence[Mapping[str, Any]], points: int, what: str) -> None:
    """``points``: the number of all points."""
    for each in failures:
        print(f"culmen: {each['count']} of {points} {what} failed: {each['message'].splitlines()[0]}")
    if failures:
        print(f"To measure the failed {what} again, type {same_command()}.")


def write_parquet(table: Path, numbers: Mapping[str, str]) -> Path:
    """The same rows beside a table. ``numbers``: see bench/parts.py."""
    other = table.with_suffix(".parquet")
    with replacing(other, _PARQUET, force=True) as path:
        parts.write_parquet(table, path, numbers)
    return other


def exit_code(end: End, failed: bool, what: str) -> int:
    if end is End.ENOUGH:
        print(f"Not all {what} are measured, because of --at-most; without it, {same_command()} measures the rest.")
        return FAILED if failed else FINISHED
    if end is End.STOPPED:
        print(f"Not all {what} are measured; {same_command()} continues.")
        return RESUMABLE
    return FAILED if failed else FINISHED


def nothing_measured(end: End, what: str) -> int:
    """Prints that nothing was measured, and returns an exit code. ``what``: for example "collective"."""
    if end is End.STOPPED:
        print(f"culmen: stopped before the first {what} was measured; the same command starts again")
        return RESUMABLE
    print(f"culmen: no {what} was measured")
    return FAILED
