"""Relays that get their work through other relays. A variable makes a few nodes enough for that."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Running, culmen, outcomes, run_undisturbed, sequence, wait_for, write_study

pytestmark = pytest.mark.either("mpi")

BUDGET = 120
NODES = 5  # with two ranks each: the master with a worker, and relays with a worker each
CHILDREN = {0: [2, 6], 2: [4], 6: [8]}
STUDY = """
optimizer = "random"
[space]
x = {{ lower = 0, upper = 1 }}
[evaluator]
python = "model.py:f"
[stop]
evaluations = {evaluations}
"""


SQUARE = """
#include <culmen/evaluator.h>
int square(const culmen_candidate* c, culmen_result* r) { return culmen_set_value(r, c->x[0] * c->x[0]); }
"""


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    return run_undisturbed(tmp_path_factory.mktemp("local"), BUDGET, workers=3)


@pytest.fixture
def counted(mpi: str, world_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """counted(): of each rank that sent messages over lines, their number by destination."""
    name = f"libculmen_mpi_{mpi}.so"
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / name).symlink_to(world_program.with_name("libcounting_module.so"))
    monkeypatch.setenv("CULMEN_MODULE_DIR", str(tmp_path / "modules"))
    monkeypatch.setenv("COUNTED_MODULE", str(world_program.parent.parent / "modules" / name))
    monkeypatch.setenv("COUNTS", str(tmp_path / "counts"))

    def read() -> dict[int, dict[int, int]]:
        out = {}
        for path in tmp_path.glob("counts.*"):
            lines = [line.split() for line in path.read_text().splitlines()]
            out[int(path.suffix[1:])] = {int(to): int(n) for to, n in lines}
            path.unlink()
        return {rank: sent for rank, sent in out.items() if sent}

    return read


@pytest.fixture
def on_tree(on_nodes: Callable, tmp_path: Path) -> Callable:
    """As on_nodes, with two ranks on each of five nodes, where more than ``flat`` nodes are a tree."""

    def words(*arguments: str, flat: int = 3, program: str = "culmen") -> list[str]:
        out = on_nodes(2 * NODES, 2, *arguments, program=program)
        script = tmp_path / "on_nodes"
        script.write_text(script.read_text().replace("exec ", f"export CULMEN_FLAT_NODES={flat}\nexec "))
        return out

    return words


def test_candidates_and_outcomes_are_those_of_one_node(on_tree, local, tmp_path):
    write_study(tmp_path, BUDGET)
    done = culmen(*on_tree("run", "study.toml"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Workers: 5 on 5 nodes, with 4 relays between the nodes\n" in done.stdout
    assert sequence(tmp_path / "study.db") == local[0]
    assert outcomes(tmp_path / "study.db") == local[1]


def test_the_masters_messages_grow_with_the_relays_that_it_talks_to(on_tree, counted, mpi, tmp_path):
    """One team of all workers: every candidate goes to every node."""
    evaluations = 30
    (tmp_path / "square.c").write_text(SQUARE)
    include = culmen("include", cwd=tmp_path).stdout.strip()
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-I", include, "-o", "libsquare.so", "square.c"], cwd=tmp_path, check=True
    )
    study = STUDY.format(evaluations=evaluations).replace('python = "model.py:f"', 'library = "libsquare.so:square"')
    (tmp_path / "study.toml").write_text(study)
    masters = {}
    for flat in (3, 256):
        teams = ("--team-size", NODES, "--team-placement", "any")
        done = culmen(*on_tree("run", "study.toml", *teams, "--store", f"{flat}.db", flat=flat), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"Workers: 1 team of {NODES} ranks on {NODES} nodes" in done.stdout
        sent = counted()
        below = {rank: sorted(to for to in sent[rank] if to > rank) for rank in sent}
        expected = CHILDREN if flat == 3 else {0: list(range(2, 2 * NODES, 2))}
        assert {rank: to for rank, to in below.items() if to} == expected
        masters[flat] = sent[0]
    print(f"\n  {mpi}: messages of the master for {evaluations} candidates: {masters}")
    for sent in masters.values():
        for n in sent.values():
            assert evaluations <= n <= evaluations + 2, "beside candidates, the set-up and the end"


def test_ctrl_c_ends_evaluations_behind_relays_of_relays(on_tree, tmp_path, rank_zero):
    (tmp_path / "model.py").write_text(
        "import time\n\ndef f(p):\n    open('begun', 'a').write('x')\n    time.sleep(3600)\n"
    )
    (tmp_path / "study.toml").write_text(STUDY.format(evaluations=100))
    with Running(*on_tree("run", "study.toml", "--quiet"), cwd=tmp_path) as run:
        begun = tmp_path / "begun"
        wait_for(lambda: begun.exists() and len(begun.read_text()) == NODES, "an evaluation at each of the workers")
        os.kill(rank_zero(run), signal.SIGINT)
        run.end()
        assert run.process.returncode == 75
        wait_for(lambda: not run.processes(), "the end of every process")


@pytest.mark.slow
def test_large_results_and_further_studies(on_tree, tmp_path):
    (tmp_path / "several.py").write_text(
        "import culmen\n"
        "def residuals(p):\n"
        "    return [p['x'] * (i % 7) / 1000 for i in range(400_000)]\n"
        "def f(p):\n"
        "    return (p['x'] - 1) ** 2\n"
        "large = culmen.minimize(residuals, {'x': (1.0, 2.0)}, result='residuals', budget=16, optimizer='random')\n"
        "found = [culmen.minimize(f, {'x': (0.0, 2.0)}, budget=20, seed=s).evaluations for s in (1, 2)]\n"
        "with culmen.Executor() as pool:\n"
        "    if culmen.is_master():\n"
        "        print(large.failed, len(large.residuals), found, sum(pool.map(abs, range(-50, 0))))\n"
    )
    done = culmen(*on_tree("several.py", program="python"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0 400000 [20, 20] 1275\n" in done.stdout


def test_an_evaluator_that_dies_behind_relays_of_relays_is_a_failed_evaluation(on_tree, tmp_path):
    (tmp_path / "model.py").write_text(
        "import os\n\ndef f(p):\n    if p['x'] < 0.3:\n        os.abort()\n    return p['x']\n"
    )
    (tmp_path / "study.toml").write_text(STUDY.format(evaluations=40))
    done = culmen(*on_tree("run", "study.toml"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {status for status, *_ in outcomes(tmp_path / "study.db").values()} == {"ok", "crashed"}
