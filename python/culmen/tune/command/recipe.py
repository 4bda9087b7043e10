"""Reads the file of ``culmen tune command``, and makes studies from it. It has more defaults than a study file."""

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.text import did_you_mean
from ...base.toml import tomllib
from ...launch.typed_hosts import why_elsewhere
from ...problem.given import Value
from ...problem.parameter import Parameter
from ...problem.space import Space
from ...study_file import StudyFile, checked
from . import measured, several
from .modules import are_chosen, check_modules
from .tables import RecipeFile
from .worth import Use

EVALUATIONS = 150  # of a search without a limit
_OPTIMIZER = {"name": "bayes", "model": "additive"}  # settings of programs act nearly independently, with noise
_KEYS = {"wall_time": "wall_time_s", "cpu_time": "cpu_time_s", "memory": "memory_bytes", "energy": "energy_j"}
USE = ("use_hours", "use_runs")
ROUND = "culmen_round"  # a parameter that makes repetitions of one setting differ
STUDY_FOLDER = "{CULMEN_STUDY_FOLDER}"  # in words: the folder of the recipe


def read_recipe(path: Path, here: bool = True) -> RecipeFile:
    """``here``: the program runs on this machine; otherwise a job reads the file again. Raises InputError with all
    mistakes."""
    try:
        data = {"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8-sig"))}
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; `culmen init --tune` writes one") from None
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(f"{path} cannot be read: {e}") from None
    except tomllib.TOMLDecodeError as e:
        raise InputError(f"{path} is not valid TOML: {e}") from None
    return recipe_of(data, path, here)


def recipe_of(data: dict[str, Any], path: Path, here: bool = True) -> RecipeFile:
    """The recipe from its tables. ``path``: for messages; relative paths start in its folder. ``here``: see
    read_recipe(). Raises InputError."""
    data.setdefault("stop", {"evaluations": EVALUATIONS})
    data.setdefault("optimizer", _OPTIMIZER)
    recipe: RecipeFile = checked(RecipeFile, data, str(path))
    _check(recipe, path)
    if here:
        _check_energy(recipe, path)
        _check_search_path(recipe, path)
    return recipe


def _check(recipe: RecipeFile, path: Path) -> None:
    if recipe.evaluator.kind != "command":
        raise InputError(f"{path}: [evaluator] must have a command, because culmen measures runs of a program")
    if recipe.evaluator.residuals or recipe.evaluator.result == "residuals" or recipe.residuals:
        raise InputError(f"{path}: residuals are for fits; `culmen tune command` needs one value, or wall time")
    _check_weights(recipe, path)
    if recipe.tune.measure and _names_value(recipe):
        raise InputError(f"{path}: [tune] measure and a value of the program are both given; remove one of them")
    _check_use(recipe, path)
    if (recipe.run.workers or 1) > 1:
        raise InputError(f"{path}: [run] workers: runs side by side would disturb each other; remove workers")
    if taken := [name for name in recipe.evaluator.values if name in _KEYS.values()]:
        raise InputError(f"{path}: [evaluator.values] {taken[0]}: culmen measures this itself; give another name")
    if recipe.tune.expand and not (path.parent / recipe.tune.expand).is_file():
        raise InputError(f'{path}: [tune] expand: there is no file "{recipe.tune.expand}"')
    _check_objective(recipe, path)
    _check_program(recipe, path)
    check_modules(recipe, path)
    _check_build(recipe, path)
    try:
        present_of(recipe)
    except InputError as e:
        raise InputError(f"{path}: {e}") from None


def _check_objective(recipe: RecipeFile, path: Path) -> None:
    """With several objectives, the program can also print them by name."""
    known = [*recipe.evaluator.values, *recipe.derived, *_KEYS.values()]
    if parts_of(recipe) or not recipe.objectives:
        return
    name = next(iter(recipe.objectives))
    if name not in (*known, "value"):
        near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
        raise InputError(f'{path}: [objectives]: "{name}" is not in [evaluator.values]{near}')


def _check_weights(recipe: RecipeFile, path: Path) -> None:
    """Also checks the name of the combined value, which is culmen's own."""
    parts = parts_of(recipe)
    names = [part.name for part in parts]
    if recipe.tune.weights and not parts:
        raise InputError(f"{path}: [tune] weights are for several objectives, but there is only one; remove weights")
    if unknown := [name for name in recipe.tune.weights if name not in names]:
        raise InputError(f"{path}: [tune] weights: {unknown[0]} is not in [objectives], which has {', '.join(names)}")
    if parts and several.NAME in {*names, *recipe.derived, *recipe.evaluator.values, *recipe.space}:
        raise InputError(f"{path}: with several objectives, {several.NAME} is culmen's own name; give another name")


