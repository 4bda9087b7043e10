"""The rate of small and of large calls on a file with libculmen-iobuf. The peer is the same program without it."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from culmen.tune.iobuf.settings import library
from measure import Bench, Row, foreign, spread
from slow_mount import slow_mount

SMALL, LARGE = (64, 512, 4096), (1 << 20,)  # bytes of a call
RECORDS = ((8, 8, 8, 8, 96), (64, 1 << 16))  # bytes of the calls of a record: short fields; a header and a large body
LEAST_SMALL, LEAST_LARGE = 3.0, 0.97
CALLS, MOST_BYTES = 500_000, 256 << 20
SLOW_REQUESTS_PER_S, SLOW_BYTES = 1000, {"write": 4 << 20, "read": 64 << 20}


def iobuf(bench: Bench) -> Iterator[Row]:
    """On the disk of this machine, and, for root, on a slow one, whose file system waits for it in each write."""
    for way in ("write", "read"):
        yield from _rows(bench, bench.scratch, way, [(size,) for size in SMALL + LARGE], MOST_BYTES, "")
    yield from _rows(bench, bench.scratch, "read", RECORDS, MOST_BYTES, "")
    with slow_mount(bench.scratch, SLOW_REQUESTS_PER_S, "sync") as place:
        if place is None:
            bench.say("no slow disk: this needs root, ext4, a loop device and control groups")
            return
        for way, most in SLOW_BYTES.items():
            yield from _rows(bench, place, way, [(size,) for size in SMALL], most, " on a slow disk")


def _rows(
    bench: Bench, folder: Path, way: str, records: Iterable[tuple[int, ...]], most: int, where: str
) -> Iterator[Row]:
    """A record of one call is a file in which all calls have the same size."""
    for sizes in records:
        runs = {
            kind: lambda kind=kind, sizes=sizes: _run(bench, folder, kind, way, sizes, most)
            for kind in ("bare", "buffered")
        }
        results = bench.take_turns(runs)
        buffered, bare = (spread(results[kind], "mb_per_s") for kind in ("buffered", "bare"))
        yield Row(
            f"Calls that {way} {_shown(sizes)} in sequence{where}",
            "MB/s",
            buffered,
            bare,
            "without buffers",
            buffered.over(bare),
            at_least=LEAST_SMALL if max(sizes) <= max(SMALL) else LEAST_LARGE,
            foreign=foreign(*results.values()),
        )


def _shown(sizes: tuple[int, ...]) -> str:
    return f"{sizes[0]} B" if len(sizes) == 1 else f"records of {' + '.join(map(str, sizes))} B"


def _run(bench: Bench, folder: Path, kind: str, way: str, sizes: tuple[int, ...], most: int) -> dict:
    """A file that is read is not in the cache of the system."""
    count = bench.scaled(min(CALLS // len(sizes), most // sum(sizes)))
    environment = {"LD_PRELOAD": str(library())} if kind == "buffered" else {}
    return bench.run(
        bench.program("file_pace"), folder, way, ",".join(map(str, sizes)), count * sum(sizes), **environment
    )
