"""The end of a run as tables, and the content of a store."""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ... import _core
from ...base.terminal import on_terminal
from ...base.text import counts, lasted, per_second, plural, shown, shown_error
from ...fit.errors import Errors
from ...problem.given import Value
from ...problem.goals import INFEASIBLE, as_given
from ...problem.options import choice_and_mode, mode_of
from ...problem.recommended import Recommended, unnamed
from ...problem.space import at_bounds, fixed_names
from ...store.kept_errors import kept
from ...store.opening import Opened, how_to_resume, recommended_in, resume_command, waiting_in
from .agreement import more_searches, searched_often
from .front import front_in, front_of, front_table
from .points import figures_of, how_to_continue, points_of
from .waiting import waited

if TYPE_CHECKING:  # `culmen status` does not need it, nor what it loads
    from ...run.result import Result

_MANY_ROWS = 500
_LATE_S = 1.0  # for the first worker to be ready
ERRORS = ("failure", "all_failed", "set_up", "error")  # reasons that go to standard error


def print_result(
    result: "Result",
    here: int,
    fit: Errors | str | None,
    ended: Opened,
    digits: int | None = None,
    elsewhere: bool = False,
) -> None:
    """Prints the best parameters, the facts of the run, and the store.

    ``here``: evaluations of this start of the master. ``fit``: the errors, or why there are none. ``ended``: the
    store after the run. ``digits``: significant digits, instead of rounding parameters to their errors.
    ``elsewhere``: workers could be on other machines.
    """
    tables: list[Table | Text] = []
    found = fit if isinstance(fit, Errors) else None
    if result.front:
        tables.append(front_table(front_of(result.front, ended.objectives), digits or 6))
    elif result.best is not None:
        notes = _notes(result.at_bounds, result.fixed)
        tables.append(_best_table(result.best, notes, found, digits))
    written = ended if result.store and ended.path.exists() else None
    waiting = {
        "workers busy": _busy(result) if elsewhere else None,
        "workers waited": waited(result, here, written),
    }
    left = waiting_in(written.summary) if written and not result.final else 0
    tables.append(_figures_table(_figures(result, here, digits, found, waiting, left)))
    if fit is not None:
        tables += _scale_lines(fit, digits)
    if result.store and result.failed:
        tables.append(_failures_table(ended.failures))
    console().print(*tables, sep="\n")
    if result.store and Path(result.store).exists() and not result.final and not result.all_failed:
        print(f"To resume: {resume_command(result.store, ended.begun.configuration if result.team_size else {})}")
    if result.store and result.reason == "converged":
        print(f"To search further: {more_searches(result.store, ended.begun.configuration, result.evaluations)}")
    if result.store and searched_often(result.optimizer, result.reason, ended):
        print("For one search only, add --searches 1 to culmen run.")


def print_state(opened: Opened, digits: int | None = None) -> None:
    """Prints the content of a store, also while it grows. ``digits``: see print_result."""
    console().print(*views(state_of(opened), digits), sep="\n", crop=False)


def views(state: dict[str, Any], digits: int | None = None) -> list[Table | Text]:
    """The output of `culmen status` for ``state_of``. ``digits``: see print_result."""
    if state["points"] is not None:
        return _views_of_points(state)
    tables: list[Table | Text] = []
    fit = Errors.from_table(state["errors"]) if state["errors"] else None
    if state["front"] is not None:
        tables.append(front_table(state["front"], digits or 6))
    elif state["best"] is not None:
        tables.append(_best_table(state["best"], _notes(state["at_bounds"], state["fixed"]), fit, digits))
    tables.append(
        _figures_table(
            {
                "study": state["name"],
                "state": state["state"],
                "optimizer": _searching(state),
                "best value": None if state["front"] else _best_value(state["best_value"], digits or 10),
                "violation": _violation(state["best_violation"], digits),
                **({} if state["front"] else _others(state["best_extras"], fit, digits or 10)),
                "recommended": state["recommended"] and Recommended(**state["recommended"]).shown(digits),
                "evaluations": counts(state["told"], state["limit"], state["waiting"], state["proposed"]),
                "oldest running": state["running"] and _oldest(state["running"]),
                "failed": state["failed"] or None,
                "runs": state["epoch"],
                "created": time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(state["created_s"])),
                "store": state["store"],
            }
        )
    )
    if fit is not None:
        tables += _scale_lines(fit, digits)
    if state["failures"]:
        tables.append(_failures_table(state["failures"]))
    if state["resumable"]:
        tables.append(
            Text(f"To resume: {state['resume_with']}", no_wrap=True, overflow="ignore")
        )  # users copy this line
    return tables


