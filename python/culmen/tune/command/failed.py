"""The failed runs of a search: the number of each kind, and an example of each."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ...base.text import plural
from ...report.failures import first_line
from ...report.reading import Evaluations
from ...store.table import STATUSES
from .measured import UNBUILT

_SHOWN = 3
_LOGS = ("stderr.txt", "stdout.txt")
_OURS = "culmen: "  # begins a line from measured.py
_ERROR = re.compile(r"\berror\b", re.IGNORECASE)
_CLASS = re.compile(r"^culmen\.[\w.]+: ")


@dataclass(frozen=True)
class Failed:
    """A kind of failures. ``why``: the reason of the first one, in one line. ``log``: a file with its whole text; empty
    if there is none. ``end``: the last lines of the log of a build that failed."""

    why: str
    runs: int
    log: str = ""
    end: tuple[str, ...] = ()


def failed_in(found: Evaluations, work: Path | None = None) -> list[Failed]:
    """The most frequent kind first. ``work``: a folder that contains a folder for each run; None if there is none.

    Failures of one kind have the same reason; numbers in the last line of a program's output may differ.
    """
    kinds: dict[tuple[str, str], Failed] = {}
    for row in np.flatnonzero(found.failed & (found.told >= 0)):
        number = int(found.evaluation[row])
        message = found.store.outcomes(number, 1)[0]["message"]
        reason, detail = _reason_of(STATUSES[found.status[row]], message)
        kind = (reason, re.sub(r"\d+", "0", detail))
        if kind not in kinds:
            log = _log_of(work / str(number)) if work else ""
            kinds[kind] = Failed(_in_one_line(reason, detail), 0, log, tuple(_log_of_build(message)))
        kinds[kind] = replace(kinds[kind], runs=kinds[kind].runs + 1)
    return sorted(kinds.values(), key=lambda failed: -failed.runs)


def reasons_in(found: Evaluations, rows: Iterable[int]) -> list[str]:
    """The reason of each failure among these rows, in one line and in the order of the evaluations."""
    failed = [int(row) for row in rows if found.failed[row] and found.told[row] >= 0]
    reasons = []
    for row in sorted(failed, key=lambda row: int(found.evaluation[row])):
        message = found.store.outcomes(int(found.evaluation[row]), 1)[0]["message"]
        reasons.append(_in_one_line(*_reason_of(STATUSES[found.status[row]], message)))
    return reasons


def _in_one_line(reason: str, detail: str) -> str:
    return first_line(": ".join(filter(None, (reason, detail))))


def failure_sentences(failures: Sequence[Failed], runs: int) -> Iterator[str]:
    """At most three kinds. ``runs``: number of runs of the search."""
    for failed in failures[:_SHOWN]:
        log = f" (whole text: {failed.log})" if failed.log else ""
        yield f"{failed.runs} of {plural(runs, 'run')} of the search failed: {failed.why}{log}"
    if others := sum(failed.runs for failed in failures[_SHOWN:]):
        yield f"{plural(others, 'more run')} of the search failed for other reasons."


def steady(best: Mapping[str, Any], found: Evaluations) -> dict[str, Any]:
    """These settings if none of their runs failed. Otherwise, of all settings whose runs never failed, those with the
    best mean value; if there are none, ``best``."""
    failing = with_failures(found)
    if key_of(best) not in failing:
        return dict(best)
    values: dict[str, list[float]] = {}
    rows: dict[str, int] = {}
    for row in map(int, np.flatnonzero(found.feasible)):
        if (key := key_of(found.named(row))) not in failing:
            values.setdefault(key, []).append(float(found.oriented[row, 0]))
            rows[key] = row
    if not values:
        return dict(best)
    return found.named(rows[min(values, key=lambda key: fmean(values[key]))])


def with_failures(found: Evaluations) -> set[str]:
    """The settings of which a run failed or violated limits, by key_of()."""
    return {key_of(found.named(int(row))) for row in np.flatnonzero(~found.feasible & (found.told >= 0))}


def key_of(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)


def _reason_of(status: str, message: str) -> tuple[str, str]:
    """The reason, and a line of the program's or the build's output. This line is empty if the reason is enough."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if not lines:
        return status, ""
    if ours := [line for line in lines[1:] if line.startswith(_OURS)]:
        end = [line.strip() for line in _log_of_build(message)]
        return ours[-1].removeprefix(_OURS), next((line for line in end if _ERROR.search(line)), end[-1] if end else "")
    if _CLASS.match(lines[0]):  # an exception of culmen says it all; its numbers may differ
        return "", _CLASS.sub("", lines[0])
    ended_badly = status in ("failed", "crashed") and len(lines) > 1
    return lines[0], lines[-1] if ended_badly else ""


def _log_of_build(message: str) -> list[str]:
    """The last lines of the log of a build that failed; empty for other failures."""
    lines = [line for line in message.splitlines() if line.strip()]
    return lines[1:-1] if lines and lines[-1].startswith(f"{_OURS}{UNBUILT} ") else []


def _log_of(folder: Path) -> str:
    return next((str(folder / name) for name in _LOGS if (folder / name).exists()), "")
