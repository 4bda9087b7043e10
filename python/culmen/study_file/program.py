"""Turns the arguments of ``culmen.minimize`` into the tables of a study file, and back."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field
from pydantic.fields import FieldInfo

from .._core import InputError
from .evaluator import EvaluatorOptions, EvaluatorTable
from .file import OptimizerTable, RunTable, StopTable, StudyFile
from .messages import checked
from .table import Count, Setting, Table

_TABLES: dict[str, type[Table]] = {"evaluator": EvaluatorOptions, "stop": StopTable, "run": RunTable}
_EXPRESSIONS = ("derived", "residuals", "objectives", "limits")
_NAMES = {"evaluations": "budget"}  # arguments with another name than their key
_BY_EITHER = ConfigDict(populate_by_name=True)


class ProgramEvaluator(EvaluatorTable):
    kinds: ClassVar = ("function", "command")
    function: Annotated[str | None, Setting("`module.name` of a function that stays in its program", decides=True)] = (
        None
    )
    positional: Annotated[bool | None, Setting("the function receives a list of numbers")] = None


class ProgramStop(StopTable):
    model_config = _BY_EITHER
    evaluations: Count | None = Field(None, validation_alias="budget")


class ProgramOptimizer(OptimizerTable):
    model_config = _BY_EITHER
    name: str | None = Field(None, validation_alias="optimizer")


class ProgramStudy(StudyFile):
    has_sections = False
    evaluator: ProgramEvaluator
    stop: ProgramStop = ProgramStop()
    optimizer: ProgramOptimizer = ProgramOptimizer()

    def place(self, table: str) -> str:
        words = {"evaluator": "" if self.evaluator.command is None else "Command ", "starts": "starts "}
        words |= {name: f"{name}: " for name in ("objectives", "limits", "derived", "residuals")}
        return words.get(table, "")


def settings_of_program() -> Iterator[tuple[str, FieldInfo, Setting]]:
    """The arguments of ``minimize`` that are keys of a study file: their names, fields and settings."""
    tables = (StopTable, StudyFile, OptimizerTable, EvaluatorOptions, RunTable)
    for table in tables:
        for key, setting in table.settings().items():
            if table not in (StudyFile, OptimizerTable) or key in ("seed", "generational"):
                yield _NAMES.get(key, key), table.model_fields[key], setting


def arguments_of(table: str) -> dict[str, str]:
    """The arguments of ``minimize`` that are keys of a table, and these keys."""
    return {_NAMES.get(key, key): key for key in _TABLES[table].model_fields}


def program_study(
    name: str,
    space: Mapping[str, Any],
    constraints: Mapping[str, str],
    evaluator: Mapping[str, Any],
    given: Mapping[str, Any],
    caller: str = "culmen.minimize",
) -> ProgramStudy:
    """``evaluator``: its kind and its own keys; ``given``: arguments of ``minimize``; None: not given. ``caller``: the
    function that messages name.

    Raises InputError with a line for each wrong argument."""
    given = {key: value for key, value in given.items() if value is not None}
    tables = {table: {key: given[key] for key in arguments_of(table) if key in given} for table in _TABLES}
    tables["evaluator"] |= evaluator
    options = given.get("options", {})
    if not isinstance(options, Mapping):
        raise InputError(f'{caller}: options must be a dict such as {{"population": 20}}, got {options!r}')
    _check_optimizer(given.get("optimizer"), caller)
    tables["optimizer"] = {key: given[key] for key in ("optimizer", "generational") if key in given} | dict(options)
    top: dict[str, Any] = {key: given[key] for key in ("seed", *_EXPRESSIONS, "starts") if key in given}
    study: ProgramStudy = checked(
        ProgramStudy, {"name": name, "space": space, "constraints": constraints, **top, **tables}, caller
    )
    return study


def _check_optimizer(optimizer: object, caller: str) -> None:
    """A dict is the table of a study file."""
    if not isinstance(optimizer, Mapping):
        return
    options = {key: value for key, value in optimizer.items() if key != "name"}
    name = optimizer.get("name", "cmaes")
    instead = f"optimizer={name!r}" + (f", options={options!r}" if options else "")
    raise InputError(
        f"{caller}: optimizer must be a name such as 'cmaes' or a list of names, got {dict(optimizer)!r}; "
        f"write {instead}"
    )


def call_of(data: Mapping[str, Any], store: str) -> str:
    """The call of ``culmen.minimize`` that made a store with this configuration; its evaluator is a ``function``."""
    about = {key: value for key, value in data.items() if key in ProgramStudy.model_fields}
    study = ProgramStudy.model_validate(about)
    return f"culmen.minimize({', '.join(_arguments(study, store))})"


def worker_call_of(data: Mapping[str, Any], address: str, known: Mapping[str, str]) -> str:
    """The call of ``culmen.work`` that evaluates for a run of this study at this address. ``known``: further
    arguments."""
    study = ProgramStudy.model_validate({key: data[key] for key in data if key in ProgramStudy.model_fields})
    work = [*_model(study), *_table(study, "evaluator"), *_of_space_and_results(study)]
    return f"culmen.work({', '.join([repr(address), *work, *(f'{key}={text!r}' for key, text in known.items())])})"


def _arguments(study: ProgramStudy, store: str) -> Iterator[str]:
    yield from _model(study)
    yield from _table(study, "stop")
    yield from _table(study, "evaluator")
    options = dict(study.model_dump(exclude_defaults=True).get("optimizer", {}))
    for key, argument in (("name", "optimizer"), ("generational", "generational")):
        if (value := options.pop(key, None)) is not None:
            yield f"{argument}={value!r}"
    if options:
        yield f"options={options!r}"
    if study.seed:
        yield f"seed={study.seed!r}"
    yield from _of_space_and_results(study)
    if starts := study.model_dump(exclude_defaults=True).get("starts"):
        yield f"starts={starts!r}"
    yield f"store={store!r}"


def _model(study: ProgramStudy) -> Iterator[str]:
    """The function and the bounds."""
    function = (study.evaluator.function or "f").removeprefix("__main__.")
    yield function if all(map(str.isidentifier, function.split("."))) else "f"
    bounds = {name: _bounds(p.model_dump(exclude_defaults=True)) for name, p in study.space.items()}
    if study.evaluator.positional:
        yield f"[{', '.join(bounds.values())}]"
    else:
        yield f"{{{', '.join(f'{name!r}: {text}' for name, text in bounds.items())}}}"


def _table(study: ProgramStudy, table: str) -> Iterator[str]:
    said = study.model_dump(exclude_defaults=True).get(table, {})
    yield from (f"{argument}={said[key]!r}" for argument, key in arguments_of(table).items() if key in said)


def _of_space_and_results(study: ProgramStudy) -> Iterator[str]:
    said = study.model_dump(exclude_defaults=True)
    yield from (f"{name}={said[name]!r}" for name in ("constraints", *_EXPRESSIONS) if said.get(name))


def _bounds(table: dict[str, Any]) -> str:
    """A parameter as a program writes it."""
    if table.keys() == {"lower", "upper"}:
        return f"({table['lower']:.17g}, {table['upper']:.17g})"
    kind = table.pop("type", "real")
    if "value" in table and not table.keys() & {"lower", "upper", "choices"}:
        kind, table["value"] = "fixed", float(table["value"]) if kind == "real" else table["value"]
    return f"culmen.{kind}({', '.join(f'{key}={value!r}' for key, value in table.items())})"
