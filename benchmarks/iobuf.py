"""The rate of small and of large calls on a file with libculmen-iobuf. The peer is the same program without it."""

from collections.abc import Iterator

from culmen.tune.iobuf.settings import library
from measure import Bench, Row, foreign, spread

SMALL, LARGE = (64, 512, 4096), (1 << 20,)  # bytes of a call
LEAST_SMALL, LEAST_LARGE = 3.0, 0.97
CALLS, MOST_BYTES = 500_000, 256 << 20


def iobuf(bench: Bench) -> Iterator[Row]:
    for way in ("write", "read"):
        for size in SMALL + LARGE:
            runs = {
                kind: lambda kind=kind, way=way, size=size: _run(bench, kind, way, size)
                for kind in ("bare", "buffered")
            }
            results = bench.take_turns(runs)
            buffered, bare = (spread(results[kind], "mb_per_s") for kind in ("buffered", "bare"))
            yield Row(
                f"Calls that {way} {size} B in sequence",
                "MB/s",
                buffered,
                bare,
                "without buffers",
                buffered.over(bare),
                at_least=LEAST_LARGE if size in LARGE else LEAST_SMALL,
                foreign=foreign(*results.values()),
            )


def _run(bench: Bench, kind: str, way: str, size: int) -> dict:
    """A file that is read is not in the cache of the system."""
    count = bench.scaled(min(CALLS, MOST_BYTES // size))
    environment = {"LD_PRELOAD": str(library())} if kind == "buffered" else {}
    return bench.run(bench.program("file_pace"), bench.scratch, way, size, count * size, **environment)
