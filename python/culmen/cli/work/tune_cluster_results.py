"""The results of ``culmen tune cluster``: the choices, a tuning file that was tried, and a page."""

import datetime
import json
import os
import shlex
from pathlib import Path

from ... import _core
from ...base.exit_codes import RESUMABLE
from ...base.text import grouped, plural
from ...bench.measuring import End
from ...bench.study import outcomes_in
from ...launch.mpi import load
from ...launch.mpi.collectives import Collectives
from ...report.files import Kind, replacing
from ...report.page import PAGE
from ...tune.cluster import choices, page, variables_page
from ...tune.cluster.asked import Tuning
from ...tune.cluster.choices import Lost, Tuned
from ...tune.cluster.measured import RACE, file_of
from ...tune.cluster.origin import facts_in, said_of
from ...tune.cluster.setting_gains import TunedVariables
from ...tune.cluster.trial import Trial, as_tried, tried, write_trial
from ...tune.cluster.variables_files import ENVIRONMENT, result_in, sentences, write_environment
from ...tune.rules.made import rules_of
from ...tune.rules.texts import texts_of
from ...tune.rules.tried import Expected, environment_for, not_as_expected, reader_of_rules
from .measuring import exit_code, nothing_measured, say_failures
from .summary import print_table

STORE, TABLE = "tuning.db", "choices.csv"
_PAGE, _ENVIRONMENT = "tuning.html", "environment.json"
_CHOICES = Kind("table", lambda _path, head: head.startswith(",".join(choices.FIELDS).encode()))
_RULES = Kind("rules file", lambda _path, head: head.startswith((b"#", b"/*")))
_SHOWN = 3  # algorithms that were lost


def conclude(wanted: Tuning, measured: list[Path], folder: Path, end: End, quiet: bool, here: bool = True) -> int:
    """``measured``: the folder with the store and the samples. ``folder``: for the results. ``here``: this machine
    has measured, and can try them; otherwise the job has done so."""
    (place,) = measured
    found = result_in(place) if wanted.groups else None
    if found:
        wanted = wanted.with_variables(found)
    _, failures = outcomes_in(place / STORE)
    say_failures(failures, len(wanted.points()), "launches")
    there = [each for each in wanted.races() if file_of(*each, RACE, place).exists()]
    if not there:
        if here and end is End.WHOLE:
            write_trial(Trial(), folder)  # there is nothing to try
        return nothing_measured(end, "collective")
    if end is not End.WHOLE:
        return exit_code(end, bool(failures), "launches")
    tuned = choices.tuned_from(there, place, wanted.places())
    tuned, trial = _tried_here(wanted, tuned, folder) if here else as_tried(tuned, place)
    if not trial.whole:
        print("culmen: the new tuning file was not tried, so it is not written; the same command lets a job try it")
        return RESUMABLE
    rules = _write(wanted, tuned, place, folder, found)
    if not quiet and found:
        print_table(variables_page.HEADINGS, variables_page.rows_of(found), variables_page.TEXTS)
    if not quiet:
        print_table(page.HEADINGS, page.rows_of(tuned.choices), page.TEXTS)
    said = [*(sentences(found) if found else []), *_sentences(wanted, tuned, rules, folder, trial)]
    for sentence in said if not quiet else ():
        print(sentence)
    return exit_code(end, bool(failures), "launches")


def _tried_here(wanted: Tuning, tuned: Tuned, folder: Path) -> tuple[Tuned, Trial]:
    """Tries files beside the old one, which stays until the end: programs may use it."""
    launcher = wanted.plan.launcher
    rules = folder / reader_of_rules(launcher).rules_name
    new = rules.with_name(f".{os.getpid()}.{rules.name}")

    beside = dict(wanted.variables)

    def wrong_in(tuned: Tuned) -> dict[Lost, str]:
        new.write_text(_rules_text(wanted, tuned, folder), encoding="utf-8")
        calls = [Expected(*each.place, each.algorithm) for each in tuned.changed]
        return {Lost(*call): f"tried, but {why}" for call, why in not_as_expected(launcher, new, calls, beside).items()}

    try:
        tuned, trial = tried(tuned, wrong_in)
    finally:
        new.unlink(missing_ok=True)
    write_trial(trial, folder)
    return tuned, trial


def _write(wanted: Tuning, tuned: Tuned, measured: Path, folder: Path, found: TunedVariables | None) -> Path:
    """All results. ``measured``: the folder with the samples. ``found``: the variables. Returns the path of the
    rules."""
    known = reader_of_rules(wanted.plan.launcher)
    rules = folder / known.rules_name
    with replacing(folder / TABLE, _CHOICES, force=True) as path:
        choices.write_choices(tuned, path)
    with replacing(rules, _RULES, force=True) as path:
        path.write_text(_rules_text(wanted, tuned, measured), encoding="utf-8")
    _remove_others(folder, known)
    if found:
        write_environment(found, folder / ENVIRONMENT, _about_variables(found, measured))
    use, within = _use(wanted, rules, folder), bool(known.rules_within_node)
    more = variables_page.sections_of(found) if found else []
    with replacing(folder / _PAGE, PAGE, force=True) as path:
        path.write_text(page.tuning_page(tuned, use, said_of(measured), within, more), encoding="utf-8")
    facts = _environment(wanted, tuned, measured)
    (folder / _ENVIRONMENT).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return rules


