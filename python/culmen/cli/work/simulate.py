"""``culmen simulate``: simulates a study on another cluster."""

import copy
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from ... import _core
from ..._core import InputError
from ...base.exit_codes import FAILED, FINISHED, RESUMABLE
from ...base.signals import STOP_SIGNALS, stopping_on
from ...base.terminal import on_terminal
from ...base.text import grouped
from ...problem.options import mode_of
from ...report.files import check_target, replacing
from ...report.page import PAGE
from ...run.study import Study
from ...simulate.durations import Durations, durations_of_store, given_durations, no_durations
from ...simulate.network import as_table, network_from
from ...simulate.page import simulation_page
from ...simulate.reasons import knee_of, limit_of_study, shortage_of
from ...simulate.rows import CURVE, TEXTS, VARIATIONS, curve_rows, lasted_s, percent, rate, variation_rows
from ...simulate.sweep import EVALUATIONS_PER_WORKER, Cluster, Point, Simulator, Sweep
from ...store.opening import open_store
from .summary import print_figures, print_table


@dataclass(frozen=True)
class Given:
    """The options of the command."""

    workers: int
    evaluations: int | None
    duration_s: float | None
    distribution: str | None
    spread: float | None
    store: Path | None
    function: str
    workers_per_node: int
    network: Path | None
    seed: int | None
    fix: dict[str, str]
    only: bool
    max_workers: int


def simulate_study(path: Path, given: Given, html: Path | None, as_json: bool, force: bool, quiet: bool) -> int:
    """Raises InputError if the study cannot be simulated; else prints and returns an exit code."""
    if html:
        check_target(html, PAGE, force, "--html")
    study = Study.from_file(path, seed=given.seed, fix=given.fix, evaluations=given.evaluations)
    durations = _durations(path, given)
    evaluations = study.config.evaluations
    if not evaluations:
        raise InputError(f"{path} has no limit of evaluations; give --evaluations N")
    network, source = network_from(given.network)
    cluster = Cluster(
        given.workers,
        given.workers_per_node,
        network,
        durations,
        given.function,
        study.config.seed,
        prefetch=study.options.prefetch,
    )
    with _progress(quiet or as_json) as watch:
        simulator = Simulator(lambda: copy.copy(study.config), cluster, watch)
        with stopping_on(STOP_SIGNALS, simulator.stop, lambda _number: os._exit(FAILED)):
            sweep = simulator.run(evaluations, 0 if given.only else given.max_workers)
    if sweep.main is None:
        print("culmen: stopped before anything was known", file=sys.stderr)
        return RESUMABLE
    facts = {**_assumed(study, cluster, source), **_found(sweep.main)}
    if as_json:
        print(json.dumps(_as_json(facts, cluster, sweep)))
    else:
        _print(facts, sweep)
    if html:
        with replacing(html, PAGE, force, "--html") as target:
            target.write_text(simulation_page(f"{study.config.name}, simulated", facts, sweep), encoding="utf-8")
        if not as_json:
            print(f"Wrote the figures to {html}")
    return RESUMABLE if sweep.stopped else FINISHED


def _durations(path: Path, given: Given) -> Durations:
    """From the options, otherwise from the study's store."""
    if given.duration_s is not None:
        if given.store:
            raise InputError("--store and --duration are given; give only one of them")
        return given_durations(given.duration_s, given.distribution, given.spread)
    for option, value in {"--distribution": given.distribution, "--spread": given.spread}.items():
        if value is not None:
            raise InputError(f"{option} needs --duration SECONDS, the mean duration of an evaluation")
    study = Study.from_file(path, seed=given.seed, fix=given.fix, store=given.store)
    store = Path(study.options.store)
    if not given.store and not store.exists():
        raise no_durations(store)
    opened = open_store(store, "simulate")
    if another := study.meet(opened.begun).another:
        raise InputError(f"{another}; give --duration SECONDS, or the store of this study")
    return durations_of_store(opened)


def _assumed(study: Study, cluster: Cluster, source: str) -> dict[str, str]:
    times = ", ".join(f"{name} {value:.3g}" for name, value in as_table(cluster.network).items())
    return {
        "study": f"{study.config.name}, seed {study.config.seed}",
        "durations": str(cluster.durations),
        "values": f"test function {cluster.function}; the evaluator is not called",
        "times of messages": times,
        "source of these times": source,
    }