def parts_of(recipe: RecipeFile) -> list[several.Part]:
    """The objectives if there are several; otherwise empty."""
    return several.parts_of(recipe.objectives, recipe.tune.weights)


def check_energy_of_job(recipe: RecipeFile, path: Path, nodes: int) -> None:
    """``nodes``: of the job that runs the program. Raises InputError if culmen cannot read the energy of its runs on
    any machine. The job itself checks its own machine."""
    if _needs_energy(recipe) and nodes > 1:
        _refuse_elsewhere(recipe, path, f"the job has {nodes} nodes")


def _check_energy(recipe: RecipeFile, path: Path) -> None:
    """For runs that this machine starts."""
    if not _needs_energy(recipe):
        return
    if measured.energy_j() is None:
        raise InputError(
            f"{path}: {_use_of_energy(recipe)}, but the energy of this machine cannot be read in {measured.ENERGY}; "
            "use another measure, or ask for the right to read it"
        )
    if why := why_elsewhere(recipe.evaluator.command or []):
        _refuse_elsewhere(recipe, path, why)


def _refuse_elsewhere(recipe: RecipeFile, path: Path, why: str) -> None:
    raise InputError(
        f"{path}: {_use_of_energy(recipe)}, but culmen can read only the energy of the machine on which it runs "
        f"itself, and {why}; use another measure, or run the program on this machine"
    )


def _use_of_energy(recipe: RecipeFile) -> str:
    return '[tune] measure = "energy"' if recipe.tune.measure else f"{_KEYS['energy']} is used"


def _needs_energy(recipe: RecipeFile) -> bool:
    """Only then, because not every machine can measure it."""
    limits = [limit.expression or "" for limit in recipe.limits.values()]
    words = [*recipe.objectives, *recipe.limits, *recipe.derived.values(), *limits]
    return recipe.tune.measure == "energy" or any(_KEYS["energy"] in re.findall(r"\w+", text) for text in words)


def _check_use(recipe: RecipeFile, path: Path) -> None:
    given = [key for key in USE if getattr(recipe.tune, key) is not None]
    if len(given) > 1:
        raise InputError(f"{path}: [tune] use_hours and use_runs say the same; leave one of them")
    if given and parts_of(recipe):
        raise InputError(f"{path}: [tune] {given[0]} is for one objective, but there are several; remove {given[0]}")
    what = objective_of(recipe)[0] if recipe.objectives else recipe.tune.measure
    if given and what in ("memory", "energy", _KEYS["memory"], _KEYS["energy"]):
        raise InputError(
            f"{path}: [tune] {given[0]} is for a time or a rate; less {what} saves no hours, so remove {given[0]}"
        )


def with_use(recipe: RecipeFile, hours: float | None, runs: int | None) -> RecipeFile:
    """``hours``, ``runs``: options of the command, which replace the keys of the file. Raises InputError."""
    if not Use(hours, runs):
        return recipe
    used = recipe.model_copy(update={"tune": recipe.tune.model_copy(update={"use_hours": hours, "use_runs": runs})})
    _check_use(used, Path(f"{recipe.name}.toml"))
    return used


def use_h_of(recipe: RecipeFile, run_s: float) -> float | None:
    """Hours that the program will run in total, with its present settings; None if unknown. ``run_s``: duration of one
    run."""
    return Use(recipe.tune.use_hours, recipe.tune.use_runs).hours_of(run_s)


def _names_value(recipe: RecipeFile) -> bool:
    return bool(recipe.evaluator.value or recipe.objectives or "value" in recipe.evaluator.values)


def _check_program(recipe: RecipeFile, path: Path) -> None:
    assert recipe.evaluator.command is not None
    program = recipe.evaluator.command[0]
    words = [*recipe.evaluator.command, *(value or "" for value in recipe.evaluator.environment.values())]
    if any(measured.BUILD in word for word in words):
        if recipe.build is None:
            raise InputError(f"{path}: {measured.BUILD} stands for the folder of a build, but there is no [build]")
        if "build" in recipe.space:
            raise InputError(f"{path}: [space] build: {measured.BUILD} is the folder of the build; give another name")
    if "/" in program and not program.startswith("{") and not (path.parent / program).is_file():
        raise InputError(f"{path}: [evaluator] command: there is no program {path.parent / program}")


