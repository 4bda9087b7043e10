"""``culmen tune cluster``: finds faster algorithms for the collectives of an MPI."""

import datetime
import json
import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ... import _core
from ..._core import InputError
from ...base.text import grouped, plural
from ...bench import words
from ...bench.collectives import plan
from ...bench.collectives.plan import Plan
from ...bench.collectives.points import Protocol
from ...bench.conversation import LostError
from ...bench.session import Session
from ...bench.study import PointStudy, outcomes_in
from ...launch.allocation import tasks_on_nodes
from ...launch.launcher import cores
from ...launch.mpi import load
from ...launch.mpi.collectives import Collectives
from ...report.files import Kind, replacing
from ...report.page import PAGE
from ...tune.cluster import choices, page, variables_page
from ...tune.cluster import trial as trials
from ...tune.cluster.choices import Lost, Place, Tuned
from ...tune.cluster.measured import RACE, file_of
from ...tune.cluster.origin import check_origin, facts_in, said_of
from ...tune.cluster.pairs import LAUNCHES, VISITS
from ...tune.cluster.setting_gains import TunedVariables
from ...tune.cluster.trial import Trial, as_tried, tried, write_trial
from ...tune.cluster.variables_files import ENVIRONMENT, result_in, sentences, write_environment
from ...tune.rules.made import can_hold, rules_of
from ...tune.rules.texts import check_reader, texts_of
from ...tune.rules.tried import Expected, environment_for, not_as_expected, reader_of_rules
from .codes import RESUMABLE
from .install import check_no_variables
from .measuring import End, begin_launches, exit_code, folder_for, measure_in, nothing_measured, say_failures
from .submit import Cluster, Task, run_jobs
from .summary import print_table
from .tune_variables import StoppedError, VariableTuner, VariableTuning, groups_of, remove_results

FOLDER = Path("tune-cluster")
TABLE = "choices.csv"
_STORE, _PAGE, _ENVIRONMENT = "tuning.db", "tuning.html", "environment.json"
_CHOICES = Kind("table", lambda _path, head: head.startswith(",".join(choices.FIELDS).encode()))
_RULES = Kind("rules file", lambda _path, head: head.startswith((b"#", b"/*")))
_START_S, _VISIT_S = 120.0, 0.02
_SHOWN = 3  # algorithms that were lost
_FAST = ("bcast", "allreduce", "reduce")


@dataclass(frozen=True)
class Tuning:
    """What is to be tuned. ``same_types``: see Collectives.safe_algorithms(). ``only``: these collectives with these
    numbers of ranks; empty: all of the plan. ``groups``: of variables, which are tuned first; ``variables``: the
    environment that this gave."""

    plan: Plan
    same_types: bool
    commutative: bool = False
    only: frozenset[tuple[str, int]] = frozenset()
    groups: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    def points(self) -> list[dict[str, Any]]:
        """The races, and then each comparison with all of them, so that time lies between the launches of a point."""
        return [
            {"collective": name, "ranks": ranks, "launch": launch}
            for launch in range(LAUNCHES + 1)
            for name, ranks in self.races()
        ]

    def races(self) -> list[tuple[str, int]]:
        all_of = [(name, ranks) for ranks in self.plan.ranks for name in self.plan.collectives]
        return [each for each in all_of if not self.only or each in self.only]

    def places(self) -> list[Place]:
        """The points."""
        return [
            Place(name, ranks, size)
            for name, ranks in self.races()
            for size in (self.plan.sizes if name != "barrier" else (0,))
        ]

    def fixed(self) -> dict[str, Any]:
        names = ("mpi", "sizes", "interval", "budget_s", "timeout_s")
        known = reader_of_rules(self.plan.launcher)
        return (
            {name: self.plan.fixed()[name] for name in names}
            | {
                "segments": ",".join(map(str, known.segments)),
                "same_types": self.same_types,
                "commutative": self.commutative,
            }
            | ({"variables": json.dumps(dict(self.variables))} if self.variables else {})
        )

    def of_variables(self) -> VariableTuning:
        """With the most ranks: programs that need speed use them."""
        plan = self.plan
        return VariableTuning(
            plan.launcher, plan.mpi, self.groups, plan.collectives, plan.sizes, max(plan.ranks), plan.protocol.timeout_s
        )

    def with_variables(self, found: TunedVariables | None) -> "Tuning":
        return replace(self, variables=tuple(sorted(found.environment.items()))) if found else self

    def most_s(self) -> float:
        """At most about so long, on a machine without other work."""
        compared = LAUNCHES * len(self.races()) * len(self.plan.sizes)
        known, allowed = reader_of_rules(self.plan.launcher), (self.same_types, self.commutative)
        variants = [each for name, ranks in self.races() for each in known.in_segments(name, ranks, *allowed)]
        parts_s = self.plan.protocol.budget_s * sum(
            size > each.segment for each in variants for size in self.plan.sizes
        )
        variables_s = self.of_variables().most_s() if self.groups else 0.0
        return self.plan.most_s() + parts_s + compared * 2 * VISITS * _VISIT_S + len(self.points()) + variables_s


