"""Teams of ranks, under both MPIs: each evaluation has a communicator of its own."""

import json
import os
import re
import shutil
import signal
import subprocess

import pytest
from harness import Running, calls_of, copy_example, culmen, environment, outcomes, sequence, summary, wait_for

pytestmark = pytest.mark.either("mpi")

LIBRARY = """
#include <culmen/evaluator.h>
#include <mpi.h>
double sum_over(double mine, int communicator) {
  double all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_Comm_f2c(communicator));
  return all;
}
int cost(const culmen_candidate* c, culmen_result* r) {
  int rank, size;
  MPI_Comm_rank(MPI_Comm_f2c(c->communicator), &rank);
  MPI_Comm_size(MPI_Comm_f2c(c->communicator), &size);
  if (size != c->team_size) return 1;
  double mine = 0;
  for (size_t i = rank; i < c->size; i += size) mine += c->x[i] * c->x[i];
  culmen_set_extra(r, "size", size);
  const double all = sum_over(mine, c->communicator);
  return rank == 0 ? culmen_set_value(r, all) : 0;
}
"""
FORTRAN = """
function cost(candidate, result) bind(C) result(code)
  use culmen_evaluator
  use mpi_f08
  implicit none
  type(culmen_candidate), intent(in) :: candidate
  type(culmen_result), intent(in) :: result
  integer(c_int) :: code
  type(MPI_Comm) :: team
  integer :: rank
  real(c_double) :: mine, all
  real(c_double), pointer :: x(:)
  team%mpi_val = candidate%communicator
  call MPI_Comm_rank(team, rank)
  x => culmen_values(candidate)
  mine = 0
  if (rank < size(x)) mine = x(rank + 1)**2
  call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, team)
  code = culmen_set_value(result, all)
end function
"""
MODEL = """
import os, time
from pathlib import Path

def once():
    try:
        os.close(os.open(Path(__file__).with_name("raised"), os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False

def mean(p, comm):
    if comm.rank == 0:
        with open(Path(__file__).with_name("calls"), "a") as log:
            log.write(f"{p['x']!r}\\n")
        while Path(__file__).with_name("hold").exists() and len(Path(log.name).read_text().splitlines()) > 30:
            time.sleep(0.01)
    time.sleep(0.01)
    return comm.allreduce(p["x"] ** 2) / comm.size

def sleeps(p, comm):
    with open(Path(__file__).with_name("calls"), "a") as log:
        log.write("here\\n")
    time.sleep(3600)

def with_stale_messages(p, comm):
    if p["x"] < 0:
        if comm.rank == 0:
            comm.send("stale", dest=1)
        elif comm.rank == 1:
            raise ValueError("x is negative")
        return 0.0
    if comm.rank == 0:
        comm.send(p["x"], dest=1)
        return comm.recv(source=1)
    comm.send(comm.recv(source=0) ** 2, dest=0)

def raises_once(p, comm):
    if comm.rank == 1 and once():
        raise ValueError("negative mass")
    return comm.allreduce(p["x"] ** 2) / comm.size

def raises(p, comm):
    if comm.rank == 1:
        raise ValueError("negative mass")
    return comm.allreduce(1.0)
"""
LIMIT_S = 5  # an evaluation that is in order takes milliseconds, but on a busy machine its ranks wait for a CPU
STUDY = """
optimizer = "random"
[space]
x = { lower = -5, upper = 5 }
y = { lower = -5, upper = 5 }
[evaluator]
EVALUATOR
[stop]
evaluations = BUDGET
"""


def write(folder, evaluator, budget=30):
    (folder / "model.py").write_text(MODEL)
    (folder / "study.toml").write_text(STUDY.replace("EVALUATOR", evaluator).replace("BUDGET", str(budget)))


def compiled(mpi, folder, compiler, *words):
    """Builds libcost.so with that MPI's compiler."""
    program = shutil.which(f"{compiler}.{mpi}")
    if program is None:
        pytest.skip(f"there is no {compiler}.{mpi}")
    flags = ["-shared", "-fPIC", "-I", culmen("include", cwd=folder).stdout.strip(), "-o", "libcost.so"]
    subprocess.run([program, *flags, *words], cwd=folder, check=True)


