"""Puts together the report on one study."""

from __future__ import annotations

import time
from collections.abc import Iterator

from ..base.text import shown
from ..fit.errors import Errors
from ..store.kept_errors import kept
from ..store.table import Table
from . import facts
from .convergence import by_evaluations, by_time
from .correlation import correlations
from .failures import Failure, failures, first_line
from .landscape import against_value, slices
from .page import Section, matrix, page, place_of, preformatted, table, text
from .parallel import parallel
from .results import front, residuals
from .style import Figure, counted, grouped
from .timeline import timeline

_PARAMETERS = 60  # of a failed evaluation
_STUDY_FILE = 200_000  # characters


def report(evaluations: Table) -> str:
    """The report as HTML. Sections without content (no failures, one objective) are left out."""
    figures: list[Figure] = []
    sections = list(_sections(evaluations, figures))
    now = time.strftime("%Y-%m-%d %H:%M:%S %z")
    summary = evaluations.summary
    lead = f"<p>culmen study, {text(facts.state(summary))}; as of {now}.</p>"
    has_name = evaluations.name != "<lambda>"
    return page(evaluations.name if has_name else evaluations.path.stem, lead, sections, figures)


def _sections(e: Table, figures: list[Figure]) -> Iterator[Section]:
    def drawn(*several: Figure | None) -> str:
        there = [figure for figure in several if figure is not None]
        figures.extend(there)
        return "".join((f"<h3>{text(f.title)}</h3>" if len(there) > 1 else "") + place_of(f) for f in there)

    yield Section("summary", "Summary", _summary(e))
    if len(e.order):
        yield Section("convergence-all", "Convergence", drawn(by_evaluations(e), by_time(e)))
    if len(e.objectives) > 1 and e.feasible.any():
        yield Section("pareto", "Pareto front", drawn(front(e)))
    if (errors := kept(e.opened)) is not None:
        yield Section("errors", "Errors of the parameters", _errors(errors))
    if (found := residuals(e)) is not None:
        yield Section("fit", "Residuals of the best evaluation", drawn(found))
    if e.feasible.any() and e.parameters:
        yield Section("space", "Parameters", drawn(against_value(e), slices(e), parallel(e)))
        yield Section("correlation", "Correlation", _correlation(e))
    if (e.status >= 0).any():
        yield Section("workers", "Workers", drawn(timeline(e)))
    if e.failed.any():
        yield Section("failures", "Failures", _failures(e))
    yield Section("origins", "Configuration, versions, machine", _origins(e))
    yield Section("reproduce", "How to reproduce this study", _reproduce(e))


def _summary(e: Table) -> str:
    body = table(facts.standing(e).items())
    if not len(e):
        return body + "<p>The optimizer has not proposed a candidate yet, so there is nothing to draw.</p>"
    best = facts.best_parameters(e)
    if best:
        bounds = any(note for *_, note in best)
        rows = best if bounds else [row[:2] for row in best]
        body += table(rows, ["parameter", "best", ""][: 3 if bounds else 2], numbers=[1])
    return f'<div class="sides">{body}</div>'


def _errors(errors: Errors) -> str:
    rows, headings = errors.as_rows()
    body = table(rows, headings, numbers=range(1, len(headings) - 1))
    body += "".join(f"<p>{text(sentence)}</p>\n" for sentence in errors.lines)
    if len(errors.free) > 1:
        body += "<h3>Correlation of the fitted parameters</h3>\n"
        body += matrix(errors.free, errors.correlation)
    return body


def _correlation(e: Table) -> str:
    found = correlations(e)
    about = (
        "Spearman's rank correlation over the successful evaluations: 1 if both columns always rise together, −1 if "
        "one always falls when the other rises. It depends on where the optimizer searched, and on how the value "
        "depends on the parameters."
    )
    notes = "".join(f'<p class="note">{text(note)}</p>' for note in found.notes)
    return f'<p class="note">{about}</p>{notes}{matrix(found.names, found.matrix)}'


def _failures(e: Table) -> str:
    found = failures(e)
    note = f"{counted(found.total, 'evaluation')} failed."
    if found.looked_at < found.total:
        note += f" The table counts the first {grouped(found.looked_at)} of them."
    kinds = [(count, status, message) for status, message, count in found.kinds[:40]]
    body = f"<p>{note}</p>" + table(kinds, ["count", "status", "message"], numbers=[0])
    if len(found.kinds) > len(kinds):
        body += f'<p class="note">{len(found.kinds) - len(kinds)} more kinds are left out.</p>'
    if len(found.shown) < found.total:
        body += f'<p class="note">{len(found.shown)} of {grouped(found.total)}, with their logs:</p>'
    return body + "".join(map(_failure, found.shown))


def _failure(f: Failure) -> str:
    first = first_line(f.message)
    named = [f"{name} = {shown(value)}" for name, value in f.parameters.items()]
    parameters = ", ".join(named[:_PARAMETERS]) + (", …" if len(named) > _PARAMETERS else "")
    logs = "".join(f"<p>{text(name)}</p>{preformatted(content)}" for name, content in f.logs.items())
    return (
        f"<details><summary>Evaluation {f.evaluation} {text(f.status)}: {text(first)}</summary>"
        f"<p>Worker {f.worker}, after {f.duration_s:.3g} s, at {text(parameters)}</p>"
        f"{preformatted(f.message)}{logs}</details>\n"
    )


def _origins(e: Table) -> str:
    body = table(facts.origins(e).items())
    body += "<h3>Runs of this study</h3>" + table(facts.starts(e), ["run", "start", "machine", "version"])
    if content := facts.study_file(e):
        body += "<h3>The study file, as the store keeps it</h3>" + preformatted(content[:_STUDY_FILE])
        if len(content) > _STUDY_FILE:
            body += f'<p class="note">{grouped(len(content) - _STUDY_FILE)} more characters are left out.</p>'
    return body


def _reproduce(e: Table) -> str:
    sentence, commands = facts.how_to_reproduce(e)
    return f"<p>{text(sentence)}</p>" + preformatted("\n".join(filter(None, commands)))
