"""Stores of any content, written as the journal writes them (store/schema.cpp, store/call_codec.cpp,
evaluation/codec.hpp), for tests of the readers of stores."""

import json
import math
import re
import sqlite3
import struct
import zlib
from pathlib import Path

from harness import ROOT

from culmen import _core

NAN = float("nan")
BEGUN_S = 1_700_000_000.0


def outcome(
    status="ok", value=NAN, values=(), violation=0.0, residuals=(), extras=None, message="", duration_s=0.5
) -> bytes:
    out = struct.pack("<BBdd", 2, _core.STATUSES.index(status), duration_s, value)
    out += _doubles(residuals) + struct.pack("<I", len(extras or {}))
    out += b"".join(_text(name) + struct.pack("<d", figure) for name, figure in (extras or {}).items())
    return out + _text(message) + _doubles(values) + struct.pack("<dQ", violation, 0)


def checksum_of(*values) -> int:
    """As in store/checksum.hpp."""
    out = b""
    for value in values:
        if isinstance(value, int):
            out += struct.pack("<Q", value)
        elif isinstance(value, float):
            out += struct.pack("<d", 0.0 if math.isnan(value) else value + 0.0)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += struct.pack("<Q", len(data)) + data
    return zlib.crc32(out)


def replace_configuration(path: Path | str, text: str) -> None:
    """Of a store that nobody uses."""
    database = sqlite3.connect(path)
    keys = ("name", "configuration", "fingerprint", "build", "created_s", "budget")
    meta = dict(database.execute("SELECT key, value FROM meta"))
    meta["configuration"] = text
    meta["checksum"] = checksum_of(*(meta[key] for key in keys))
    database.executemany("UPDATE meta SET value = ? WHERE key = ?", [(value, key) for key, value in meta.items()])
    database.commit()
    database.close()


def build(
    path: Path,
    candidates: list[list[float]],
    outcomes: dict[int, dict],
    *,
    told: list[int] | None = None,
    cancelled: tuple[int, ...] = (),
    configuration: dict | None = None,
    finished: str = "",
    name: str = "built",
) -> Path:
    """``outcomes``: by evaluation; the arguments of ``outcome``, and worker, at_s, epoch, attempt. ``told``: in order;
    None: all that have an outcome."""
    told = sorted(outcomes) if told is None else told
    database = sqlite3.connect(path)
    database.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
    source = (ROOT / "src/culmen/store/schema.cpp").read_text()
    database.executescript(re.search(r'tables = R"\((.*?)\)";', source, re.DOTALL)[1])
    header = (ROOT / "src/culmen/store/schema.hpp").read_text()
    for pragma in ("application_id", "format_version"):
        number = int(re.search(rf"{pragma} = (\w+);", header)[1], 0)
        database.execute(f"PRAGMA {pragma.replace('format', 'user')} = {number}")
    meta = {"name": name, "configuration": json.dumps(configuration) if configuration else "", "fingerprint": "f",
            "build": "culmen 0.1.0 (C++ 20, compiler 12)", "created_s": BEGUN_S, "budget": 0}  # fmt: skip
    meta["checksum"] = checksum_of(*meta.values())
    database.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    epochs = sorted({row.get("epoch", 1) for row in outcomes.values()} | {1})
    for epoch in epochs:
        started = min(
            (row.get("at_s", BEGUN_S) for row in outcomes.values() if row.get("epoch", 1) == epoch), default=0
        )
        database.execute("INSERT INTO epochs VALUES (?, ?, 'node7', 4711, ?)", (epoch, started - 1, meta["build"]))
    _write_calls(database, candidates, told, cancelled)
    failed, failures = _write_outcomes(database, outcomes)
    best = min(
        (i for i in told if outcomes[i].get("status", "ok") == "ok"),
        key=lambda i: (outcomes[i].get("violation", 0), _first(outcomes[i])),
        default=None,
    )
    last = max((row.get("at_s", BEGUN_S) for row in outcomes.values()), default=0)
    counts = (3, len(candidates), len(outcomes), len(told), failed, last, best)
    best_value = float("inf") if best is None else _first(outcomes[best])
    checksum = checksum_of(*counts[:6], 2**64 - 1 if best is None else best, best_value, 0.0, finished, failures, b"")
    database.execute(
        "UPDATE progress SET calls = ?, asked = ?, outcomes = ?, told = ?, failed = ?, last_outcome_s = ?, best = ?, "
        "best_value = ?, best_violation = 0, finished = ?, checksum = ?",
        (*counts, best_value, finished, checksum),
    )
    database.commit()
    database.close()
    return path


def _first(row: dict) -> float:
    return row.get("value", next(iter(row.get("values", ())), NAN))


def _write_calls(database, candidates, told, cancelled) -> None:
    dimension = len(candidates[0]) if candidates else 0
    ask = struct.pack("<BQQQ", 1, 0, len(candidates), dimension) + b"".join(
        struct.pack(f"<{dimension}d", *x) for x in candidates
    )
    rows = [(0, 0, len(candidates), 0 if candidates else None, ask)]
    for kind, ids in ((1, told), (2, cancelled)):
        if ids:
            runs = b"".join(struct.pack("<QQ", i, 1) for i in ids)
            rows.append((len(rows), kind, 0, None, struct.pack("<BQ", 1, len(ids)) + runs))
    for number, kind, wanted, first, data in rows if candidates else []:
        checksum = checksum_of(number, kind, wanted, 2**64 - 1 if first is None else first, data)
        database.execute("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?)", (number, kind, wanted, first, data, checksum))


def _write_outcomes(database, outcomes) -> tuple[int, int]:
    """The number of failures, and the sum of the checksums of the table ``failures``."""
    failures: dict[int, list[int]] = {}
    for i, row in outcomes.items():
        own = {key: row[key] for key in row if key not in ("worker", "at_s", "epoch", "attempt")}
        own.setdefault("value", _first(row))
        status = _core.STATUSES.index(row.get("status", "ok"))
        place = (row.get("epoch", 1), row.get("attempt", 0), row.get("worker", 0), row.get("at_s", BEGUN_S + i))
        columns = (i, *place, status, own["value"], outcome(**own))
        database.execute("INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*columns, checksum_of(*columns)))
        if status:
            failures.setdefault(status, []).append(i)
    tallies = [(status, len(ids), min(ids)) for status, ids in failures.items()]
    database.executemany("INSERT INTO failures VALUES (?, ?, ?)", tallies)
    return sum(map(len, failures.values())), sum(checksum_of(*tally) for tally in tallies)


def _doubles(values) -> bytes:
    return struct.pack(f"<Q{len(values)}d", len(values), *values)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data
