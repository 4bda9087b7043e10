"""MpiWorld over both MPIs: what works, and what is said in one sentence where it cannot."""

import subprocess

import pytest
from harness import environment

LIBRARIES = {"openmpi": ("Open MPI", "libmpi.so.40"), "mpich": ("MPICH", "libmpich.so.12")}
OTHER = {"openmpi": "mpich", "mpich": "openmpi"}


def says(done: subprocess.CompletedProcess, *parts: str) -> None:
    """One sentence of culmen's on standard error, and a code that is not 0."""
    lines = [line for line in done.stderr.splitlines() if all(part in line for part in parts)]
    assert len(lines) == 1, done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize("ranks", [2, 4, 7])
def test_ranks_broadcast_and_gather(launch, mpi, ranks, capsys):
    done = launch(ranks)
    assert done.returncode == 0, done.stderr
    result = done.stdout.splitlines()[-1]
    with capsys.disabled():
        print(f"\n  {result}", end="")
    assert result.startswith(LIBRARIES[mpi][0])
    assert result.endswith(f"| {ranks} ranks")


def test_another_mpi_than_the_launchers_is_one_sentence(launch, mpi):
    done = launch(3, CULMEN_MPI=OTHER[mpi])
    says(done, "launcher with 3 ranks", f"named by CULMEN_MPI: {LIBRARIES[OTHER[mpi]][0]}", "sees 1")


def test_an_mpi_already_in_the_process_is_used(launch, mpi):
    done = launch(2, "loaded", LIBRARIES[mpi][1], CULMEN_MPI=OTHER[mpi])
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("| 2 ranks\n")


def test_a_wrong_mpi_already_in_the_process_is_one_sentence(launch, mpi):
    says(
        launch(2, "loaded", LIBRARIES[OTHER[mpi]][1]),
        "loaded in this process already",
        "sees 1",
        "start with culmen launch, which makes mpi4py load the right one",
    )


def test_a_missing_module_is_one_sentence(launch, mpi, tmp_path):
    done = launch(3, CULMEN_MODULE_DIR=str(tmp_path))
    says(done, f"no module for the MPI '{mpi}'", "modules here: none", "CULMEN_MPICC")


@pytest.mark.parametrize("named", ["lam", "/nowhere/module.so"])
def test_what_is_no_mpi_is_one_sentence(launch, named):
    says(launch(2, CULMEN_MPI=named), f"'{named}'")


@pytest.mark.parametrize("value", ["x", "", "-1", "3 nodes"])
def test_a_wrong_number_of_flat_nodes_is_one_sentence(launch, value):
    says(launch(2, CULMEN_FLAT_NODES=value), f"CULMEN_FLAT_NODES={value}: this must be a whole number from 0 on")


def test_ranks_of_different_versions_are_one_sentence(launch, world_program, tmp_path):
    script = tmp_path / "ranks"
    script.write_text(
        "#!/bin/sh\n"
        '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 2 ] && export CULMEN_VERSION_SHOWN=elsewhere\n'
        f'exec {world_program} "$@"\n'
    )
    script.chmod(0o755)
    says(launch(4, CULMEN_EXECUTABLE=str(script)), "rank 2 runs culmen elsewhere, but rank 0 runs culmen")


def test_children_of_a_run_are_no_ranks(launch, world_program, tmp_path):
    script = tmp_path / "ranks"
    script.write_text(f"#!/bin/sh\nCULMEN_RUN=marker exec {world_program}\n")
    script.chmod(0o755)
    done = launch(2, CULMEN_EXECUTABLE=str(script))
    assert "not a rank of an MPI launch" in done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize("step", [{}, {"SLURM_STEP_ID": "4294967291"}])
def test_a_slurm_batch_script_is_no_rank(world_program, step):
    batch = {"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "4"}
    done = subprocess.run([world_program], env=environment(**batch, **step), capture_output=True, text=True)
    says(done, "not a rank of an MPI launch")


def test_srun_without_that_mpis_pmi_is_one_sentence(world_program):
    step = {"SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4"}
    done = subprocess.run([world_program], env=environment(**step), capture_output=True, text=True)
    says(done, "started by srun with 4 ranks", "sees 1", "--mpi=pmi2 for MPICH")
