"""The costs of the tuner of `culmen autotune`: the time that it adds to a call of MPI, the calls until it has chosen,
and the memory of a shadow communicator."""

import time
from collections.abc import Iterator
from pathlib import Path

from application import AS_ROOT
from culmen.launch.mpi import Launcher
from culmen.launch.programs import own_library
from culmen.tune.autotune.tuned import read_tuning
from measure import Bench, Row, Spread, mpis_here
from probe import REPETITIONS, added_to

TUNED = {"bcast": "binomial", "allreduce": "recursive_doubling"}  # an algorithm of both MPIs that is not the default
LIMIT_NS = 50
MOST_CALLS, COPIES, RANKS = 120, 64, 2
LIMIT_CALLS = 3  # for each algorithm


def tuned(bench: Bench) -> Iterator[Row]:
    for mpi, launcher in mpis_here():
        title = launcher.mpi.title
        runs = {way: lambda mpi=mpi, way=way: _run(bench, mpi, way) for way in ("", ", with another algorithm")}
        for way, results in bench.take_turns(runs).items():
            for key in TUNED:
                yield added_to(key, "the tuner", title + way, results, LIMIT_NS)
        yield _start(bench, mpi, launcher)
        yield _convergence(bench, mpi, launcher)
        if launcher.mpi.collectives.kept_by_communicator:
            yield _shadow(bench, mpi, launcher)


def _run(bench: Bench, mpi: str, way: str) -> dict:
    """One rank, without a launcher. The tuner must have chosen for the calls, or nothing was measured."""
    file, chosen = bench.scratch / "choices.tuning", bench.scratch / "chosen.tuning"
    repetitions = bench.scaled(REPETITIONS)
    variables = {"CULMEN_TUNING_DUMP": str(file), "CULMEN_TUNING_ONE_RANK": "1"}
    if way:
        rows = [f"{collective}\t8\t{name}\t1\t1\t1" for collective, name in TUNED.items()]
        _write(chosen, _version(bench, mpi), ["made by an unknown function\t1"], rows)
        variables["CULMEN_TUNING_LOAD"] = str(chosen)
    program = bench.program(f"probe_cost_{mpi}")
    result = bench.run(program, repetitions, LD_PRELOAD=str(own_library(f"autotune_{mpi}")), **variables)
    found = {choice.collective: choice for choice in read_tuning(file).choices}
    for collective, name in TUNED.items():
        choice = found.get(collective)
        if choice is None or choice.calls < repetitions or (way and choice.algorithm != name):
            raise SystemExit(f"the tuner for {mpi} chose for {found}; it was not in the way of the calls")
    file.unlink()
    return result


def _start(bench: Bench, mpi: str, launcher: Launcher) -> Row:
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(2 * bench.repeat):
        begin, with_tuner = time.monotonic(), turn % 2 == 0
        _launch(bench, mpi, launcher, 1, "same", **({} if with_tuner else {"LD_PRELOAD": ""}))
        seconds[with_tuner].append(time.monotonic() - begin)
    own, bare = Spread(seconds[True]), Spread(seconds[False])
    return Row(
        f"Shortest program, {RANKS} ranks, {launcher.mpi.title}", "s", own, bare, "without the tuner", own.over(bare)
    )


def _convergence(bench: Bench, mpi: str, launcher: Launcher) -> Row:
    """Copy k of the world gets k calls. So the first copy with a choice, and the last one without, show the number."""
    file = bench.scratch / "steps.tuning"
    _launch(bench, mpi, launcher, MOST_CALLS, "each", CULMEN_TUNING_DUMP=str(file), CULMEN_TUNING_COLLECTIVES="bcast")
    chosen = {int(c.communicator.rpartition(" ")[2]) for c in read_tuning(file).choices if "/dup " in c.communicator}
    file.unlink()
    without = set(range(1, MOST_CALLS + 1)) - chosen
    known = launcher.mpi.collectives
    tried = 1 + len([a for a in known.safe_algorithms("bcast", RANKS, False, True) if a.name != "default"])
    calls = [float(min(chosen, default=MOST_CALLS)), float(max(without, default=0) + 1)]
    name = (
        f"Calls of MPI_Bcast until the tuner has chosen / algorithms ({tried}), fewest and most, {launcher.mpi.title}"
    )
    return Row(name, "", Spread([each / tried for each in calls]), at_most=LIMIT_CALLS)


def _shadow(bench: Bench, mpi: str, launcher: Launcher) -> Row:
    """The heap with a shadow for each copy of the world, and without."""
    file, version = bench.scratch / "shadows.tuning", _version(bench, mpi)
    heap = []
    for algorithm in ("default", TUNED["bcast"]):
        places = [f"world/dup {number + 1}\t{RANKS}" for number in range(COPIES)]
        _write(file, version, places, [f"bcast\t4\t{algorithm}\t1\t1\t1"])
        heap.append(_launch(bench, mpi, launcher, COPIES, "same", CULMEN_TUNING_LOAD=str(file))["heap_bytes"])
    kilobytes = (heap[1] - heap[0]) / COPIES / 1000
    return Row(f"Memory of a shadow communicator, {launcher.mpi.title}", "KB", Spread([kilobytes]), at_most=10.24)


def _version(bench: Bench, mpi: str) -> str:
    file = bench.scratch / "version.tuning"
    variables = {"LD_PRELOAD": str(own_library(f"autotune_{mpi}")), "CULMEN_TUNING_DUMP": str(file)}
    bench.run(bench.program(f"probe_cost_{mpi}"), 1, **variables)
    return read_tuning(file).mpi


def _write(file: Path, version: str, places: list[str], rows: list[str]) -> None:
    parts = [line for place in places for line in (f"communicator\t{place}", *rows)]
    file.write_text("\n".join(["culmen-tuning\t1", f"mpi\t{version}", *parts]) + "\n")


def _launch(bench: Bench, mpi: str, launcher: Launcher, count: int, way: str, **variables: str) -> dict:
    flags = [*launcher.mpi.oversubscribed.flags, *launcher.mpi.one_machine.flags]
    command = [launcher.program, *flags, "-n", RANKS, bench.program(f"tuner_steps_{mpi}"), count, way]
    tuner = {"LD_PRELOAD": str(own_library(f"autotune_{mpi}")), **variables}
    return bench.run(*command, **AS_ROOT, **tuner)
