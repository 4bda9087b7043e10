"""``culmen bench collectives``: measures the collectives of an MPI."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...base.text import plural
from ...bench import parts, words
from ...bench.collectives import environment, figures, plan, samples, winners
from ...bench.collectives.plan import Plan
from ...bench.collectives.points import Protocol
from ...bench.jobs.asked import Cluster, Task
from ...bench.kept import folder_for
from ...bench.layouts import layouts_of
from ...bench.mappings import mappings_of
from ...bench.measuring import End, begin_launches, measure_in
from ...bench.study import PointStudy, outcomes_in
from ...launch.allocation import tasks_on_nodes
from ...launch.launcher import cores
from ...launch.mpi.collectives import DEFAULT
from ...report.files import Kind, replacing
from ...report.page import PAGE
from .measuring import exit_code, nothing_measured, say_failures, write_parquet
from .submit import run_jobs
from .summary import print_table

_FOLDER, _STORE = Path("bench-collectives"), "collectives.db"
_TABLE = Kind("table", lambda _path, head: head.startswith(",".join(samples.COLUMNS).encode()))
_START_S = 120.0  # a launch starts and ends


def protocol_of(interval: float, seconds: float, repetitions: int | None, timeout_s: float) -> Protocol:
    return Protocol(interval, seconds, repetitions or 0, timeout_s)


def plan_of(
    mpi: str | None,
    collectives: str | None,
    algorithms: str | None,
    ranks: str | None,
    sizes: str | None,
    protocol: Protocol,
    quick: bool,
    suite: Path | None = None,
    roots: str | None = None,
    offset: int = 0,
    mapping: str | None = None,
    baseline: str | None = None,
    node_counts: str | None = None,
    ranks_per_node: str | None = None,
    most_ranks: int = 0,
    nodes: int = 0,
) -> Plan:
    """``offset``: number of bytes; message sizes that are smaller and larger by this number are measured, too.
    ``most_ranks``: the largest number of ranks that fits in the job; 0: no job. ``nodes``: of the job. Raises
    InputError for a wrong option."""
    other = "--ranks" if ranks else "--mapping" if mapping else ""
    layouts = layouts_of(node_counts, ranks_per_node, nodes, other)
    launcher = plan.launcher_of(mpi)
    known = plan.known_collectives(launcher)
    usual = ("bcast", "allreduce") if quick else tuple(name for name in plan.USUAL if name in known.names)
    chosen = plan.collectives_named(collectives, known) if collectives else usual
    out = Plan(
        launcher,
        mpi or "default",
        chosen,
        plan.ranks_of(ranks)
        if ranks
        else plan.ranks_in(layouts) or plan.ranks_of(f"2-{min(most_ranks or _usual_ranks(quick), plan.MOST_RANKS)}"),
        words.beside(words.sizes_of(sizes or ("8,1K,64K" if quick else "1-1M")), offset),
        words.words_of(algorithms, "--algorithms") if algorithms else (),
        protocol,
        str(suite.resolve()) if suite is not None else "",
        plan.roots_named(roots) if roots is not None else (0,),
        mappings_of(mapping),
        baseline or DEFAULT,
        layouts,
    )
    out.check(not most_ranks, not sizes)
    return out


def _usual_ranks(quick: bool) -> int:
    """The largest number of ranks, if the user gives none."""
    return max(2, sum(tasks_on_nodes())) if tasks_on_nodes() else max(2 if quick else 4, cores())


def measure_collectives(
    wanted: Plan,
    output: Path | None,
    overwrite: bool,
    quiet: bool,
    scratch: Path | None = None,
    at_most: int | None = None,
    parquet: bool = False,
) -> int:
    """Measures the missing launches, at most ``at_most`` of them. Writes the table and the page, and returns an exit
    code. ``scratch``: see KeptStore."""
    folder = folder_for(output or _FOLDER)
    end = measure_in(
        folder,
        _STORE,
        lambda store: _study(wanted, store),
        len(wanted.points()),
        "launches",
        lambda done: begin_launches(
            wanted.launcher.mpi.title, len(wanted.points()), done, wanted.most_s(), max(wanted.ranks), quiet
        ),
        overwrite,
        quiet,
        scratch,
        at_most,
        lambda done: _begin(wanted, folder, done),
    )
    return _conclude(wanted, [folder], folder, end, quiet, parquet)


def _begin(wanted: Plan, folder: Path, done: int) -> None:
    """Writes the environment. If there are ``done`` launches from before, checks instead that it is the same."""
    if done:
        environment.refuse_other(folder, wanted, [path for path in _samples_in(folder)[0] if path.exists()])
    else:
        environment.write(folder, wanted)


def submit_collectives(
    wanted: Plan,
    cluster: Cluster,
    arguments: list[str],
    output: Path | None,
    overwrite: bool,
    quiet: bool,
    parquet: bool = False,
) -> int:
    """The same as jobs of a scheduler. ``arguments``: of this command, without those of the job."""
    task = Task(
        "collectives",
        ["bench", "collectives", *arguments, *wanted.words()],
        max(wanted.ranks),
        _STORE,
        "launches",
        len(wanted.points()),
        wanted.most_s(),
        lambda store: _study(wanted, store).missing(),
        lambda folders, to, end: _conclude(wanted, folders, to, end, quiet, parquet),
    )
    return run_jobs(task, cluster, output or _FOLDER, overwrite, quiet)


def _study(wanted: Plan, store: Path) -> PointStudy:
    limit_s = _START_S + wanted.most_s() * 10 + wanted.protocol.timeout_s
    evaluator = "culmen.bench.collectives.measured:measure"
    return PointStudy("culmen bench collectives", wanted.points(), wanted.fixed(), evaluator, limit_s, store)


def _conclude(wanted: Plan, measured: list[Path], folder: Path, end: End, quiet: bool, parquet: bool) -> int:
    """``measured``: folders with stores and samples. ``folder``: for the table and the page."""
    files, failed = [], False
    for place in measured:
        there, failures = _samples_in(place)
        failed = failed or bool(failures)
        files += [path for path in there if path.exists()]
        if missing := [path for path in there if not path.exists()]:
            failed = True
            print(
                f"culmen: {missing[0]} is missing ({_launches(len(missing))} in all); to measure again, write "
                "--overwrite"
            )
        say_failures(failures, len(wanted.points()), "launches")
    if not files:
        return nothing_measured(end, "collective")
    found = samples.Table(sorted(files))
    table, page = folder / "collectives.csv", folder / "collectives.html"
    with replacing(table, _TABLE, force=True) as path:
        parts.join(sorted(files), path, samples.COLUMNS)
    if parquet:
        write_parquet(table, samples.NUMBERS)
    won = winners.winners(found, wanted.baseline)
    with replacing(page, PAGE, force=True) as path:
        path.write_text(figures.collectives_page(found, won, wanted.baseline), encoding="utf-8")
    lost = _lost(found)
    busy = [said for place in measured if (said := environment.was_busy(environment.read(place), max(wanted.ranks)))]
    if measured != [folder]:
        about = json.dumps(_environments(measured), indent=2)
        (folder / environment.FILE).write_text(about + "\n", encoding="utf-8")
    for key, why in lost[:1]:
        print(
            f"culmen: {key.collective} could not be measured with {key.ranks} ranks: {why} ({_launches(len(lost))} in "
            "all)"
        )
    if not quiet:
        headings = winners.headings(wanted.baseline)
        if found.points:
            print_table(headings, winners.rows_of(won, wanted.baseline), (*headings[:2], *headings[3:5]))
        for sentence in [*_remarks(found, won, wanted), *busy[:1]]:
            print(sentence)
        print(f"Wrote {table} and {page}")
    return exit_code(end, failed or bool(lost), "launches")


def _lost(found: samples.Table) -> list[tuple[samples.Key, str]]:
    """One key of each launch and root without any time, and why."""
    measured = {key[:3] for key in found.points}
    return list({key[:3]: (key, why) for key, why in found.unavailable.items() if key[:3] not in measured}.values())


def _launches(number: int) -> str:
    return "1 launch" if number == 1 else f"{number} launches"


def _samples_in(place: Path) -> tuple[list[Path], list[dict[str, Any]]]:
    """The files of the launches that were measured, and the failures of the last round."""
    points, failures = outcomes_in(place / _STORE, "collective", "ranks", "mapping")
    return [samples.samples_file(name, int(ranks), mapping, place) for name, ranks, mapping in points], failures


def _remarks(found: samples.Table, won: Sequence[winners.Winner], wanted: Plan) -> list[str]:
    out = []
    unverified = [key for key, point in found.points.items() if not point.verified]
    if unverified:
        out.append(
            f"{len(unverified)} of {len(found.points)} points are unverified, such as {_named(unverified[0])}: "
            f"{_why_unverified(unverified, wanted)}."
        )
    measured = {key[:3] for key in found.points}
    if without := {key: why for key, why in found.unavailable.items() if key[:3] in measured}:
        key, why = next(iter(without.items()))
        count = plural(len(without), "point")
        out.append(f"culmen could not measure {count}, for example {_named(key)}: {why}")
    if unclear := winners.unclear(found, won):
        out.append(
            f"The baseline '{wanted.baseline}' was not measured, and no algorithm is clearly the fastest at "
            f"{plural(unclear, 'point')}, because the intervals overlap."
        )
    bound = wanted.protocol.interval
    if few := sum(not point.interval.exists for point in found.points.values()):
        have = "has" if few == 1 else "have"
        out.append(
            f"{plural(few, 'point')} {have} too few blocks for an interval, so the table cannot name a faster "
            f"algorithm there; {_more_blocks(wanted)}"
        )
    inexact = sum(point.interval.exists and point.interval.relative > bound for point in found.points.values())
    if inexact and not wanted.protocol.repetitions:
        out.append(
            f"The medians of {inexact} of {len(found.points)} points are less exact than ± {100 * bound:g} %; "
            "to measure longer, give a larger --seconds"
        )
    return out


def _why_unverified(unverified: Sequence[samples.Key], wanted: Plan) -> str:
    if wanted.suite:
        return "the MPI ran another algorithm there, or none, or the program of --with does not show which one"
    known = plan.known_collectives(wanted.launcher)
    if all(key.collective not in known.of for key in unverified):
        return "this MPI does not show which algorithm ran"
    return "the MPI ran another algorithm there, or none"


def _more_blocks(wanted: Plan) -> str:
    if not wanted.protocol.repetitions:
        return "give a larger --seconds"
    return "leave out --repetitions" if wanted.suite else "give a larger --repetitions"


def _named(key: samples.Key) -> str:
    return f"{key.algorithm} of {key.collective} with {key.ranks} ranks"


def _environments(measured: list[Path]) -> dict[str, object]:
    """For jobs: the environment of the first one, and the environments of all by the names of their folders."""
    found = {place.name: about for place in measured if (about := environment.read(place))}
    return {**next(iter(found.values()), {}), "partitions": found}
