"""The time that the probe of `culmen profile` adds to a call of MPI. The peer is the call past the probe."""

import shutil
from collections.abc import Iterator

from culmen.launch.programs import own_library
from culmen.profile.recorded import read_folder
from measure import Bench, Row, foreign, mpis_here, spread

CALLS = {
    "iprobe": "MPI_Iprobe",
    "bcast": "MPI_Bcast on one rank",
    "allreduce": "MPI_Allreduce on one rank",
    "irecv_send_wait": "MPI_Irecv, MPI_Send, MPI_Wait to itself, mean",
}
LIMIT_NS = 60
REPETITIONS = 300


def probe(bench: Bench) -> Iterator[Row]:
    for mpi, launcher in mpis_here():
        title = launcher.mpi.title
        runs = {words: lambda mpi=mpi, words=words: _run(bench, mpi, *words) for words in ((), ("threads",))}
        for words, results in bench.take_turns(runs).items():
            level = ", several threads" if words else ""
            for key in CALLS:
                yield added_to(key, "a profile", title + level, results, LIMIT_NS)


def added_to(key: str, by: str, title: str, results: list, limit_ns: float) -> Row:
    """The measurements of probe_cost about a call."""
    return Row(
        f"Time that {by} adds to {CALLS[key]}, {title}",
        "ns",
        spread(results, f"{key}_probe_ns"),
        spread(results, f"{key}_bare_ns"),
        "the call itself",
        at_most=limit_ns,
        foreign=foreign(results),
    )


def _run(bench: Bench, mpi: str, *words: str) -> dict:
    """One rank, without a launcher. The profile must have the calls, or nothing was measured."""
    folder, repetitions = bench.scratch / "profile", bench.scaled(REPETITIONS)
    folder.mkdir()
    result = bench.run(
        bench.program(f"probe_cost_{mpi}"),
        repetitions,
        *words,
        LD_PRELOAD=str(own_library(f"mpiprobe_{mpi}")),
        CULMEN_PROFILE_DIR=str(folder),
    )
    [rank] = read_folder(folder)
    counted = {calls.function: calls.calls for calls in rank.calls}
    if any(counted.get(function, 0) < repetitions for function in ("MPI_Iprobe", "MPI_Bcast", "MPI_Wait")):
        raise SystemExit(f"the probe for {mpi} counted {counted}; it was not in the way of the calls")
    shutil.rmtree(folder)
    return result
