"""Common parts of the tuners of a typed command line: `culmen tune placement` and `culmen tune io`."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...report.files import Kind, replacing
from .recipe import recipe_of
from .tables import RecipeFile
from .tuner import remove_results
from .worth import Use

_PLAN = "plan.json"
_PLAN_FILE = Kind("plan", lambda _path, head: head.startswith(b"{"))
_FIGURE = "figure"
_MOST_NUMBER = 10_000
MOST_RUNS = 60  # of a search, unless the user says so


@dataclass(frozen=True)
class Wanted:
    """Options. ``figure``: a regular expression; None: wall time. ``runs``: of the search; None: by the space. ``use``:
    of the program. ``minutes``: of the search, instead of a number of runs."""

    figure: str | None
    maximize: bool
    runs: int | None
    rounds: int
    time_limit_s: float | None
    price: float | None
    use: Use = field(default_factory=Use)
    minutes: float | None = None

    def __post_init__(self) -> None:
        if self.figure is None:
            if self.maximize:
                raise InputError("--maximize needs --figure REGEX: without it, culmen tunes for a short wall time")
            return
        try:
            groups = re.compile(self.figure).groups
        except re.error as e:
            raise InputError(f"--figure '{self.figure}' is no regular expression: {e}") from None
        if groups != 1:
            raise InputError(
                f"--figure '{self.figure}' has {groups} groups; put parentheses around the number, as in "
                "'rate = (\\S+)'"
            )

    @property
    def name(self) -> str:
        """The name of the figure: the words before the number, as far as the regular expression names them."""
        before = re.split(r"(?<!\\)\((?!\?)", self.figure or "", maxsplit=1)[0]
        words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\\.|\[[^]]*\]|\(\?[^)]*\)", " ", before))
        return "_".join(words) or _FIGURE


def recipe_for(
    title: str,
    wanted: Wanted,
    parameters: dict[str, dict[str, Any]],
    constraints: dict[str, str],
    runs: int,
    maker: str,
    plan: Path,
    cores: int,
    starts: Sequence[Mapping[str, Any]] = (),
) -> RecipeFile:
    """``maker``: the Python file whose function makes the command of a run from the plan and the settings. ``runs``: of
    the search, unless the user says so. ``cores``: of all nodes. ``starts``: settings of the first runs; the first of
    them are the present ones."""
    evaluator: dict[str, Any] = {"command": [str(plan), *(f"{each}={{{each}}}" for each in parameters)]}
    if wanted.time_limit_s:
        evaluator["time_limit_s"] = wanted.time_limit_s
    tune = {"rounds": wanted.rounds, "expand": maker, "price_per_core_hour": wanted.price, "cores": cores}
    tune |= {"use_hours": wanted.use.hours, "use_runs": wanted.use.runs}
    tables: dict[str, Any] = {
        "name": title,
        "space": parameters,
        "evaluator": evaluator,
        "stop": {"wall_time_s": 60 * wanted.minutes} if wanted.minutes else {"evaluations": wanted.runs or runs},
        "tune": {key: value for key, value in tune.items() if value is not None},
    }
    if constraints:
        tables["constraints"] = constraints
    if starts:
        tables["starts"] = [dict(each) for each in starts]
    if wanted.figure is not None:
        name = _FIGURE if wanted.name in parameters else wanted.name
        evaluator["values"] = {name: {"regex": wanted.figure}}
        tables["objectives"] = {name: "maximize" if wanted.maximize else "minimize"}
    return recipe_of(tables, plan)


def usual_runs(runs: int) -> int:
    """The runs of a search, unless the user says so. A job expects at most MOST_RUNS. ``runs``: reasonable for the
    space."""
    return min(runs, MOST_RUNS)


def write_plan(folder: Path, plan: dict[str, Any], begin_again: bool) -> Path:
    """Writes the file that each run reads. Raises InputError if the folder has the results of another command."""
    path, text = folder.resolve() / _PLAN, json.dumps(plan, indent=1) + "\n"
    if begin_again:  # first: a failure must not leave runs of another plan
        remove_results(folder)
    if path.exists() and not begin_again and path.read_text(encoding="utf-8") != text:
        raise InputError(f"{folder} is of another command or machine; give another --output, or write --overwrite")
    with replacing(path, _PLAN_FILE, force=True) as new:
        new.write_text(text, encoding="utf-8")
    return path


def remove_line(folder: Path) -> None:
    """Removes all results and the plan, so that a tuning of any command can begin."""
    remove_results(folder)
    (folder / _PLAN).unlink(missing_ok=True)


def numbers_of(text: str | None, option: str) -> list[int] | None:
    """The numbers of a text such as ``1,2,4-6``. Raises InputError for a wrong text."""
    if text is None:
        return None
    found: set[int] = set()
    for word in text.split(","):
        ends = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", word)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (0, 0)
        if not 1 <= first <= last <= _MOST_NUMBER:
            raise InputError(f"{option}: '{word.strip()}' is neither a number from 1 on nor a range such as 2-8")
        found |= {*range(first, last + 1)}
    return sorted(found)


def settings_of(values: Mapping[str, Any]) -> dict[str, str]:
    """The values as texts for the words of a command."""
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values.items()}


def typed_line(variables: Mapping[str, str], words: Sequence[str]) -> str:
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in variables.items()), shlex.join(words)])
