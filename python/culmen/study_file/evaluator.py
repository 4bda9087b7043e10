"""``[evaluator]``"""

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from ..problem.command import wrong_words
from .figure import FigureTable
from .table import WHOLE, Natural, Seconds, Setting, Table
from .targets import split_target, wrong_target

_FIGURES = "see [places of results](../howto/external-program.md#where-the-results-are)"
_LAST_WORD = "last word of the output"
_REMOVED = BeforeValidator(lambda value: None if value is False else value)
_STRING_OR_FALSE = WithJsonSchema({"anyOf": [{"type": "string"}, {"const": False}]})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class EvaluatorOptions(Table):
    """The keys of study files that are also arguments of ``culmen.minimize``."""

    result: Annotated[
        Literal["value", "residuals"],
        Setting(
            'form of the result: `"value"` is one number, and `"residuals"` is a list of numbers. culmen minimizes the '
            "sum of the squared residuals, or a robust `loss`",
            sets="evaluator",
            decides=True,
        ),
    ] = "value"
    loss: Annotated[
        Literal["linear", "soft_l1", "huber", "cauchy", "arctan"],
        Setting(
            'loss of residuals: `"linear"` is the sum of squares. `"soft_l1"`, `"huber"`, `"cauchy"` and `"arctan"` '
            "reduce the effect of outliers",
            sets="config",
            page="see [robust fits](../howto/errors.md#robust-fits)",
            decides=True,
        ),
    ] = "linear"
    f_scale: Annotated[
        Annotated[float, Field(ge=1e-50, le=1e50)],
        Setting(
            'residuals above about this size count as outliers; only for a `loss` other than `"linear"`',
            sets="config",
            decides=True,
        ),
    ] = 1.0
    time_limit_s: Annotated[
        Seconds | None,
        Setting("time limit of one evaluation in seconds", sets="evaluator", page="[see below](#failures)"),
    ] = None
    batch: Annotated[
        Annotated[int, Field(ge=1, le=65_536), WHOLE] | None,
        Setting(
            "the Python function receives up to this number of candidates in one call",
            sets="evaluator",
            page="see [batches](../howto/python.md#many-candidates-at-once)",
        ),
    ] = None
    environment: Annotated[
        dict[str, Annotated[str | None, _REMOVED, _STRING_OR_FALSE]],
        Setting(
            "environment variables of the evaluator",
            sets="evaluator",
            page='Example: `{ OMP_NUM_THREADS = "1" }`. To remove the variable `NAME`, write `NAME = false`',
        ),
    ] = Field(default_factory=dict)
    modules: Annotated[
        list[str],
        Setting("environment modules that each worker loads", sets="evaluator", page='Example: `["gcc/12"]`'),
    ] = Field(default_factory=list)
    data: Annotated[
        list[str],
        Setting(
            "files and folders that the evaluator reads. If their content changes, culmen refuses to resume the study",
            page="[see below](#data)",
        ),
    ] = Field(default_factory=list)
    output: Annotated[
        Literal["failures", "all", "none"],
        Setting(
            'decides which output of the evaluator is kept: `"none"`, `"failures"` or `"all"`',
            sets="evaluator",
            page="[see below](#output)",
        ),
    ] = "failures"
    on_failure: Annotated[
        Literal["penalise", "retry", "stop"],
        Setting(
            'what happens after a failed evaluation. With `"penalise"`, the evaluation counts as '
            "worse than all successful evaluations. With "
            '`"retry"`, culmen repeats the evaluation. With `"stop"`, the run ends',
            sets="config",
            page="[see below](#failures)",
        ),
    ] = "penalise"
    retries: Annotated[
        Annotated[int, Field(ge=0, le=1000), WHOLE],
        Setting('largest number of repetitions with `on_failure = "retry"`', sets="config"),
    ] = 2
    give_up_after: Annotated[
        Natural,
        Setting(
            "if no evaluation has succeeded, the run ends after this number of failures; 0 means no limit",
            sets="config",
            page="[see below](#failures)",
        ),
    ] = 100
    evaluate_infeasible: Annotated[
        bool,
        Setting(
            "if true, culmen also evaluates candidates that violate a [constraint](#constraints)",
            sets="config",
            decides=True,
        ),
    ] = False

    @model_validator(mode="after")
    def _has_a_loss(self) -> "EvaluatorOptions":
        if self.loss == "linear" and self.f_scale != 1:
            raise ValueError(
                f'f_scale = {self.f_scale:g} has no effect with loss = "linear"; choose another loss, such as '
                '"soft_l1", or remove f_scale'
            )
        return self

    @model_validator(mode="after")
    def _sets_variables(self) -> "EvaluatorOptions":
        for name, value in self.environment.items():
            if value is not None and "\0" in value:
                raise ValueError(f"environment.{name}: the value contains a null character; remove it")
            if name.startswith("CULMEN_"):
                raise ValueError(f"environment.{name}: names that begin with CULMEN_ are reserved for culmen")
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"environment.{name}: the name must consist of letters, digits and _")
        return self


class InputsTable(Table):
    copied: Annotated[
        list[str], Setting("files and folders to copy into the folder of the evaluation"), Field(alias="copy")
    ] = Field(default_factory=list)
    link: Annotated[list[str], Setting("files and folders to link into the folder of the evaluation")] = Field(
        default_factory=list
    )


