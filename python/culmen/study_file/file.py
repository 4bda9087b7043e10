"""The study file: its tables."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from ..base.digest import KEY
from ..base.machine import KEY as MACHINE
from ..problem.options import chained, spelt_out
from .evaluator import EvaluatorTable
from .messages import checked
from .space import ParameterTable
from .table import WHOLE, Count, Finite, Natural, Seconds, Setting, Table

Workers = Annotated[
    Annotated[int, Field(ge=1, le=65_536), WHOLE] | None,
    Setting(
        "number of evaluations in parallel; under MPI the number of ranks decides",
        sets="options",
        default="one per CPU",
        option="--workers",
    ),
]


class OptimizerTable(Table):
    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, Any]  # options; the optimizer checks them
    name: Annotated[
        str | None,
        Setting(
            "one of the [optimizers](optimizers.md); without it the space and the objectives decide",
            default="chosen by culmen",
        ),
    ] = None
    generational: Annotated[
        bool | None,
        Setting(
            "`true`: the workers and their speed do not change the candidates. `false`: no worker waits for the "
            "results of others, and timing changes the candidates",
            sets="config",
            default="`true`; with `auto` or no name sometimes [`false`](optimizers/asynchronous.md)",
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
            "number of evaluations whose results reach the optimizer; the study ends exactly there",
            sets="config",
            option="--evaluations",
        ),
    ] = None
    target: Annotated[
        Finite | None, Setting("stops at this value or a better one", sets="config", option="--target")
    ] = None
    stagnation: Annotated[
        Count | None,
        Setting("number of successive evaluations without an improvement", sets="config", option="--stagnation"),
    ] = None
    stagnation_tolerance: Annotated[
        Annotated[float, Field(ge=0, lt=1)] | None,
        Setting(
            "an improvement counts only if it exceeds this share of the whole improvement since the first value; 0: "
            "every improvement counts",
            sets="config",
            default="0",
        ),
    ] = None
    wall_time_s: Annotated[
        Seconds | None,
        Setting("seconds of one run", sets="config", page="`culmen resume` continues the study", option="--wall-time"),
    ] = None

    @model_validator(mode="after")
    def _has_a_rule(self) -> "StopTable":
        if not self.model_dump(exclude_none=True, exclude={"stagnation_tolerance"}):
            raise ValueError(
                f"at least one of {type(self).model_fields['evaluations'].validation_alias or 'evaluations'}, target, "
                "stagnation and wall_time_s must be given, otherwise the study never ends"
            )
        if self.stagnation_tolerance is not None and self.stagnation is None:
            raise ValueError("stagnation_tolerance needs stagnation, which is missing")
        return self


class LimitTable(Table):
    lower: Annotated[Finite | None, Setting("lowest allowed value")] = None
    upper: Annotated[Finite | None, Setting("highest allowed value")] = None


class RunTable(Table):
    workers: Workers = None
    prefetch: Annotated[
        bool,
        Setting(
            "while evaluations take less than 0.25 s, candidates wait at each worker: up to 8 if all of them take less "
            "than 2 ms, otherwise one. In asynchronous studies one waits, and only below 0.2 ms",
            sets="options",
        ),
    ] = True
    durability: Annotated[
        Literal["process", "power"],
        Setting(
            '`"process"`: an outcome survives `kill -9`. `"power"`: an outcome survives a power failure, too',
            sets="options",
        ),
    ] = "process"


class _Given(StopTable):
    workers: Workers = None


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
            "integer ≥ 0; the same seed gives the same candidates, except in "
            "[asynchronous](optimizers.md#asynchronous) studies",
            sets="config",
        ),
    ] = 1
    store: Annotated[
        str | None,
        Setting("the file that records every evaluation", default="`NAME.db` in the current folder"),
    ] = None
    space: Annotated[dict[str, ParameterTable], Field(min_length=1), Setting("the parameters, by their names")]
    constraints: Annotated[
        dict[str, str], Setting("conditions on parameters, by names that you choose", page="[see below](#constraints)")
    ] = Field(default_factory=dict)
    starts: Annotated[
        list[dict[str, bool | int | float | str]],
        Setting(
            "points that are evaluated first, each with a value for each active parameter", page="[see below](#starts)"
        ),
    ] = Field(default_factory=list)
    objectives: Annotated[
        dict[str, Literal["minimize", "maximize"]],
        Setting("names of figures, each to minimize or to maximize", page="[see below](#objectives)"),
    ] = Field(default_factory=dict)
    limits: Annotated[dict[str, LimitTable], Setting("bounds on figures of the evaluation, by their names")] = Field(
        default_factory=dict
    )
    evaluator: Annotated[EvaluatorTable, Setting("judges one candidate")]
    optimizer: Annotated[OptimizerTable, Setting("proposes candidates")] = OptimizerTable()
    stop: Annotated[StopTable, Setting("ends the study; at least one key")]
    run: Annotated[RunTable, Setting("how one start runs; only `workers` can change the candidates")] = RunTable()

    @staticmethod
    def place(table: str) -> str:
        """The table's heading, for messages about mistakes that C++ finds."""
        return f"[[{table}]] " if table == "starts" else f"[{table}] "

    def limit(self, source: str, **given: Any) -> None:
        """Replaces keys of the file by the given ones: keys of [stop], and workers. None: not given.

        Raises InputError, which begins with ``source``, for values that are not allowed in a file.
        """
        given = {name: limit for name, limit in given.items() if limit is not None}
        told = checked(_Given, {**self.stop.model_dump(exclude_none=True), **given}, source)
        self.run.workers = told.workers or self.run.workers
        self.stop = StopTable(**told.model_dump(exclude={"workers"}))

    def normalised(self, folder: Path, digest: dict[str, str] | None, machine: dict[str, Any]) -> str:
        """JSON for the store, which resume reads. ``folder``: relative paths of the evaluator start there; ``machine``:
        the one where the study began."""
        about = {"folder": str(folder), KEY: digest, MACHINE: machine}
        return json.dumps({**about, **self.model_dump(mode="json", exclude_none=True, by_alias=True)})