def squares(folder):
    """The value that each evaluation must have: the sum of the squares of its parameters."""
    rows = json.loads(culmen("export", "study.db", "--json", cwd=folder).stdout)
    return [(row["x"] ** 2 + row["y"] ** 2, row["value"]) for row in rows]


def launched(mpi, folder, n, *words, **more):
    return culmen("launch", "-n", n, "--mpi", mpi, *words, cwd=folder, **more)


def test_a_function_in_c_sums_over_its_team(mpi, tmp_path):
    write(tmp_path, 'library = "libcost.so:cost"')
    (tmp_path / "cost.c").write_text(LIBRARY)
    compiled(mpi, tmp_path, "mpicc", "cost.c")
    told = []
    for size, teams in ((1, "4 teams of 1 rank"), (2, "2 teams of 2 ranks"), (4, "1 team of 4 ranks")):
        done = launched(mpi, tmp_path, 5, "run", "study.toml", "--team-size", size, "--overwrite")
        assert done.returncode == 0, done.stderr
        assert f"Workers: {teams}\n" in done.stdout
        assert f" with {teams}," in done.stdout
        told.append((sequence(tmp_path / "study.db"), outcomes(tmp_path / "study.db")))
        assert all(value == pytest.approx(expected) for expected, value in squares(tmp_path))
    assert told[0] == told[1] == told[2]


def test_a_function_in_fortran(mpi, tmp_path):
    write(tmp_path, 'library = "libcost.so:cost"', 10)
    (tmp_path / "cost.f90").write_text(FORTRAN)
    module = f"{culmen('include', cwd=tmp_path).stdout.strip()}/culmen/culmen_evaluator.f90"
    compiled(mpi, tmp_path, "mpif90", module, "cost.f90")
    done = launched(mpi, tmp_path, 3, "run", "study.toml", "--team-size", 2)
    assert done.returncode == 0, done.stderr
    assert all(value == pytest.approx(expected) for expected, value in squares(tmp_path))


def test_the_example_has_the_same_residuals_for_every_size(mpi, tmp_path):
    copy_example("15_poisson", tmp_path)
    told = []
    for size in (1, 2, 4):
        done = launched(mpi, tmp_path, 5, "run", "poisson.toml", "--team-size", size, "--overwrite")
        assert done.returncode == 0, done.stderr
        assert "(49 residuals)" in done.stdout
        told.append(outcomes(tmp_path / "poisson.db"))
    assert told[0] == told[1] == told[2]
    best = summary(tmp_path / "poisson.db")["best_value"]
    assert 20 < best < 45, "χ² of 49 temperatures and four parameters"


def test_the_example_in_c(mpi, tmp_path):
    copy_example("16_team_in_c", tmp_path)
    words = ["make", f"MPICC={shutil.which(f'mpicc.{mpi}')}"]
    subprocess.run(words, cwd=tmp_path, env=environment(), check=True, capture_output=True)
    done = launched(mpi, tmp_path, 3, "run", "integral.toml")
    assert done.returncode == 0, done.stderr
    assert summary(tmp_path / "integral.db")["best_value"] < 0.2
    alone = culmen("launch", "-n", 2, "--mpi", mpi, "run", "integral.toml", "--overwrite", cwd=tmp_path)
    assert "team_size = 2 does not divide the 1 rank that works" in alone.stderr


@pytest.mark.parametrize(
    ("size", "placement", "said"),
    [
        (2, "node", "2 teams of 2 ranks on 2 nodes, with a relay"),
        (4, "any", "1 team of 4 ranks on 2 nodes, with a relay"),
        (4, "node", None),
    ],
)
def test_teams_on_several_nodes(on_nodes, tmp_path, size, placement, said):
    write(tmp_path, 'python = "model.py:mean"')
    words = ["run", "study.toml", "--team-size", str(size), "--team-placement", placement]
    done = culmen(*on_nodes(6, 3, *words), cwd=tmp_path)
    if said is None:
        assert done.returncode == 2
        assert "team_size = 4 does not divide the 2 ranks that work on the master's node" in done.stderr
        assert 'start 5 ranks there, or write team_placement = "any"' in done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert f"Workers: {said} between the nodes\n" in done.stdout
    assert {status for status, *_ in outcomes(tmp_path / "study.db").values()} == {"ok"}


