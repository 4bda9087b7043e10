"""A launch on four nodes, with a line between them that takes 50 µs."""

import pytest
from harness import outcomes, run_undisturbed, sequence, write_study

BUDGET = 120
MPIS = ["openmpi", "mpich"]
QUICK = """
optimizer = "random"
[space]
x = { lower = 0, upper = 1 }
[evaluator]
python = "quick.py:f"
[stop]
evaluations = 4000
"""


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    return run_undisturbed(tmp_path_factory.mktemp("local"), BUDGET, workers=3)


@pytest.mark.parametrize("mpi", MPIS)
def test_candidates_and_outcomes_are_those_of_one_node(nodes, local, tmp_path, mpi):
    write_study(tmp_path, BUDGET)
    done = nodes.launch(mpi, "-n", 12, "--hosts", ",".join(nodes.addresses), "run", "study.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Workers: 8 on 4 nodes, with 3 relays between the nodes\n" in done.stdout
    assert (sequence(tmp_path / "study.db"), outcomes(tmp_path / "study.db")) == local


@pytest.mark.parametrize("mpi", MPIS)
def test_short_evaluations_share_messages(nodes, tmp_path, mpi):
    """Half of the candidates go to the other node. One message for each of them, and one for each result, would be
    4000, and acknowledgements come on top. Packets of MPI's start are among those that are counted."""
    (tmp_path / "quick.py").write_text("def f(p):\n    return p['x']\n")
    (tmp_path / "quick.toml").write_text(QUICK)
    before = nodes.packets()
    done = nodes.launch(mpi, "-n", 10, "--hosts", ",".join(nodes.addresses[:2]), "run", "quick.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    packets = nodes.packets() - before
    print(f"\n  {mpi}: {packets} packets for 4000 evaluations, half of them on the other node")
    assert packets < 2000
