"""The study file: its tables."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, GetJsonSchemaHandler, WithJsonSchema, field_validator, model_validator
from pydantic_core import CoreSchema

from .._core import InputError
from ..base.arguments import wrong_path
from ..base.digest import KEY
from ..base.machine import KEY as MACHINE
from ..base.text import did_you_mean
from ..problem.given import as_argument, check_fix, value_of_text, value_to_fix
from ..problem.options import chained, spelt_out
from ..problem.parameter import Parameter, check_alone, type_at
from ..problem.space import no_such_parameter
from .evaluator import EvaluatorTable
from .messages import checked
from .space import ParameterTable
from .table import WHOLE, Count, Finite, Natural, Setting, Table

_OR_EXPRESSION = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})
_NAME = re.compile(r"[^\W\d]\w*")
_NO_EXPRESSION = re.compile(r"\s*\w*\s*")
_DIRECTIONS = ["minimize", "maximize"]
Workers = Annotated[
    Annotated[int, Field(ge=1, le=65_536), WHOLE] | None,
    Setting(
        "number of evaluations in parallel; no effect under MPI",
        sets="options",
        default="one per CPU",
        option="--workers",
    ),
]

TeamSize = Annotated[
    Annotated[int, Field(ge=1, le=65_536), WHOLE] | None,
    Setting(
        "under MPI, this number of ranks (a team) evaluates each candidate together. Each team has a communicator",
        sets="options",
        page="see [parallel cost functions](../howto/parallel-cost-functions.md)",
        default="each rank evaluates alone",
        option="--team-size",
    ),
]
TeamPlacement = Annotated[
    Literal["node", "any"],
    Setting(
        'with `"node"`, all ranks of a team are on one node. With `"any"`, they can be on several nodes',
        sets="options",
        option="--team-placement",
    ),
]


class _OrString:
    """In the schema, a string may take the place of the table."""

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [handler(core_schema), {"type": "string"}]}


class OptimizerTable(Table):
    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, Any]  # options; the optimizer checks them
    name: Annotated[
        str | None,
        Setting(
            "one of the [optimizers](optimizers.md), or a list of optimizers (a [chain](optimizers/chains.md))",
            default="chosen by culmen",
        ),
    ] = None
    generational: Annotated[
        bool | None,
        Setting(
            "if false, no worker waits for other workers, and the candidates depend on timing (asynchronous)",
            sets="config",
            default="true, except in [some cases](optimizers/asynchronous.md#the-default)",
        ),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _spelt_out(cls, given: Any) -> Any:
        """Turns a name, or a list of names and tables of options, into a table."""
        if isinstance(given, (str, list)):
            given = {"name": given}
        if not isinstance(given, dict):
            return given
        return {key: chained(value) for key, value in spelt_out(given).items()}


class StopTable(Table):
    evaluations: Annotated[
        Count | None,
        Setting(
            "the study ends after this number of evaluations",
            sets="config",
            option="--evaluations",
        ),
    ] = None
    target: Annotated[
        Finite | None,
        Setting("the study ends when it finds this value or a better value", sets="config", option="--target"),
    ] = None
    stagnation: Annotated[
        Count | None,
        Setting(
            "the study ends after this number of evaluations without an improvement",
            sets="config",
            option="--stagnation",
        ),
    ] = None
    stagnation_tolerance: Annotated[
        Annotated[float, Field(ge=0, lt=1)] | None,
        Setting(
            "`stagnation` ignores improvements below this share of the total improvement. With 0, every "
            "improvement counts",
            sets="config",
            default="0",
        ),
    ] = None
    wall_time_s: Annotated[
        Annotated[float, Field(ge=0, allow_inf_nan=False)] | None,
        Setting(
            "the run ends after this number of seconds (0 means no limit), and you can resume the study",
            sets="config",
            option="--wall-time",
            metavar="SECONDS",
        ),
    ] = None

    @field_validator("wall_time_s")
    @classmethod
    def _without_zero(cls, given: float | None) -> float | None:
        """A study keeps its limit until 0 removes it."""
        return given or None

    @property
    def ends(self) -> bool:
        """A rule ends the study, or at least the run."""
        return bool(self.model_dump(exclude_none=True, exclude={"stagnation_tolerance"}))

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> "StopTable":
        if self.stagnation_tolerance is not None and self.stagnation is None:
            raise ValueError("stagnation_tolerance needs stagnation, which is missing")
        return self


class LimitTable(Table):
    lower: Annotated[Finite | None, Setting("lowest allowed value")] = None
    upper: Annotated[Finite | None, Setting("highest allowed value")] = None
    expression: Annotated[
        str | None,
        Setting(
            "a condition on results and parameters, as an [expression](expressions.md). It replaces `lower` and "
            '`upper`. For example, `stress = "force / area <= 250"` is short for '
            '`stress = { expression = "force / area <= 250" }`'
        ),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _spelt_out(cls, given: Any) -> Any:
        """A string is an expression, unless it is only one side of a comparison."""
        if isinstance(given, str) and not given.lstrip().startswith(("<", ">")):
            return {"expression": given}
        return given

    @model_validator(mode="after")
    def _is_one_kind(self) -> "LimitTable":
        if self.expression is not None and (self.lower is not None or self.upper is not None):
            raise ValueError("expression does not fit lower or upper; give one of the two")
        return self


class RunTable(Table):
    workers: Workers = None
    team_size: TeamSize = None
    team_placement: TeamPlacement = "node"
    prefetch: Annotated[
        bool,
        Setting(
            "if true, a worker with short evaluations receives candidates in advance",
            sets="options",
        ),
    ] = True
    durability: Annotated[
        Literal["process", "power"],
        Setting(
            'with `"process"`, stored results survive `kill -9`. With `"power"`, they also survive a power failure',
            sets="options",
        ),
    ] = "process"


def _expression_of(objective: Any) -> tuple[str, Any] | None:
    """Direction and expression; None if it is neither an expression nor the name of a result, or is like a direction. A
    table such as ``{ maximize = "x / y" }`` has both."""
    if isinstance(objective, dict) and len(objective) == 1 and objective.keys() <= {"minimize", "maximize"}:
        return next(iter(objective.items()))
    if not isinstance(objective, str):
        return None
    is_name = _NAME.fullmatch(objective) and not did_you_mean(objective, _DIRECTIONS)
    if is_name or not _NO_EXPRESSION.fullmatch(objective):
        return "minimize", objective
    return None


def _fixed_at(name: str, table: ParameterTable, value: object) -> ParameterTable:
    """A value without bounds or choices beside it is replaced as a whole."""
    given = value_to_fix(name, table.type, value)
    is_alone = table.lower is None and table.upper is None and table.choices is None
    return table.model_copy(update={"value": given, "type": type_at(table.type, given) if is_alone else table.type})


class _Given(StopTable):
    workers: Workers = None
    team_size: TeamSize = None
    team_placement: TeamPlacement | None = None


class _Seed(Table):
    seed: Natural


class StudyFile(Table):
    has_sections = True
    name: Annotated[
        str,
        Field(pattern=r"^[^/\x00]+$"),
        Setting("name of the study", sets="config", default="the file's name without `.toml`"),
    ]
    seed: Annotated[
        Natural,
        Setting(
            "seed of the random numbers, an integer ≥ 0. The same seed gives the same candidates, except in "
            "[asynchronous](optimizers.md#asynchronous) studies",
            sets="config",
        ),
    ] = 1
    store: Annotated[
        str | None,
        Setting(
            "path of the file that records every evaluation",
            default="`NAME.db` in the current folder; `NAME` is the name of the study",
        ),
    ] = None
    space: Annotated[dict[str, ParameterTable], Field(min_length=1), Setting("the parameters, by name")]
    constraints: Annotated[
        dict[str, str], Setting("expressions that every candidate must satisfy", page="[see below](#constraints)")
    ] = Field(default_factory=dict)
    starts: Annotated[
        list[dict[str, bool | int | float | str | None]],
        Setting("starting points, which culmen evaluates first", page="[see below](#starts)"),
    ] = Field(default_factory=list)
    derived: Annotated[
        dict[str, str], Setting("values that culmen computes by expressions", page="[see below](#derived)")
    ] = Field(default_factory=dict)
    residuals: Annotated[
        dict[str, str],
        Setting("residuals that culmen computes by expressions", page="[see below](#residuals-by-expressions)"),
    ] = Field(default_factory=dict)
    objectives: Annotated[
        dict[str, Annotated[Literal["minimize", "maximize"], _OR_EXPRESSION]],
        Setting("values to minimize or to maximize", page="[see below](#objectives)"),
    ] = Field(default_factory=dict)
    limits: Annotated[
        dict[str, Annotated[LimitTable, _OrString()]], Setting("bounds on results of the evaluation, by name")
    ] = Field(default_factory=dict)
    evaluator: Annotated[EvaluatorTable, Setting("the function or program that evaluates a candidate")]
    optimizer: Annotated[OptimizerTable, Setting("the optimizer, which proposes candidates")] = OptimizerTable()
    stop: Annotated[
        StopTable,
        Setting(
            "the rules that end the study; at least one key. Only a fit with the optimizer `lm` needs none: it ends "
            "when its local searches agree"
        ),
    ] = StopTable()
    run: Annotated[RunTable, Setting("how the study runs")] = RunTable()

    @model_validator(mode="before")
    @classmethod
    def _spelt_out(cls, given: Any) -> Any:
        """Moves the expressions of objectives to ``derived``."""
        objectives = given.get("objectives") if isinstance(given, dict) else None
        derived = given.get("derived", {}) if isinstance(given, dict) else None
        if not isinstance(objectives, dict) or not isinstance(derived, dict):
            return given
        found = {name: split for name, objective in objectives.items() if (split := _expression_of(objective))}
        for name in found.keys() & derived.keys():
            raise ValueError(
                f"objectives.{name} is an expression, but derived.{name} is one, too; remove one of the two"
            )
        directions = {name: direction for name, (direction, _) in found.items()}
        texts = {name: text for name, (_, text) in found.items()}
        return {**given, "objectives": {**objectives, **directions}, "derived": {**derived, **texts}}

    @field_validator("store")
    @classmethod
    def _can_be_a_file(cls, given: str | None) -> str | None:
        if given is not None and (why := wrong_path(given)):
            raise ValueError(why)
        return given

    def place(self, table: str) -> str:
        """The table's heading, for messages about mistakes that C++ finds."""
        return f"[[{table}]] " if table == "starts" else f"[{table}] "

    def limit(self, source: str, *, agreement: int | None = None, searches: int | None = None, **given: Any) -> None:
        """Replaces keys of the file by the given ones: keys of [stop], workers, those of teams, and the options
        ``agreement`` and ``searches`` of the optimizer. None: not given.

        Raises InputError, which begins with ``source``, for values that are not allowed in a file.
        """
        given = {name: as_argument(limit) for name, limit in given.items() if limit is not None}
        told = checked(_Given, {**self.stop.model_dump(exclude_none=True), **given}, source)
        for key in ("workers", "team_size", "team_placement"):
            setattr(self.run, key, getattr(told, key) or getattr(self.run, key))
        if "stop" in self.model_fields_set or given.keys() & StopTable.model_fields.keys():
            self.stop = StopTable(**told.model_dump(exclude={"workers", "team_size", "team_placement"}))
        ends = {"agreement": agreement, "searches": searches}
        if changed := {name: limit for name, limit in ends.items() if limit is not None}:
            self.optimizer = OptimizerTable(**{**self.optimizer.model_dump(), **changed})

    def take_seed(self, source: str, seed: object) -> None:
        """Replaces the seed. Raises InputError, which begins with ``source``, if it is not allowed in a file."""
        self.seed = checked(_Seed, {"seed": as_argument(seed)}, source).seed

    def fix(self, source: str, values: Mapping[str, Any]) -> None:
        """Fixes parameters at these values; a text may be a number, as on a command line.

        Raises InputError, which begins with ``source`` for an unknown parameter, and with the option for a wrong value.
        """
        try:
            check_fix(values)
        except InputError as e:
            raise InputError(f"{source}: {e}") from None
        for name, value in values.items():
            if name not in self.space:
                raise InputError(f"{source}: {no_such_parameter(name, self.space)}")
            table = self.space[name]
            meant = value_of_text(value, table.type, table.choices) if isinstance(value, str) else value
            try:
                fixed = _fixed_at(name, table, meant)
                check_alone(name, Parameter(**fixed.model_dump(exclude={"active_when", "initial"})))
            except InputError as e:
                raise InputError(f"--fix {name}={value}: {e}" if isinstance(value, str) else f"fix: {e}") from None
            self.space[name] = fixed

    def normalised(self, folder: Path, digest: dict[str, str] | None, machine: dict[str, Any]) -> str:
        """JSON for the store, which resume reads. ``folder``: relative paths of the evaluator start there; ``machine``:
        the one where the study began."""
        about = {"folder": str(folder), KEY: digest, MACHINE: machine}
        return json.dumps({**about, **self.model_dump(mode="json", exclude_none=True, by_alias=True)})
