"""The part ``tuning`` of the benchmark on four simulated nodes of this machine, with two ranks on each.

    python benchmarks/tuning_nodes.py [options of run.py]

The line between the nodes takes 50 µs and carries 1 Gbit/s. It needs root: see tests/simulated_nodes.py. The variable
CULMEN_BENCH_MPIS chooses the MPI: ``openmpi`` (the default) or ``mpich``.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tuning import ONLY, RANKS

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from simulated_nodes import Nodes, cannot_be_made

HERE = Path(__file__).resolve().parent
NODES, RANKS_OF_A_NODE = 4, 2


def main() -> None:
    if reason := cannot_be_made():
        sys.exit(reason)
    with tempfile.TemporaryDirectory() as name:
        nodes = Nodes(Path(name), NODES)
        try:
            nodes.start()
            mpi = os.environ.get(ONLY, "openmpi")
            ranks = {ONLY: mpi, RANKS: str(NODES * RANKS_OF_A_NODE)}
            variables = {**ranks, **nodes.hosts(mpi, Path(name), RANKS_OF_A_NODE)}
            command = [sys.executable, HERE / "run.py", "--only", "tuning", *sys.argv[1:]]
            words, environment = nodes.first(mpi, *command, **variables)
            sys.exit(subprocess.run(words, env=environment, check=False).returncode)
        finally:
            nodes.stop()


if __name__ == "__main__":
    main()
