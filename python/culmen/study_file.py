"""The study file: what may stand in it, and one sentence for each mistake."""

import difflib
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ._core import InputError
from .digest import KEY

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_STORE = b"SQLite format 3\0"

Count = Annotated[int, Field(ge=1, lt=2**63)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ParameterTable(Table):
    type: Literal["real", "integer"] = "real"
    lower: float
    upper: float
    scale: Literal["linear", "log"] = "linear"

    @model_validator(mode="after")
    def _integers_are_linear(self) -> "ParameterTable":
        if self.type == "integer" and self.scale == "log":
            raise ValueError('scale = "log" is for real parameters; an integer is "linear"')
        return self


class EvaluatorTable(Table):
    python: str | None = None
    library: str | None = None
    command: Annotated[list[str], Field(min_length=1)] | None = None
    result: Literal["value", "residuals"] = "value"
    isolation: Literal["process", "none"] = "process"
    time_limit_s: Seconds | None = None
    on_failure: Literal["penalise", "retry", "stop"] = "penalise"
    retries: Annotated[int, Field(ge=0, le=1000)] = 2
    give_up_after: Annotated[int, Field(ge=0, lt=2**63)] = 100

    @property
    def kind(self) -> str:
        return next(name for name in ("python", "library", "command") if getattr(self, name) is not None)

    @model_validator(mode="after")
    def _is_one_evaluator(self) -> "EvaluatorTable":
        given = [name for name in ("python", "library", "command") if getattr(self, name) is not None]
        if len(given) != 1:
            words = ", ".join(given) or "none"
            raise ValueError(f"exactly one of python, library and command is wanted; given: {words}")
        if self.isolation == "none" and self.kind != "library":
            raise ValueError(
                f'isolation = "none" is for library only; a {self.kind} evaluator has a process of its own'
            )
        if self.isolation == "none" and self.time_limit_s is not None:
            raise ValueError(
                'time_limit_s needs isolation = "process": without a process of its own nothing can be stopped'
            )
        if self.kind != "command" and not all(self.target):
            raise ValueError(f'{self.kind} = "{getattr(self, self.kind)}": {_TARGETS[self.kind]} is wanted')
        return self

    @property
    def target(self) -> tuple[str, str]:
        """Of python and library: the file or module, and the function in it."""
        where, _, function = getattr(self, self.kind).rpartition(":")
        return where, function


_TARGETS = {"python": '"file.py:function" or "module:function"', "library": '"library.so:function"'}


class OptimizerTable(Table):
    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, float]
    name: str = "cmaes"

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, given: Any) -> Any:
        return {"name": given} if isinstance(given, str) else given


class StopTable(Table):
    evaluations: Count | None = None
    target: Annotated[float, Field(allow_inf_nan=False)] | None = None
    wall_time_s: Seconds | None = None

    @model_validator(mode="after")
    def _has_a_rule(self) -> "StopTable":
        if not self.model_dump(exclude_none=True):
            raise ValueError(
                "at least one of evaluations, target and wall_time_s is wanted, or the study would never end"
            )
        return self


class RunTable(Table):
    workers: Annotated[int, Field(ge=1, le=65_536)] | None = None
    prefetch: bool = True
    durability: Literal["process", "power"] = "process"


class StudyFile(Table):
    name: Annotated[str, Field(pattern=r"^[^/\x00]+$")]
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    store: str | None = None
    space: Annotated[dict[str, ParameterTable], Field(min_length=1)]
    evaluator: EvaluatorTable
    optimizer: OptimizerTable = OptimizerTable()
    stop: StopTable
    run: RunTable = RunTable()

    def limit(self, workers: int | None = None, **stop: float | None) -> None:
        """Puts what is given in the place of the file's own."""
        self.run.workers = workers or self.run.workers
        self.stop = self.stop.model_copy(update={name: limit for name, limit in stop.items() if limit is not None})

    def normalised(self, folder: Path, digest: dict[str, str] | None) -> str:
        """JSON from which a resume starts; ``folder`` is where relative paths of the evaluator begin."""
        about = {"folder": str(folder), KEY: digest}
        return json.dumps({**about, **self.model_dump(mode="json", exclude_none=True)})


