"""Failed evaluations: the number of each kind, and some of them with their logs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..store.opening import working_folder
from ..store.table import STATUSES, Table

_LOOKED_AT, _SHOWN_A_KIND, _SHOWN = 2000, 5, 30
_LINE_CHARACTERS, _MESSAGE_CHARACTERS, _LOG_BYTES = 300, 4000, 4000
_LOGS = ("stderr.txt", "stdout.txt")


@dataclass(frozen=True)
class Failure:
    """``logs``: the end of each log file, by its path."""

    evaluation: int
    status: str
    worker: int
    duration_s: float
    parameters: dict[str, Any]
    message: str
    logs: dict[str, str]


@dataclass(frozen=True)
class Failures:
    """``kinds``: (status, first line of the message, count), from the first ``looked_at`` failures."""

    total: int
    looked_at: int
    kinds: list[tuple[str, str, int]]
    shown: list[Failure]


def failures(table: Table) -> Failures:
    """From the first 2000 failures, up to five of each kind and thirty in all."""
    import numpy as np

    rows = np.flatnonzero(table.failed)
    kinds: Counter[tuple[str, str]] = Counter()
    shown: list[Failure] = []
    for row in rows[:_LOOKED_AT]:
        outcome = table.store.outcomes(int(table.evaluation[row]), 1)[0]
        kind = (STATUSES[table.status[row]], first_line(outcome["message"]))
        kinds[kind] += 1
        if kinds[kind] <= _SHOWN_A_KIND and len(shown) < _SHOWN:
            shown.append(_failure(table, int(row), outcome))
    return Failures(
        len(rows), min(len(rows), _LOOKED_AT), [(*kind, count) for kind, count in kinds.most_common()], shown
    )


def first_line(text: str) -> str:
    line = next(iter(text.splitlines()), "")
    return line if len(line) <= _LINE_CHARACTERS else line[: _LINE_CHARACTERS - 1] + "…"


def _failure(table: Table, row: int, outcome: dict[str, Any]) -> Failure:
    number = int(table.evaluation[row])
    folder = working_folder(table.path) / str(number)
    logs = {f"{folder.parent.name}/{number}/{name}": _tail(folder / name) for name in _LOGS}
    return Failure(
        number,
        STATUSES[table.status[row]],
        int(table.worker[row]),
        float(table.duration_s[row]),
        table.named(row),
        _end_of(outcome["message"], _MESSAGE_CHARACTERS),
        {name: text for name, text in logs.items() if text},
    )


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            file.seek(max(0, size - _LOG_BYTES))
            text = file.read(_LOG_BYTES).decode(errors="replace")
    except OSError:
        return ""
    return f"… ({size - _LOG_BYTES} bytes before)\n{text}" if size > _LOG_BYTES else text


def _end_of(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 4]}\n…\n{text[-most * 3 // 4 :]}"