def _about_variables(found: TunedVariables, measured: Path) -> list[str]:
    return [
        f"Variables of {found.version}, from `culmen tune cluster` ({_core.build})",
        f"{datetime.date.today()}, {said_of(measured)}",
        f"Measured with {found.shape}.",
    ]


def _rules_text(wanted: Tuning, tuned: Tuned, measured: Path) -> str:
    launcher = wanted.plan.launcher
    known = reader_of_rules(launcher)
    about = [
        f"Rules for the collectives of {tuned.version}, from `culmen tune cluster` ({_core.build})",
        f"{datetime.date.today()}, {said_of(measured)}",
        page.about_shapes(tuned, bool(known.rules_within_node)),
    ]
    return texts_of(rules_of(tuned.by_collective(), known), launcher, about)


def _remove_others(folder: Path, known: Collectives) -> None:
    """The rules of another MPI, which this folder was for before."""
    for name in {each.collectives.rules_name for each in load() if each.collectives} - {known.rules_name, ""}:
        (folder / name).unlink(missing_ok=True)


def _use(wanted: Tuning, rules: Path, folder: Path) -> str:
    known = reader_of_rules(wanted.plan.launcher)
    variables = {**environment_for(known, rules), **dict(wanted.variables)}
    exports = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())
    flags = " ".join(f"-x {name}" for name in variables)
    if known.rules_kind == "tree":  # Hydra passes on the whole environment, and MPICH has no file with settings
        return f"# In a shell or a job script:\n{exports}\n\n# As an environment module:\n{_install(known, folder)}\n"
    return (
        f"# In a shell or a job script, for srun and mpiexec:\n{exports}\n\n"
        f"# If mpiexec starts ranks on other hosts:\nmpiexec {flags} …\n\n"
        f"# For all your programs, from now on:\n{_install(known, folder)}\n"
    )


def _install(known: Collectives, folder: Path) -> str:
    return f"culmen tune install {shlex.quote(str(folder))}{' --module FILE' if known.rules_kind == 'tree' else ''}"


def _environment(wanted: Tuning, tuned: Tuned, measured: Path) -> dict[str, object]:
    """``machine`` and ``load``: where and when the measurement began."""
    shapes = [
        {"collective": name, "ranks": ranks, "nodes": shape.nodes, "ppn": shape.ppn}
        for (name, ranks), shape in tuned.shapes.items()
    ]
    return {
        "mpi": wanted.plan.launcher.mpi.title,
        "version": tuned.version,
        "launcher": wanted.plan.launcher.program,
        "shapes": shapes,
        **facts_in(measured),
        "culmen": _core.build,
        **wanted.fixed(),
    }


def _sentences(wanted: Tuning, tuned: Tuned, rules: Path, folder: Path, trial: Trial) -> list[str]:
    count, changed = plural(len(tuned.choices), "point"), len(tuned.changed)
    out = [f"Of {count}, {changed} are faster with another algorithm; {len(tuned.choices) - changed} keep the default."]
    if tuned.unmeasured:
        failed = plural(len(tuned.unmeasured), "point")
        out.append(f"{failed} could not be measured; there, the MPI keeps its own choice.")
    out.append(f"culmen made {grouped(tuned.calls)} calls.")
    lost = page.lost_rows(tuned)
    for name, ranks, sizes, algorithm, why in lost[:_SHOWN]:
        where = "" if sizes == "all" else f" and {sizes}"
        out.append(f"Not used: {algorithm} of {name} with {ranks} ranks{where}: {why}")
    if len(lost) > _SHOWN:
        out.append(f"and {len(lost) - _SHOWN} more, see {folder / _PAGE}")
    if changed:
        out.append("culmen tried the finished tuning file: every one of these algorithms runs.")
    out.append(f"Wrote {rules}, {folder / TABLE} and {folder / _PAGE}")
    known = reader_of_rules(wanted.plan.launcher)
    if changed or wanted.variables:
        what = (
            "To load it as an environment module" if known.rules_kind == "tree" else "To use it for all your programs"
        )
        out.append(f"{what}: {_install(known, folder)}")
    else:
        good = not (trial.wrong or tuned.unmeasured)
        why = "the MPI's own choices are as good as any" if good else "the file keeps the MPI's own choices"
        out.append(f"There is nothing to install: {why}.")
    return out