def _views_of_points(state: dict[str, Any]) -> list[Table | Text]:
    tables: list[Table | Text] = [_figures_table(figures_of(state))]
    if state["failures"]:
        tables.append(_failures_table(state["failures"]))
    if state["resumable"]:
        tables.append(Text(how_to_continue(state), no_wrap=True, overflow="ignore"))
    return tables


def state_of(opened: Opened) -> dict[str, Any]:
    """The output of `culmen status --json`."""
    summary, space, objectives = {**opened.summary}, opened.space, opened.objectives
    fit = kept(opened)
    best = summary.pop("best")
    running = summary.pop("running", None)
    configuration = opened.begun.configuration
    recommended = recommended_in(summary, space, objectives)
    optimizer = configuration.get("optimizer", {})
    ended = f"finished ({_core.describe_reason(summary['finished'])})" if summary["finished"] else "stopped"
    return {
        "name": opened.begun.name,
        "fingerprint": opened.begun.fingerprint,
        "created_s": opened.store.created_s,
        "state": f"running ({summary['owner']})" if summary["owned"] else ended,
        "resumable": not summary["finished"] and not summary["owned"],
        "resume_with": how_to_resume(opened.path, configuration),
        "waiting": waiting_in(summary),
        "proposed": max(summary["asked"] - summary["outcomes"], 0) if summary["owned"] else 0,
        "store": str(opened.path),
        "limit": configuration.get("stop", {}).get("evaluations"),
        "optimizer": optimizer.get("name"),
        "generational": optimizer.get("generational", True) if optimizer else None,
        **summary,
        "points": points_of(opened),
        "running": running and _running(*running),
        "failures": opened.failures,
        "best_value": _as_given(summary.get("best_value"), objectives),
        "best": (space.named(best) if space else unnamed(best)) if best else best,
        "best_violation": _of_best(opened, summary, "violation"),
        "best_extras": dict(_of_best(opened, summary, "extras") or {}),
        "recommended": asdict(recommended) if recommended else None,
        "at_bounds": at_bounds(space, best) if best and space else {},
        "fixed": fixed_names(space),
        "front": front_in(opened),
        "errors": fit.as_table() if fit else None,
    }


def _best_value(value: float | None, digits: int) -> str:
    return "none" if value is None else shown(value, digits)


def _violation(amount: float | None, digits: int | None) -> str | None:
    return f"{shown(amount, digits or 6)}: {INFEASIBLE}" if amount else None


def _others(extras: dict[str, float], fit: Errors | None, digits: int) -> dict[str, str]:
    """The extra values that the table of the errors does not contain."""
    above = {derived.name for derived in fit.derived} if fit else set()
    return {name: shown(figure, digits) for name, figure in extras.items() if name not in above}


def _of_best(opened: Opened, summary: dict[str, Any], key: str) -> Any:
    """None if no evaluation has succeeded."""
    evaluation = summary.get("best_evaluation")
    return None if evaluation is None else opened.store.outcomes(evaluation, 1)[0][key]


def _oldest(running: dict[str, Any]) -> str:
    return f"evaluation {running['evaluation']}, for {lasted(running['age_s'])}, on worker {running['worker']}"


def _searching(state: dict[str, Any]) -> str | None:
    """The description of the search; None for a store of a C++ program."""
    if not state["optimizer"]:
        return None
    return f"{state['optimizer']}, {mode_of(state['generational'])}"


def _running(evaluation: int, worker: int, since_s: float) -> dict[str, Any]:
    return {"evaluation": evaluation, "worker": worker, "age_s": max(0.0, round(time.time() - since_s, 1))}


def _as_given(value: float | None, objectives: list[tuple[str, str]]) -> float | None:
    return None if value is None else as_given(value, objectives)


def _notes(bounds: dict[str, str], fixed: list[str]) -> dict[str, str]:
    return {name: f"at bound ({bound})" for name, bound in bounds.items()} | dict.fromkeys(fixed, "fixed")


def _best_table(best: dict[str, Value], known: dict[str, str], fit: Errors | None, digits: int | None) -> Table:
    notes = {name: known.get(name, "") for name in best}
    if fit is not None:
        notes = {name: fit[name].note or note for name, note in notes.items()}
    noted = any(notes.values()) or bool(fit and fit.derived)
    table = Table("parameter", "best value", *([fit.column] if fit else []), *([""] if noted else []))
    for name, value in best.items():
        figures = [shown(value, digits or 10)]
        if fit is not None:
            figures = [fit[name].shown_value(digits, alone=True), shown_error(fit[name].error, digits)]
        table.add_row(name, *figures, *([notes[name]] if noted else []))
    for derived in fit.derived if fit else []:
        table.add_row(
            derived.name, derived.shown_value(digits, alone=True), shown_error(derived.error, digits), derived.note
        )
    return table


