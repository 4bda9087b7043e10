"""Processes that a function starts in a rank: they do not inherit that the rank ignores signals."""

import pytest
from children import EVALUATIONS, survivors, write
from harness import culmen

pytestmark = pytest.mark.either("mpi")


@pytest.mark.parametrize("team", [[], ["--team-size", "2"]], ids=["alone", "in teams"])
@pytest.mark.parametrize("function", ["terminated", "pooled", "forked"])
def test_a_python_function_ends_its_processes_by_signals(mpi, tmp_path, function, team):
    write(tmp_path, f'python = "model.py:{function}"')
    done = culmen("launch", "-n", 5, "--mpi", mpi, "run", "study.toml", *team, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert survivors(tmp_path) == [0] * EVALUATIONS


@pytest.mark.parametrize("team", [[], ["--team-size", "2"]], ids=["alone", "in teams"])
def test_a_function_of_a_library_ends_its_processes_by_signals(mpi, tmp_path, team):
    write(tmp_path, 'library = "libcost.so:cost"\nisolation = "none"')
    done = culmen("launch", "-n", 5, "--mpi", mpi, "run", "study.toml", *team, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert survivors(tmp_path) == [0] * EVALUATIONS


PROGRAM = """
import signal, culmen, model

for function in (model.terminated, model.pooled, model.forked):
    found = culmen.minimize(lambda x, team: function(x), [(0.0, 1.0)], budget=EVALUATIONS, team_size=2)
    assert found.failed == 0
    assert not culmen.is_master() or max(found.read().values) == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    try:
        signal.raise_signal(signal.SIGINT)
        raise SystemExit("SIGINT is still ignored")
    except KeyboardInterrupt:
        pass
"""


@pytest.mark.slow
def test_a_python_program_of_ranks_ends_its_processes_by_signals(mpi, tmp_path):
    write(tmp_path, 'python = "model.py:terminated"')
    (tmp_path / "program.py").write_text(PROGRAM.replace("EVALUATIONS", str(EVALUATIONS)))
    done = culmen("launch", "-n", 3, "--mpi", mpi, "python", "program.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
