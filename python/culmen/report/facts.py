"""The facts in a report: the state of the study, its settings, its machine, and how to run it again."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator
from typing import Any

from .. import _core
from ..base import digest, machine
from ..base.text import counts, lasted, per_second, shown
from ..problem.goals import INFEASIBLE
from ..problem.options import mode_of
from ..problem.space import at_bounds, fixed_names
from ..store.front import front_of
from ..store.opening import function_in, recommended_in, waiting_in
from ..store.table import Table
from ..study_file import call_of
from .longest import about_longest, about_running
from .timeline import totals

Rows = dict[str, str]
_ABOUT = ("folder", digest.KEY, machine.KEY)  # entries of a configuration that are not in a study file


def standing(table: Table) -> Rows:
    """The first table of the summary."""
    import numpy as np

    summary, total = table.summary, totals(table)
    told = table.order
    rows = {"state": state(summary)}
    if table.best is not None:
        for k, objective in enumerate(table.objectives):
            name = objective.name if objective.name != "value" else "best value"
            rows[name] = f"{table.values[table.best, k]:.10g}" + (" (maximized)" if objective.maximize else "")
        if len(table.objectives) > 1:
            rows["Pareto front"] = (
                f"{len(front_of(table))} evaluations; this is the best of them by {table.objectives[0].name}"
            )
        if recommended := recommended_in(summary, table.space, _objectives(table)):
            rows["recommended"] = str(recommended)
        rows["found by evaluation"] = f"{table.evaluation[table.best]} (numbers start at 0)"
        if table.violation[table.best] > 0:
            rows["violation"] = f"{table.violation[table.best]:.4g}: {INFEASIBLE}"
        rows |= {name: f"{v[table.best]:.10g}" for name, v in table.extras.items() if np.isfinite(v[table.best])}
    else:
        rows["best value"] = "none: no evaluation succeeded" if len(told) else "none yet"
    ended = int((table.status >= 0).sum())
    proposed = len(table) - ended if summary["owned"] else 0
    limit = (table.configuration.get("stop") or {}).get("evaluations")
    rows["evaluations"] = counts(len(told), limit, waiting_in(summary), proposed)
    rows["failed"] = str(int(table.failed.sum()))
    if total.wall_s > 0:
        rows["time"] = f"{lasted(total.wall_s)}, {per_second(len(told) / total.wall_s)}"
        of_all = total.workers * total.wall_s / 100
        rows["workers"] = (
            f"{total.workers}: {total.computed_s / of_all:.3g} % of their time for successful evaluations, "
            f"{total.failed_s / of_all:.3g} % for failed ones, "
            + (f"{total.running_s / of_all:.3g} % for one that still runs, " if total.running_s else "")
            + f"{total.waited_s / of_all:.3g} % waiting"
        )
    rows |= {"oldest running": about_running(table), "longest evaluation": about_longest(table)}
    return {name: text for name, text in rows.items() if text}


def _objectives(table: Table) -> list[tuple[str, str]]:
    return [(o.name, "maximize" if o.maximize else "minimize") for o in table.objectives]


def state(summary: dict[str, Any]) -> str:
    if summary["owned"]:
        return f"running ({summary['owner']})"
    return (
        f"finished ({_core.describe_reason(summary['finished'])})"
        if summary["finished"]
        else "stopped; it can be resumed"
    )


def best_parameters(table: Table) -> list[tuple[str, str, str]]:
    """Name and value of each parameter, and the bound if it is at one."""
    if table.best is None:
        return []
    bounds = at_bounds(table.space, table.x[table.best].tolist()) if table.space is not None else {}
    named = table.named(table.best)
    notes = {name: f"at its {bound} bound" for name, bound in bounds.items()}
    notes |= dict.fromkeys(fixed_names(table.space), "fixed")
    rows = [(name, shown(value, 10), notes.get(name, "")) for name, value in named.items()]
    return rows + [(name, "", "not active") for name in table.names if name not in named]


def origins(table: Table) -> Rows:
    """Versions, machine, seed, and the evaluator."""
    data, store = table.configuration, table.store
    began: dict[str, Any] = data.get(machine.KEY) or {}
    optimizer: dict[str, Any] = data.get("optimizer") or {}
    rows = {
        "started": _moment(store.created_s),
        "version": store.build,
        "python": str(began.get("python", "")),
        "MPI": f"{began['mpi']}, {began['ranks']} ranks" if "mpi" in began else "",
        "machine": ", ".join(str(began[key]) for key in ("host", "system", "cpu") if began.get(key)),
        "CPUs": f"{began['cpus']}, {began['memory_gib']} GiB of memory" if "cpus" in began else "",
        "seed": str(data.get("seed", "")) or "in the program that made the store",
        "optimizer": _words({key: value for key, value in optimizer.items() if key != "generational"}),
        "mode": mode_of(optimizer.get("generational", True)) if optimizer else "",
        "stops at": _words(data.get("stop")),
        "evaluated": _evaluated(data),
        "fingerprint": store.fingerprint,
        "store": str(table.path.resolve()),
    }
    evaluator: digest.Digest = data.get(digest.KEY) or {}
    if "sha256" in evaluator:
        rows[f"SHA-256 of {evaluator['of']}"] = evaluator["sha256"]
    rows["accepted changes"] = ", ".join(evaluator.get("changes", []))
    return {name: text for name, text in rows.items() if text}


def starts(table: Table) -> list[tuple[str, str, str, str]]:
    """(number, time, host and process, version) of each start."""
    return [
        (str(s["epoch"]), _moment(s["started_s"]), f"{s['host']}, process {s['pid']}", s["build"])
        for s in table.store.starts()
    ]


def study_file(table: Table) -> str:
    """The study file's content as the store keeps it; empty for a study of a program."""
    data = table.configuration
    kept = {key: value for key, value in data.items() if key not in _ABOUT and value not in ({}, [])}
    return "\n".join(_toml(kept)) if "evaluator" in data and not function_in(data) else ""


