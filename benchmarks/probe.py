"""The time that the probe of `culmen profile` adds to a call of MPI. The peer is the call past the probe."""

import shutil
from collections.abc import Iterator

from culmen.launch.mpi import LauncherError, find_launcher
from culmen.launch.programs import own_library
from culmen.profile.recorded import read_folder
from measure import Bench, Row, foreign, spread

CALLS = {
    "iprobe": "MPI_Iprobe",
    "bcast": "MPI_Bcast on one rank",
    "allreduce": "MPI_Allreduce on one rank",
    "irecv_send_wait": "MPI_Irecv, MPI_Send, MPI_Wait to itself, mean",
}
LIMIT_NS = 60
REPETITIONS = 300


def probe(bench: Bench) -> Iterator[Row]:
    for mpi in ("openmpi", "mpich"):
        try:
            title = find_launcher(mpi).mpi.title
        except LauncherError:
            continue
        runs = {words: lambda mpi=mpi, words=words: _run(bench, mpi, *words) for words in ((), ("threads",))}
        for words, results in bench.take_turns(runs).items():
            level = ", several threads" if words else ""
            for key, call in CALLS.items():
                yield Row(
                    f"Time that a profile adds to {call}, {title}{level}",
                    "ns",
                    spread(results, f"{key}_probe_ns"),
                    spread(results, f"{key}_bare_ns"),
                    "the call itself",
                    at_most=LIMIT_NS,
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
