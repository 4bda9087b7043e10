"""The time that a user waits for a command. The peer is a Python process that does nothing."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from measure import Bench, Row, Spread, foreign, spread

from culmen import _core

CULMEN = (sys.executable, "-m", "culmen")
PYTHON = (sys.executable, "-c", "pass")
MILLION, REPORTED = 1_000_000, 100_000
START_TIMEOUT_S = 120
STUDY = """
[space]
x = {{ lower = -1, upper = 1 }}
y = {{ lower = -1, upper = 1 }}
tau = {{ lower = 1e-6, upper = 1, scale = "log" }}
n = {{ lower = 1, upper = 9, type = "integer" }}
[evaluator]
library = "{library}:sleep_and_answer"
isolation = "none"
[optimizer]
name = "random"
[stop]
evaluations = {evaluations}
"""
WALL = """
import json, subprocess, sys, time
begin = time.monotonic()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(json.dumps({"s": time.monotonic() - begin}))
"""


def tool(bench: Bench) -> Iterator[Row]:
    yield from _starting(bench)
    yield from _reporting(bench)
    yield from _status(bench)


def _starting(bench: Bench) -> Iterator[Row]:
    done = bench.take_turns(
        {
            "pass": lambda: _wall(bench, *PYTHON),
            "help": lambda: _wall(bench, *CULMEN, "--help"),
            "import": lambda: _wall(bench, sys.executable, "-c", "import culmen"),
        }
    )
    yield _row("culmen --help", done, "help", 0.15)
    yield _row("import culmen", done, "import", 0.2)


def _reporting(bench: Bench) -> Iterator[Row]:
    store, page, table = (bench.scratch / f"tool.{ending}" for ending in ("db", "html", "csv"))
    _make(bench, store, REPORTED)
    done = bench.take_turns(
        {
            "pass": lambda: _wall(bench, *PYTHON),
            "report": lambda: _wall(bench, *CULMEN, "report", store, "-o", page),
            "export": lambda: _wall(bench, *CULMEN, "export", store, "-o", table),
        }
    )
    yield _row("culmen report, 10⁵ evaluations", done, "report", 10)
    yield Row("page of culmen report, 10⁵ evaluations", "MB", Spread([page.stat().st_size / 1e6]), at_most=5)
    yield _row("culmen export to CSV, 10⁵ evaluations", done, "export")


def _status(bench: Bench) -> Iterator[Row]:
    store = bench.scratch / "million.db"
    _make(bench, store, MILLION)
    read = (sys.executable, "-c", "import sys, culmen; culmen.read(sys.argv[1])", store)
    with _running(store):
        done = bench.take_turns(
            {
                "pass": lambda: _wall(bench, *PYTHON),
                "status": lambda: _wall(bench, *CULMEN, "status", store),
                "read": lambda: _wall(bench, *read),
            }
        )
    yield _row("culmen status of a running study, 10⁶ evaluations", done, "status", 0.3)
    yield _row("culmen.read of a running study, 10⁶ evaluations", done, "read")


def _make(bench: Bench, store: Path, evaluations: int) -> None:
    study = bench.scratch / "tool.toml"
    study.write_text(STUDY.format(library=bench.program("libstudy_function.so"), evaluations=evaluations))
    subprocess.run([*CULMEN, "run", study, "--quiet", "--workers", "2", "--store", store], check=True)


@contextlib.contextmanager
def _running(store: Path) -> Iterator[None]:
    """Resumes the study, slowly. Its replay has ended when the body starts."""
    words = [*CULMEN, "resume", store, "--quiet", "--workers", "2", "--evaluations", str(10**9)]
    master = subprocess.Popen(["env", "CULMEN_BENCH_SLEEP_US=1000", *map(str, words)])
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while _core.Store.read(str(store)).summary()["told"] <= MILLION:
            if master.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{store}: the study was not resumed")
            time.sleep(0.1)
        yield
    finally:
        master.terminate()
        master.wait()


def _wall(bench: Bench, *words: object) -> dict:
    return bench.run(sys.executable, "-c", WALL, *words)


def _row(name: str, done: dict[str, list[dict]], key: str, at_most: float | None = None) -> Row:
    figure, peer = spread(done[key], "s"), spread(done["pass"], "s")
    load = foreign(done[key], done["pass"])
    return Row(name, "s", figure, peer, "python -c pass", figure.over(peer), at_most=at_most, foreign=load)
