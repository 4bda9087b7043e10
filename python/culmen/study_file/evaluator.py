"""``[evaluator]``"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from .table import Seconds, Table


class EvaluatorTable(Table):
    python: str | None = None
    library: str | None = None
    command: Annotated[list[str], Field(min_length=1)] | None = None
    result: Literal["value", "residuals"] = "value"
    evaluate_infeasible: bool = False
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
