"""culmen.Executor on the ranks of a launch, and culmen.minimize on mpi4py's executor."""

import subprocess

import executor_kit
import pytest
from harness import HANGS_S, PYTHON, RANKS, ROOT, culmen, environment

pytestmark = pytest.mark.either("mpi")


def launch(mpi, script, folder, *words, ranks=None, arguments=()):
    line = culmen("launch", "-n", ranks or RANKS[mpi], "--mpi", mpi, "--dry-run", "run", "x", cwd=folder).stdout.split()
    command = ["env", *line[: line.index("-n") + 2], PYTHON, *words, script, *arguments]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=HANGS_S)


@pytest.mark.slow
def test_it_keeps_the_promises_of_concurrent_futures_on_ranks(mpi, tmp_path):
    done = launch(mpi, ROOT / "tests" / "executor_kit.py", tmp_path, arguments=["mpi"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"ok {check}" for check in executor_kit.PROMISES | executor_kit.OWN]


SCRIPT = """
import os, culmen
with culmen.Executor() as pool:
    print(pool.workers, sum(pool.map(lambda i: i * i, range(100))), pool.submit(os.getpid).result() != os.getpid())
    print("crashed", pool.submit(os._exit, 3).exception().status, pool.submit(len, "abc").result())
    try:
        culmen.Executor()
    except culmen.InputError as e:
        print("second:", e)
print(culmen.minimize(lambda p: p["x"] ** 2, {"x": (-1, 1)}, budget=50).evaluations)
later = culmen.Executor()
print(later.submit(pow, 2, 3).result())
"""


def test_the_other_ranks_serve_until_the_script_of_rank_zero_ends(mpi, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = launch(mpi, "script.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{RANKS[mpi] - 1} 328350 True",
        "crashed crashed 3",
        "second: the ranks of this launch already work for another study or executor; end that one first",
        "50",
        "8",
    ]


def test_an_exception_in_rank_zero_ends_every_rank(mpi, tmp_path):
    (tmp_path / "script.py").write_text(
        "import culmen\nwith culmen.Executor() as pool:\n    pool.submit(divmod, 1, 0).result()\n"
    )
    done = launch(mpi, "script.py", tmp_path)
    assert done.stderr.count("ZeroDivisionError") >= 1
    assert "Traceback" in done.stderr


def test_a_wrong_executor_is_said_once_and_every_rank_leaves(mpi, tmp_path):
    (tmp_path / "script.py").write_text(
        "import culmen\ntry:\n    culmen.Executor(initializer=3)\n"
        "except culmen.InputError as e:\n    print('refused:', e)\n"
        "print(culmen.Executor().submit(len, 'ab').result())\n"
    )
    done = launch(mpi, "script.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("refused: culmen.Executor: initializer must be a function")
    assert done.stdout.splitlines()[1:] == ["2"]


JOBLIB = """
import culmen, joblib
culmen.register_joblib()
with joblib.parallel_config(backend="culmen", n_jobs=2):
    for _ in range(2):
        print(joblib.Parallel()(joblib.delayed(pow)(i, 2) for i in range(4)))
    try:
        joblib.Parallel()(joblib.delayed(divmod)(1, i) for i in range(4))
    except ZeroDivisionError as e:
        print(e)
with joblib.parallel_config(backend="culmen"):
    print(joblib.effective_n_jobs(-1), joblib.Parallel()(joblib.delayed(pow)(i, 2) for i in range(4)))
"""


def test_joblib_runs_on_ranks_again_and_again(mpi, tmp_path):
    (tmp_path / "script.py").write_text(JOBLIB)
    done = launch(mpi, "script.py", tmp_path)
    assert done.returncode == 0, done.stderr
    squares = "[0, 1, 4, 9]"
    said = [squares, squares, "integer division or modulo by zero", f"{RANKS[mpi] - 1} {squares}"]
    assert done.stdout.splitlines() == said


LENT = """
import sys
import culmen
from mpi4py import MPI
from mpi4py.futures import MPIPoolExecutor

def valley(p):
    return (p["x"] - 0.3) ** 2 + (p["y"] + 1) ** 2

if __name__ == "__main__":
    space = {"x": (-5, 5), "y": (-5, 5)}
    with MPIPoolExecutor() as executor:
        found = culmen.minimize(valley, space, budget=200, executor=executor)
    print(found.workers, found.evaluations, found.x)
"""


def test_mpi4pys_executor_finds_what_local_workers_find(mpi, tmp_path):
    (tmp_path / "script.py").write_text(LENT + "    print(MPI.Get_library_version(), file=sys.stderr)\n")
    done = launch(mpi, "script.py", tmp_path, "-m", "mpi4py.futures", ranks=4)
    assert done.returncode == 0, done.stderr
    assert {"openmpi": "Open MPI", "mpich": "MPICH"}[mpi] in done.stderr
    (tmp_path / "alone.py").write_text(LENT.replace("MPIPoolExecutor()", "culmen.Executor(3)"))
    alone = subprocess.run(
        [PYTHON, "alone.py"], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=HANGS_S
    )
    assert done.stdout == alone.stdout
    assert done.stdout.startswith("3 200 ")
