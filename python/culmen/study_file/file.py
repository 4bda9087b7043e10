"""The study file: which tables there are."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from ..digest import KEY
from .evaluator import EvaluatorTable
from .space import ParameterTable
from .table import Count, Seconds, Table


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
