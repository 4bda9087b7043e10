"""The trial of a finished tuning file. A job writes its result; the command that submitted the job reads it."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...bench.parts import write_whole
from .choices import Lost, Tuned

FILE = "tried.json"


@dataclass(frozen=True)
class Trial:
    """``ran``: the calls that used the algorithm that the file names. ``wrong``: those that did not, and why; the
    final file does not name these algorithms. ``whole``: all algorithms of the final file were tried."""

    ran: frozenset[Lost] = frozenset()
    wrong: dict[Lost, str] = field(default_factory=dict)
    whole: bool = True


def tried(tuned: Tuned, wrong_in: Callable[[Tuned], Mapping[Lost, str]]) -> tuple[Tuned, Trial]:
    """The choices that run, and the trial. ``wrong_in``: writes a file and tries it. If an algorithm does not run, the
    MPI keeps its own choice there, and the new file is tried again."""
    wrong: dict[Lost, str] = {}
    while found := wrong_in(tuned):
        wrong |= found
        tuned = tuned.without(found)
    return tuned, Trial(_calls(tuned), wrong)


def as_tried(tuned: Tuned, folder: Path) -> tuple[Tuned, Trial]:
    """The same as ``tried``, from the file in a folder of results."""
    found = _read(folder / FILE)
    tuned = tuned.without(found.wrong)
    whole = _calls(tuned) <= found.ran
    return tuned, Trial(found.ran, found.wrong, whole)


def _calls(tuned: Tuned) -> frozenset[Lost]:
    return frozenset(Lost(*each.place, each.algorithm) for each in tuned.changed)


def write_trial(trial: Trial, folder: Path) -> None:
    lists: dict[str, Iterable[object]] = {
        "ran": sorted(trial.ran),
        "wrong": [[*call, why] for call, why in sorted(trial.wrong.items())],
    }
    write_whole(folder / FILE, json.dumps(lists, indent=1) + "\n")


def _read(path: Path) -> Trial:
    """Empty if there is none, or if it is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Trial(
            frozenset(Lost(*call) for call in found["ran"]), {Lost(*call[:4]): call[4] for call in found["wrong"]}
        )
    except (OSError, ValueError, TypeError, LookupError):
        return Trial()
