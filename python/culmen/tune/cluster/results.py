"""The files and sentences of a tuning: the choices, a tuning file that was tried, and a page."""

import datetime
import json
import os
import shlex
from pathlib import Path
from typing import Any

from ... import _core
from ...base.text import grouped, plural
from ...launch.mpi import Launcher, load
from ...launch.mpi.collectives import Collectives, parts_of
from ...report.files import Kind, replacing
from ...report.page import PAGE, Section, text
from ..rules.composed import Made, Texts, kinds_of, remove_both, write_both
from ..rules.made import rules_of
from ..rules.reader import environment_for, reader_of_rules
from ..rules.texts import texts_of
from ..rules.tried import Expected, not_as_expected
from . import choices, page, variables_page
from .asked import Tuning
from .choices import Lost, Tuned
from .installed import module_text
from .kept import about_undecided, undecided
from .learnt import about_searches
from .origin import facts_in, said_of
from .ruled import about_one_rule, said_without_rules, section_without_rules
from .setting_gains import TunedVariables
from .trial import Trial, tried, write_trial
from .variables_files import ENVIRONMENT, about_limit, write_environment

STORE, TABLE = "tuning.db", "choices.csv"
_PAGE, _ENVIRONMENT = "tuning.html", "environment.json"
_CHOICES = Kind("table", lambda _path, head: head.startswith(",".join(choices.FIELDS).encode()))
_SHOWN = 3  # lost algorithms that are named


def tried_here(wanted: Tuning, tuned: Tuned, folder: Path) -> tuple[Tuned, Trial]:
    """Tries new tuning files under another name. The old file stays until the end, because programs may use it."""
    launcher = wanted.plan.launcher
    known = reader_of_rules(launcher)
    rules = folder / known.rules_name
    new = rules.with_name(f".{os.getpid()}.{rules.name}")

    beside, mappings = dict(wanted.variables), wanted.mappings()

    def wrong_in(tuned: Tuned) -> dict[Lost, str]:
        write_both(_texts(wanted, tuned, folder), new, known)
        calls = [Expected(*each.place, each.algorithm) for each in tuned.changed]
        wrong = not_as_expected(launcher, new, calls, beside, mappings)
        return {Lost(*call): f"tried, but {why}" for call, why in wrong.items()}

    try:
        tuned, trial = tried(tuned, wrong_in)
    finally:
        remove_both(new, known)
    write_trial(trial, folder)
    return tuned, trial


def write_results(wanted: Tuning, tuned: Tuned, measured: Path, folder: Path, found: TunedVariables | None) -> Path:
    """Writes all results. ``measured``: the folder with the samples. ``found``: the variables. Returns the path of the
    rules."""
    known = reader_of_rules(wanted.plan.launcher)
    rules = folder / known.rules_name
    with replacing(folder / TABLE, _CHOICES, force=True) as path:
        choices.write_choices(tuned, path)
    write_both(_texts(wanted, tuned, measured), rules, known)
    _remove_others(folder, known)
    if found:
        write_environment(found, folder / ENVIRONMENT, _about_variables(found, measured))
    use = _use(wanted, rules, folder) if is_of_use(wanted, tuned) else ""
    more = variables_page.sections_of(found) if found else []
    notes, last = about_one_rule(tuned.whole, known), [section_without_rules(known)]
    if wanted.online:
        said = about_searches(tuned.shapes, measured)
        more.append(Section("searches", "The search", "".join(f"<p>{text(each)}</p>" for each in said)))
    with replacing(folder / _PAGE, PAGE, force=True) as path:
        html = page.tuning_page(tuned, use, said_of(measured), known, more, notes, last)
        path.write_text(html, encoding="utf-8")
    facts = _environment(wanted, tuned, measured)
    (folder / _ENVIRONMENT).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return rules


def _about_variables(found: TunedVariables, measured: Path) -> list[str]:
    return [
        f"Variables of {found.version}, from `culmen tune cluster` ({_core.build})",
        f"{datetime.date.today()}, {said_of(measured)}",
        f"Measured with {found.shape}.",
        *about_limit(found),
    ]


def _texts(wanted: Tuning, tuned: Tuned, measured: Path) -> Texts:
    launcher = wanted.plan.launcher
    known = reader_of_rules(launcher)
    about = [
        f"Rules for the collectives of {tuned.version}, from `culmen tune cluster` ({_core.build})",
        f"{datetime.date.today()}, {said_of(measured)}",
        page.about_shapes(tuned, known),
    ]
    return texts_of(_made(tuned, known), launcher, about)


def _made(tuned: Tuned, known: Collectives) -> Made:
    rules = rules_of(tuned.by_collective(("",) if known.rules_kind == "tree" else None), known)
    between = {kind: rules_of(tuned.by_collective(kinds), known) for kind, kinds in kinds_of(known).items()}
    return Made(rules, {kind: each for kind, each in between.items() if each.tables})


