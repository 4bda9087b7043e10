"""``culmen bench pingpong``: measures messages between two processes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...base.text import lasted, plural
from ...bench.jobs.asked import Cluster, Task
from ...bench.kept import folder_for
from ...bench.mappings import NODE, is_on_two_nodes, mappings_of
from ...bench.measuring import End, measure_in
from ...bench.parts import join
from ...bench.pingpong import figures
from ...bench.pingpong.measured import COLUMNS, NUMBERS, Table, samples_file
from ...bench.pingpong.routes import buffered, mapped, routes, routes_named
from ...bench.study import PointStudy, outcomes_in
from ...bench.words import beside, shown_size, sizes_of, words_of
from ...report.files import Kind, replacing
from ...report.page import PAGE
from ...run.progress.figures import Words
from ...run.progress.monitor import Monitor, make_monitor
from .measuring import exit_code, nothing_measured, say_failures, write_parquet
from .submit import run_jobs
from .summary import print_table

_FOLDER, _STORE = Path("bench-pingpong"), "pingpong.db"
_TABLE = Kind("table", lambda _path, head: head.startswith(",".join(COLUMNS).encode()))
_START_S, _TIMEOUT_S = 60.0, 60.0
_LAUNCH_S = 3.0  # a launcher starts the ranks of an MPI, and ends
_OFFSET = 3  # bytes, as in NetPIPE


@dataclass(frozen=True)
class Plan:
    """``fixed``: the parameters that all routes share. ``most_s``: approximate upper limit of the time for a route."""

    routes: list[str]
    fixed: dict[str, Any]
    most_s: float

    @property
    def without_mpi(self) -> str:
        """A sentence if no MPI is measured because none was found; otherwise empty."""
        if any(not name.startswith("raw/") for name in self.routes) or any(each.launcher for each in routes(True)):
            return ""
        return "No MPI was found on PATH, so only routes without MPI are measured."

    def left_s(self, done: int) -> float:
        """Approximate upper limit of the time for the routes after the first ``done`` ones."""
        left = self.routes[done:]
        return len(left) * self.most_s + _LAUNCH_S * sum(not name.startswith("raw/") for name in left)

    def study(self, store: Path) -> PointStudy:
        evaluator, limit_s = "culmen.bench.pingpong.measured:measure", _START_S + 10 * self.most_s + _TIMEOUT_S
        points = [{"route": name} for name in self.routes]
        return PointStudy("culmen bench pingpong", points, self.fixed, evaluator, limit_s, store)


def plan_of(
    names: str | None,
    sizes: str | None,
    limits: tuple[float, float, int],
    buffer: str | None,
    mappings: str | None = None,
    here: bool = True,
    nodes: int = 1,
) -> Plan:
    """``limits``: interval, budget in seconds, repetitions. ``here``: no job; ``nodes``: of the job. Raises InputError
    for a wrong option."""
    chosen_mappings = mappings_of(mappings)
    between = NODE in chosen_mappings or (is_on_two_nodes() if here else nodes > 1)
    wanted = routes_named(words_of(names, "--routes"), between) if names else routes(between)
    wanted = mapped(wanted, chosen_mappings, here)
    buffers = sizes_of(buffer, "--buffer") if buffer else (0,)
    if len(buffers) > 1:
        wanted = buffered(wanted, buffers)
    chosen = sizes_of(sizes) if sizes else beside(sizes_of("1-8M"), _OFFSET)
    interval, budget_s, repetitions = limits
    fixed = {
        "sizes": ",".join(map(str, chosen)),
        "interval": interval,
        "budget_s": budget_s,
        "repetitions": repetitions,
        "timeout_s": _TIMEOUT_S,
        "buffer_bytes": buffers[0] if len(buffers) == 1 else 0,
    }
    return Plan([route.name for route in wanted], fixed, len(chosen) * budget_s)


def measure_pingpong(
    plan: Plan,
    output: Path | None,
    overwrite: bool,
    quiet: bool,
    scratch: Path | None = None,
    at_most: int | None = None,
    parquet: bool = False,
) -> int:
    """Measures the missing routes, at most ``at_most`` of them. Writes the table and the page, and returns an exit
    code. ``scratch``: see KeptStore."""
    folder = folder_for(output or _FOLDER)
    points = len(plan.routes)
    end = measure_in(
        folder,
        _STORE,
        plan.study,
        points,
        "routes",
        lambda done: _begin(plan, done, quiet),
        overwrite,
        quiet,
        scratch,
        at_most,
    )
    return _conclude([folder], folder, plan, end, quiet, parquet)


def submit_pingpong(
    plan: Plan,
    cluster: Cluster,
    arguments: list[str],
    output: Path | None,
    overwrite: bool,
    quiet: bool,
    parquet: bool = False,
) -> int:
    """The same as jobs of a scheduler. ``arguments``: of this command, without those of the job."""
    routes = dict.fromkeys(name.partition("+")[0] for name in plan.routes)  # without their mappings
    task = Task(
        "pingpong",
        ["bench", "pingpong", *arguments, "--routes", ",".join(routes)],
        2,
        _STORE,
        "routes",
        len(plan.routes),
        plan.most_s * len(plan.routes),
        lambda store: plan.study(store).missing(),
        lambda folders, to, end: _conclude(folders, to, plan, end, quiet, parquet),
    )
    return run_jobs(task, cluster, output or _FOLDER, overwrite, quiet)


def _begin(plan: Plan, done: int, quiet: bool) -> Monitor:
    if not quiet:
        before = f", {done} of them measured before" if done else ""
        print(
            f"{plural(len(plan.routes), 'route')}{before}; this takes at most about {lasted(plan.left_s(done))} on a "
            "quiet machine",
            flush=True,
        )
        if said := plan.without_mpi:
            print(said, flush=True)
    return make_monitor(not quiet, Words("routes measured", best=""))


def _conclude(measured: list[Path], folder: Path, plan: Plan, end: End, quiet: bool, parquet: bool) -> int:
    """``measured``: folders with stores and samples. ``folder``: for the table and the page."""
    files, failed, names = [], False, plan.routes
    for place in measured:
        points, failures = outcomes_in(place / _STORE, "route")
        failed = failed or bool(failures)
        say_failures(failures, len(names), "routes")
        done = {route for (route,) in points}
        files += [path for name in names if name in done and (path := samples_file(name, place)).exists()]
    found = Table(files)
    for route, why in found.unavailable.items():
        print(f"{route} {'ended early' if route in found.points else 'is not available'}: {why}")
    if not found.points:
        return nothing_measured(end, "route")
    table, page = folder / "pingpong.csv", folder / "pingpong.html"
    with replacing(table, _TABLE, force=True) as path:
        join(files, path, COLUMNS)
    if parquet:
        write_parquet(table, NUMBERS)
    with replacing(page, PAGE, force=True) as path:
        path.write_text(figures.pingpong_page(found), encoding="utf-8")
    if not quiet:
        print_table(figures.HEADINGS, figures.rows_of(found), figures.HEADINGS[:1])
        for sentence in _remarks(found, plan):
            print(sentence)
        print(f"Wrote {table} and {page}")
    return exit_code(end, failed, "routes")


def _remarks(found: Table, plan: Plan) -> list[str]:
    out = [f"{route} used the network interface {interface}." for route, interface in found.interfaces.items()]
    if any(row[2] == figures.NOT_COMPARED for row in figures.rows_of(found)):
        out.append(
            f'"{figures.NOT_COMPARED}" means that TCP without MPI was not measured on the same number of nodes and the '
            "same partition."
        )
    bound, repetitions = plan.fixed["interval"], plan.fixed["repetitions"]
    points = [(route, size, each) for route, sizes in found.points.items() for size, each in sizes.items()]
    if inexact := [(route, size) for route, size, each in points if each.relative > bound]:
        route, size = inexact[0]
        out.append(
            f"The medians of {len(inexact)} of {plural(len(points), 'point')} are less exact than ± {100 * bound:g} %, "
            f"for example {route} with {shown_size(size)}; to measure longer, give a larger "
            f"{'--repetitions' if repetitions else '--seconds'}"
        )
    return out
