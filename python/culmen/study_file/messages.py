"""One sentence for each mistake: where it is, what is allowed, and what was given."""

import json
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import ValidationError

from .._core import InputError
from ..base.text import did_you_mean
from . import advice
from .mistakes import Place
from .table import Table


def checked(model: type[Table], data: dict[str, Any], source: str) -> Any:
    """The model of the data. Raises InputError with one line for each mistake; each begins with ``source``."""
    try:
        return model.model_validate(data)
    except ValidationError as e:
        raise InputError("\n".join(f"{source}: {sentence}" for _, sentence in sentences(e, model))) from None


def sentences(error: ValidationError, root: type[Table]) -> Iterator[tuple[Place, str]]:
    """The place of each mistake, and a sentence about it."""
    in_program = not root.has_sections
    tables = tables_in(root)
    errors = error.errors(include_url=False)
    unions: dict[Place, set[str]] = {}
    for e in errors:
        if _in_union(e["loc"], e["type"]):
            unions.setdefault(e["loc"][:-1], set()).add(str(e["loc"][-1]))
    for e in errors:
        loc, kind, value, context = e["loc"], e["type"], e["input"], e.get("ctx", {})
        place = _place(loc, root)
        if loc[:-1] in unions and _in_union(loc, kind):
            if kinds := unions[loc[:-1]]:
                where, got = _place(loc[:-1], root), _toml(value)
                yield loc[:-1], f"{where} must be {advice.one_of(kinds)}, got {got}{advice.if_boolean(value)}"
            unions[loc[:-1]] = set()
        elif kind == "extra_forbidden":
            yield loc, _unknown_key(loc, root)
        elif kind == "missing":
            what = f"the table {place} is missing{advice.missing(str(loc[-1]))}" if loc[-1] in tables else ""
            yield loc, what or f"{place} is missing"
        elif kind == "value_error":
            yield loc, ": ".join(filter(None, (place, str(context["error"]))))
        else:
            right = "" if in_program else advice.instead(loc, value)
            right = right or (advice.as_list(loc, value) if kind == "list_type" else "")
            wanted = f"must be {right}" if right else _rule(kind, context, _said(loc, root), in_program)
            yield loc, f"{place} {wanted}, got {_toml(value)}" + _near_literal(value, context)


def _in_union(loc: Place, kind: str) -> bool:
    """Whether the place ends in the type that a union tried."""
    return bool(loc) and loc[-1] in _TYPES and kind.startswith((_TYPES[loc[-1]], "finite_number"))


def tables_in(table: type[Table]) -> dict[str, type[Table]]:
    """The keys of a table that are tables, or tables of tables, with the model of the inner table."""
    found = {name: _table_of(field.annotation) for name, field in table.model_fields.items()}
    return {name: inner for name, inner in found.items() if inner}


def _table_of(annotation: Any) -> type[Table] | None:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    return next(filter(None, map(_table_of, get_args(annotation))), None)


def _place(loc: Place, root: type[Table]) -> str:
    keys = [str(key) if str(key).isprintable() else ascii(key) for key in _said(loc, root)]
    if not loc or not root.has_sections or loc[0] not in tables_in(root):
        return ".".join(keys)
    return " ".join(filter(None, (f"[{keys[0]}]", ".".join(keys[1:]))))


def _said(loc: Place, root: type[Table]) -> Place:
    """The arguments of a program have no tables."""
    return loc if root.has_sections or loc[:1] not in {(name,) for name in _PLAIN} else loc[1:]


def _unknown_key(loc: Place, root: type[Table]) -> str:
    key, table, tables = str(loc[-1]), root, tables_in(root)
    for name in loc[:-1]:
        table = tables_in(table).get(str(name), table)
    known = [field.alias or name for name, field in table.model_fields.items()]
    home = next((n for n, t in tables.items() if n in _PLAIN and key in t.model_fields and t is not table), None)
    belongs = f"; it belongs in [{home}]" if home else f"; the keys are {', '.join(known)}"
    instead = advice.answer(key) if root.has_sections else ""
    instead = instead or did_you_mean(key, known) or advice.translated(key, known) or belongs
    if not tables:
        return f"there is no {key!r}{instead}"
    return f"{_place(loc[:-1], root) or 'the top level'} has no key {key!r}{instead}"


_PLAIN = ("evaluator", "optimizer", "stop", "run")  # tables of keys, not of names that the user gives
# As they stand in the places of a union's errors, with the beginning of those errors: a user's names may be the same.
_TYPES = {"bool": "bool_", "int": "int_", "float": "float_", "str": "string_"}
_RULES = {
    "string_type": "must be a string in quotes",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "too_short": "must have at least one entry",
    "string_pattern_mismatch": "must be a name without '/'",
}


def _rule(kind: str, context: dict[str, Any], loc: Place, in_program: bool) -> str:
    """Such as "must be at least 1"."""
    if kind == "list_type":
        return f"must be {advice.list_at(loc, in_program)}"
    if kind == "literal_error":
        return "must be " + str(context["expected"]).replace("'", '"')
    if kind in ("model_type", "dict_type"):
        return f"must be {advice.table_at(loc, in_program)}"
    for bound, words in (("gt", "above"), ("lt", "below"), ("ge", "at least"), ("le", "at most")):
        if bound in context:
            return f"must be {words} {context[bound]:g}"
    return _RULES.get(kind, f"must be something else ({kind})")


def _near_literal(value: object, context: dict[str, Any]) -> str:
    if "expected" not in context or not isinstance(value, str):
        return ""
    known = str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
    return advice.translated(value, known) or did_you_mean(value, known)


def _toml(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"