def _scale_lines(fit: Errors | str, digits: int | None) -> list[Text]:
    """The scale of the errors, or why there are none."""
    return [Text(line) for line in ([f"No errors: {fit}."] if isinstance(fit, str) else fit.sentences(digits))]


def _figures(
    result: "Result", here: int, digits: int | None, fit: Errors | None, waiting: dict[str, Any], left: int
) -> dict[str, Any]:
    """``left``: results in the store that wait for an earlier evaluation."""
    residuals = f" ({plural(len(result.residuals), 'residual')})" if result.residuals else ""
    former = f", {here} of them in this run" if here != result.evaluations else ""
    remark = f"; {result.remark}" if result.remark else ""
    nodes = f" on {result.nodes} nodes" if result.nodes > 1 else ""
    workers = f"{teams_or_workers(result.workers, result.team_size)}{nodes}"
    return {
        "optimizer": f"{result.optimizer}{choice_and_mode(result.optimizer_why, result.generational)}{remark}",
        "end": None if result.reason in ERRORS else result.message,
        "best value": None if result.front else _best_value(result.value, digits or 10) + residuals,
        "recommended": result.recommended and result.recommended.shown(digits),
        "violation": _violation(result.violation, digits),
        **({} if result.front else _others(result.extras, fit, digits or 10)),
        "evaluations": f"{counts(result.evaluations, None, left)}{former}",
        **{name: getattr(result, name) or None for name in ("failed", "retried", "lost")},
        "time": f"{lasted(result.wall_s)} with {workers}{_rate(result, here)}",
        **waiting,
        "store": result.store or None,
    }


def _rate(result: "Result", here: int) -> str:
    """Empty if there was no worker. Workers of other machines may join late, or never."""
    if not result.served_s > 0:
        return ""
    waited_s = result.wall_s - result.served_s
    if waited_s < _LATE_S:
        return f", {per_second(here / result.wall_s)}"
    return f", {per_second(here / result.served_s)} since the first worker joined, after {lasted(waited_s)}"


def _busy(result: "Result") -> str | None:
    """The share of their time in which workers evaluated."""
    if not result.present_s > 0:
        return None
    return f"{min(1.0, result.evaluated_s / result.present_s):.0%} of their time"


def teams_or_workers(workers: int, team_size: int) -> str:
    if not team_size:
        return f"{workers} workers"
    return f"{workers} team{'' if workers == 1 else 's'} of {team_size} rank{'' if team_size == 1 else 's'}"


def _failures_table(failures: list[dict[str, Any]]) -> Table:
    table = Table("failure", "count", "first", "first message")
    for entry in failures:
        kept = f" (see {from_here(entry['folder'])})" if "folder" in entry else ""
        table.add_row(*(str(entry[key]) for key in ("status", "count", "first")), _first_line(entry["message"]) + kept)
    return table


def from_here(folder: str) -> str:
    path, here = Path(folder), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else folder


def _first_line(text: str) -> str:
    return next(iter(text.splitlines()), "")


def print_figures(figures: dict[str, Any]) -> None:
    console().print(_figures_table(figures))


def _figures_table(figures: dict[str, Any]) -> Table:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, figure in figures.items():
        if figure is not None:
            table.add_row(name, str(figure))
    return table


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], texts: Collection[str]) -> None:
    """Numbers stand on the right. ``texts``: the headings of the other columns."""
    rows = list(rows)
    if len(rows) > _MANY_ROWS and (lines := _plain_table(headings, rows, texts)):
        print("\n".join(lines))
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, justify="left" if heading in texts else "right")
    for row in rows:
        table.add_row(*row)
    console().print(table)


def _plain_table(headings: Sequence[str], rows: list[Sequence[str]], texts: Collection[str]) -> list[str]:
    """The lines of the same table, without styles: rich needs seconds for many rows. Empty if it is too wide."""
    every = [headings, *rows]
    widths = [max(cell_len(row[k]) for row in every) for k in range(len(headings))]
    if sum(widths) + 2 * len(widths) > console().width:
        return []
    at_left = [heading in texts for heading in headings]
    return ["".join(map(_padded, row, widths, at_left)) for row in every]


def _padded(text: str, width: int, left: bool) -> str:
    blanks = " " * (width - cell_len(text))
    return f"{text}{blanks}  " if left else f"{blanks}{text}  "


def console() -> Console:
    """Wide if it is not a terminal: nothing is cut off in a log."""
    terminal = on_terminal()
    return Console(force_terminal=terminal, width=None if terminal else 160, highlight=False, markup=False)