def _found(main: Point) -> dict[str, str]:
    f = main.figures
    nodes = f"{grouped(f.nodes)} node{'s' if f.nodes > 1 else ''}"
    stopped = "" if main.whole else f", stopped after {grouped(f.evaluations)}"
    steady = (
        f" ({percent(f.steady_utilisation)} without the start and the end of the run)" if f.steady_s < f.wall_s else ""
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "cluster": f"{grouped(main.workers)} workers on {nodes}",
        **_relays(f),
        "mode": mode_of(f.generational),
        "evaluations": grouped(main.evaluations) + stopped + _why_ended(f),
        "whole run": lasted_s(f.wall_s),
        "utilisation": f"{percent(f.utilisation)}{steady}",
        "evaluations/s": rate(f) + (" without the start and the end of the run" if f.steady_s < f.wall_s else ""),
        "master": f"{percent(f.master_load)} of one core",
        "store": f"{percent(f.writer_load)} of one core, in a thread of its own",
        "messages": _in_each(f.frames_per_message),
        "why workers wait": limit_of_study(main) or "they hardly wait",
        "simulated in": f"{f.simulated_in_s:.3g} s, with {memory / 1024:.0f} MB of memory",
    }


def _in_each(frames: float) -> str:
    if not frames:
        return "none"
    count = f"{frames:.2g}"
    words = "candidate or result" if count == "1" else "candidates or results"
    return f"{count} {words} in each, on average"


def _relays(f: _core.SimulationFigures) -> dict[str, str]:
    """The figures of the relays; empty on a single node."""
    relays = f.nodes - 1
    if not relays:
        return {}
    load = f"{percent(f.relay_load)} of one core" + (" for the busiest" if relays > 1 else "")
    if f.first_relays == relays:
        return {"relays": f"{grouped(relays)}; {load}"}
    first = f"{grouped(f.first_relays)} of them between the master and the others"
    return {"relays": f"{grouped(relays)}, {first}; {load}"}


def _why_ended(f: _core.SimulationFigures) -> str:
    if f.reason in ("evaluations", "interrupted"):
        return ""
    return f", {_core.describe_reason(f.reason)} after {grouped(f.evaluations)}"


def _print(facts: dict[str, str], sweep: Sweep) -> None:
    print_figures(facts)
    if sweep.curve:
        print(f"\nOther numbers of workers, each with {EVALUATIONS_PER_WORKER} evaluations per worker:")
        print_table(CURVE, curve_rows(sweep.curve), TEXTS)
        print(knee_of(sweep.curve))
        if sweep.main and (shortage := shortage_of(sweep.curve, sweep.main.evaluations)):
            print(shortage)
    if sweep.variations:
        print(f"\nOther networks, with at most {EVALUATIONS_PER_WORKER} evaluations per worker:")
        print_table(VARIATIONS, variation_rows(sweep.variations), TEXTS)
    if sweep.stopped:
        print("The simulation was stopped; this is what is known.")


def _as_json(facts: dict[str, str], cluster: Cluster, sweep: Sweep) -> dict[str, Any]:
    durations = {key: value for key, value in asdict(cluster.durations).items() if key != "measured_s"}
    assert sweep.main is not None
    return {
        "study": facts["study"],
        "durations": durations,
        "function": cluster.function,
        "network": as_table(cluster.network),
        "run": _point(sweep.main),
        "curve": [_point(point) for point in sweep.curve],
        "networks": [{"changed": p.network, "factor": p.factor, **_point(p)} for p in sweep.variations],
        "knee": knee_of(sweep.curve),
        "stopped": sweep.stopped,
    }


_FIGURES = (
    "reason", "evaluations", "nodes", "first_relays", "generational", "wall_s", "utilisation", "steady_s",
    "steady_utilisation", "steady_rate", "master_load", "writer_load", "line_load", "relay_load", "most_running",
    "frames_per_message", "simulated_in_s",
)  # fmt: skip


def _point(point: Point) -> dict[str, Any]:
    return {"workers": point.workers, **{name: getattr(point.figures, name) for name in _FIGURES}}


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[float, int], None]]:
    """A bar on a terminal, which is removed at the end."""
    if quiet or not on_terminal():
        yield lambda _done, _workers: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (TextColumn("simulating {task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=Console(force_terminal=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda done, workers: bar.update(task, completed=done, description=f"{grouped(workers)} workers")