def tuning_of(
    mpi: str | None,
    collectives: str | None,
    ranks: str | None,
    sizes: str | None,
    seconds: float | None,
    timeout_s: float,
    same_types: bool,
    commutative: bool,
    fast: bool,
    most_ranks: int = 0,
    nodes: int = 0,
    variables: str | None = None,
) -> Tuning:
    """``most_ranks``: that the job will have room for; 0: no job. ``nodes``: of the job, if given. Raises InputError
    for a wrong option."""
    launcher = plan.launcher_of(mpi)
    known = reader_of_rules(launcher)
    check_nodes(known, launcher.mpi.title, nodes or (1 if most_ranks else len(tasks_on_nodes())))
    if not most_ranks:  # a job checks it, too
        check_reader(launcher)
    usual = _FAST if fast else tuple(name for name in plan.USUAL if name in known.names)
    all_of = tuple(name for name in known.names if can_hold(name, known))
    chosen = all_of if collectives == "all" else words.words_of(collectives, "--collectives") if collectives else usual
    room = most_ranks or max(2, sum(tasks_on_nodes()) or cores())
    protocol = Protocol(0.1, seconds or (0.1 if fast else 0.3), 0, timeout_s)
    out = Plan(
        launcher,
        mpi or "default",
        tuple(chosen),
        plan.ranks_of(ranks) if ranks else (room,) if fast else plan.ranks_of(f"2-{room}"),
        words.sizes_of(sizes or ("8,64,512,4K,32K,256K,1M" if fast else "1-1M")),
        (),
        protocol,
    )
    out.check(here=not most_ranks)
    no_rules = [name for name in out.collectives if not can_hold(name, known)]
    if no_rules:
        raise InputError(
            f"--collectives: a tuning file of {launcher.mpi.title} cannot have rules for {no_rules[0]}; it can for "
            f"{', '.join(all_of)}"
        )
    return Tuning(out, same_types, commutative, groups=groups_of(variables))


def check_nodes(known: Collectives, title: str, nodes: int) -> None:
    """Raises InputError where rules would not hold."""
    if known.rules_within_node and nodes > 1:
        raise InputError(f"on several nodes, {title} cannot be tuned: {known.rules_within_node}; tune within one node")


def tune_cluster(
    wanted: Tuning, output: Path | None, overwrite: bool, quiet: bool, scratch: Path | None, at_most: int | None
) -> int:
    """Measures what is missing, writes the choices, and returns an exit code."""
    folder = folder_for(output or FOLDER)
    if wanted.groups and at_most is not None:
        raise InputError("--variables: all launches depend on each other; leave out --at-most")
    _begin_in(folder, wanted, overwrite)
    if overwrite or not wanted.groups:
        remove_results(folder)
    if wanted.groups:
        check_no_variables(wanted.plan.launcher)
        try:
            with VariableTuner(wanted.of_variables(), folder, quiet, scratch) as tuner:
                wanted = wanted.with_variables(tuner.tune())
        except StoppedError:
            return exit_code(End.STOPPED, False, "launches")
    end = measure_in(
        folder,
        _STORE,
        lambda store: _study(wanted, store),
        len(wanted.points()),
        "launches",
        lambda done: begin_launches(
            wanted.plan.launcher.mpi.title,
            len(wanted.points()),
            done,
            replace(wanted, groups=()).most_s(),
            max(wanted.plan.ranks),
            quiet,
            "at most about",
        ),
        overwrite,
        quiet,
        scratch,
        at_most,
    )
    return _conclude(wanted, [folder], folder, end, quiet)


def _begin_in(folder: Path, wanted: Tuning, overwrite: bool) -> None:
    """Starts two ranks, which know the version of the MPI."""
    launcher, store = wanted.plan.launcher, folder / _STORE
    without = reader_of_rules(launcher).without_rules
    try:
        with Session(launcher, 2, wanted.plan.protocol.timeout_s, without) as session:
            version = session.version
    except LostError as error:
        raise InputError(f"two ranks of {launcher.mpi.title} cannot be started here: {error}") from None
    check_origin(folder, version, store.exists() and not overwrite)
    (folder / trials.FILE).unlink(missing_ok=True)  # it is of an earlier tuning file


def submit_tuning(
    wanted: Tuning, cluster: Cluster, arguments: list[str], output: Path | None, overwrite: bool, quiet: bool
) -> int:
    """The same as a job of a scheduler. ``arguments``: of this command, without those of the job."""
    if wanted.groups and cluster.wanted.pilot is not None:
        raise InputError("--variables: all launches depend on each other; leave out --pilot")
    if len(cluster.partitions) > 1:
        raise InputError("one tuning file cannot be for several partitions; give one --partition")
    task = Task(
        "tuning",
        ["tune", "cluster", *arguments, "--ranks", ",".join(map(str, wanted.plan.ranks))],
        max(wanted.plan.ranks),
        _STORE,
        "launches",
        len(wanted.points()),
        wanted.most_s(),
        lambda store: _study(wanted.with_variables(result_in(store.parent)), store).missing(),
        lambda folders, to, end: _conclude(wanted, folders, to, end, quiet, here=False),
        is_complete=lambda job: (job / trials.FILE).exists(),
    )
    return run_jobs(task, cluster, output or FOLDER, overwrite, quiet)


def _study(wanted: Tuning, store: Path) -> PointStudy:
    limit_s = _START_S + wanted.most_s() * 10 + wanted.plan.protocol.timeout_s
    evaluator = "culmen.tune.cluster.measured:measure"
    return PointStudy("culmen tune cluster", wanted.points(), wanted.fixed(), evaluator, limit_s, store)


def _conclude(wanted: Tuning, measured: list[Path], folder: Path, end: End, quiet: bool, here: bool = True) -> int:
    """``measured``: the folder with the store and the samples. ``folder``: for the results. ``here``: this machine
    has measured, and can try them; otherwise the job has done so."""
    (place,) = measured
    found = result_in(place) if wanted.groups else None
    if found:
        wanted = wanted.with_variables(found)
    _, failures = outcomes_in(place / _STORE)
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
    where = "1 node" if found.nodes == 1 else f"{found.nodes} nodes"
    return [
        f"Variables of {found.version}, from `culmen tune cluster` ({_core.build})",
        f"{datetime.date.today()}, {said_of(measured)}",
        f"Measured with {found.ranks} ranks on {where}.",
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
