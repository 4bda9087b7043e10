"""The results of ``culmen tune hpl``: files, tables and sentences."""

import json
import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from ...base.text import lasted
from ...report.files import Kind, replacing
from ...report.page import PAGE, Section, table
from ...report.reading import read
from ...tune.command.page import tuning_page
from ...tune.command.results import HEADINGS, TEXTS, Compared, Tuned, as_json, rows_of, sentences
from ...tune.command.worth import Worth
from ...tune.hpl import report
from ...tune.hpl.report import CALCULATOR, FOUND, PRESENT, Case
from ...tune.hpl.scaling import Curve
from ...tune.hpl.space import Settings, dat_of, ranks_of, threads_of
from .summary import print_table
from .tune_command import effects_in, spent_s
from .tune_hpl_runs import Tuner

_RUNS_EACH = 2  # of each parameter, to say what matters
_RESULT, _PAGE, _SEARCH = "result.json", "tuning.html", "search.db"
_FILE = Kind("result", lambda _path, head: head.startswith(b"{"))
_INPUT = Kind("input file of HPL", lambda _path, head: b"HPL" in head)


def write_and_show(tuner: Tuner, new: Settings, curve: Curve, compared: list[Case]) -> None:
    last = [case for case in compared if case.n == compared[-1].n]
    if tuner.options.only is None:
        new = best_of(last, new)
    tuned = _tuned(tuner, new, last)
    used = new if tuned.is_better else tuner.cases[PRESENT]
    n = _size(tuner, last[0].n, int(used["nb"]))
    file = _write_input(tuner, used, n)
    _write(tuner, tuned, compared, n)
    print_table(report.HEADINGS, report.rows_of([*_tried(tuner), *compared], tuner.program, tuner.cores), report.TEXTS)
    print_table(HEADINGS, rows_of(tuned), TEXTS)
    if not tuned.effects:
        print("There were too few runs to say which parameters matter; more --minutes help.")
    for sentence in sentences(tuned):
        print(sentence)
    if better := _over_calculator(last):
        print(better)
    if tuner.options.size is None:
        names = {case.name for case in last if case.settings == used} & {PRESENT, CALCULATOR}
        print(_expected(tuner.known.curves.get(next(iter(names), ""), curve), n))
    print(f"Run it in {tuner.folder}: {_command(tuner, used)}")
    tuner.say(f"Wrote {file}, {tuner.folder / _RESULT} and {tuner.folder / _PAGE}")


def _tried(tuner: Tuner) -> list[Case]:
    """One run with each BLAS."""
    tried = tuner.known.tried
    return [Case("first run", settings, n, [speed or math.nan]) for settings, n, speed in tried] if tried[1:] else []


def best_of(last: list[Case], found: Settings) -> Settings:
    """The settings of the search, unless those of the calculators were faster: those are simpler."""
    name = next(case.name for case in last if case.settings == found)
    verdict = report.over(last, name, CALCULATOR)
    usual = next((case.settings for case in last if case.name == CALCULATOR), None)
    return dict(usual) if usual and verdict and verdict.gain > 0 else found


def _tuned(tuner: Tuner, new: Settings, last: list[Case]) -> Tuned:
    by_name = {case.name: case for case in last}
    present, found = by_name[PRESENT], next((case for case in last if case.settings == new), None)
    compared = verdict = worth = None
    spent = spent_s(tuner.stores())
    if found is not None and found is not present:
        compared = Compared(list(zip(present.gflops, found.gflops, strict=True)), "")
        verdict = report.over(last, PRESENT, found.name)
        if verdict is not None:
            worth = Worth.of(verdict, True, spent, tuner.cores, tuner.options.price)
    searched = read(tuner.folder / _SEARCH)
    gflops = np.exp(searched.values[:, 0])
    values = [float(value) for value in gflops[searched.order]]
    names = {name for name, parameter in tuner.space().items() if "value" not in parameter}
    enough = _RUNS_EACH * len(names) <= np.count_nonzero(searched.feasible)
    old = {name: value for name, value in tuner.cases[PRESENT].items() if name in names}
    chosen = {name: new[name] for name in old}
    return Tuned(
        "GFLOPS",
        True,
        old,
        chosen,
        compared,
        verdict,
        worth,
        effects_in(searched, gflops) if enough else [],
        values,
        spent,
    )


def _over_calculator(last: list[Case]) -> str:
    verdict = report.over(last, CALCULATOR, FOUND)
    if verdict is None:
        return ""
    return (
        f"Compared with the web calculators' choice: {100 * verdict.gain:+.1f} % GFLOPS, interval of 95 %: "
        f"{100 * verdict.low:+.1f} to {100 * verdict.high:+.1f} %."
    )


def _size(tuner: Tuner, compared: int, nb: int) -> int:
    """N of the file: as large as the memory allows. If some settings needed more memory than others, all got less."""
    plan = tuner.known.plan
    if tuner.options.size:
        return compared
    n = plan.memory_n * compared // plan.final_n
    return n - n % nb if n > nb else n


def _expected(curve: Curve, n: int) -> str:
    return (
        f"With N = {n}, a run takes about {lasted(curve.time_s(n))}. The model expects {curve.gflops(n):.4g} GFLOPS; "
        "this was not measured."
    )


def _command(tuner: Tuner, used: Settings) -> str:
    program = tuner.program
    words, variables = program.command(ranks_of(used), threads_of(used, tuner.cores), str(used["blas"]))
    return shlex.join([*(f"{name}={value}" for name, value in variables.items()), *words])


def _write_input(tuner: Tuner, used: Settings, n: int) -> Path:
    file = tuner.folder / ("hpccinf.txt" if tuner.program.is_hpcc else "HPL.dat")
    with replacing(file, _INPUT, force=True) as path:
        path.write_text(dat_of(used, n, tuner.base).text(), encoding="utf-8")
    return file


def _write(tuner: Tuner, tuned: Tuned, compared: list[Case], n: int) -> None:
    rows = report.rows_of([*_tried(tuner), *compared], tuner.program, tuner.cores)
    content: dict[str, Any] = {
        **as_json(tuned),
        "program": tuner.program.path,
        "n": n,
        "cases": [
            {"name": c.name, "n": c.n, "settings": c.settings, "gflops": [v if v == v else None for v in c.gflops]}
            for c in compared
        ],
    }
    with replacing(tuner.folder / _RESULT, _FILE, force=True) as path:
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    with replacing(tuner.folder / _PAGE, PAGE, force=True) as path:
        more = [Section("cases", "Compared settings", table(rows, report.HEADINGS, numbers=(5, 6, 9)))]
        path.write_text(
            tuning_page("HPL", tuned, "culmen tune hpl", more, [report.figure_of(compared)]), encoding="utf-8"
        )
