"""Opening a store that a user named, and reading what it says of its study."""

import json
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import _core
from .._core import InputError, StoreError
from ..base.arguments import path_in
from ..base.text import near_file
from ..problem.goals import as_given
from ..problem.parameter import Parameter
from ..problem.recommended import Recommended
from ..problem.space import Space


@dataclass(frozen=True)
class Begun:
    """The study that was started in a store, as the store describes it."""

    path: Path
    name: str
    fingerprint: str
    configuration: dict[str, Any]  # empty: made by minimize() of a C++ program
    without_log: str = ""  # a sentence if it is a copy of a store that was in use, without the log beside it


class Opened:
    """A store that a user named. It is opened at the first read, and each part is read once.

    A read raises InputError, which says what to type, if the path is a study file or is not there. It raises StoreError
    if the store is damaged.
    """

    def __init__(self, path: str | Path, command: str = "resume") -> None:
        """``command``: the command or function that the user called."""
        self.path, self._command = path_in(path, "the store", "fit.db"), command

    @cached_property
    def store(self) -> _core.Store:
        refuse_no_store(self.path, self._command)
        try:
            return _core.Store.read(str(self.path))
        except InputError as e:
            if not str(e).endswith("is not a culmen study"):
                raise
            raise InputError(f"{e}; give the store of a study, which `culmen run` writes as NAME.db") from None

    @cached_property
    def begun(self) -> Begun:
        store = self.store
        try:
            configuration = json.loads(store.configuration or "{}")
        except (ValueError, RecursionError):
            configuration = None
        if not isinstance(configuration, dict):
            raise StoreError(
                f"{self.path} is damaged: its description of the study cannot be read; "
                f"{_core.how_to_rescue(str(self.path))}"
            )
        return Begun(self.path, store.name, store.fingerprint, configuration, self.without_log)

    @property
    def without_log(self) -> str:
        """A sentence if it is a copy of a store that was in use, without the log beside it; else empty."""
        if not self.store.log_is_missing:
            return ""
        return (
            f"{self.path} was in use when it was last written, and its log {self.path}-wal is missing; if this is a "
            "copy, it may lack the latest evaluations, so copy it again with "
            "`culmen export STUDY.db --store -o COPY.db`"
        )

    @cached_property
    def summary(self) -> dict[str, Any]:
        """See _core.Store."""
        return self.store.summary()

    @cached_property
    def space(self) -> _core.Space | None:
        """None if the study's space is in a program, not in the store."""
        data = self.begun.configuration
        if "space" not in data:
            return None
        parameters = {name: Parameter(**p) for name, p in data["space"].items()}
        core: _core.Space = Space(parameters, data.get("constraints")).core
        return core

    @property
    def objectives(self) -> list[tuple[str, str]]:
        return list(self.begun.configuration.get("objectives", {}).items())

    @property
    def failures(self) -> list[dict[str, Any]]:
        """One entry for each status: ``count``, ``first``, its ``message``; ``folder`` if its output is kept."""
        entries = [dict(entry) for entry in self.summary["failures"]]
        for entry in entries:
            folder = working_folder(self.path) / str(entry["first"])
            if folder.is_dir():
                entry["folder"] = str(folder)
        return entries


def open_store(path: str | Path, command: str = "resume") -> Opened:
    """Opens it now, so that errors are raised here."""
    opened = Opened(path, command)
    _ = opened.store
    return opened


def refuse_no_store(path: Path, command: str) -> None:
    if path.suffix == ".toml" and path.is_file():
        raise InputError(f"{path} is a study file, not a store; {_advice(path, command)}")
    if path.is_dir():
        found = sorted(path.glob("*.db"))
        raise InputError(f"{path} is a folder; give a store" + (f", such as {found[0]}" if found else ""))
    if path.is_symlink() and not path.exists():
        raise InputError(f"{path} is a link to {path.readlink()}, which does not exist; give the store itself")
    if not path.exists():
        near = near_file(path, ".db")
        study = path.with_suffix(".toml")
        made = f"; `culmen run {shlex.quote(str(study))}` makes one" if study.is_file() else ""
        raise InputError(f"there is no store {path}{near or made}")


def function_in(configuration: dict[str, Any]) -> str:
    """The name of the Python function that the store's program evaluates; empty: a study file describes all."""
    return (configuration.get("evaluator") or {}).get("function", "")


def how_to_resume(path: str | Path, configuration: dict[str, Any]) -> str:
    """How to resume a study: a command, or the call in a program."""
    if not configuration:
        return "run the program that made it, with resume = true"
    if function := function_in(configuration):
        return f"make the same call in Python, culmen.minimize({function}, …, store={str(path)!r})"
    return resume_command(path, configuration)


def resume_command(path: str | Path, configuration: dict[str, Any]) -> str:
    """Teams need a launch: as many ranks as this one has, or enough for one team."""
    team_size = (configuration.get("run") or {}).get("team_size")
    ranks = _core.detect_launch()
    launch = f"launch -n {ranks.size if ranks.is_rank else team_size + 1} " if team_size else ""
    return f"culmen {launch}resume {shlex.quote(str(path))}"


def recommended_in(
    summary: dict[str, Any], space: _core.Space | None, objectives: list[tuple[str, str]]
) -> Recommended | None:
    """The recommended candidate of a store's summary, in the user's signs; None if the optimizer recommends none."""
    if summary["recommended"] is None:
        return None
    x, value, *more = summary["recommended"]
    return Recommended.of((x, as_given(value, objectives), *more), space)


def _advice(study: Path, command: str) -> str:
    store = _store_of(study)
    if not store.exists():
        return f"`culmen run {shlex.quote(str(study))}` runs it"
    if command == "compare":  # with any other command
        return f"its store is {store}; write `culmen compare A.db B.db`"
    return f"its store is {store}: `culmen {command} {shlex.quote(str(store))}`"


def _store_of(study: Path) -> Path:
    """The store that `culmen run` makes; for a wrong study file, its name with .db."""
    from ..study_file import read_study_file  # pydantic, which an existing store does not need

    try:
        file = read_study_file(study)
    except InputError:
        return study.with_suffix(".db")
    return Path(file.store or f"{file.name}.db")


def working_folder(store: Path) -> Path:
    """The folder with a folder of each evaluation of a command."""
    return store.resolve().with_suffix(".work")


def waiting_in(summary: dict[str, Any]) -> int:
    """The number of results that wait for an earlier evaluation. A study that has ended does not need them."""
    return 0 if summary["finished"] else max(summary["outcomes"] - summary["told"], 0)