@pytest.mark.parametrize("budget", [30, 1200])  # more failures than communicators are kept
def test_messages_of_a_failed_evaluation_do_not_reach_the_next_one(mpi, tmp_path, budget):
    write(tmp_path, 'python = "model.py:with_stale_messages"', budget)
    done = launched(mpi, tmp_path, 3, "run", "study.toml", "--team-size", 2)
    assert done.returncode == 0, done.stderr
    rows = json.loads(culmen("export", "study.db", "--json", cwd=tmp_path).stdout)
    assert {row["status"] for row in rows} == {"ok", "failed"}
    for row in rows:
        assert (row["status"] == "failed") == (row["x"] < 0)
        assert row["x"] < 0 or row["value"] == pytest.approx(row["x"] ** 2)
    assert "ValueError: x is negative" in done.stdout


def test_an_exception_costs_a_team_whose_other_ranks_are_blocked(mpi, tmp_path):
    write(tmp_path, f'python = "model.py:raises_once"\ntime_limit_s = {LIMIT_S}')
    done = launched(mpi, tmp_path, 5, "run", "study.toml", "--team-size", 2)
    assert done.returncode == 0, done.stderr
    told = [status for status, *_ in outcomes(tmp_path / "study.db").values()]
    assert sorted(told) == ["failed"] + 29 * ["ok"]
    assert "was killed" not in done.stderr


def test_members_that_are_blocked_behind_a_relay(on_nodes, tmp_path):
    write(tmp_path, f'python = "model.py:raises"\ntime_limit_s = {LIMIT_S}')
    words = ["run", "study.toml", "--team-size", "4", "--team-placement", "any"]
    with Running(*on_nodes(6, 3, *words), cwd=tmp_path) as run:
        code, _, said = run.end()
        assert code == 1
        late = re.search(r"but ranks 1, 4, 5 of its team did not return within (\S+) s", said)
        assert late and float(late[1]) >= LIMIT_S, said
        wait_for(lambda: not run.processes(), "the end of every process")


def test_a_study_without_teams_ends_with_the_reason(mpi, tmp_path):
    write(tmp_path, f'python = "model.py:raises"\ntime_limit_s = {LIMIT_S}')
    done = launched(mpi, tmp_path, 3, "run", "study.toml", "--team-size", 2)
    assert done.returncode == 1
    late = re.search(
        "culmen: no worker is left: rank 2 ended its part of an evaluation with 'ValueError: negative mass', but rank "
        r"1 of its team did not return within (\S+) s; to resume: culmen launch -n 3 resume study.db\n",
        done.stderr,
    )
    assert late and float(late[1]) >= LIMIT_S, done.stderr
    assert "was killed" not in done.stderr


@pytest.mark.slow
def test_a_study_that_was_killed_goes_on_with_other_teams(mpi, tmp_path, rank_zero):
    write(tmp_path, 'python = "model.py:mean"', 60)
    alone = launched(mpi, tmp_path, 2, "run", "study.toml", "--team-size", 1, "--store", "alone.db")
    assert alone.returncode == 0, alone.stderr
    (tmp_path / "calls").unlink()
    (tmp_path / "hold").touch()
    words = ("launch", "-n", "5", "--mpi", mpi, "run", "study.toml", "--team-size", "2", "--quiet")
    with Running(*words, cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) >= 20, "a third of the calls")
        os.kill(rank_zero(run), signal.SIGKILL)
        wait_for(lambda: not run.processes(), "the end of the launch")
    (tmp_path / "hold").unlink()
    done = launched(mpi, tmp_path, 5, "resume", "study.db", "--team-size", 4)
    assert done.returncode == 0, done.stderr
    assert "1 team of 4 ranks" in done.stdout
    assert sequence(tmp_path / "study.db") == sequence(tmp_path / "alone.db")


