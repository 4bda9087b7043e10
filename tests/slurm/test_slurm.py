"""A Slurm job: ranks by srun, a launch inside an allocation, and a batch script that is no rank."""

import json

import executor_kit
import pytest
from harness import PYTHON, ROOT, copy_example, culmen, outcomes, run_undisturbed, sequence, write_study

BUDGET = 60
PMI = {"openmpi": "pmix", "mpich": "pmi2"}
RANKS = 4


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    return run_undisturbed(tmp_path_factory.mktemp("local"), BUDGET, workers=3)


def of_store(folder):
    return sequence(folder / "study.db"), outcomes(folder / "study.db")


@pytest.mark.parametrize("mpi", PMI)
def test_srun_starts_ranks(slurm, local, tmp_path, mpi):
    write_study(tmp_path, BUDGET)
    code, out = slurm.batch(f"srun --mpi={PMI[mpi]} culmen run study.toml", tmp_path, f"-n{RANKS}")
    assert code == 0, out
    assert f"with {RANKS - 1} workers" in out
    assert of_store(tmp_path) == local


@pytest.mark.parametrize("mpi", PMI)
def test_an_interactive_allocation_starts_ranks(slurm, local, tmp_path, mpi):
    write_study(tmp_path, BUDGET)
    done = slurm.run("salloc", f"-n{RANKS}", "srun", f"--mpi={PMI[mpi]}", "culmen", "run", "study.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"with {RANKS - 1} workers" in done.stdout
    assert of_store(tmp_path) == local


@pytest.mark.parametrize("mpi", PMI)
def test_a_launch_inside_a_batch_script(slurm, local, tmp_path, mpi):
    write_study(tmp_path, BUDGET)
    code, out = slurm.batch(f"culmen launch -n {RANKS} --mpi {mpi} run study.toml", tmp_path, f"-n{RANKS}")
    assert code == 0, out
    assert f"with {RANKS - 1} workers" in out
    assert of_store(tmp_path) == local


@pytest.mark.parametrize("mpi", PMI)
def test_the_job_script_of_the_tutorial_on_four_nodes(slurm_of_four, tmp_path, mpi):
    copy_example("08_decay", tmp_path)
    script = (tmp_path / "job.sh").read_text()
    for here, there in {"node=101": "node=3", "-n 404": "-n 12"}.items():
        assert here in script
        script = script.replace(here, there)
    study = (tmp_path / "wide.toml").read_text()
    (tmp_path / "wide.toml").write_text(study.replace("evaluations = 20000", "evaluations = 500"))
    # HYDRA_IFACE: MPICH's processes find each other by an address, because these host names have none.
    code, out = slurm_of_four.batch(script, tmp_path, f"--export=ALL,CULMEN_MPI={mpi},HYDRA_IFACE=lo")
    assert code == 0, out
    assert "Workers: 8 on 4 nodes, with 3 relays between the nodes" in out
    assert of_wide_store(tmp_path) == ("evaluations", 500)
    resumed = script.replace("--wall-time 3300", "--evaluations 600")
    code, out = slurm_of_four.batch(resumed, tmp_path, f"--export=ALL,CULMEN_MPI={mpi},HYDRA_IFACE=lo")
    assert code == 0, out
    assert of_wide_store(tmp_path) == ("evaluations", 600)


def of_wide_store(folder):
    state = json.loads(culmen("status", "wide.db", "--json", cwd=folder).stdout)
    return state["finished"], state["told"]


@pytest.mark.parametrize("mpi", PMI)
def test_an_executor_on_ranks_of_srun_keeps_its_promises(slurm, tmp_path, mpi):
    script = f"srun --mpi={PMI[mpi]} {PYTHON} {ROOT}/tests/executor_kit.py mpi"
    code, out = slurm.batch(script, tmp_path, f"-n{RANKS}")
    assert code == 0, out
    assert [line for line in out.splitlines() if line.startswith("ok ")] == [
        f"ok {check}" for check in executor_kit.PROMISES | executor_kit.OWN
    ]


def test_a_batch_script_is_no_rank(slurm, local, tmp_path):
    write_study(tmp_path, BUDGET)
    code, out = slurm.batch("culmen run study.toml --workers 2", tmp_path, f"-n{RANKS}")
    assert code == 0, out
    assert "with 2 workers" in out
    assert of_store(tmp_path) == local


@pytest.mark.parametrize("pmi", ["none", "pmix"])
def test_srun_without_the_mpis_pmi_is_one_sentence(slurm, tmp_path, pmi):
    write_study(tmp_path, BUDGET)
    code, out = slurm.batch(f"CULMEN_MPI=mpich srun --mpi={pmi} culmen run study.toml", tmp_path, f"-n{RANKS}")
    assert code != 0, out
    said = [line for line in out.splitlines() if line.startswith("culmen: ")]
    assert len(said) == 1, out
    assert f"with {RANKS} ranks" in said[0]


def test_a_cancelled_step_can_be_resumed(slurm, local, tmp_path):
    write_study(tmp_path, BUDGET)
    script = """
        srun --mpi=pmi2 culmen run study.toml &
        until [ $(cat calls 2>/dev/null | wc -l) -gt 10 ]; do sleep 0.1; done
        scancel -s TERM $SLURM_JOB_ID
        wait $!
    """
    code, out = slurm.batch(script, tmp_path, f"-n{RANKS}")
    assert code == 75, out
    assert culmen("resume", "study.db", "--quiet", cwd=tmp_path).returncode == 0
    assert of_store(tmp_path) == local
