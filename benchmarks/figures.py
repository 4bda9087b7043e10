"""The parts of the benchmark: for each its programs, its peers and its targets."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from application import application
from autotuned import autotuned
from clean_end import clean_end
from executor import executor
from idle import idle_worker
from large_data import large_data
from measure import Bench, Row, Spread, foreign, spread
from probe import probe
from ranking import ranking
from tool import tool
from tuned import tuned
from tuning import tuning

from iobuf import iobuf

MILLION = 1_000_000


def manager_cost(bench: Bench) -> Iterator[Row]:
    program, evaluations = bench.program("manager_cost"), bench.scaled(450_000)
    done = bench.take_turns(
        {
            "bare": lambda: _bare_mailbox(bench, 8, 0),
            "without": lambda: bench.run(program, evaluations),
            "journal": lambda: bench.run(program, evaluations, bench.fresh()),
        }
    )
    for name, journal, limit in (("without", "without journal", 1), ("journal", "with journal", 5)):
        figure, peer = spread(done[name], "cpu_us_per_evaluation"), spread(done["bare"], "us_an_item")
        yield Row(
            f"CPU time of the master per evaluation, {journal}",
            "µs",
            figure,
            peer,
            "bare mailbox, time per item",
            figure.over(peer),
            at_most=limit,
            foreign=foreign(done[name], done["bare"]),
        )


def no_op(bench: Bench) -> Iterator[Row]:
    for workers in (8, 100):
        runs: dict[str, Callable[[], dict]] = {
            "bare": lambda n=workers: _bare_mailbox(bench, n, 0),
            "deep": lambda n=workers: _mailbox(bench, "bare_mailbox", n, 0, 9),
            "transport": lambda n=workers: _mailbox(bench, "mailbox_loop", n, 0, 9),
            "without": lambda n=workers: _study(bench, n, bench.scaled(600_000)),
            "journal": lambda n=workers: _study(bench, n, bench.scaled(450_000), "--store", bench.fresh()),
        }
        if workers == 8:
            runs["mpi4py"] = lambda n=workers: _mpi4py(bench, n, bench.scaled(15_000), 0)
        done = bench.take_turns(runs)
        name = f"Empty function, {workers} processes"
        yield from _rows_beside(done, name, "bare mailbox", 0.8, with_journal=0.6)
        # culmen keeps up to nine candidates at a worker while evaluations are so short.
        done["bare"] = done.pop("deep")
        for alike in ("transport", "mpi4py"):
            done.pop(alike, None)
        yield from _rows_beside(done, f"{name}, second peer", "bare mailbox, 9 items each", None)


def sleeping(bench: Bench) -> Iterator[Row]:
    for workers, sleep_ms in ((8, 1), (100, 1), (100, 10)):
        evaluations = bench.scaled(2 * workers * 1000 // sleep_ms)
        options = ("--sleep-us", sleep_ms * 1000)
        runs: dict[str, Callable[[], dict]] = {
            "bare": lambda n=workers, ms=sleep_ms: _bare_mailbox(bench, n, ms * 1000),
            "without": lambda n=workers, e=evaluations, o=options: _study(bench, n, e, *o),
            "journal": lambda n=workers, e=evaluations, o=options: _study(bench, n, e, *o, "--store", bench.fresh()),
        }
        if workers == 8:
            runs["mpi4py"] = lambda n=workers, e=evaluations, ms=sleep_ms: _mpi4py(bench, n, e, ms * 1000)
        done = bench.take_turns(runs)
        for results in done.values():
            for result in results:
                result["efficiency"] = result["rate"] * sleep_ms / 1000 / workers
        name = f"Efficiency, sleeping {sleep_ms} ms, {workers} processes"
        yield from _rows_beside(done, name, "bare mailbox", 0.97, "efficiency", "")


def command(bench: Bench) -> Iterator[Row]:
    count, width = bench.scaled(4500), 8
    done = bench.take_turns(
        {
            "bare": lambda: bench.run(bench.program("bare_spawn"), "/bin/true", count, width),
            "without": lambda: _study(bench, width, count, "--command", "/bin/true", "--folder", bench.fresh()),
            "journal": lambda: _study(
                bench, width, count, "--command", "/bin/true", "--folder", bench.fresh(), "--store", bench.fresh()
            ),
        }
    )
    yield from _rows_beside(done, "External command true, 8 at a time", "bare posix_spawn", 0.7)


def million(bench: Bench) -> Iterator[Row]:
    done = bench.take_turns(
        {
            "without": lambda: _study(bench, 8, MILLION),
            "journal": lambda: _study(bench, 8, MILLION, "--store", bench.fresh()),
        },
        repeat=max(bench.repeat, 7),
    )
    for name, journal in (("without", "without journal"), ("journal", "with journal")):
        results, load = done[name], foreign(done[name])
        first, last = spread(results, "first_tenth_rate"), spread(results, "last_tenth_rate")
        title = f"Last tenth of 10⁶ evaluations, {journal}"
        yield Row(title, "1/s", last, first, "first tenth", last.over(first), at_least=0.9, foreign=load)
        growth = spread(results, "memory_growth_mib")
        yield Row(f"Growth of memory in the second half of 10⁶ evaluations, {journal}", "MiB", growth, at_most=2)


def batch(bench: Bench) -> Iterator[Row]:
    script = Path(__file__).with_name("batch_rate.py")
    evaluations = bench.scaled(60_000)
    done = bench.take_turns(
        {
            "one": lambda: bench.run(sys.executable, script, 2, evaluations, 0),
            "many": lambda: bench.run(sys.executable, script, 2, evaluations, 64),
        }
    )
    figure, peer = spread(done["many"], "rate"), spread(done["one"], "rate")
    load = foreign(*done.values())
    yield Row("Python function, batches of 64", "1/s", figure, peer, "one at a time", figure.over(peer), foreign=load)


def nist(bench: Bench) -> Iterator[Row]:
    """Counts of one seed, the same in each repetition. docs/reference/nist.md has a table for three seeds."""
    done = [bench.run(bench.program("nist_table"), 1)]
    missed = {name: Spread([done[0]["sets"] - done[0][name]]) for name in ("lm", "cmaes")}
    title = f"NIST problems that lm does not solve, of {done[0]['sets']}"
    yield Row(title, "", missed["lm"], missed["cmaes"], "cmaes on the sum of squares", at_most=0, foreign=foreign(done))


def _rows_beside(
    done: dict[str, list[dict]],
    name: str,
    peer_name: str,
    limit: float | None,
    key: str = "rate",
    unit: str = "1/s",
    with_journal: float | None = None,
) -> Iterator[Row]:
    bare = spread(done["bare"], key)
    titles = {
        "without": name,
        "journal": f"{name}, with journal",
        "transport": f"{name}, only the transport",
        "mpi4py": f"{name}, mpi4py.futures",
    }
    for run, title in titles.items():
        if run not in done:
            continue
        figure = spread(done[run], key)
        at_least = {"without": limit, "journal": with_journal}.get(run)
        load = foreign(done[run], done["bare"])
        yield Row(title, unit, figure, bare, peer_name, figure.over(bare), at_least=at_least, foreign=load)


def _study(bench: Bench, workers: int, evaluations: int, *options: object) -> dict:
    return bench.run(bench.program("study_rate"), workers, evaluations, *options)


def _bare_mailbox(bench: Bench, workers: int, task_us: int) -> dict:
    return _mailbox(bench, "bare_mailbox", workers, task_us)


def _mailbox(bench: Bench, program: str, workers: int, task_us: int, in_flight: int = 2) -> dict:
    """`in_flight`: number of items at each worker: the current one and those that wait."""
    result = bench.run(bench.program(program), workers, bench.scaled(1500) / 1000, task_us, in_flight)
    return result | {"rate": result["items_per_s"], "us_an_item": 1e6 / result["items_per_s"]}


def _mpi4py(bench: Bench, workers: int, evaluations: int, task_us: int) -> dict:
    script = Path(__file__).with_name("mpi4py_rate.py")
    words = ("-m", "mpi4py.futures", script, workers, evaluations, task_us)
    return bench.launch("openmpi", workers + 1, sys.executable, *words)


FIGURES: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "manager": manager_cost,
    "no-op": no_op,
    "sleeping": sleeping,
    "command": command,
    "million": million,
    "batch": batch,
    "nist": nist,
    "idle": idle_worker,
    "end": clean_end,
    "executor": executor,
    "large": large_data,
    "tool": tool,
    "probe": probe,
    "tuned": tuned,
    "autotuned": autotuned,
    "tuning": tuning,
    "application": application,
    "iobuf": iobuf,
    "ranking": ranking,
}
