"""Examples of right tables and lists, and the words of other tools."""

import json
import re
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
    "starts": 'a list of dicts such as [{"x": 1, "y": 2}], or of lists with a number for each parameter',
}
_LISTS = {
    "command": 'a list of strings, such as ["./model.sh", "--fast"]',
    "modules": 'a list of strings, such as ["gcc/12"]',
    "templates": 'a list of strings, such as ["input.in"]',
    "choices": 'a list of strings or numbers, such as ["a", "b"]',
    "starts": "[[starts]] in double brackets, once for each start",
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
    "max_iter": ("evaluations",),
    "niter": ("evaluations",),
    "n_calls": ("evaluations",),
    "timeout": ("time_limit_s", "wall_time_s"),
    "max_time": ("wall_time_s", "time_limit_s"),
    "walltime": ("wall_time_s",),
    "random_state": ("seed",),
    "random_seed": ("seed",),
    "rng": ("seed",),
    "bounds": ("space",),
    "sampler": ("optimizer", "name"),
    "n_workers": ("workers",),
    "objective": ("objectives",),
}


_OBJECTIVES = 'write value = "maximize" or the like in [objectives]'
_ANSWERS = dict.fromkeys(
    ("maximize", "maximise", "minimize", "minimise", "goal", "direction", "directions", "sense"), _OBJECTIVES
)
_MISSING = {
    "space": "x = { lower = 0, upper = 1 }",
    "evaluator": 'python = "model.py:f"',
    "stop": "evaluations = 1000",
}
_UNITS_S = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
}
_LENGTH = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(_UNITS_S)})\s*")
_SIDES = {"<": "upper", "<=": "upper", ">": "lower", ">=": "lower"}


def missing(table: str) -> str:
    """The line to add if this table is missing."""
    return f"; add [{table}] with a line such as {_MISSING[table]}" if table in _MISSING else ""


def answer(key: str) -> str:
    """The text to write instead of a key of other tools that culmen does not have; empty if the key is not known."""
    text = _ANSWERS.get(key.lower())
    return f"; {text}" if text else ""


def instead(loc: tuple[int | str, ...], given: Any) -> str:
    """The right value for a string that is not allowed here; empty: it is not clear."""
    if loc == ("optimizer", "name"):
        return "a string in quotes or a list of them"
    if not isinstance(given, str):
        return ""
    if str(loc[-1]).endswith("_s") and (length := _LENGTH.fullmatch(given)):
        return f"a number of seconds, here {float(length[1]) * _UNITS_S[length[2]]:.12g}"
    if loc[0] == "limits" and (limit := re.fullmatch(r"\s*([<>]=?)\s*(-?\d[\d.e+-]*)\s*", given)):
        return f"{{ {_SIDES[limit[1]]} = {limit[2]} }}"
    if loc[:2] in (("evaluator", "value"), ("evaluator", "residuals"), ("evaluator", "values")):
        return _figure(given)
    return ""


def _figure(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    if re.search(r"[(\\*+^$]", text):
        return f"{{ regex = {quoted} }}"
    return f"{{ file = {quoted} }}, {{ key = … }} or {{ regex = … }}"


def table_at(loc: tuple[int | str, ...], in_program: bool) -> str:
    """An example of the table that must be here."""
    key = str(loc[0]) if loc else ""
    return _DICTS.get(key, "a dict") if in_program else _TABLES.get(key, "a table")


def list_at(loc: tuple[int | str, ...], in_program: bool) -> str:
    words = _LISTS.get(str(loc[-1]), 'a list of strings, such as ["table.dat"]')
    return _DICTS.get(str(loc[0]), words) if in_program else words


def as_list(loc: tuple[int | str, ...], given: Any) -> str:
    """The list that a single string stands for; empty: it is not clear."""
    if not isinstance(given, str) or loc[-1] not in ("command", "modules", "templates", "copy", "link"):
        return ""
    try:
        words = shlex.split(given) if loc[-1] == "command" else [given]
    except ValueError:  # a quotation mark alone
        return ""
    if loc[-1] == "command":
        words = words[:1] + [_in_study_folder(word) for word in words[1:]]
    return json.dumps(words, ensure_ascii=False) if words else ""


def _in_study_folder(word: str) -> str:
    """A script is beside the study file, but a command runs in a folder of its own."""
    is_script = re.fullmatch(r"[\w.-]+\.(py|sh|pl|R|r|jl|m)", word)
    return f"{{CULMEN_STUDY_FOLDER}}/{word}" if is_script else word


def translated(word: str, known: list[str]) -> str:
    """'; did you mean …?' if this is another tool's word for one of the known names; else empty."""
    ours = next((name for name in _WORDS.get(word.lower(), ()) if name in known), None)
    return f"; did you mean '{ours}'?" if ours else ""


def one_of(kinds: set[str]) -> str:
    """Several types, by pydantic's names."""
    words = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "a string in quotes"}
    kinds = kinds - {"int"} if "float" in kinds else kinds
    known = [text for kind, text in words.items() if kind in kinds]
    return " or ".join(filter(None, (", ".join(known[:-1]), known[-1])))


def if_boolean(value: Any) -> str:
    return ' (true and false need type = "boolean")' if value in (True, False) else ""
