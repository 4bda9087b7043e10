"""The results of ``culmen tune hpl``: files, tables and sentences."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...base.text import lasted
from ...bench.verdict import Verdict
from ...report.files import Kind, replacing
from ...report.page import PAGE, Section, table
from ...report.reading import read
from ...tune.command.failed import failed_in
from ...tune.command.line import typed_line
from ...tune.command.page import tuning_page
from ...tune.command.results import (
    HEADINGS,
    ROUNDS,
    TEXTS,
    Compared,
    Tuned,
    as_json,
    rows_of,
    sentences,
    used_verdict,
)
from ...tune.command.stopping import Ended
from ...tune.command.tuner import PAGE_NAME, effects_in, spent_s
from ...tune.command.worth import Worth
from ...tune.hpl import report
from ...tune.hpl.asked import Asked
from ...tune.hpl.choosing import built_s
from ...tune.hpl.measured import input_text
from ...tune.hpl.plan import Known
from ...tune.hpl.program import input_name
from ...tune.hpl.report import CALCULATOR, FOUND, PRESENT, RANDOM, SHIPPED, Case
from ...tune.hpl.runs import RESULT, SEARCH, Runs
from ...tune.hpl.scaling import Curve
from ...tune.hpl.space import Settings, command_for, dat_of
from ...tune.hpl.verified import Verified, verify
from ...tune.hpl.verified import sentences as verified_sentences
from .summary import print_table

_MORE_RUNS = "more --minutes help"
_MORE_ROUNDS = f"add --rounds {ROUNDS}, more --minutes and --overwrite to the command; it measures all again"
_FILE = Kind("result", lambda _path, head: head.startswith(b"{"))
_INPUT = Kind("input file of HPL", lambda _path, head: b"HPL" in head)


@dataclass(frozen=True)
class Outcome:
    """``new``: the settings of the search, whose time grows by ``curve``."""

    asked: Asked
    runs: Runs
    known: Known
    new: Settings
    curve: Curve
    compared: list[Case]
    ended: Ended | None = None  # why the search ended, if its stop was weighed
    verified: Verified | None = None

    @property
    def last(self) -> list[Case]:
        """With the final N."""
        return [case for case in self.compared if case.n == self.compared[-1].n]

    @property
    def shown_cases(self) -> list[list[str]]:
        """Also one run with each BLAS."""
        tried = self.known.tried
        first = [Case("first run", settings, n, [speed or math.nan]) for settings, n, speed in tried]
        last = self.verified.cases if self.verified else []
        cases = [*(first if first[1:] else []), *self.compared, *last]
        return report.rows_of(cases, self.asked.programs, self.asked.cores)


def with_verified(outcome: Outcome) -> Outcome:
    """After runs with N of the input file."""
    asked, known = outcome.asked, outcome.known
    used, n = _decided(outcome, _tuned(outcome))
    kinds = {PRESENT: (asked.cases[PRESENT], known.curves[PRESENT])}
    if used != asked.cases[PRESENT]:
        kinds[FOUND] = (used, outcome.curve)
    return replace(outcome, verified=verify(kinds, n, asked.program.path, outcome.runs, known))


def _decided(outcome: Outcome, tuned: Tuned) -> tuple[Settings, int]:
    """The recommended settings, and N of the input file."""
    used = outcome.new if tuned.is_better else outcome.asked.cases[PRESENT]
    return used, _size(outcome, int(used["nb"]))


def write_and_show(outcome: Outcome, typed: list[str]) -> None:
    """``typed``: the command, for the result."""
    runs, tuned = outcome.runs, _tuned(outcome)
    used, n = _decided(outcome, tuned)
    file = _write_input(outcome, used, n)
    tables = [(report.HEADINGS, outcome.shown_cases, report.TEXTS), (HEADINGS, [*rows_of(tuned)], TEXTS)]
    said = [*sentences(tuned), *_further(outcome, tuned), *_how_to_run(outcome, used, n)]
    _write(outcome, tuned, used, n, {"command": typed, "tables": tables, "sentences": said})
    for shown_table in tables:
        print_table(*shown_table)
    for sentence in said:
        print(sentence)
    runs.say(f"Wrote {file}, {runs.folder / RESULT} and {runs.folder / PAGE_NAME}")


def _how_to_run(outcome: Outcome, used: Settings, n: int) -> Iterator[str]:
    if outcome.verified is not None:
        yield from verified_sentences(outcome.verified)
    elif outcome.asked.options.size is None:
        curve = outcome.curve if used == outcome.new else outcome.known.curves[PRESENT]
        yield _expected(curve, n)
    if outcome.asked.program.is_hpcc:
        yield (
            f"hpcc runs 15 other benchmarks before HPL. With N = {n} in its file, these can take much longer than HPL."
        )
    yield f"Run it in {outcome.runs.folder}: {_command(outcome, used)}"


def _tuned(outcome: Outcome) -> Tuned:
    asked, new = outcome.asked, outcome.new
    by_name = {case.name: case for case in outcome.last}
    present, found = by_name[PRESENT], by_name.get(FOUND)
    compared = verdict = None
    spent = built_s(asked.options, asked.folder) + spent_s(outcome.runs.stores())
    if found is not None:
        why = next(iter(found.failures), "")
        compared = Compared(
            list(zip(present.gflops, found.gflops, strict=True)), why, lost=report.lost_in(outcome.last)
        )
        verdict = report.over(outcome.last, PRESENT, FOUND)
    used = used_verdict(compared, verdict)
    use_h = outcome.ended.use_h if outcome.ended else None
    worth = Worth.of(used, True, spent, asked.cores, asked.options.price, use_h=use_h)
    searched = read(outcome.runs.store(SEARCH))
    gflops = np.exp(searched.values[:, 0])
    names = {name for name, parameter in asked.space(outcome.known).items() if "value" not in parameter}
    effects = effects_in(searched, gflops)
    old = {name: value for name, value in asked.cases[PRESENT].items() if name in names}
    chosen = {name: new[name] for name in old}
    values = [float(value) for value in gflops[searched.order]]
    return Tuned(
        "GFLOPS", True, old, chosen, compared, verdict, worth, effects, values, spent, outcome.ended,
        failed_in(searched), _MORE_RUNS, _MORE_ROUNDS, builds=asked.options.build is not None,
    )  # fmt: skip


def _further(outcome: Outcome, tuned: Tuned) -> Iterator[str]:
    lost = report.lost_in(outcome.last)
    if lost and (tuned.compared is None or tuned.verdict is not None or tuned.compared.fails_more):
        yield f"In the comparison, {lost}."
    yield from report.of_sizes(outcome.compared)
    shipped = report.over(outcome.last, SHIPPED, FOUND)
    if shipped is not None:
        yield f"Compared with the shipped file: {_gain(shipped)}"
    verdict = report.over(outcome.last, CALCULATOR, FOUND)
    if outcome.new == outcome.asked.cases[CALCULATOR] != outcome.asked.cases[PRESENT]:
        yield "The best settings found are the web calculators' choice."
    elif verdict is not None:
        yield f"Compared with the web calculators' choice: {_gain(verdict)}"
    by_chance = report.over(outcome.last, RANDOM, FOUND)
    if by_chance is not None:
        yield f"Compared with a random search of equal time: {_gain(by_chance)}"
    yield from outcome.asked.left_out


def _gain(verdict: Verdict) -> str:
    low, high = 100 * verdict.low, 100 * verdict.high
    return f"{100 * verdict.gain:+.1f} % GFLOPS, interval of 95 %: {low:+.1f} to {high:+.1f} %."


def _size(outcome: Outcome, nb: int) -> int:
    """N of the file: as large as the memory allows. If some settings needed more memory than others, all got less."""
    plan, compared = outcome.known.plan, outcome.last[0].n
    if outcome.asked.options.size:
        return compared
    n = plan.memory_n * compared // plan.final_n
    return n - n % nb if n > nb else n


def _expected(curve: Curve, n: int) -> str:
    return (
        f"With N = {n}, HPL takes about {lasted(curve.time_s(n))}. The model expects {curve.gflops(n):.4g} GFLOPS; "
        "this was not measured."
    )


def _command(outcome: Outcome, used: Settings) -> str:
    asked = outcome.asked
    words, variables = command_for(asked.programs.of(used), used, asked.cores)
    return typed_line(variables, words)


def _write_input(outcome: Outcome, used: Settings, n: int) -> Path:
    is_hpcc = outcome.asked.program.is_hpcc
    file = outcome.runs.folder / input_name(is_hpcc)
    with replacing(file, _INPUT, force=True) as path:
        path.write_text(input_text(dat_of(used, n, outcome.asked.baseline.dat), is_hpcc), encoding="utf-8")
    return file


def _write(outcome: Outcome, tuned: Tuned, used: Settings, n: int, again: dict[str, Any]) -> None:
    """``again``: to show the result again."""
    content: dict[str, Any] = {
        **as_json(tuned),
        "program": outcome.asked.programs.of(used).path,
        "n": n,
        "cases": [
            {"name": c.name, "n": c.n, "settings": c.settings, "gflops": [v if v == v else None for v in c.gflops]}
            for c in [*outcome.compared, *(outcome.verified.cases if outcome.verified else [])]
        ],
        **again,
    }
    folder = outcome.runs.folder
    with replacing(folder / RESULT, _FILE, force=True) as path:
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    more = [Section("cases", "Compared settings", table(outcome.shown_cases, report.HEADINGS, numbers=(6, 7, 10)))]
    with replacing(folder / PAGE_NAME, PAGE, force=True) as path:
        path.write_text(
            tuning_page("HPL", tuned, "culmen tune hpl", more, [report.figure_of(outcome.compared)]), encoding="utf-8"
        )
