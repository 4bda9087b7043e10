"""Large data that a function captured, and large results: with culmen and with other pools."""

import sys
from collections.abc import Iterator
from pathlib import Path

from measure import Bench, Row, foreign, spread

POOLS = {"loky": "loky", "process_pool": "ProcessPoolExecutor"}
WAYS = {  # kinds of culmen; name; least factor above loky
    "captured": (("minimize", "executor"), "300 MB captured, first result", 1),
    "again": (("executor",), "300 MB captured, 8 more results", 1),
    "results": (("executor",), "8 results of 40 MB", 1),
}
TITLES = {"minimize": "minimize", "executor": "Executor"}


def large_data(bench: Bench) -> Iterator[Row]:
    script = Path(__file__).with_name("large_data_rate.py")
    for way, (kinds, name, factor) in WAYS.items():
        runs = {
            kind: lambda kind=kind, way=way: bench.run(sys.executable, script, kind, way) for kind in (*kinds, *POOLS)
        }
        done = bench.take_turns(runs)
        for kind in kinds:
            for peer, title in POOLS.items():
                figure, other = spread(done[kind], "rate"), spread(done[peer], "rate")
                load = foreign(done[kind], done[peer])
                row = f"{TITLES[kind]}, {name}"
                yield Row(row, "MB/s", figure, other, title, figure.over(other), at_least=factor, foreign=load)
        if way == "captured":
            for kind in kinds:
                peak, other = spread(done[kind], "peak"), spread(done["loky"], "peak")
                yield Row(
                    f"{TITLES[kind]}, {name}: growth of the master",
                    "of 300 MB",
                    peak,
                    other,
                    "loky",
                    peak.over(other),
                    at_most=1.2,
                )
