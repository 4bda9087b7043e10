"""Studies under both MPIs: killed and resumed, begun here and ended elsewhere, mistaken; Python scripts as ranks."""

import contextlib
import os
import random
import signal
import subprocess
import time

import pytest
from harness import (
    EXAMPLES,
    HANGS_S,
    PYTHON,
    RANKS,
    Running,
    calls_of,
    culmen,
    environment,
    go_on,
    hold,
    outcomes,
    recorded_points,
    run_undisturbed,
    sequence,
    store_is_ready,
    under,
    wait_for,
    wait_for_soon,
    write_study,
)

from culmen import read as culmen_read

pytestmark = pytest.mark.either("mpi")

BUDGET = 200
KILLS = 5 if os.environ.get("CULMEN_TEST_ALL") else 3


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Sequence and outcomes of the study on local workers."""
    return run_undisturbed(tmp_path_factory.mktemp("local"), BUDGET, workers=3)


@pytest.mark.parametrize("seed", range(KILLS))
def test_rank_zero_killed_and_resumed(mpi, local, tmp_path, rank_zero, seed):
    chance = random.Random(seed)  # noqa: S311
    write_study(tmp_path, BUDGET)
    store, moment = tmp_path / "study.db", chance.randrange(BUDGET)
    with Running(*under(mpi, "run", "study.toml", "--quiet"), cwd=tmp_path) as run:
        wait_for(lambda: store_is_ready(store) and len(calls_of(tmp_path)) >= moment, f"call {moment} of the model")
        time.sleep(chance.random() * 0.01)
        with contextlib.suppress(ProcessLookupError, TypeError):  # a run of which little was left may have ended
            os.kill(rank_zero(run), signal.SIGKILL)
        wait_for_soon(lambda: not slots(run), "the end of every slot", 1.0)
        launcher_s = 5  # how long launchers take to notice a dead rank is theirs
        wait_for_soon(lambda: not run.processes(), "the end of the launch", launcher_s)
    recorded, before = recorded_points(store), len(calls_of(tmp_path))

    done = culmen(*under(mpi, "resume", "study.db", "--quiet"), cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert recorded.isdisjoint(calls_of(tmp_path)[before:])
    assert sequence(store) == local[0]
    assert outcomes(store) == local[1]


def slots(run: Running) -> dict[int, str]:
    return {pid: line for pid, line in run.processes().items() if "culmen.slot" in line or "__slot" in line}


def test_what_was_begun_under_mpi_goes_on_without(mpi, local, tmp_path, rank_zero):
    write_study(tmp_path, BUDGET)
    hold(tmp_path, BUDGET // 2)
    with Running(*under(mpi, "run", "study.toml"), cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) > 30, "30 calls")
        os.kill(rank_zero(run), signal.SIGTERM)
        run.end()
    go_on(tmp_path)
    assert culmen("resume", "study.db", "--quiet", cwd=tmp_path).returncode == 0
    assert sequence(tmp_path / "study.db") == local[0]
    begun_on = culmen_read(tmp_path / "study.db").configuration["machine"]
    assert begun_on["mpi"].startswith({"openmpi": "Open MPI v", "mpich": "MPICH Version"}[mpi])
    assert begun_on["ranks"] == RANKS[mpi]


MISTAKES = {
    "unknown key": ("[stop]", "[stop]\nwrkers = 1", 2, "[stop] has no key 'wrkers'"),
    "unknown function": ("model.py:f", "model.py:g", 2, "has no function 'g' (it has: f)"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_for_all_ranks(mpi, tmp_path, mistake):
    old, new, code, expected = MISTAKES[mistake]
    write_study(tmp_path)
    (tmp_path / "study.toml").write_text((tmp_path / "study.toml").read_text().replace(old, new))
    done = culmen(*under(mpi, "run", "study.toml"), cwd=tmp_path)
    assert done.returncode == code
    assert (done.stdout + done.stderr).count(expected) == 1
    assert "Traceback" not in done.stderr


def test_a_finished_study_is_shown_and_all_ranks_leave(mpi, tmp_path):
    write_study(tmp_path, 20)
    assert culmen("run", "study.toml", "--quiet", cwd=tmp_path).returncode == 0
    for words in (("run", "study.toml"), ("resume", "study.db")):
        done = culmen(*under(mpi, *words), cwd=tmp_path)
        assert done.returncode == 0
        assert done.stdout.count("has finished (limit of evaluations reached)") == 1


@pytest.mark.parametrize("option", ["--threads", "--worker-processes", "--workers=1"])
def test_ranks_evaluate_whatever_local_workers_are_asked_for(mpi, tmp_path, option):
    """The choice of the mode counts them, too: local workers, one for each of a few CPUs, would be too few."""
    write_study(tmp_path, 60, top="")
    done = culmen("launch", "-n", 8, "--mpi", mpi, "run", "study.toml", option, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    name = option.partition("=")[0]
    note = f"{name} applies to local workers; under MPI every rank except the first is a worker"
    assert done.stderr.count(f"culmen: note: {note}\n") == 1
    assert culmen_read(tmp_path / "study.db").configuration["optimizer"]["generational"] is False


def run_script(mpi, script, folder):
    """Starts a Python script as the ranks of a launch, with the line that `culmen launch` prints."""
    line = culmen("launch", "-n", RANKS[mpi], "--mpi", mpi, "--dry-run", "run", "x", cwd=folder).stdout.split()
    command = ["env", *line[: line.index("-n") + 2], PYTHON, script]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=HANGS_S)


def test_every_rank_of_a_script_gets_the_same_result(mpi, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import culmen, os\n"
        "for target in (0.25, 0.5):\n"
        "    result = culmen.minimize(lambda p: (p['x'] - target) ** 2, {'x': (0, 1)}, budget=100)\n"
        "    with open(f'result-{target}-{os.getpid()}', 'w') as file:\n"
        "        file.write(f'{result.x[0]:.2f} {result.value} {result.evaluations} {result.workers}')\n"
    )
    done = run_script(mpi, script, tmp_path)
    assert done.returncode == 0, done.stderr
    for target in (0.25, 0.5):
        results = [path.read_text() for path in tmp_path.glob(f"result-{target}-*")]
        assert len(results) == RANKS[mpi]
        assert len(set(results)) == 1
        assert results[0].startswith(f"{target:.2f} ")


def test_what_rank_zero_refuses_every_rank_raises(mpi, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import culmen\n"
        "for _ in range(2):\n"
        "    try:\n        culmen.minimize(lambda p: 0, {'x': (0, 1)}, budget=0)\n"
        "    except culmen.CulmenError as e:\n        print(f'refused: {e}')\n"
    )
    done = run_script(mpi, script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("refused: culmen.minimize: budget must be at least 1, got 0") == 2 * RANKS[mpi]


def test_the_hello_world_under_mpi(mpi, tmp_path):
    done = run_script(mpi, EXAMPLES / "04_python" / "minimize.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Result(value=") == 1


def test_after_ctrl_c_every_rank_has_the_best_so_far_and_goes_on(mpi, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import culmen, os, signal\n"
        "def f(p):\n"
        "    with open('calls', 'a') as file:\n        file.write('.')\n"
        "    if os.path.getsize('calls') > 200:\n"
        "        try:\n            open('sent', 'x').close()\n"
        "            os.kill(int(open('master').read()), signal.SIGINT)\n"
        "        except FileExistsError:\n            pass\n"
        "    return p['x']\n"
        "if culmen.is_master():\n    open('master', 'w').write(str(os.getpid()))\n"
        "found = culmen.minimize(f, {'x': (0, 1)}, budget=10**6)\n"
        "again = culmen.minimize(lambda p: p['x'], {'x': (0, 1)}, budget=20)\n"
        "with open(f'result-{os.getpid()}', 'w') as file:\n"
        "    file.write(f'{found.reason} {found.x} {found.evaluations} {again.evaluations}')\n"
    )
    done = run_script(mpi, script, tmp_path)
    assert done.returncode == 0, done.stderr
    results = [path.read_text() for path in tmp_path.glob("result-*")]
    assert len(results) == RANKS[mpi]
    assert len(set(results)) == 1
    assert results[0].startswith("interrupted [")
    assert results[0].endswith(" 20")
    assert done.stderr.count("; the best so far is ") == 1
