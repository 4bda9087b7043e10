"""``culmen export``."""

import sys
from pathlib import Path

from ... import _core
from ..._core import InputError
from ...report.export import FORMATS, kind_of_file, write_csv, write_json, write_parquet
from ...report.files import replacing
from ...report.reading import read
from ...store.opening import open_store
from ...store.table import Table
from .notes import note


def export_store(store: Path, formats: list[str], output: Path | None, force: bool) -> None:
    kind = _kind(formats, output)
    if kind == "store":
        _copy(store, output)
        return
    table = read(store, "export")
    note(table.opened.without_log)
    if output is None:
        try:
            _write(table, kind, None)
            sys.stdout.flush()
        except BrokenPipeError:  # `culmen export … | head`
            return
    else:
        with replacing(output, kind_of_file(kind), force) as path:
            _write(table, kind, path)
        print(f"Wrote {len(table)} evaluations to {output}")


def _copy(store: Path, output: Path | None) -> None:
    if output is None:
        raise InputError("--store cannot go to a terminal or a pipe; add -o COPY.db")
    opened = open_store(store, "export")
    note(opened.without_log)
    _core.Store.copy(str(opened.path), str(output))
    print(f"Copied {opened.summary['outcomes']} evaluations to {output}")


def _kind(formats: list[str], output: Path | None) -> str:
    if len(formats) > 1:
        raise InputError(f"--{' and --'.join(formats)} are given; give only one of {_options()}")
    if str(output) == "-":
        raise InputError("-o - is not needed; without -o, culmen export writes to standard output")
    ending = output.suffix.lower().lstrip(".") if output else "csv"
    ending = "store" if ending == "db" else ending
    if not formats and ending not in (*FORMATS, "store"):
        raise InputError(
            f"-o {output}: this ending selects no format; write .csv, .json, .parquet or .db, or give {_options()}"
        )
    kind = formats[0] if formats else ending
    if kind == "parquet" and output is None:
        raise InputError("--parquet cannot go to a terminal or a pipe; add -o FILE.parquet")
    return kind


def _options() -> str:
    return "--csv, --json, --parquet or --store"


def _write(table: Table, kind: str, path: Path | None) -> None:
    if kind == "parquet":
        write_parquet(table, str(path))
        return
    write = write_csv if kind == "csv" else write_json
    if path is None:
        write(table, sys.stdout)
        return
    with path.open("w", encoding="utf-8", newline="") as out:
        write(table, out)
