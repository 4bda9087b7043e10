"""The energy of a run: the counters of this machine, which start again at 0, and only this machine."""

import os
from itertools import pairwise

import pytest
from culmen.launch.mpi import load
from culmen.tune.command import measured
from culmen.tune.command.recipe import check_energy_of_job, read_recipe, recipe_of

from culmen import InputError

ZONES = {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core", "intel-rapl:1": "package-1", "intel-rapl:2": "psys"}


@pytest.fixture
def powercap(tmp_path, monkeypatch):
    """A folder as the kernel has it. powercap(zone, joule, size) sets a counter."""
    for number in ("SLURM_JOB_ID", "LSB_JOBID", *(mpi.host_file for mpi in load())):
        monkeypatch.delenv(number, raising=False)

    def write(zone, joule, size=1000):
        folder = tmp_path / "powercap" / zone
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "name").write_text(f"{ZONES[zone]}\n")
        (folder / "energy_uj").write_text(f"{joule * 10**6}\n")
        (folder / "max_energy_range_uj").write_text(f"{size * 10**6}\n")

    for zone in ZONES:
        write(zone, 100)
    monkeypatch.setattr(measured, "ENERGY", tmp_path / "powercap")
    return write


def test_the_energy_is_that_of_all_processors(powercap):
    meter = measured.Meter()
    powercap("intel-rapl:0", 130)
    powercap("intel-rapl:0:0", 120)
    powercap("intel-rapl:1", 50)
    powercap("intel-rapl:2", 900)
    assert meter.end() == pytest.approx(30 + 950)


def test_a_run_may_take_longer_than_a_counter_until_it_starts_again(tmp_path, monkeypatch):
    counts, size, done = [10.0, 40.0, 20.0, 45.0, 30.0, 5.0, 0.0, 25.0], 50.0, tmp_path / "done"
    left = iter(counts)

    def read():
        value = next(left, None)
        if value is None:
            done.touch()
        return {"intel-rapl:0": (counts[-1] if value is None else value, size)}

    monkeypatch.setattr(measured, "energy_j", read)
    figures = measured._run(["sh", "-c", f"for k in $(seq 3000); do [ -e {done} ] && break; sleep 0.01; done"], 0)
    assert figures[3] == pytest.approx(sum((new - old) % size for old, new in pairwise(counts)))


def test_counters_that_vanish_during_a_run_give_no_number(powercap, tmp_path):
    meter = measured.Meter()
    (tmp_path / "powercap/intel-rapl:1/energy_uj").unlink()
    assert meter.end() is None


def recipe_for(folder, *command):
    tables = {
        "name": "app",
        "space": {"n": {"type": "integer", "lower": 1, "upper": 9, "initial": 3}},
        "evaluator": {"command": [*command, "{n}"]},
        "tune": {"measure": "energy"},
    }
    return recipe_of(tables, folder / "app.toml")


@pytest.fixture
def mpiexec(tmp_path, monkeypatch):
    (tmp_path / "mpiexec").write_text("#!/bin/sh\necho 'mpiexec (OpenRTE) 4.1.4'\n")
    (tmp_path / "mpiexec").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


ELSEWHERE = {
    "mpiexec --host n1:2,n2:2 -n 4 true": "mpiexec starts it on n1, n2",
    "mpiexec -n 4 --hostfile hosts true": "mpiexec starts it on n7",
    "ssh n1 true": "ssh runs it on another machine",
}


@pytest.mark.parametrize("line", ELSEWHERE)
def test_a_program_on_other_machines_has_no_energy(powercap, mpiexec, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hosts").write_text("n7 slots=4\n")
    with pytest.raises(InputError) as refused:
        recipe_for(tmp_path, *line.split())
    assert str(refused.value).endswith(
        f"culmen can read only the energy of the machine on which it runs itself, and {ELSEWHERE[line]}; use another "
        "measure, or run the program on this machine"
    )


def test_a_program_on_this_machine_has_its_energy(powercap, mpiexec, tmp_path, monkeypatch):
    for line in ("true", "mpiexec -n 4 true", "mpiexec --host localhost:4 -n 4 true", "mpiexec -n 4 true --host n1"):
        recipe = recipe_for(tmp_path, *line.split())
    check_energy_of_job(recipe, tmp_path / "app.toml", 1)
    with pytest.raises(InputError, match="and the job has 2 nodes; use another measure"):
        check_energy_of_job(recipe, tmp_path / "app.toml", 2)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURMD_NODENAME", "n1")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "4(x3)")
    recipe_for(tmp_path, "true")
    with pytest.raises(InputError, match="and this job has 3 nodes; use another measure"):
        recipe_for(tmp_path, "mpiexec", "-n", "4", "true")


def test_a_job_reads_the_energy_of_its_own_machine(tmp_path, monkeypatch):
    """The login node may have no counters, or give no right to read them."""
    monkeypatch.setattr(measured, "ENERGY", tmp_path / "none")
    file = tmp_path / "app.toml"
    file.write_text(
        '[space]\nn = { type = "integer", lower = 1, upper = 9, initial = 3 }\n[evaluator]\ncommand = ["true", "{n}"]\n'
        '[tune]\nmeasure = "energy"\n'
    )
    with pytest.raises(InputError, match="the energy of this machine cannot be read"):
        read_recipe(file)
    check_energy_of_job(read_recipe(file, here=False), file, 1)
    with pytest.raises(InputError, match="and the job has 2 nodes; use another measure"):
        check_energy_of_job(read_recipe(file, here=False), file, 2)
