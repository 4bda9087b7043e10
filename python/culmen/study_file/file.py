"""The study file: which tables there are."""

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
from .table import Count, Finite, Seconds, Table, Whole

Workers = Annotated[Whole, Field(ge=1, le=65_536)]


class OptimizerTable(Table):
    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, Any]  # options; the optimizer checks them
    name: str | None = None
    generational: bool | None = None  # for "auto" the workers decide

    @model_validator(mode="before")
    @classmethod
    def _spelt_out(cls, given: Any) -> Any:
        """A name alone, a list of names and tables of their options, as the optimizer knows them."""
        if isinstance(given, (str, list)):
            given = {"name": given}
        if not isinstance(given, dict):
            return given
        return {key: chained(value) for key, value in spelt_out(given).items()}


class StopTable(Table):
    evaluations: Count | None = None
    target: Finite | None = None
    stagnation: Count | None = None
    stagnation_tolerance: Annotated[float, Field(ge=0, lt=1)] | None = None
    wall_time_s: Seconds | None = None

    @model_validator(mode="after")
    def _has_a_rule(self) -> "StopTable":
        if not self.model_dump(exclude_none=True, exclude={"stagnation_tolerance"}):
            raise ValueError(
                f"at least one of {type(self).model_fields['evaluations'].validation_alias or 'evaluations'}, target, "
                "stagnation and wall_time_s is wanted, or the study would never end"
            )
        if self.stagnation_tolerance is not None and self.stagnation is None:
            raise ValueError("stagnation_tolerance belongs to stagnation, which is missing")
        return self


class _Given(StopTable):
    workers: Workers | None = None


class LimitTable(Table):
    lower: Finite | None = None
    upper: Finite | None = None


class RunTable(Table):
    workers: Workers | None = None
    prefetch: bool = True
    durability: Literal["process", "power"] = "process"


class StudyFile(Table):
    has_sections = True
    name: Annotated[str, Field(pattern=r"^[^/\x00]+$")]
    seed: Annotated[Whole, Field(ge=0, lt=2**63)] = 1
    store: str | None = None
    space: Annotated[dict[str, ParameterTable], Field(min_length=1)]
    constraints: dict[str, str] = Field(default_factory=dict)
    starts: list[dict[str, bool | int | float | str]] = Field(default_factory=list)
    objectives: dict[str, Literal["minimize", "maximize"]] = Field(default_factory=dict)
    limits: dict[str, LimitTable] = Field(default_factory=dict)
    evaluator: EvaluatorTable
    optimizer: OptimizerTable = OptimizerTable()
    stop: StopTable
    run: RunTable = RunTable()

    @staticmethod
    def place(table: str) -> str:
        """Where a mistake is that the core finds in a table, for messages."""
        return f"[[{table}]] " if table == "starts" else f"[{table}] "

    def limit(self, source: str, **given: Any) -> None:
        """Puts what is given (keys of [stop], and workers) in the place of the file's own.

        Raises InputError, beginning with ``source``, for what the file could not say either.
        """
        given = {name: limit for name, limit in given.items() if limit is not None}
        told = checked(_Given, {**self.stop.model_dump(exclude_none=True), **given}, source)
        self.run.workers = told.workers or self.run.workers
        self.stop = StopTable(**told.model_dump(exclude={"workers"}))

    def normalised(self, folder: Path, digest: dict[str, str] | None, machine: dict[str, Any]) -> str:
        """JSON from which a resume starts; ``folder`` is where relative paths of the evaluator begin, ``machine`` where
        the study was begun."""
        about = {"folder": str(folder), KEY: digest, MACHINE: machine}
        return json.dumps({**about, **self.model_dump(mode="json", exclude_none=True, by_alias=True)})