def how_to_reproduce(table: Table) -> tuple[str, list[str]]:
    """A sentence, and the commands."""
    data, path = table.configuration, shlex.quote(str(table.path))
    build = f"# with {table.store.build}" if table.store.build else ""
    if function_in(data):
        return (
            f"culmen.minimize made this study with the call below; {_gives_the_same(data, 'the same function')}.",
            [build, call_of(data, "again.db")],
        )
    if "evaluator" in data:
        name = shlex.quote(f"{data['name']}.toml")
        launch = (
            f"culmen launch -n {data[machine.KEY]['ranks']} " if "mpi" in (data.get(machine.KEY) or {}) else "culmen "
        )
        text = (
            f"Save the study file above as {data['name']}.toml in the folder of its evaluator "
            f"(it was {data.get('folder', '?')}); {_gives_the_same(data, 'the same seed')}."
        )
        return text, [
            build,
            f"{launch}run {name} --seed {data['seed']} --store again.db",
            f"culmen compare {path} again.db",
        ]
    return "minimize() of a C++ program made this study; the program has its space, optimizer and seed.", [build]


def _gives_the_same(data: dict[str, Any], what: str) -> str:
    if (data.get("optimizer") or {}).get("generational", True):
        return f"{what} gives the same candidates, whatever the number of workers"
    return f"{what} can give other candidates, because they depended on timing: the study was asynchronous"


def _evaluated(data: dict[str, Any]) -> str:
    if function := function_in(data):
        return f"the Python function {function}"
    evaluator = data.get("evaluator") or {}
    kind = next((key for key in ("python", "library", "command") if key in evaluator), None)
    if kind is None:
        return ""
    what = evaluator[kind]
    return f"{kind} {shlex.join(what) if isinstance(what, list) else what}, in {data.get('folder', '?')}"


def _words(table: Any) -> str:
    if not isinstance(table, dict):
        return str(table or "")
    return ", ".join(f"{key} = {value}" for key, value in table.items())


def _toml(data: dict[str, Any]) -> Iterator[str]:
    yield from (f"{_key(k)} = {_value(v)}" for k, v in data.items() if not isinstance(v, dict))
    for name, table in data.items():
        if isinstance(table, dict):
            yield f"\n[{_key(name)}]"
            yield from (f"{_key(k)} = {_value(v)}" for k, v in table.items())


def _key(name: str) -> str:
    plain = name and all(c.isascii() and (c.isalnum() or c in "_-") for c in name)
    return name if plain else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(seconds))