def _remove_others(folder: Path, known: Collectives) -> None:
    """Removes the rules of another MPI for which this folder was used before."""
    all_of = [each.collectives for each in load() if each.collectives]
    names = {name for each in all_of for name in (each.rules_name, each.routes_name)}
    for name in names - {known.rules_name, known.routes_name, ""}:
        (folder / name).unlink(missing_ok=True)


def _use(wanted: Tuning, rules: Path, folder: Path) -> str:
    known = reader_of_rules(wanted.plan.launcher)
    variables = {**environment_for(known, rules), **dict(wanted.variables)}
    exports = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())
    flags = " ".join(f"-x {name}" for name in variables)
    shell = f"# In a shell or a job script, for srun and mpiexec:\n{exports}\n\n"
    lines = module_text(wanted.plan.launcher, rules, variables)
    module = f"# As an environment module, a file with these lines:\n{lines}"
    if known.rules_kind == "tree":  # Hydra passes on the whole environment, and MPICH has no file with settings
        return f"{shell}{module}\n# To write this file:\n{_install(known, folder)}\n"
    return (
        f"{shell}# If mpiexec starts ranks on other hosts:\nmpiexec {flags} …\n\n"
        f"# For all your programs, from now on:\n{_install(known, folder)}\n\n{module}"
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


def facts_of_tuning(folder: Path) -> dict[str, Any]:
    """The facts about the measurement, as ``write_results`` wrote them; empty if the file is damaged or missing."""
    try:
        found = json.loads((folder / _ENVIRONMENT).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if _are_facts(found) else {}


def _are_facts(found: Any) -> bool:
    if not isinstance(found, dict):
        return False
    machine, shapes = found.get("machine", {}), found.get("shapes", [])
    return (
        isinstance(machine, dict)
        and isinstance(shapes, list)
        and all(isinstance(each, dict) and type(each.get("nodes")) is int for each in shapes)
    )


def counted(tuned: Tuned) -> str:
    """The numbers of points. If one rule holds for all sizes, it need not be faster at each of them."""
    count, changed = plural(len(tuned.choices), "point"), len(tuned.changed)
    whole = any(each.place.collective in tuned.whole for each in tuned.changed)
    what = "get another algorithm" if whole else "are faster with another algorithm"
    return f"Of {count}, {changed} {what}; {len(tuned.choices) - changed} keep the default."


def sentences_of(wanted: Tuning, tuned: Tuned, rules: Path, folder: Path, trial: Trial) -> list[str]:
    changed = len(tuned.changed)
    out = [counted(tuned)]
    if tuned.unmeasured:
        failed = plural(len(tuned.unmeasured), "point")
        out.append(f"{failed} could not be measured; there, the MPI keeps its own choice.")
    if unsure := about_undecided(tuned, facts_of_tuning(folder)):
        out.append(unsure)
    out.append(f"culmen made {grouped(tuned.calls)} calls.")
    if tuned.slow:
        out.append(page.about_slow(tuned))
    known = reader_of_rules(wanted.plan.launcher)
    out += [*about_one_rule(tuned.whole, known), *(said_without_rules(known) if wanted.is_all else [])]
    lost = page.lost_rows(tuned)
    for name, ranks, sizes, algorithm, why in lost[:_SHOWN]:
        where = "" if sizes == "all" else f" and {sizes}"
        out.append(f"Not used: {algorithm} of {name} with {ranks} ranks{where}: {why}")
    if len(lost) > _SHOWN:
        out.append(f"and {len(lost) - _SHOWN} more, see {folder / _PAGE}")
    if changed:
        unseen = any(any(parts_of(each.algorithm)[1:]) for each in tuned.changed)
        what = " Open MPI does not show their fan-out and the size of their segments." if unseen else ""
        out.append(f"culmen tried the finished tuning file: every one of these algorithms runs.{what}")
    out.append(f"Wrote {rules}, {folder / TABLE} and {folder / _PAGE}")
    return out


def is_of_use(wanted: Tuning, tuned: Tuned) -> bool:
    """Whether a rule or a variable was chosen."""
    return bool(tuned.changed or wanted.variables)


def how_to_install(wanted: Tuning, tuned: Tuned, folder: Path, trial: Trial) -> str:
    if is_of_use(wanted, tuned):
        return install_sentence(wanted.plan.launcher, folder)
    good = not (trial.wrong or tuned.unmeasured or undecided(tuned))
    why = "the MPI's own choices are as good as any" if good else "the file keeps the MPI's own choices"
    return f"There is nothing to install: {why}."


def install_sentence(launcher: Launcher, folder: Path) -> str:
    known = reader_of_rules(launcher)
    what = "To load it as an environment module" if known.rules_kind == "tree" else "To use it for all your programs"
    return f"{what}: {_install(known, folder)}"
