"""What is wanted instead: examples of tables and lists, and words of other tools."""

import json
import shlex
from typing import Any

_TABLES = {
    "space": "a table such as { lower = 0, upper = 1 }",
    "constraints": 'a table with lines such as sum = "x + y <= 1"',
    "objectives": 'a table with lines such as cost = "minimize"',
    "limits": "a table such as { upper = 1 }",
}
_DICTS = {
    "objectives": 'a dict such as {"cost": "minimize"}',
    "limits": 'a dict such as {"stress": {"upper": 250}}',
    "starts": 'a list of dicts such as [{"x": 1, "y": 2}], or of lists with a number for each parameter,',
}
_LISTS = {
    "command": 'a list of texts, such as ["./model.sh", "--fast"],',
    "modules": 'a list of texts, such as ["gcc/12"],',
    "templates": 'a list of texts, such as ["input.in"],',
    "choices": 'a list of texts or numbers, such as ["a", "b"],',
    "starts": "[[starts]] in double brackets, once for each start,",
}
_WORDS = {
    "min": ("lower", "minimize"),
    "max": ("upper", "maximize"),
    "low": ("lower",),
    "high": ("upper",),
    "log": ("scale",),
    "default": ("initial",),
    "start": ("initial",),
    "values": ("choices",),
    "condition": ("active_when",),
    "float": ("real",),
    "double": ("real",),
    "enum": ("categorical",),
    "parameters": ("space",),
    "params": ("space",),
    "variables": ("space",),
    "algorithm": ("optimizer", "name"),
    "method": ("optimizer", "name"),
    "model": ("evaluator",),
    "function": ("evaluator", "python"),
    "program": ("command",),
    "script": ("command",),
    "executable": ("command",),
    "cmd": ("command",),
    "shell": ("command",),
    "n_jobs": ("workers",),
    "cores": ("workers",),
    "processes": ("workers",),
    "threads": ("workers",),
    "budget": ("evaluations",),
    "max_evaluations": ("evaluations",),
    "n_trials": ("evaluations",),
    "trials": ("evaluations",),
    "maxiter": ("evaluations",),
    "max_evals": ("evaluations",),
    "iterations": ("evaluations",),
    "timeout": ("time_limit_s",),
    "objective": ("objectives",),
}


def table_at(loc: tuple[int | str, ...], in_program: bool) -> str:
    """Where a table is wanted and something else is given."""
    key = str(loc[0]) if loc else ""
    return _DICTS.get(key, "a dict") if in_program else _TABLES.get(key, "a table")


def list_at(loc: tuple[int | str, ...], in_program: bool) -> str:
    words = _LISTS.get(str(loc[-1]), 'a list of texts, such as ["table.dat"],')
    return _DICTS.get(str(loc[0]), words) if in_program else words


def as_list(loc: tuple[int | str, ...], given: Any) -> str:
    """The list that a single text stands for; empty where that cannot be told."""
    if not isinstance(given, str) or loc[-1] not in ("command", "modules", "templates", "copy", "link"):
        return ""
    try:
        words = shlex.split(given) if loc[-1] == "command" else [given]
    except ValueError:  # a quotation mark alone
        return ""
    return json.dumps(words, ensure_ascii=False) if words else ""


def translated(word: str, known: list[str]) -> str:
    """'; did you mean …?' where other tools call one of the known names so, else nothing."""
    ours = next((name for name in _WORDS.get(word.lower(), ()) if name in known), None)
    return f"; did you mean '{ours}'?" if ours else ""


def one_of(kinds: set[str], value: Any) -> str:
    """Where a value is of none of several types, by pydantic's names of these."""
    words = {"bool": "true or false", "float": "a number", "str": "a text in quotes"}
    wanted = " or ".join(text for kind, text in words.items() if kind in kinds)
    return (
        f'{wanted} is wanted (true and false are type = "boolean")' if value in (True, False) else f"{wanted} is wanted"
    )