_TABLES: dict[str, type[Table]] = {
    "space": ParameterTable,
    "evaluator": EvaluatorTable,
    "optimizer": OptimizerTable,
    "stop": StopTable,
    "run": RunTable,
}


def read_study_file(path: Path) -> StudyFile:
    """Raises InputError with one sentence a line, one for each mistake: file, place, value, what is allowed."""
    try:
        text = path.read_bytes()
        if text.startswith(_STORE):
            raise InputError(
                f"{path} is a store, not a study file; `culmen resume {shlex.quote(str(path))}` goes on with its study"
            )
        data = tomllib.loads(text.decode())
    except FileNotFoundError:
        near = did_you_mean(path.name, [p.name for p in path.parent.glob("*.toml")])
        raise InputError(f"there is no study file {path}{near}") from None
    except OSError as e:
        raise InputError(f"the study file {path} cannot be read: {e.strerror}") from None
    except UnicodeDecodeError as e:
        raise InputError(f"{path}: not a text in UTF-8 (byte {e.start}), so it cannot be a study file") from None
    except tomllib.TOMLDecodeError as e:
        raise InputError(f"{path}: not valid TOML: {e}") from None
    return checked(StudyFile, {"name": path.stem, **data}, str(path))


def checked(model: type[Any], data: dict[str, Any], source: str) -> Any:
    """The model of the data; InputError with one line for each mistake, each beginning with ``source``."""
    try:
        return model.model_validate(data)
    except ValidationError as e:
        raise InputError("\n".join(f"{source}: {sentence}" for sentence in _sentences(e))) from None


def did_you_mean(given: str, known: list[str]) -> str:
    """'; did you mean …?' where one of the known names is near, else nothing."""
    near = difflib.get_close_matches(given, known, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def _sentences(error: ValidationError) -> Iterator[str]:
    for e in error.errors(include_url=False):
        loc, kind, value, context = e["loc"], e["type"], e["input"], e.get("ctx", {})
        if kind == "extra_forbidden":
            yield _unknown_key(loc)
        elif kind == "missing":
            yield f"{'the table ' if loc[-1] in _TABLES else ''}{_place(loc)} is missing"
        elif kind == "value_error":
            yield ": ".join(filter(None, (_place(loc), str(context["error"]))))
        else:
            yield f"{_place(loc)} = {_toml(value)}: {_wanted(kind, context)} is wanted" + _near_literal(value, context)


def _place(loc: tuple[int | str, ...]) -> str:
    keys = [str(key) if str(key).isprintable() else ascii(key) for key in loc]
    if not loc or loc[0] not in _TABLES:
        return ".".join(keys)
    return " ".join(filter(None, (f"[{keys[0]}]", ".".join(keys[1:]))))


def _unknown_key(loc: tuple[int | str, ...]) -> str:
    key, table = str(loc[-1]), _TABLES[str(loc[0])] if len(loc) > 1 else StudyFile
    known = list(table.model_fields)
    home = next(
        (name for name, t in _TABLES.items() if name != "space" and key in t.model_fields and t is not table), None
    )
    advice = did_you_mean(key, known) or (f"; it belongs in [{home}]" if home else f"; known are {', '.join(known)}")
    return f"{_place(loc[:-1]) or 'the top level'} has no key {key!r}{advice}"


_WANTED = {
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "list_type": 'a list of texts, such as ["./model.sh", "--fast"],',
    "too_short": "at least one entry",
    "string_pattern_mismatch": "a name without '/'",
}


def _wanted(kind: str, context: dict[str, Any]) -> str:
    if kind == "literal_error":
        return str(context["expected"]).replace("'", '"')
    if kind in ("model_type", "dict_type"):
        return "a table"
    for bound, words in (("gt", "above"), ("lt", "below"), ("ge", "not below"), ("le", "not above")):
        if bound in context:
            return f"a number {words} {context[bound]:g}"
    return _WANTED.get(kind, f"something else ({kind})")


def _near_literal(value: object, context: dict[str, Any]) -> str:
    return (
        did_you_mean(value, str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", "))
        if "expected" in context and isinstance(value, str)
        else ""
    )


def _toml(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"
