"""``culmen export``: one row for each evaluation, for other programs."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..store.table import Table, free_name
from .files import Kind

if TYPE_CHECKING:
    import numpy as np
    import pyarrow

FORMATS = ("csv", "json", "parquet")
_BATCH = 20_000
_NONE_BELOW_ZERO = ("worker", "epoch", "attempt", "told")  # in these columns −1 means none
Batch = dict[str, list[Any]]


def kind_of_file(kind: str) -> Kind:
    """Recognises a former export of this format by its first columns."""
    beginnings = {"csv": (b"evaluation,status,",), "json": (b'[\n{"evaluation": ', b"[]\n")}
    if kind in beginnings:
        return Kind("export", lambda _path, head: head.startswith(beginnings[kind]))
    return Kind("export", lambda path, _head: _columns_of_parquet(path)[:2] == ["evaluation", "status"])


def _columns_of_parquet(path: Path) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        names: list[str] = pq.read_schema(path).names
    except pa.ArrowInvalid:
        return []
    return names


def write_csv(table: Table, out: IO[str]) -> None:
    """A missing value is an empty field. Numbers have all significant digits."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*table.columns, "message"])
    for batch in _batches(table, _in_words(table), residuals=False):
        writer.writerows(zip(*(map(_cell, column) for column in batch.values()), strict=True))


def write_json(table: Table, out: IO[str]) -> None:
    """An array of objects, one line for each evaluation. A missing value is null."""
    separator = "[\n"
    for batch in _batches(table, table.columns, residuals=True):
        names = list(batch)
        for row in zip(*batch.values(), strict=True):
            out.write(separator + json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False))
            separator = ",\n"
    out.write("[]\n" if separator == "[\n" else "\n]\n")


def write_parquet(table: Table, path: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = _in_words(table)
    schema = _schema(columns, pa)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in _batches(table, columns, residuals=True):
            ready = {
                field.name: [None if v is None else str(_cell(v)) for v in batch[field.name]]
                if field.type == pa.string()
                else batch[field.name]
                for field in schema
            }
            writer.write_batch(pa.RecordBatch.from_pydict(ready, schema=schema))


def _batches(table: Table, columns: dict[str, np.ndarray], *, residuals: bool) -> Iterator[Batch]:
    """Columns of at most _BATCH rows, as plain Python values; None for NaN and missing values."""
    details = _details(table, residuals)
    waiting = next(details, None)
    for start in range(0, len(table), _BATCH):
        rows = slice(start, start + _BATCH)
        batch = {name: _plain(name, column[rows]) for name, column in columns.items()}
        ids = batch["evaluation"]
        batch["message"] = [None] * len(ids)
        if residuals:
            batch["residuals"] = [None] * len(ids)
        at = {number: i for i, number in enumerate(ids)}
        while waiting is not None and waiting["evaluation"] <= ids[-1]:
            if (i := at.get(waiting["evaluation"])) is not None:
                batch["message"][i] = waiting["message"] or None
                if residuals:
                    batch["residuals"][i] = [_finite(r) for r in waiting["residuals"]] or None
            waiting = next(details, None)
        yield batch


def _details(table: Table, residuals: bool) -> Iterator[dict[str, Any]]:
    """The message and the residuals of each outcome. They are not read if the table needs none."""
    if table.failed.any() or (residuals and table.residuals.any()):
        yield from table.outcomes()


def _plain(name: str, column: np.ndarray) -> list[Any]:
    values: list[Any] = column.tolist()
    if column.dtype.kind == "f":
        return [_finite(v) for v in values]
    return [v if v >= 0 else None for v in values] if name in _NONE_BELOW_ZERO else values


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _in_words(table: Table) -> dict[str, np.ndarray]:
    """The columns, with the word none for a choice None: an empty field means that the parameter is inactive."""
    import numpy as np

    columns = dict(table.columns)
    for i, p in enumerate(table.parameters):
        if None in p.choices:
            name = free_name(p.name, "parameter", {})
            is_none = np.array([value is None for value in columns[name]], bool) & table.active[:, i]
            columns[name] = np.where(is_none, "none", columns[name])
    return columns


def _cell(value: Any) -> Any:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value


def _schema(columns: dict[str, np.ndarray], pa: Any) -> pyarrow.Schema:
    kinds = {"f": pa.float64(), "b": pa.bool_(), "i": pa.int64(), "u": pa.int64()}
    fields = [(name, kinds.get(column.dtype.kind) or _kind_of(column, pa)) for name, column in columns.items()]
    return pa.schema([*fields, ("message", pa.string()), ("residuals", pa.list_(pa.float64()))])


def _kind_of(column: np.ndarray, pa: Any) -> Any:
    """The type of a column of objects: choices, or a parameter that can be inactive."""
    kinds = {type(value) for value in column if value is not None}
    for allowed, kind in (({bool}, pa.bool_()), ({int}, pa.int64()), ({int, float}, pa.float64())):
        if kinds and kinds <= allowed:
            return kind
    return pa.string()
