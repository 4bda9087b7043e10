"""The time that the tuner of `culmen autotune` adds to a call of MPI. The peer is the call past the tuner."""

from collections.abc import Iterator

from culmen.launch.programs import own_library
from culmen.tune.autotune.tuned import read_tuning
from measure import Bench, Row, mpis_here
from probe import REPETITIONS, added_to

TUNED = ("bcast", "allreduce")
LIMIT_NS = 50


def tuned(bench: Bench) -> Iterator[Row]:
    for mpi, launcher in mpis_here():
        title = launcher.mpi.title
        for results in bench.take_turns({(): lambda mpi=mpi: _run(bench, mpi)}).values():
            for key in TUNED:
                yield added_to(key, "the tuner", title, results, LIMIT_NS)


def _run(bench: Bench, mpi: str) -> dict:
    """One rank, without a launcher. The tuner must have chosen for the calls, or nothing was measured."""
    file, repetitions = bench.scratch / "choices.tuning", bench.scaled(REPETITIONS)
    result = bench.run(
        bench.program(f"probe_cost_{mpi}"),
        repetitions,
        LD_PRELOAD=str(own_library(f"autotune_{mpi}")),
        CULMEN_TUNING_DUMP=str(file),
        CULMEN_TUNING_ONE_RANK="1",
    )
    found = {choice.collective: choice.calls for choice in read_tuning(file).choices}
    if any(found.get(collective, 0) < repetitions for collective in TUNED):
        raise SystemExit(f"the tuner for {mpi} chose for {found}; it was not in the way of the calls")
    file.unlink()
    return result
