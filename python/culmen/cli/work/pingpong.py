"""``culmen bench pingpong``: measures messages between two processes."""

import os
from pathlib import Path

from ...base.text import lasted
from ...bench.parts import FOLDER, join
from ...bench.pingpong import figures
from ...bench.pingpong.measured import COLUMNS, Table, samples_file
from ...bench.pingpong.routes import routes, routes_named
from ...bench.study import PointStudy
from ...bench.words import sizes_of, words_of
from ...report.files import Kind, replacing
from ...report.page import PAGE
from ...report.reading import read
from ...run.progress.monitor import Monitor, make_monitor
from .codes import FAILED, RESUMABLE
from .measuring import exit_code, folder_for, remove_measurements, run_missing
from .summary import print_table

_FOLDER = Path("bench-pingpong")
_TABLE = Kind("table", lambda _path, head: head.startswith(",".join(COLUMNS).encode()))
_START_S, _TIMEOUT_S = 60.0, 60.0
_OFFSET = 3  # bytes, as in NetPIPE


def measure_pingpong(
    names: str | None,
    sizes: str | None,
    limits: tuple[float, float, int],
    buffer: str | None,
    output: Path | None,
    overwrite: bool,
    quiet: bool,
) -> int:
    """``limits``: interval, budget in seconds, repetitions. Raises InputError for a wrong option."""
    wanted = routes_named(words_of(names, "--routes")) if names else routes()
    chosen = sizes_of(sizes) if sizes else _with_offsets(sizes_of("1-8M"))
    buffer_bytes = max(sizes_of(buffer, "--buffer")) if buffer else 0
    folder = folder_for(output or _FOLDER)
    store = folder / "pingpong.db"
    if overwrite:
        remove_measurements(store)
    interval, budget_s, repetitions = limits
    fixed = {
        "sizes": ",".join(map(str, chosen)),
        "interval": interval,
        "budget_s": budget_s,
        "repetitions": repetitions,
        "timeout_s": _TIMEOUT_S,
        "buffer_bytes": buffer_bytes,
    }
    most_s = len(chosen) * budget_s
    evaluator = "culmen.bench.pingpong.measured:measure"
    points = [{"route": route.name} for route in wanted]
    study = PointStudy("culmen bench pingpong", points, fixed, evaluator, _START_S + 10 * most_s + _TIMEOUT_S, store)
    done = study.open()
    os.environ[FOLDER] = str(folder.resolve())
    whole = run_missing(study, len(points), done, "routes", lambda: _begin(len(points), done, most_s, quiet), quiet)
    return _conclude(store, folder, [route.name for route in wanted], whole, quiet)


def _with_offsets(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted({size + by for size in sizes for by in (-_OFFSET, 0, _OFFSET) if size + by > 0}))


def _begin(routes: int, done: int, most_s: float, quiet: bool) -> Monitor:
    if not quiet:
        before = f", {done} of them measured before" if done else ""
        print(
            f"{routes} routes{before}; this takes at most about {lasted(most_s * (routes - done))} on a quiet machine",
            flush=True,
        )
    return make_monitor(not quiet, "least number of inexact sizes")


def _conclude(store: Path, folder: Path, names: list[str], whole: bool, quiet: bool) -> int:
    state = read(store)
    failures = state.opened.failures
    for failure in failures:
        print(f"culmen: {failure['count']} of {len(state)} routes failed: {failure['message'].splitlines()[0]}")
    done = {state.columns["route"][row] for row in range(len(state)) if state.columns["status"][row] == "ok"}
    files = [path for name in names if name in done and (path := samples_file(name)).exists()]
    found = Table(files)
    for route, why in found.unavailable.items():
        print(f"{route} is not available: {why}")
    if not found.points:
        print("culmen: no route was measured")
        return FAILED if whole else RESUMABLE
    table, page = folder / "pingpong.csv", folder / "pingpong.html"
    with replacing(table, _TABLE, force=True) as path:
        join(files, path, COLUMNS)
    with replacing(page, PAGE, force=True) as path:
        path.write_text(figures.pingpong_page(found), encoding="utf-8")
    if not quiet:
        print_table(figures.HEADINGS, figures.rows_of(found), figures.HEADINGS[:1])
        print(f"Wrote {table} and {page}")
    return exit_code(whole, bool(failures), "routes")