class CommandOptions(EvaluatorOptions):
    """The keys for commands only."""

    templates: Annotated[
        list[str],
        Setting(
            "only for `command`: input files in which `{{name}}` stands for a parameter",
            page="see [external programs](../howto/external-program.md#a-program-that-reads-an-input-file)",
            decides=True,
        ),
    ] = Field(default_factory=list)
    inputs: Annotated[
        InputsTable,
        Setting(
            "only for `command`: files and folders to `copy` or `link` into the folder of the evaluation",
            default="none",
            decides=True,
        ),
    ] = InputsTable()
    stdin: Annotated[
        Literal["json"] | None,
        Setting(
            'only for `command`: `"json"` passes the parameters as one JSON object on standard input', decides=True
        ),
    ] = None
    value: Annotated[
        FigureTable | None,
        Setting("only for `command`: where culmen finds the value", page=_FIGURES, default=_LAST_WORD, decides=True),
    ] = None
    residuals: Annotated[
        FigureTable | None, Setting("only for `command`: where culmen finds the residuals", page=_FIGURES, decides=True)
    ] = None
    values: Annotated[
        dict[str, FigureTable],
        Setting("only for `command`: where culmen finds extra values, by name", page=_FIGURES, decides=True),
    ] = Field(default_factory=dict)
    keep: Annotated[
        Literal["all", "failures", "none"],
        Setting(
            'only for `command`: decides which folders of evaluations are kept: `"all"`, `"failures"` (the folders '
            'of failed evaluations) or `"none"`',
            sets="evaluator",
            page="[see below](#output)",
        ),
    ] = "all"

    @model_validator(mode="after")
    def _has_one_main_figure(self) -> "CommandOptions":
        if self.residuals is not None:
            if self.value is not None or "value" in self.values:
                raise ValueError("give either value or residuals; the value is the sum of the squares of the residuals")
            self.result = "residuals"
        elif self.result == "residuals" and (self.value or self.values):
            raise ValueError('result = "residuals" does not fit value or values; write residuals = { … } instead')
        if self.value is not None and "value" in self.values:
            raise ValueError("value is given twice: also in values")
        if "residuals" in self.values:
            raise ValueError("values.residuals: write residuals = { … } in [evaluator]")
        return self

    @property
    def figures(self) -> dict[str, FigureTable]:
        named = {"value": self.value, **self.values, "residuals": self.residuals}
        return {name: figure for name, figure in named.items() if figure is not None}

    @property
    def deciding(self) -> dict[str, Any]:
        """The given keys on which values depend."""
        return self.model_dump(mode="json", include=_DECIDING, exclude_defaults=True, by_alias=True)


_OF_COMMANDS = tuple(name for name in CommandOptions.model_fields if name not in EvaluatorOptions.model_fields)
_DECIDING = {name for name in _OF_COMMANDS if CommandOptions.settings()[name].decides}


class EvaluatorTable(CommandOptions):
    kinds: ClassVar[tuple[str, ...]] = ("python", "library", "command")
    python: Annotated[
        str | None,
        Setting(
            'a Python function: `"file.py:function"` or `"module:function"`. It receives a dict of the parameters',
            decides=True,
        ),
    ] = None
    library: Annotated[
        str | None,
        Setting('a C function: `"library.so:function"`. Its type is in [`<culmen/evaluator.h>`](c.md)', decides=True),
    ] = None
    command: Annotated[
        Annotated[list[str], Field(min_length=1)] | None,
        Setting(
            'a program and its arguments, for example `["./model.sh", "--fast"]`',
            page="[see below](#commands)",
            decides=True,
        ),
    ] = None
    isolation: Annotated[
        Literal["process", "none"],
        Setting(
            'only for `library`: with `"none"`, culmen uses no child processes. This is faster, but a crash can end '
            "the whole run",
            sets="evaluator",
            page="[see below](#failures)",
        ),
    ] = "process"

    @property
    def kind(self) -> str:
        return next(name for name in self.kinds if getattr(self, name) is not None)

    @property
    def named(self) -> Any:
        """Its name in the study file."""
        return getattr(self, self.kind)

    @field_validator("command")
    @classmethod
    def _reaches_the_program(cls, given: list[str] | None) -> list[str] | None:
        if why := wrong_words(given or ()):
            raise ValueError(why)
        return given

    @model_validator(mode="after")
    def _is_one_evaluator(self) -> "EvaluatorTable":
        given = [name for name in self.kinds if getattr(self, name) is not None]
        if len(given) != 1:
            words = ", ".join(given) or "none"
            raise ValueError(f"exactly one of python, library and command must be given, got {words}")
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
                f'isolation = "none" is only for library; a {self.kind} evaluator always has its own process'
            )
        if self.time_limit_s is not None:
            raise ValueError('time_limit_s needs isolation = "process": culmen can only stop a process')
        for key in ("environment", "modules", "output"):
            if self._gives(key):
                raise ValueError(f'{key} needs isolation = "process": it applies to the process of the evaluator')

    def _gives(self, key: str) -> bool:
        return bool(getattr(self, key) != type(self).model_fields[key].get_default(call_default_factory=True))

    def _check_keys_of_kinds(self) -> None:
        for key in _OF_COMMANDS if self.kind != "command" else ():
            if self._gives(key):
                instead = _INSTEAD.get(key, f"a {self.kind} function does not need it")
                raise ValueError(f"{key} is only for command; {instead}")
        if self.batch is not None and self.kind in ("library", "command"):
            raise ValueError(f"batch is only for Python functions; a {self.kind} receives one candidate at a time")

    @property
    def target(self) -> tuple[str, str]:
        """For python and library: the file or module, and the function in it."""
        return split_target(getattr(self, self.kind))


_INSTEAD = {
    "value": "a function returns its value",
    "values": "a function returns (value, a dict of extra values)",
    "residuals": 'a function returns them; write result = "residuals"',
}
