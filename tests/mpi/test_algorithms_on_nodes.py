"""MPICH runs a named algorithm directly on several nodes, and does not combine it with others."""

import os
import re
import subprocess

import pytest
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT
from culmen.launch.programs import said_by
from harness import HANGS_S
from profiles import built

RANKS = 4
SENT = re.compile(r"(\d)>(\d) (\d+x\d+)")


def algorithms_of(known):
    """The variables of each algorithm, and the usual ones of other collectives, which it may call. Without
    smp, which combines algorithms itself."""
    out, usual = {}, {}
    for collective in (*known.of, "alltoallw"):
        algorithms = known.algorithms(collective, RANKS)
        for one in algorithms:
            if one.name != "smp":
                out[collective, one.name] = {**usual, **one.variables}
        usual |= algorithms[0].variables
    return out


def sent(words, known, **nodes):
    """For each algorithm: the messages between ranks whose numbers differ in parity; None: it was refused."""
    given = [
        f"{'/'.join(key)}:{','.join(f'{k}={v}' for k, v in own.items())}" for key, own in algorithms_of(known).items()
    ]
    variables = {**known.environment, **nodes, "MPIR_CVAR_CH4_NETMOD": "ucx"}
    command = [str(RANKS) if word == "RANKS" else word for word in words]
    done = subprocess.run(
        [*command, *given], env=os.environ | variables, capture_output=True, text=True, timeout=HANGS_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "to nobody" not in done.stdout, done.stdout
    out = {}
    for line in done.stdout.splitlines():
        label, _, rest = line.partition(" ")
        between = {(one, other): what for one, other, what in SENT.findall(rest) if (int(one) + int(other)) % 2}
        out[tuple(label.split("/"))] = None if rest == "refused" else between
    return out


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_named_algorithm_sends_the_same_messages_between_nodes_as_if_each_rank_had_a_node(mpi, tmp_path):
    """MPICH treats the four ranks as two nodes: those with even and those with odd numbers. A combination sends its
    messages between nodes from one rank of each node, or to it."""
    known = find_launcher(mpi).mpi.collectives
    words = built(mpi, tmp_path, "nodes_program.c", "-rdynamic", "-ldl")
    if "libucp" not in said_by("ldd", words[-1]):
        pytest.skip("this MPICH does not use UCX")
    apart = sent(words, known, MPIR_CVAR_NOLOCAL="1")
    together = sent(words, known, MPIR_CVAR_ODD_EVEN_CLIQUES="1")
    assert [*apart] == [*together] == [*algorithms_of(known)]
    combined = {key for key in apart if apart[key] != together[key]}
    # With nb, MPICH chooses among the algorithms of the nonblocking collective, as it does by default.
    assert {(collective, name) for collective, name in combined if name not in (DEFAULT, "nb")} == set()
    assert {(name, DEFAULT) for name in ("barrier", "bcast", "reduce", "allreduce")} <= combined
    refused = {name for (_, name), messages in apart.items() if messages is None}
    assert refused <= {"pairwise_sendrecv_replace"}  # only for MPI_IN_PLACE
    assert all(messages for messages in apart.values() if messages is not None)