def _check_search_path(recipe: RecipeFile, path: Path) -> None:
    """For a program without a folder. Modules and variables of the run can change the search path."""
    assert recipe.evaluator.command is not None
    program = recipe.evaluator.command[0]
    if recipe.evaluator.modules or "PATH" in recipe.evaluator.environment or "/" in program or "{" in program:
        return
    if recipe.tune.expand is None and shutil.which(program) is None:
        ours = f'; write "./{program}" for the one in the folder of {path.name}'
        near = ours if (path.parent / program).is_file() else ""
        raise InputError(f'{path}: [evaluator] command: there is no program "{program}" on PATH{near}')


def _check_build(recipe: RecipeFile, path: Path) -> None:
    sources = recipe.build.sources if recipe.build else []
    there = [(path.parent / source).resolve() for source in sources]
    for source, place in zip(sources, there, strict=True):
        if not place.exists():
            raise InputError(f'{path}: [build] sources: there is no file or folder "{source}"')
        if path.resolve().is_relative_to(place):
            raise InputError(f'{path}: [build] sources: "{source}" contains this file; name only what the build needs')
    if len({place.name for place in there}) < len(there):
        raise InputError(f"{path}: [build] sources: two of them have the same name; put them into one folder")


def present_of(recipe: RecipeFile) -> dict[str, Value]:
    """The present settings: the first entry of [[starts]], and otherwise ``initial``. Raises InputError."""
    given: dict[str, Value] = {name: t.initial for name, t in recipe.space.items() if t.initial is not None}
    given |= recipe.starts[0] if recipe.starts else {}
    parameters = {name: Parameter(**table.model_dump()) for name, table in recipe.space.items()}
    searched = {name for name, table in recipe.space.items() if table.value is None}
    begun = {name: replace(p, initial=given.get(name)) if name in searched else p for name, p in parameters.items()}
    core = Space(begun, recipe.constraints).core
    present = {name: value for name, value in core.named(core.start()).items() if name in searched}
    if missing := sorted(present.keys() - given.keys()):
        raise InputError(
            f"the present setting of {', '.join(missing)} is not known; write initial = … for it, so that culmen can "
            "say what is gained"
        )
    if core.violation(core.start()) > 0:
        raise InputError("the present settings violate [constraints]; correct the constraints or the values of initial")
    return present


def objective_of(recipe: RecipeFile) -> tuple[str, bool]:
    """The name of the objective for people, and whether more is better."""
    if parts_of(recipe):
        return several.TITLE, False
    if recipe.objectives:
        name, direction = next(iter(recipe.objectives.items()))
        return name, direction == "maximize"
    return "value" if _names_value(recipe) else _measure(recipe).replace("_", " "), False


def counts_time(recipe: RecipeFile) -> bool:
    """Whether the value is a time or a rate. A value that is maximized counts as a rate."""
    name, maximize = objective_of(recipe)
    if _names_value(recipe):
        return maximize or name in (_KEYS["wall_time"], _KEYS["cpu_time"])
    return _measure(recipe) in ("wall_time", "cpu_time")


def _measure(recipe: RecipeFile) -> str:
    return recipe.tune.measure or "wall_time"


def search_file(recipe: RecipeFile, folder: Path, builds: Path) -> StudyFile:
    """The study of the search. ``folder``: the folder of the recipe."""
    present = present_of(recipe)
    tables = {"space": _space(recipe, present), "starts": [present, *recipe.starts[1:]]}
    return _study(recipe, folder, builds, tables, "0")


def comparison_file(recipe: RecipeFile, folder: Path, builds: Path, settings: list[dict[str, Any]]) -> StudyFile:
    """A study that runs the program once with each of these settings, in this order."""
    number = {"type": "integer", "lower": 0, "upper": len(settings), "initial": 0}
    tables = {
        "space": {**_space(recipe, settings[0]), ROUND: number},
        "starts": [{**setting, ROUND: at} for at, setting in enumerate(settings)],
        "optimizer": {"name": "random", "generational": True},
        "stop": {"evaluations": len(settings)},
    }
    return _study(recipe, folder, builds, tables, f"{{{ROUND}}}")


