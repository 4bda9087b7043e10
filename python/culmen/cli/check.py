"""``culmen check``: what a study file says, what it would cost, and what is wrong with it."""

import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.table import Table

from .. import _core
from ..goals import as_given
from ..master import make_run, stopping_on, wait
from ..progress import Silent, clock
from ..space import describe
from ..study import Study
from . import FAILED, FINISHED, RESUMABLE
from .summary import console, print_figures

_SAMPLE = 2000  # random points, for the share that fulfils the constraints


def check_study(path: Path, evaluations: int) -> int:
    """Raises InputError with a line for each mistake; else prints and returns an exit code."""
    study = Study.from_file(path)
    config = study.config
    _print_space(config.space)
    print_figures(
        {
            "study": f"{config.name}, seed {config.seed}",
            "constraints": _constraints(config),
            "wanted": _wanted(config),
            "evaluator": _evaluator(config.evaluator),
            "optimizer": _optimizer(config),
            "ends": _ends(config),
            "store": f"{study.options.store} ({'is there' if Path(study.options.store).exists() else 'not there yet'})",
        }
    )
    if not evaluations:
        print(f"{path} is right.")
        return FINISHED
    return _try(study, path, evaluations)


def _print_space(space: _core.Space) -> None:
    table = Table("parameter", "what it may be", "begins at")
    for i, (p, x) in enumerate(zip(space.parameters, space.start(), strict=True)):
        value = space.value(i, x)
        begin = f"{value:.6g}" if isinstance(value, float) else str(value)
        table.add_row(p.name, describe(p), begin if p.initial is not None else f"({begin}: the middle)")
    console().print(table)


def _constraints(config: _core.StudyConfig) -> str | None:
    if not config.space.constraints:
        return None
    texts = ", ".join(text if name == text else f"{name}: {text}" for name, text in config.space.constraints)
    points = _core.Optimizer(_core.Space(config.space.parameters), "random", 1).ask(_SAMPLE)
    share = sum(config.space.violation(x) == 0 for _, x in points) / _SAMPLE
    known = f"{share:.0%}" if share else f"less than one in {_SAMPLE}"
    return f"{texts} ({known} of random points fulfil {'it' if len(config.space.constraints) == 1 else 'them'})"


def _wanted(config: _core.StudyConfig) -> str:
    objectives = ", ".join(f"{direction} {name}" for name, direction in config.objectives)
    squares = "least sum of squared residuals" if config.evaluator.result == "residuals" else "least value"
    limits = "".join(f"; {_limit(*limit)}" for limit in config.limits)
    return (objectives or squares) + limits


def _limit(name: str, lower: float, upper: float) -> str:
    left = f"{lower:g} <= " if math.isfinite(lower) else ""
    return f"{left}{name}" + (f" <= {upper:g}" if math.isfinite(upper) else "")


def _evaluator(spec: _core.EvaluatorSpec) -> str:
    what = " ".join(spec.command) if spec.kind == "command" else spec.target
    limit = f", at most {spec.time_limit_s:g} s" if spec.time_limit_s else ""
    return f"{spec.kind} {what}{limit}"


def _optimizer(config: _core.StudyConfig) -> str:
    options = {k: f"{v:g}" if isinstance(v, float) else str(v) for k, v in config.optimizer_options.items()}
    chosen = f" (chosen: {config.optimizer_why})" if config.optimizer_why else ""
    return " ".join([config.optimizer, *(f"{name}={text}" for name, text in options.items())]) + chosen


def _ends(config: _core.StudyConfig) -> str:
    agreeing = config.optimizer == "lm" and config.optimizer_options.get("agreement", 8)
    rules = {
        "after {} evaluations": config.evaluations or None,
        "at a value of {:g}": as_given(config.target, config.objectives) if math.isfinite(config.target) else None,
        "after {} evaluations without an improvement": config.stagnation or None,
        "when {} agree": "the descents" if agreeing else None,
        "after {:g} s": config.wall_time_s if math.isfinite(config.wall_time_s) else None,
    }
    return ", or ".join(text.format(rule) for text, rule in rules.items() if rule is not None)


def _try(study: Study, path: Path, evaluations: int) -> int:
    """A few evaluations, kept nowhere: the starts, then random candidates."""
    budget = study.config.evaluations
    workers = study.options.workers or len(_cpus())
    with tempfile.TemporaryDirectory(prefix="culmen-check-") as folder:
        outcomes = _evaluate(study, evaluations, Path(folder))
    if outcomes is None:
        print("culmen: interrupted; the file itself is right", file=sys.stderr)
        return RESUMABLE
    failed = [outcome for outcome in outcomes if outcome["status"] != "ok"]
    seconds = sorted(outcome["duration_s"] for outcome in outcomes)[len(outcomes) // 2]
    cost = f"; {budget} with {workers} workers take {_about(seconds * budget / workers)}" if budget else ""
    values = ", ".join(_shown(outcome, study.config.objectives) for outcome in outcomes)
    print(f"{len(outcomes)} evaluations on trial: {values}; each took {_duration(seconds)}{cost}.")
    for outcome in failed[:1]:
        print(f"culmen: {len(failed)} of {len(outcomes)} failed, the first: {outcome['message']}", file=sys.stderr)
    if len(failed) == len(outcomes):
        return FAILED
    print(f"{path} is right.")
    return FINISHED


def _evaluate(study: Study, evaluations: int, folder: Path) -> list[dict[str, Any]] | None:
    """None where it was interrupted."""
    config, options = study.config, study.options
    config.optimizer, config.optimizer_options = "random", {}
    if not config.space.has_start() and not config.space.violation(config.space.start()):
        config.starts = [config.space.start(), *config.starts]
    config.evaluations, config.target, config.stagnation = evaluations, -math.inf, 0
    config.give_up_after = 0
    options.store, config.evaluator.working_folder = str(folder / "trial.db"), str(folder / "trial.work")
    options.workers = min(options.workers or len(_cpus()), evaluations)
    run = make_run(config, options)
    with stopping_on(_core.STOP_SIGNALS, run.stop, lambda _number: sys.exit(RESUMABLE)):
        run.start()
        result = wait(run, Silent())
    if result.reason == "interrupted":
        return None
    if not result.final:
        raise _core.InputError(f"{study.source}: [evaluator] {result.message}")
    return _core.Store.read(options.store).outcomes()


def _shown(outcome: dict[str, Any], objectives: list[tuple[str, str]]) -> str:
    return f"{as_given(outcome['value'], objectives):.6g}" if outcome["status"] == "ok" else str(outcome["status"])


def _duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _about(seconds: float) -> str:
    return f"about {clock(seconds)}" if seconds >= 1 else "less than a second"


def _cpus() -> set[int]:
    return os.sched_getaffinity(0)
