"""``culmen bench transport``: measures the transports on the machine at hand, and compares tables."""

import platform
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ... import _core
from ..._core import InputError
from ...base.again import same_command
from ...base.exit_codes import FINISHED
from ...base.text import lasted
from ...bench.kept import folder_for, remove_rounds
from ...bench.measuring import End, run_missing
from ...bench.study import PointStudy
from ...bench.transport import figures, grid, rows
from ...bench.transport.grid import Grid
from ...bench.transport.point import COSTS, TRANSPORTS, Point, cost_library
from ...bench.transport.points import rows_in, study_of
from ...bench.transport.rows import Rows
from ...launch.mpi import LauncherError, find_launcher
from ...report.files import Kind, replacing
from ...report.page import PAGE
from ...run.progress.figures import Words
from ...run.progress.monitor import Monitor, make_monitor
from ...simulate import network
from .measuring import exit_code, nothing_measured
from .summary import print_table

_FOLDER = Path("bench-transport")
_OF_POINT_S, _OF_RANK_S = 0.5, 0.1  # workers start and end; ranks of MPI take longer
_NETWORK = Kind("network", lambda _path, head: head.startswith(network.HEADING.encode()))
_TABLE = Kind("table", lambda _path, head: head.startswith(",".join(rows.COLUMNS).encode()))


def grid_of(
    workers: str | None,
    durations: str | None,
    transports: str | None,
    repetitions: int | None,
    cost: str,
    io_threads: str | None,
    seconds: float,
    mpi: str | None,
    peers: list[Path],
    quick: bool,
) -> Grid:
    """The grid that the options ask for. Raises InputError for a wrong option."""
    if cost not in COSTS:
        raise InputError(f"--cost {cost}: it must be {', '.join(COSTS[:-1])} or {COSTS[-1]}")
    out = Grid(cost=cost, measure_s=seconds, mpi=mpi or "default", peers=grid.peers_of(peers))
    if quick:
        out = replace(out, workers=(2, 8), evaluations_s=(0.001, 0.01), repetitions=2, io_threads=(1, 2))
    if workers is not None:
        out = replace(out, workers=grid.workers_of(workers))
    if durations is not None:
        out = replace(out, evaluations_s=grid.durations_of(durations))
    if io_threads is not None:
        out = replace(out, io_threads=grid.io_threads_of(io_threads))
    out = replace(out, repetitions=repetitions or out.repetitions)
    named = grid.transports_of(transports) if transports is not None else _available(mpi)
    return replace(out, transports=named)


def _available(mpi: str | None) -> tuple[str, ...]:
    """All transports, or without an MPI on this machine all but "mpi"."""
    try:
        find_launcher(mpi)
    except LauncherError:
        if mpi is not None:
            return TRANSPORTS  # the check of the grid says what is wrong
        return tuple(name for name in TRANSPORTS if name != "mpi")
    return TRANSPORTS


def measure_transports(wanted: Grid, output: Path | None, overwrite: bool, quiet: bool) -> int:
    """Measures the missing points, writes the table and the page, and returns an exit code."""
    wanted.check()
    if not cost_library().is_file():
        raise InputError(f"there are no cost functions at {cost_library()}; install culmen again")
    folder = folder_for(output or _FOLDER)
    store = folder / "transport.db"
    if overwrite:
        remove_rounds(store)
    study, points = study_of(wanted, store).last_round(), len(wanted.points())
    anew = study.open() < len(study.points)
    end = run_missing(
        study, points, store, "points", lambda before: _begin(wanted, study, points, before, quiet), quiet
    )
    found, failures = rows_in(store, wanted.cost)
    return _conclude(found, failures, folder, end, quiet, anew)


def _begin(wanted: Grid, study: PointStudy, points: int, done: int, quiet: bool) -> Monitor:
    """``done``: the number of points that were measured before."""
    if not quiet:
        left = study.points[len(study.points) - (points - done) :]
        about = sum(_seconds_of(Point(**each), wanted.measure_s) for each in left)
        before = f", {done} of them measured before" if done else ""
        print(f"{points} points{before}; this takes about {lasted(about)} or longer", flush=True)
    return make_monitor(not quiet, Words("points measured", best=""))


def _seconds_of(p: Point, measure_s: float) -> float:
    """Approximate time of a point: some lone evaluations, at least nine rounds, and four that are still open then."""
    start_s = _OF_POINT_S + max(0.5, 3 * p.evaluation_s) + (p.workers * _OF_RANK_S if p.transport == "mpi" else 0)
    return max(measure_s, 9 * p.evaluation_s) + 4 * p.evaluation_s + start_s


def _conclude(found: Rows, failures: list[str], folder: Path, end: End, quiet: bool, anew: bool) -> int:
    """``anew``: whether points were measured in this call."""
    for sentence in failures:
        print(f"culmen: {sentence}")
    if failures:
        print(f"To measure the failed points again, type {same_command()}.")
    if not found.rows:
        return nothing_measured(end, "point")
    table, page, costs = folder / "transport.csv", folder / "transport.html", folder / network.FILE
    with replacing(table, _TABLE, force=True) as path:
        rows.write_csv(found, path)
    with replacing(page, PAGE, force=True) as path:
        path.write_text(figures.transport_page(found), encoding="utf-8")
    if not quiet:
        print_table(figures.HEADINGS, figures.summary(found), figures.HEADINGS[:1])
    if anew or not costs.exists():
        with replacing(costs, _NETWORK, force=True) as path:
            path.write_text(network.measured_text(_now_and_here()), encoding="utf-8")
    if not quiet:
        print(f"Wrote {table}, {page} and {costs}")
    return exit_code(end, bool(failures), "points")


def _now_and_here() -> str:
    cpus = _core.usable_cpus()
    return f"on {platform.node()} ({cpus} CPU{'s' if cpus > 1 else ''}) on {datetime.now().astimezone():%Y-%m-%d %H:%M}"


def compare_transports(first: Path, second: Path, output: Path | None) -> int:
    """Draws the difference between two machines."""
    a, b = rows.read_csv(first), rows.read_csv(second)
    shared = [p for p in a.points if b.has(p) and p.is_plain]
    if not shared:
        raise InputError(f"{first} and {second} have no point in common; measure the same grid on both machines")
    costs = [{row.cost for row in found.rows} for found in (a, b)]
    if costs[0] != costs[1]:
        names = [" and ".join(sorted(cost)) for cost in costs]
        raise InputError(f"{first} was measured with --cost {names[0]}, but {second} with {names[1]}; use the same")
    folder = folder_for(output or _FOLDER)
    page = folder / "compare.html"
    names_of = (first.name, second.name) if first.name != second.name else (str(first), str(second))
    with replacing(page, PAGE, force=True) as path:
        path.write_text(figures.transport_page(a, b, names_of), encoding="utf-8")
    apart = [abs(rows.difference(a, b, p).mean) for p in shared]
    print(f"{len(shared)} points in common; the times differ by {100 * sum(apart) / len(apart):.3g} % on average")
    print(f"Wrote {page}")
    return FINISHED