def _space(recipe: RecipeFile, first: dict[str, Value]) -> dict[str, Any]:
    """The space with these settings as initial values. Otherwise its own initial values would be an additional
    candidate."""
    tables: dict[str, Any] = _tables(recipe)["space"]
    return {name: {**table, **({"initial": first[name]} if name in first else {})} for name, table in tables.items()}


def _tables(recipe: RecipeFile) -> dict[str, Any]:
    tables = recipe.model_dump(mode="json", exclude_none=True, exclude_unset=True, by_alias=True)
    return {name: table for name, table in tables.items() if name in StudyFile.model_fields}


def _study(recipe: RecipeFile, folder: Path, builds: Path, given: dict[str, Any], number: str) -> StudyFile:
    tables = {"name": recipe.name, "seed": recipe.seed, **_tables(recipe)}
    tables.pop("store", None)
    evaluator = dict(tables["evaluator"])
    evaluator["command"] = [_with_place(word) for word in _words(recipe, folder, builds, number)]
    if "environment" in evaluator:
        evaluator["environment"] = {name: _with_place(text) for name, text in evaluator["environment"].items()}
    evaluator.pop("time_limit_s", None)  # it limits the program, not the build
    if are_chosen(recipe):
        evaluator.pop("modules")
    places = {name: {"file": measured.REPORT, "key": key} for name, key in _KEYS.items()}
    if not _names_value(recipe):
        evaluator["value"] = places[_measure(recipe)]
    if not _needs_energy(recipe):
        del places["energy"]
    evaluator["values"] = evaluator.get("values", {}) | {_KEYS[name]: place for name, place in places.items()}
    evaluator.setdefault("keep", "failures")
    evaluator.setdefault("give_up_after", 10)
    if parts := parts_of(recipe):
        tables["derived"] = {**tables.get("derived", {}), several.NAME: several.expression(parts)}
        tables["objectives"] = {several.NAME: "minimize"}
        evaluator["values"] |= {name: {"regex": _line_of(name)} for name in _printed(recipe)}
    run = {**tables.get("run", {}), "workers": 1, "prefetch": False}
    file: StudyFile = checked(StudyFile, {**tables, "evaluator": evaluator, "run": run, **given}, recipe.name)
    return file


def _with_place(word: str | None) -> str | None:
    return word and word.replace(measured.BUILD, measured.PLACE)


def _printed(recipe: RecipeFile) -> list[str]:
    """The objectives that the program prints in lines such as ``gflops = 3.5``, if there are several."""
    known = {*recipe.derived, *recipe.evaluator.values, *_KEYS.values()}
    return [part.name for part in parts_of(recipe) if part.name not in known]


def _line_of(name: str) -> str:
    return rf"^\s*{re.escape(name)}\s*=\s*(\S+)"


def constants_of(recipe: RecipeFile) -> dict[str, str | None]:
    """The entries of ``environment`` that depend neither on parameters nor on the build; None removes a variable.
    Builds see only these."""
    found = recipe.evaluator.environment
    return {name: text for name, text in found.items() if text is None or "{" not in text.replace(STUDY_FOLDER, "")}


def _words(recipe: RecipeFile, folder: Path, builds: Path, number: str) -> list[str]:
    """The command of one evaluation: measured.py, which runs the program."""
    words = [sys.executable, "-I", "-S", str(Path(measured.__file__)), "--folder", str(folder), f"--round={number}"]
    if recipe.evaluator.time_limit_s:
        words.append(f"--time-limit={recipe.evaluator.time_limit_s}")
    if recipe.build:
        words += [f"--builds={builds}", *(f"--build={word}" for word in recipe.build.command)]
        words += [f"--source={source}" for source in recipe.build.sources]
    if are_chosen(recipe):
        words += [f"--module={module}" for module in recipe.evaluator.modules]
    if recipe.build or are_chosen(recipe):
        constant = constants_of(recipe)
        given = [name for name in recipe.evaluator.environment if name not in constant]
        words += [f"--hide={name}" for name in (*given, *recipe.space)]
        words += [f"--keep={name}" for name in constant]
    if recipe.tune.expand:
        words.append(f"--expand={folder / recipe.tune.expand}")
    assert recipe.evaluator.command is not None
    program, *others = recipe.evaluator.command
    if "/" in program and not program.startswith("{"):
        program = str(folder / program)
    return [*words, "--", program, *others]
