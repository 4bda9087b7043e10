"""``culmen check``: explains a study file, estimates its time, and lists its mistakes."""

import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.table import Table

from ... import _core
from ...base.exit_codes import FAILED, FINISHED, RESUMABLE
from ...base.text import clock, shown
from ...problem.goals import as_given
from ...problem.options import choice_and_mode
from ...problem.parameter import describe
from ...problem.space import fixed_names
from ...report.reading import Evaluations, read
from ...run.master import conduct
from ...run.progress.monitor import Silent
from ...run.study import Study
from ...store.opening import working_folder
from ...store.table import STATUSES
from .agreement import ends_of_searches
from .notes import note_file_left_behind
from .summary import console, print_figures

_PRINTED_LINES = 10
_SAMPLE = 2000  # random points, for the share that satisfies the constraints


def check_study(path: Path, evaluations: int) -> int:
    """Raises InputError with a line for each mistake; else prints and returns an exit code."""
    study = Study.from_file(path)
    study.settle()
    config = study.config
    _print_space(config)
    print_figures(
        {
            "study": f"{config.name}, seed {config.seed}",
            "constraints": _constraints(config),
            "goal": _wanted(config),
            "evaluator": _evaluator(config.evaluator),
            "threads": _threads(config.evaluator, _core.workers_of(study.options)),
            "optimizer": _optimizer(config),
            "ends": _ends(config),
            "store": f"{study.options.store}{'' if Path(study.options.store).exists() else ' (does not exist yet)'}",
        }
    )
    note_file_left_behind(study)
    if not evaluations:
        print(f"{path} is correct.")
        return FINISHED
    return _try(study, path, evaluations)


def _print_space(config: _core.StudyConfig) -> None:
    heading, begins = _begin(config)
    table = Table("parameter", "allowed values", *([heading] if heading else []))
    for p in config.space.all:
        table.add_row(p.name, describe(p), *([begins.get(p.name, "not active")] if heading else []))
    console().print(table)


def _begin(config: _core.StudyConfig) -> tuple[str, dict[str, str]]:
    """Where the search starts, with a heading; an empty heading if it has no particular start."""
    space = config.space
    if not space.has_start() and config.starts:
        return "start", {name: shown(value) for name, value in space.named(config.starts[0]).items()}
    heading = "start" if space.has_start() or _core.begins_at_start(config) else ""
    if not heading and config.optimizer == "cmaes":
        heading = "centre"  # the middle
    if heading == "start" and space.violation(space.start()) and not config.evaluate_infeasible:
        heading = ""
    given = {p.name for p in space.parameters if p.initial is not None} | set(fixed_names(space))
    named = space.named(space.start()).items()
    return heading, {name: shown(v) if name in given else f"({shown(v)}: the middle)" for name, v in named}


def _constraints(config: _core.StudyConfig) -> str | None:
    if not config.space.constraints:
        return None
    texts = ", ".join(text if name == text else f"{name}: {text}" for name, text in config.space.constraints)
    points = _core.Optimizer(_core.Space(config.space.all), "random", 1).ask(_SAMPLE)
    share = sum(config.space.violation(x) == 0 for _, x in points) / _SAMPLE
    known = f"{share:.0%}" if share else f"less than one in {_SAMPLE}"
    return f"{texts} (satisfied by {known} of random points)"


def _wanted(config: _core.StudyConfig) -> str:
    objectives = ", ".join(f"{direction} {name}" for name, direction in config.objectives)
    of_residuals = "sum of squared residuals" if config.loss == "linear" else f"{config.loss} loss of residuals"
    squares = f"least {of_residuals}" if config.returns_residuals else "least value"
    limits = [_limit(*limit) for limit in config.limits] + [text for _, text in config.conditions]
    return "; ".join([objectives or squares, *limits])


def _limit(name: str, lower: float, upper: float) -> str:
    left = f"{lower:g} <= " if math.isfinite(lower) else ""
    return f"{left}{name}" + (f" <= {upper:g}" if math.isfinite(upper) else "")


def _evaluator(spec: _core.EvaluatorSpec) -> str:
    what = " ".join(spec.command) if spec.kind == "command" else spec.target
    limit = f", at most {spec.time_limit_s:g} s" if spec.time_limit_s else ""
    return f"{spec.kind} {what}{limit}"


def _threads(spec: _core.EvaluatorSpec, workers: int) -> str | None:
    """Of numerical libraries inside an evaluation; None if nothing limits them."""
    if share := _core.thread_share(workers, spec):
        return f"{share['OMP_NUM_THREADS']} in each worker, for libraries such as OpenBLAS"
    values = {**os.environ, **spec.environment}
    return ", ".join(f"{n}={values[n]}" for n in _core.THREAD_VARIABLES if values.get(n) is not None) or None


def _optimizer(config: _core.StudyConfig) -> str:
    options = {k: f"{v:g}" if isinstance(v, float) else str(v) for k, v in config.optimizer_options.items()}
    named = " ".join([config.optimizer, *(f"{name}={text}" for name, text in options.items())])
    return f"{named}{choice_and_mode(config.optimizer_why, config.generational, config.mode_reason)}"


