"""The file of ``culmen tune command``: a study file with two more tables, and defaults for what need not be said."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from ..._core import InputError
from ...study_file import StudyFile, checked
from ...study_file.messages import sentences
from ...study_file.table import WHOLE, Setting, Table
from . import measured

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_EVALUATIONS = 150
_OPTIMIZER = {"name": "bayes", "model": "additive"}  # settings of programs act nearly independently, with noise
_KEYS = {"wall_time": "wall_time_s", "cpu_time": "cpu_time_s", "memory": "memory_bytes", "energy": "energy_j"}
ROUND = "culmen_round"  # a parameter that makes repetitions of one setting differ


class BuildTable(Table):
    """``[build]``"""

    command: Annotated[
        list[str],
        Field(min_length=1),
        Setting("the command that builds the program, with parameters in single braces"),
    ]
    sources: Annotated[list[str], Setting("files and folders that culmen copies into the folder of the build")] = Field(
        default_factory=list
    )


class TuneTable(Table):
    """``[tune]``"""

    measure: Annotated[
        Literal["wall_time", "cpu_time", "memory", "energy"] | None,
        Setting("what to minimize, if the evaluator names no value", default='`"wall_time"`'),
    ] = None
    rounds: Annotated[
        Annotated[int, Field(ge=3, le=1000), WHOLE],
        Setting("at the end, the program runs so often with the old and with the new settings"),
    ] = 10
    price_per_core_hour: Annotated[
        Annotated[float, Field(ge=0, le=1e6)] | None, Setting("what an hour of one core costs, in any currency")
    ] = None
    cores: Annotated[
        Annotated[int, Field(ge=1, le=10_000_000), WHOLE] | None,
        Setting("number of cores that the program occupies", default="all of this machine"),
    ] = None


class RecipeFile(StudyFile):
    build: Annotated[BuildTable | None, Setting("how to build the program", default="no build")] = None
    tune: Annotated[TuneTable, Setting("what to measure, and how to judge it")] = TuneTable()


def read_recipe(path: Path) -> RecipeFile:
    """Raises InputError with all mistakes."""
    try:
        data = {"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))}
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; `culmen init --tune` writes one") from None
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(f"{path} cannot be read: {e}") from None
    except tomllib.TOMLDecodeError as e:
        raise InputError(f"{path} is not valid TOML: {e}") from None
    data.setdefault("stop", {"evaluations": _EVALUATIONS})
    data.setdefault("optimizer", _OPTIMIZER)
    try:
        recipe = RecipeFile.model_validate(data)
    except ValidationError as e:
        raise InputError("\n".join(f"{path}: {text}" for _, text in sentences(e, RecipeFile))) from None
    _check(recipe, path)
    return recipe


def _check(recipe: RecipeFile, path: Path) -> None:
    if recipe.evaluator.kind != "command":
        raise InputError(f"{path}: [evaluator] must have a command, because culmen measures runs of a program")
    if recipe.evaluator.residuals or recipe.evaluator.result == "residuals" or recipe.residuals:
        raise InputError(f"{path}: residuals are for fits; `culmen tune command` needs one value, or wall time")
    if len(recipe.objectives) > 1:
        raise InputError(f"{path}: [objectives] has {len(recipe.objectives)} entries; leave one to tune for")
    if recipe.tune.measure and (recipe.evaluator.value or recipe.objectives):
        raise InputError(f"{path}: [tune] measure and a value of the program are both given; remove one of them")
    if recipe.tune.measure == "energy" and measured.energy_j() is None:
        raise InputError(
            f'{path}: [tune] measure = "energy", but the energy of this machine cannot be read in {measured.ENERGY}; '
            "write another measure, or ask for the right to read it"
        )
    if missing := _without_start(recipe):
        raise InputError(
            f"{path}: the present setting of {', '.join(missing)} is not known; write initial = … for it, so that "
            "culmen can say what is gained"
        )


def _without_start(recipe: RecipeFile) -> list[str]:
    begun = recipe.starts[0] if recipe.starts else {}
    return [
        name
        for name, table in recipe.space.items()
        if table.value is None and table.initial is None and name not in begun and table.active_when is None
    ]


def objective_of(recipe: RecipeFile) -> tuple[str, bool]:
    """Its name for people, and whether more is better."""
    if recipe.objectives:
        name, direction = next(iter(recipe.objectives.items()))
        return name, direction == "maximize"
    if recipe.evaluator.value or recipe.evaluator.values:
        return next(iter(recipe.evaluator.values), "value") if not recipe.evaluator.value else "value", False
    return (recipe.tune.measure or "wall_time").replace("_", " "), False


def search_file(recipe: RecipeFile, folder: Path, builds: Path) -> StudyFile:
    """The study that searches. ``folder``: of the file."""
    return _study(recipe, folder, builds, {}, "0")


def comparison_file(recipe: RecipeFile, folder: Path, builds: Path, settings: list[dict[str, Any]]) -> StudyFile:
    """A study that runs the program once with each of these settings, in this order."""
    number = {"type": "integer", "lower": 0, "upper": len(settings)}
    space = {  # initial values would be one more candidate
        name: {key: given for key, given in table.items() if key != "initial"}
        for name, table in _tables(recipe)["space"].items()
    }
    tables = {
        "space": {**space, ROUND: number},
        "starts": [{**setting, ROUND: at} for at, setting in enumerate(settings)],
        "optimizer": {"name": "random", "generational": True},
        "stop": {"evaluations": len(settings)},
    }
    return _study(recipe, folder, builds, tables, f"{{{ROUND}}}")


def _tables(recipe: RecipeFile) -> dict[str, Any]:
    tables = recipe.model_dump(mode="json", exclude_none=True, exclude_unset=True, by_alias=True)
    return {name: table for name, table in tables.items() if name in StudyFile.model_fields}


def _study(recipe: RecipeFile, folder: Path, builds: Path, given: dict[str, Any], number: str) -> StudyFile:
    tables = {"name": recipe.name, "seed": recipe.seed, **_tables(recipe)}
    tables.pop("store", None)
    evaluator = dict(tables["evaluator"])
    evaluator["command"] = _words(recipe, folder, builds, number)
    evaluator.pop("time_limit_s", None)  # the program's, without the time of the build
    own = {key: {"file": measured.REPORT, "key": key} for key in ("wall_time_s", "cpu_time_s", "memory_bytes")}
    values = {**evaluator.get("values", {}), **own}
    if recipe.tune.measure == "energy":
        values["energy_j"] = {"file": measured.REPORT, "key": "energy_j"}
    if not (recipe.evaluator.value or recipe.evaluator.values or recipe.objectives):
        evaluator["value"] = {"file": measured.REPORT, "key": _KEYS[recipe.tune.measure or "wall_time"]}
    evaluator["values"] = values
    evaluator.setdefault("keep", "failures")
    evaluator.setdefault("give_up_after", 10)
    run = {"workers": 1, "prefetch": False, **tables.get("run", {})}
    file: StudyFile = checked(StudyFile, {**tables, "evaluator": evaluator, "run": run, **given}, recipe.name)
    return file


def _words(recipe: RecipeFile, folder: Path, builds: Path, number: str) -> list[str]:
    """The command of one evaluation: measured.py, which runs the program."""
    words = [sys.executable, "-I", "-S", str(Path(measured.__file__)), "--folder", str(folder), f"--round={number}"]
    if recipe.evaluator.time_limit_s:
        words.append(f"--time-limit={recipe.evaluator.time_limit_s}")
    if recipe.build:
        words += [f"--builds={builds}", *(f"--build={word}" for word in recipe.build.command)]
        words += [f"--source={source}" for source in recipe.build.sources]
    assert recipe.evaluator.command is not None
    return [*words, "--", *recipe.evaluator.command]
