"""Ranks on several nodes, under both MPIs. A variable tells ranks of this machine that they share no memory."""

import contextlib
import os
import signal
from pathlib import Path

import pytest
from culmen.launch.rank_watch import rank_in
from harness import Running, calls_of, culmen, go_on, hold, outcomes, run_undisturbed, sequence, wait_for, write_study

pytestmark = pytest.mark.either("mpi")

BUDGET = 120


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    return run_undisturbed(tmp_path_factory.mktemp("local"), BUDGET, workers=3)


@pytest.mark.parametrize(
    ("ranks", "each", "said"),
    [(4, 2, "2 on 2 nodes, with a relay"), (7, 2, None), (6, 2, "3 on 3 nodes, with 2 relays")],
)
def test_candidates_and_outcomes_are_those_of_one_node(on_nodes, local, tmp_path, ranks, each, said):
    write_study(tmp_path, BUDGET)
    done = culmen(*on_nodes(ranks, each, "run", "study.toml"), cwd=tmp_path)
    if said is None:
        assert "rank 6 is alone on its node" in done.stderr
        assert done.returncode == 2
        return
    assert done.returncode == 0, done.stderr
    assert f"Workers: {said} between the nodes\n" in done.stdout
    assert f"with {said.split()[0]} workers on {said.split()[2]} nodes" in done.stdout
    assert sequence(tmp_path / "study.db") == local[0]
    assert outcomes(tmp_path / "study.db") == local[1]


def test_a_study_that_was_killed_goes_on(on_nodes, local, tmp_path, rank_zero):
    write_study(tmp_path, BUDGET)
    hold(tmp_path, BUDGET // 2)
    with Running(*on_nodes(6, 3, "run", "study.toml", "--quiet"), cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) >= BUDGET // 3, "a third of the calls")
        os.kill(rank_zero(run), signal.SIGKILL)
        wait_for(lambda: not run.processes(), "the end of the launch and of every evaluator")
    go_on(tmp_path)
    done = culmen(*on_nodes(6, 2, "resume", "study.db", "--quiet"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sequence(tmp_path / "study.db") == local[0]
    assert outcomes(tmp_path / "study.db") == local[1]


def test_ctrl_c_ends_evaluations_on_all_nodes(on_nodes, tmp_path, rank_zero):
    (tmp_path / "model.py").write_text(
        "import time\n\ndef f(p):\n    open('begun', 'a').write('x')\n    time.sleep(3600)\n"
    )
    (tmp_path / "study.toml").write_text(
        '[space]\nx = { lower = 0, upper = 1 }\n[evaluator]\npython = "model.py:f"\n[stop]\nevaluations = 100\n'
    )
    with Running(*on_nodes(6, 2, "run", "study.toml", "--quiet"), cwd=tmp_path) as run:
        begun = tmp_path / "begun"
        wait_for(lambda: begun.exists() and len(begun.read_text()) == 3, "an evaluation at each of the three workers")
        os.kill(rank_zero(run), signal.SIGINT)
        run.end()
        assert run.process.returncode == 75
        wait_for(lambda: not run.processes(), "the end of every process")


RECOVERY = ("mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "--enable-recovery", "-n", "6")
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.mark.slow
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
@pytest.mark.parametrize(
    ("each", "dead"),
    [pytest.param(2, 3, id="one behind a relay"), pytest.param(3, 1, id="one between the master and a relay")],
)
def test_a_launch_that_lets_the_others_live_ends_after_a_rank_has_died(on_nodes, local, tmp_path, each, dead):
    """MPI would pass the result from rank to rank, so that a dead one keeps it from others."""
    write_study(tmp_path, BUDGET)
    hold(tmp_path, BUDGET // 2)
    script = on_nodes(6, each)[5]
    with Running("run", "study.toml", "--quiet", cwd=tmp_path, prefix=(*RECOVERY, script), **ALLOWED) as run:
        wait_for(lambda: len(calls_of(tmp_path)) >= BUDGET // 3, "a third of the calls")
        lost = [pid for pid in sorted(run.processes()) if rank_of(pid) == dead]
        os.kill(lost[0], signal.SIGKILL)
        go_on(tmp_path)
        run.end()
        wait_for(lambda: not run.processes(), "the end of every rank")
    assert sequence(tmp_path / "study.db") == local[0]
    assert outcomes(tmp_path / "study.db") == local[1]


def rank_of(pid):
    with contextlib.suppress(OSError):
        return rank_in(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
    return None


@pytest.mark.parametrize("megabytes", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_large_results_cross_in_fragments(on_nodes, tmp_path, megabytes):
    values = megabytes * 125_000
    (tmp_path / "large.py").write_text(
        "import culmen\n"
        "def residuals(p):\n"
        f"    return [p['x'] * (i % 7) / 1000 for i in range({values})]\n"
        "result = culmen.minimize(residuals, {'x': (1.0, 2.0)}, result='residuals', budget=4, optimizer='random')\n"
        "if culmen.is_master():\n"
        "    print(result.evaluations, result.failed, len(result.residuals))\n"
    )
    done = culmen(*on_nodes(4, 2, "large.py", program="python"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"4 0 {values}\n" in done.stdout


def test_an_evaluator_that_dies_behind_a_relay_is_a_failed_evaluation(on_nodes, tmp_path):
    (tmp_path / "model.py").write_text(
        "import os\n\ndef f(p):\n    if p['x'] < 0.3:\n        os.abort()\n    return p['x']\n"
    )
    (tmp_path / "study.toml").write_text(
        'optimizer = "random"\n[space]\nx = { lower = 0, upper = 1 }\n'
        '[evaluator]\npython = "model.py:f"\n[stop]\nevaluations = 30\n'
    )
    done = culmen(*on_nodes(4, 2, "run", "study.toml"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    statuses = {status for status, *_ in outcomes(tmp_path / "study.db").values()}
    assert statuses == {"ok", "crashed"}


def test_studies_and_executors_follow_each_other(on_nodes, tmp_path):
    (tmp_path / "several.py").write_text(
        "import culmen\n"
        "def f(p):\n"
        "    return (p['x'] - 1) ** 2\n"
        "found = [culmen.minimize(f, {'x': (0.0, 2.0)}, budget=20, seed=s).evaluations for s in (1, 2)]\n"
        "with culmen.Executor() as pool:\n"
        "    if culmen.is_master():\n"
        "        print(found, sum(pool.map(abs, range(-50, 0))))\n"
    )
    done = culmen(*on_nodes(6, 2, "several.py", program="python"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[20, 20] 1275\n" in done.stdout
