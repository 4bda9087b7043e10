"""A store that exists before a run: it may allow the run or forbid it, or its study may have ended already."""

import contextlib
import json
import math
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import _core
from ..._core import InputError, StoreError
from ...base.exit_codes import FAILED, FINISHED
from ...run.study import Study
from ...store.opening import Opened, open_store, resume_command
from ...study_file import StopTable
from .agreement import end_no_later, more_searches, new_ends
from .notes import RESTART, note_change
from .summary import print_state

_OPTIONS = {key: setting.option for key, setting in StopTable.settings().items() if setting.option}
_OTHER_STORE = "give this study its own store with --store PATH"


@dataclass(frozen=True)
class Ended:
    """A study that has already ended in its store, by limits that still apply. ``advice``: how it can continue."""

    opened: Opened
    advice: str

    def show(self, quiet: bool) -> int:
        """Shows its state, unless ``quiet``; returns the exit code."""
        if not quiet:
            why = _core.describe_reason(self.opened.summary["finished"])
            print(f"The study in {self.opened.path} has finished ({why}); {self.advice}.")
            print_state(self.opened)
        return _code_of(self.opened.summary)


def check_room(study: Study, overwrite: bool, restart: str = RESTART) -> Ended | None:
    """For a run from the beginning. ``restart``: the command that repeats it. None: the store can be written. Raises
    InputError if an existing store must be kept."""
    path = Path(study.options.store)
    if not path.exists():
        return None
    opened = _opened(path)
    if not overwrite and not opened.summary["outcomes"] and opened.without_log:
        raise InputError(f"{opened.without_log}, or restart the study with --overwrite")
    if overwrite or not opened.summary["outcomes"]:  # a run that could not even start may have left it empty
        return None
    met = study.meet(opened.begun)
    if met.another:
        raise InputError(f"{met.another}; {_OTHER_STORE}, or replace the other study with --overwrite")
    if not _is_over(opened, study.config):
        raise InputError(_unfinished(opened, study))
    note_change(met.change, restart)
    again = f"restart it with `{restart}`, or run it with --store PATH"
    return Ended(opened, f"{_goes_on_with(opened)}; {again}")


@contextlib.contextmanager
def without_former_store(study: Study) -> Iterator[None]:
    """Moves the former store and the files of its evaluations aside. Moves them back if the run was refused and left no
    store."""
    if not Path(study.options.store).exists():
        yield
        return
    places = [Path(file) for file in _core.files_of_store(study.options.store)]
    if study.config.evaluator.working_folder:
        places.append(Path(study.config.evaluator.working_folder))
    aside = {place: place.with_name(f"{place.name}.replaced") for place in places}
    for place, other in aside.items():
        _remove(other)
        if place.exists():
            place.rename(other)
    try:
        yield
    finally:
        refused = not places[0].exists()
        for place, other in aside.items():
            if refused and other.exists():
                _remove(place)
                other.rename(place)
            _remove(other)


def has_ended(opened: Opened, study: Study) -> Ended | None:
    """For a resume. None: the study has not ended."""
    if not _is_over(opened, study.config):
        return None
    note_change(study.change())
    return Ended(opened, _goes_on_with(opened))


def _opened(path: Path) -> Opened:
    try:
        opened = open_store(path)
        _ = opened.summary
    except (InputError, StoreError) as e:
        raise type(e)(f"{e}; {_OTHER_STORE}") from None
    refuse_in_use(opened)
    return opened


def refuse_in_use(opened: Opened) -> None:
    if opened.summary["owned"]:
        advice = f"`culmen status {shlex.quote(str(opened.path))}` shows its state"
        raise InputError(f"{opened.path} is in use: {opened.summary['owner']} runs this study; {advice}")


def _unfinished(opened: Opened, study: Study) -> str:
    """Says that the store holds this study, and how to resume it."""
    summary, path = opened.summary, opened.path
    resume = f"`{resume_command(path, opened.begun.configuration)}{_new_limits(opened, study)}`"
    how = "finished" if summary["finished"] else "stopped"
    failed = ", which all failed" if summary["failed"] == summary["told"] > 0 else ""
    advice = f"resume it with {resume}, or restart it with --overwrite"
    return f"{path} holds this study, {how} after {summary['told']} evaluations{failed}; {advice}"


def _is_over(opened: Opened, config: _core.StudyConfig) -> bool:
    """Whether the study has ended, by limits that still apply."""
    summary = opened.summary
    if summary["finished"] == "evaluations":
        return 0 < config.evaluations <= summary["told"]
    if summary["finished"] == "target":
        return bool(summary["best_value"] <= config.target)
    if summary["finished"] == "stagnation":
        return 0 < config.stagnation <= (_stop_table(opened.begun.configuration).get("stagnation") or 0)
    if summary["finished"] == "converged":
        return end_no_later(config.optimizer_options, opened.begun.configuration["optimizer"])
    return bool(summary["finished"])


def _stop_table(configuration: dict[str, Any]) -> dict[str, Any]:
    return configuration.get("stop") or {}


def _goes_on_with(opened: Opened) -> str:
    """How a finished study can continue, as the end of a sentence; without a limit it cannot."""
    finished = opened.summary["finished"]
    if finished == "converged":
        more_words = more_searches(opened.path, opened.begun.configuration, opened.summary["told"])
        return f"to continue, give a new limit: `{more_words}`"
    more = {"evaluations": "a larger", "stagnation": "a larger", "target": "a lower"}.get(finished)
    if more is None:
        return "it cannot be resumed"
    resume = resume_command(opened.path, opened.begun.configuration)
    return f"to continue, give {more} N: `{resume} {_OPTIONS[finished]} N`"


def _new_limits(opened: Opened, study: Study) -> str:
    """The limits that differ from the store's, as options of resume. The value is N for the rule that ended the study,
    if the study has no such rule now. A number of evaluations that the store has already passed is left out, because
    resume would refuse it."""
    before, now = _stop_table(opened.begun.configuration), _stop_table(json.loads(study.config.configuration))
    finished = opened.summary["finished"]
    if finished in _OPTIONS and finished not in now:
        now[finished] = "N"
    if not finished and now.get("evaluations", math.inf) <= opened.summary["told"]:
        del now["evaluations"]
    changed = [key for key in _OPTIONS if key in now and now[key] != before.get(key)]
    options = [f" {_OPTIONS[key]} {now[key]}" for key in changed]
    if finished == "converged":
        options.append(new_ends(study.config.optimizer_options, opened.begun.configuration["optimizer"]))
    return "".join(options)


def _code_of(summary: dict[str, Any]) -> int:
    """The exit code of a finished study. If all its evaluations failed, it is still a failure when it is asked for
    again."""
    return FAILED if summary["best_value"] is None and summary["failed"] else FINISHED


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