def _ends(config: _core.StudyConfig) -> str:
    rules = {
        "after {} evaluations": config.evaluations or None,
        "at a value of {:g}": as_given(config.target, config.objectives) if math.isfinite(config.target) else None,
        "after {} evaluations without an improvement": config.stagnation or None,
        "after {:g} s": config.wall_time_s if math.isfinite(config.wall_time_s) else None,
    }
    given = [text.format(rule) for text, rule in rules.items() if rule is not None]
    return ", or ".join([*given, *ends_of_searches(config.optimizer, config.optimizer_options)])


def _try(study: Study, path: Path, evaluations: int) -> int:
    """Runs a few evaluations without a store: the starts, then random candidates."""
    budget = study.config.evaluations
    workers = _core.workers_of(study.options)
    with tempfile.TemporaryDirectory(prefix="culmen-check-") as folder:
        store = _evaluate(study, evaluations, Path(folder))
        if store is None:
            print("culmen: interrupted; the file itself is correct", file=sys.stderr)
            return RESUMABLE
        tried, printed = read(store), _printed(study.config.evaluator, working_folder(store))
        outcomes = list(tried.outcomes())
    failed = [outcome for outcome in outcomes if outcome["status"] != "ok"]
    good = [outcome for outcome in outcomes if outcome["status"] == "ok"]
    seconds = _median_s(good or outcomes)
    cost = f"; {budget} with {workers} workers take {_about(seconds * budget / workers)}" if budget and good else ""
    cost += " if none fails" if cost and failed else ""
    print(f"{len(outcomes)} trial evaluations: {_values(tried)}; each took {_duration(seconds)}{cost}.")
    if printed:
        print(printed)
    _note_same_values(study.config, tried)
    for outcome in failed[:1]:
        share = f"{len(failed)} of {len(outcomes)} evaluations failed"
        print(f"culmen: {share}; the first: {outcome['message']}", file=sys.stderr)
    if len(failed) == len(outcomes):
        return FAILED
    print(f"{path} is correct.")
    return FINISHED


def _median_s(outcomes: list[dict[str, Any]]) -> float:
    return float(sorted(outcome["duration_s"] for outcome in outcomes)[len(outcomes) // 2])


def _evaluate(study: Study, evaluations: int, folder: Path) -> Path | None:
    """The store; None if it was interrupted."""
    config, options = study.config, study.options
    config.optimizer, config.optimizer_options = "random", {}
    if not config.space.has_start() and not config.space.violation(config.space.start()):
        config.starts = [config.space.start(), *config.starts]
    config.evaluations, config.target, config.stagnation = evaluations, -math.inf, 0
    config.give_up_after = 0
    store = folder / "trial.db"
    options.store, config.evaluator.working_folder = str(store), str(working_folder(store))
    if config.evaluator.isolation == "process":
        config.evaluator.output = "all"
    options.place = "threads"  # in a launch, the other ranks have left
    options.workers = min(_core.workers_of(options), evaluations)
    result = conduct(
        config, options, lambda _run: Silent(), _core.STOP_SIGNALS, lambda _number: sys.exit(RESUMABLE)
    ).result
    if result.reason == "interrupted":
        return None
    if not result.final:
        place = "[evaluator] " if result.reason == "set_up" else ""
        raise _core.InputError(f"{study.source}: {place}{result.message}")
    return store


def _note_same_values(config: _core.StudyConfig, tried: Evaluations) -> None:
    """In a correct study the parameters may have no effect, but more often they do not reach the evaluator."""
    values = {tuple(row) for row in tried.values[tried.succeeded].tolist()}
    if len(values) != 1 or tried.succeeded.sum() < 2:
        return
    name = config.space.parameters[0].name
    arrive = f" ({{{name}}} in a word of the command is its value)" if config.evaluator.kind == "command" else ""
    print(
        f"culmen: note: different candidates gave the same value; check that the parameters reach the evaluator"
        f"{arrive}",
        file=sys.stderr,
    )


def _values(tried: Evaluations) -> str:
    """The values; with several objectives, each with its name."""
    names = [f"{objective.name} " if len(tried.objectives) > 1 else "" for objective in tried.objectives]
    texts = [
        ", ".join(f"{name}{value:.6g}" for name, value in zip(names, row, strict=True))
        if status == 0
        else STATUSES[status]
        for status, row in zip(tried.status, tried.values, strict=True)
    ]
    return ("; " if len(names) > 1 else ", ").join(texts)


def _printed(evaluator: _core.EvaluatorSpec, folder: Path) -> str:
    """The output of the first evaluation that printed any; for a program, only standard error."""
    wanted = "stderr.txt" if evaluator.kind == "command" else "*.txt"
    for number in sorted(folder.glob("*"), key=lambda path: int(path.name) if path.name.isdigit() else 0):
        lines = [line for file in sorted(number.glob(wanted)) for line in file.read_text(errors="replace").splitlines()]
        if lines:
            more = [f"  … and {len(lines) - _PRINTED_LINES} more lines"] if len(lines) > _PRINTED_LINES else []
            kept = "" if evaluator.kind == "command" else ' (a run keeps it with output = "all")'
            return "\n".join(
                [f"Evaluation {number.name} printed{kept}:", *(f"  {line}" for line in lines[:_PRINTED_LINES]), *more]
            )
    return ""


def _duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _about(seconds: float) -> str:
    return f"about {clock(seconds)}" if seconds >= 1 else "less than a second"
