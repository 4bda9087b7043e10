"""``[evaluator]``"""

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from .figure import FigureTable
from .table import Seconds, Table, Whole
from .targets import split_target, wrong_target

_OF_COMMANDS = ("templates", "inputs", "stdin", "value", "residuals", "values", "keep")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class EvaluatorOptions(Table):
    """What study files and ``culmen.minimize`` both take."""

    result: Literal["value", "residuals"] = "value"
    time_limit_s: Seconds | None = None
    batch: Annotated[Whole, Field(ge=1, le=65_536)] | None = None
    environment: dict[str, str] = Field(default_factory=dict)
    modules: list[str] = Field(default_factory=list)
    output: Literal["failures", "all", "none"] = "failures"
    on_failure: Literal["penalise", "retry", "stop"] = "penalise"
    retries: Annotated[Whole, Field(ge=0, le=1000)] = 2
    give_up_after: Annotated[Whole, Field(ge=0, lt=2**63)] = 100
    evaluate_infeasible: bool = False

    @model_validator(mode="after")
    def _sets_variables(self) -> "EvaluatorOptions":
        for name in self.environment:
            if name.startswith("CULMEN_"):
                raise ValueError(f"environment.{name}: names that begin with CULMEN_ are culmen's own")
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"environment.{name}: a name of letters, digits and _ is wanted")
        return self


class InputsTable(Table):
    copied: list[str] = Field(default_factory=list, alias="copy")
    link: list[str] = Field(default_factory=list)


class CommandOptions(EvaluatorOptions):
    """What only commands take."""

    templates: list[str] = Field(default_factory=list)
    inputs: InputsTable = InputsTable()
    stdin: Literal["json"] | None = None
    value: FigureTable | None = None
    residuals: FigureTable | None = None
    values: dict[str, FigureTable] = Field(default_factory=dict)
    keep: Literal["all", "failures", "none"] = "all"

    @model_validator(mode="after")
    def _has_one_main_figure(self) -> "CommandOptions":
        if self.residuals is not None:
            if self.value is not None or "value" in self.values:
                raise ValueError("value and residuals exclude each other; the value is the sum of residuals' squares")
            self.result = "residuals"
        elif self.result == "residuals" and (self.value or self.values):
            raise ValueError('result = "residuals" beside value or values: residuals = { … } says where they stand')
        if self.value is not None and "value" in self.values:
            raise ValueError("value is given twice, also in values")
        if "residuals" in self.values:
            raise ValueError("values.residuals: residuals = { … } in [evaluator] is their place")
        return self

    @property
    def figures(self) -> dict[str, FigureTable]:
        named = {"value": self.value, **self.values, "residuals": self.residuals}
        return {name: figure for name, figure in named.items() if figure is not None}

    @property
    def deciding(self) -> dict[str, Any]:
        """Of what is given here, that on which values depend."""
        keys = {"templates", "inputs", "stdin", "value", "residuals", "values"}
        return self.model_dump(mode="json", include=keys, exclude_defaults=True, by_alias=True)


class EvaluatorTable(CommandOptions):
    kinds: ClassVar[tuple[str, ...]] = ("python", "library", "command")
    python: str | None = None
    library: str | None = None
    command: Annotated[list[str], Field(min_length=1)] | None = None
    isolation: Literal["process", "none"] = "process"

    @property
    def kind(self) -> str:
        return next(name for name in self.kinds if getattr(self, name) is not None)

    @property
    def named(self) -> Any:
        """What the user calls it."""
        return getattr(self, self.kind)

    @model_validator(mode="after")
    def _is_one_evaluator(self) -> "EvaluatorTable":
        given = [name for name in self.kinds if getattr(self, name) is not None]
        if len(given) != 1:
            words = ", ".join(given) or "none"
            raise ValueError(f"exactly one of python, library and command is wanted; given: {words}")
        if self.kind in ("python", "library") and (why := wrong_target(self.kind, getattr(self, self.kind))):
            raise ValueError(why)
        self._check_isolation()
        self._check_keys_of_kinds()
        return self

    def _check_isolation(self) -> None:
        if self.isolation == "process":
            return
        if self.kind != "library":
            raise ValueError(
                f'isolation = "none" is for library only; a {self.kind} evaluator has a process of its own'
            )
        if self.time_limit_s is not None:
            raise ValueError(
                'time_limit_s needs isolation = "process": without a process of its own nothing can be stopped'
            )
        for key in ("environment", "modules", "output"):
            if self._gives(key):
                raise ValueError(f'{key} needs isolation = "process": it is for a process of its own')

    def _gives(self, key: str) -> bool:
        return bool(getattr(self, key) != type(self).model_fields[key].get_default(call_default_factory=True))

    def _check_keys_of_kinds(self) -> None:
        for key in _OF_COMMANDS if self.kind != "command" else ():
            if self._gives(key):
                instead = _INSTEAD.get(key, f"a {self.kind} function needs none")
                raise ValueError(f"{key} is for command only; {instead}")
        if self.batch is not None and self.kind in ("library", "command"):
            raise ValueError(f"batch is for Python functions; a {self.kind} is given one candidate at a time")

    @property
    def target(self) -> tuple[str, str]:
        """Of python and library: the file or module, and the function in it."""
        return split_target(getattr(self, self.kind))


_INSTEAD = {
    "value": "a function returns its value",
    "values": "a function returns (value, further figures by name)",
    "residuals": 'a function returns them: result = "residuals"',
}
