"""Four simulated nodes of this machine with 8 workers each: the efficiency of the workers, and the number of messages.

    python benchmarks/nodes.py [--mpi openmpi|mpich] [--repeat N]

The line between the nodes takes 50 µs and carries 1 Gbit/s. It needs root: see tests/simulated_nodes.py. Efficiency is
evaluations × requested duration / (workers × time), between the first and the last tenth of the evaluations. Packets
are those of TCP on the line, with acknowledgements and those of MPI's start.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from simulated import build

from culmen import _core

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from simulated_nodes import Nodes, cannot_be_made

NODES, WORKERS = 4, 8
STUDY = """
optimizer = "random"
[space]
x = {{ lower = 0, upper = 1 }}
[evaluator]
library = "study_function.so:sleep_and_answer"
isolation = "none"
[stop]
evaluations = {evaluations}
"""
# Duration in µs, evaluations, efficiency that is asked for.
PARTS = [(10_000, 16_000, 0.97), (1_000, 100_000, 0.90), (0, 200_000, None)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], action="append")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    if reason := cannot_be_made():
        sys.exit(reason)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder, "study_function")
        nodes = Nodes(folder, NODES)
        try:
            nodes.start()
            for mpi in options.mpi or ["openmpi", "mpich"]:
                for part in PARTS:
                    report(mpi, *part, [measure(nodes, mpi, *part[:2], folder) for _ in range(options.repeat)])
        finally:
            nodes.stop()


def measure(nodes: Nodes, mpi: str, sleep_us: int, evaluations: int, folder: Path) -> tuple[float, float]:
    """Evaluations per second between the first and the last tenth, and packets per evaluation."""
    (folder / "study.toml").write_text(STUDY.format(evaluations=evaluations))
    before = nodes.packets()
    words = ["-n", NODES * WORKERS + NODES, "--hosts", ",".join(nodes.addresses), "run", "study.toml"]
    done = nodes.launch(mpi, *words, "--quiet", "--overwrite", cwd=folder, CULMEN_BENCH_SLEEP_US=str(sleep_us))
    if done.returncode != 0:
        sys.exit(f"{mpi}, {sleep_us} µs: {done.stdout}{done.stderr}")
    packets = nodes.packets() - before
    at_s = sorted(row["at_s"] for row in _core.Store.read(str(folder / "study.db")).outcomes(0, evaluations))
    first, last = len(at_s) // 10, len(at_s) * 9 // 10
    return (last - first) / (at_s[last] - at_s[first]), packets / evaluations


def report(mpi: str, sleep_us: int, _evaluations: int, wanted: float | None, runs: list[tuple[float, float]]) -> None:
    rates, packets = zip(*runs, strict=True)
    text = f"{mpi:8} {sleep_us / 1000:g} ms: {statistics.median(rates):8.0f} evaluations/s"
    if wanted:
        busy = sorted(rate * sleep_us * 1e-6 / (NODES * WORKERS) for rate in rates)
        text += f", efficiency {statistics.median(busy):.3f} ({busy[0]:.3f} – {busy[-1]:.3f}), goal {wanted}"
    print(f"{text}, {statistics.median(packets):.2f} packets per evaluation", flush=True)


if __name__ == "__main__":
    main()