SCRIPT = """
import culmen

def f(x, comm):
    return comm.allreduce((x[0] - 1) ** 2) / comm.size + comm.size

def residuals(p, comm):
    return [comm.allreduce(p["x"] - 1), comm.size]

for size in (2, 4):
    found = culmen.minimize(f, [(0.0, 2.0)], budget=20, team_size=size)
    fit = culmen.minimize(residuals, {"x": (0.0, 2.0)}, result="residuals", budget=40, team_size=size)
    if culmen.is_master():
        print(found.workers, found.team_size, found.evaluations, found.failed, fit.residuals[1])
        print(f"{fit.errors['x'].error:.4f}")
"""


def test_a_program_in_python(mpi, tmp_path):
    (tmp_path / "program.py").write_text(SCRIPT)
    done = launched(mpi, tmp_path, 5, "python", "program.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("2 2 20 0 2.0\n0.5000\n1 4 20 0 4.0\n0.2500\n")


def test_a_program_in_cpp(mpi, world_program, tmp_path):
    (tmp_path / "cost.c").write_text(LIBRARY)
    compiled(mpi, tmp_path, "mpicc", "cost.c")
    program = world_program.with_name("team_program")
    done = launched(mpi, tmp_path, 5, program, tmp_path / "libcost.so")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("rank: 2.0000 errors 0.5000\n") == 5


@pytest.mark.parametrize(
    ("evaluator", "ranks", "size", "said"),
    [
        (
            'python = "model.py:mean"',
            4,
            2,
            "team_size = 2 does not divide the 3 ranks that work",
        ),
        ('python = "model.py:mean"', 2, 4, "start 5 ranks"),
        ('command = ["true"]', 3, 2, "an external program cannot be evaluated by a team"),
        ('python = "model.py:mean"\nbatch = 4', 3, 2, "a team evaluates one candidate at a time; remove batch"),
        ('python = "model.py:once"', 3, 2, "once() takes no arguments, but culmen passes two"),
        ('library = "libnone.so:f"', 3, 2, "there is no file"),
        ('python = "nomodule:f"', 3, 2, "cannot import module 'nomodule'"),
    ],
)
def test_what_a_team_cannot_do_is_said_once(mpi, tmp_path, evaluator, ranks, size, said):
    write(tmp_path, evaluator)
    done = launched(mpi, tmp_path, ranks, "run", "study.toml", "--team-size", size)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count(said) == 1
    assert not (tmp_path / "study.db").exists()


@pytest.mark.parametrize("mpi", ["mpich"])
@pytest.mark.parametrize(
    ("loaded", "said"), [("openmpi", "mpi4py has loaded Open MPI"), ("nonsense", "mpi4py cannot load an MPI")]
)
def test_another_mpi_of_mpi4py_is_said(mpi, tmp_path, loaded, said):
    write(tmp_path, 'python = "model.py:mean"')
    done = launched(mpi, tmp_path, 3, "run", "study.toml", "--team-size", 2, MPI4PY_MPIABI=loaded)
    assert done.returncode == 2
    assert done.stderr.count(said) == 1
    assert "start with culmen launch, and without MPI4PY_MPIABI" in done.stderr


def test_ctrl_c_leaves_evaluations_that_do_not_end(mpi, tmp_path, rank_zero):
    write(tmp_path, 'python = "model.py:sleeps"')
    words = ("launch", "-n", "5", "--mpi", mpi, "run", "study.toml", "--team-size", "2", "--quiet")
    with Running(*words, cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) == 4, "all members in their evaluation")
        os.kill(rank_zero(run), signal.SIGINT)
        run.end()
        assert run.process.returncode == 75
        wait_for(lambda: not run.processes(), "the end of every process")


def test_teams_need_a_launch_and_have_no_visitors(mpi, tmp_path):
    write(tmp_path, 'python = "model.py:mean"')
    done = culmen("run", "study.toml", "--team-size", 2, cwd=tmp_path)
    assert done.returncode == 2
    assert "teams consist of the ranks of an MPI launch; start with culmen launch" in done.stderr
    words = ("run", "study.toml", "--team-size", 2, "--listen", "tcp://127.0.0.1:0")
    done = launched(mpi, tmp_path, 3, *words)
    assert done.returncode == 2
    assert "workers that join over a network cannot be in a team" in done.stderr
