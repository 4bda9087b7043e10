"""``culmen tune placement`` under both MPIs: real launchers on synthetic topologies, and a small program."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from culmen.tune.placement import placed
from culmen.tune.placement.line import Line
from culmen.tune.placement.space import plan_of
from culmen.tune.placement.topology import read_topology
from harness import HANGS_S, culmen, environment
from profiles import AS_ROOT, built

MACHINES = {"two": "pack:2 numa:1 core:6 pu:2", "four": "pack:4 numa:1 core:4 pu:1"}
SETTINGS = [
    {"ranks_per_node": "8", "binding": "core", "order": "core"},
    {"ranks_per_node": "8", "binding": "core", "order": "socket"},
    {"ranks_per_node": "4", "binding": "core", "order": "socket", "threads": "2"},
    {"ranks_per_node": "8", "binding": "numa", "order": "core"},
    {"ranks_per_node": "8", "binding": "socket", "order": "socket"},
    {"ranks_per_node": "16", "binding": "core", "order": "core", "hyper_threads": "true"},
]


def cpus_of(text: str) -> list[int]:
    """Of a list of Open MPI such as 0-1,4."""
    ends = [part.partition("-") for part in text.split(",")]
    return [cpu for first, _, last in ends for cpu in range(int(first), int(last or first) + 1)]


def bound_by(mpi: str, words: list[str], topology: Path, ranks: int) -> dict[int, list[int]]:
    """The CPUs of each rank, as the launcher says. Open MPI starts no rank, for it checks that CPUs are there."""
    found: dict[int, list[int]] = {}
    for _ in range(10):  # MPICH's launcher can lose what it says of ranks that end at once
        found = bound_once(mpi, words, topology)
        if len(found) == ranks:
            break
    return found


def bound_once(mpi: str, words: list[str], topology: Path) -> dict[int, list[int]]:
    launcher, *others = words
    if mpi == "openmpi":
        more = ["--mca", "hwloc_base_topo_file", str(topology), "--do-not-launch", "-H", "localhost:99"]
        words, variables = [launcher, *more, "--mca", "rmaps_base_verbose", "50", *others], AS_ROOT
    else:
        variables = {"HYDRA_TOPO_DEBUG": "1", "HWLOC_XMLFILE": str(topology), "HWLOC_THISSYSTEM": "1"}
    done = subprocess.run(words, env=environment(**variables), capture_output=True, text=True, timeout=HANGS_S)
    said = done.stdout + done.stderr
    if mpi == "openmpi":
        found = re.findall(r"PROC \[\[.*,1\],(\d+)\] (?:BITMAP|TO) (\d[\d,-]*)", said)
        return {int(rank): cpus_of(cpus) for rank, cpus in found}
    found = re.findall(r"process (\d+) binding: ([01]+)", said)
    return {int(rank): [k for k, bit in enumerate(bits) if bit == "1"] for rank, bits in found}


@pytest.mark.skipif(not shutil.which("lstopo-no-graphics"), reason="hwloc is not installed")
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(settings.values()))
@pytest.mark.parametrize("machine", MACHINES)
def test_launchers_bind_ranks_as_culmen_says(mpi, tmp_path, machine, settings):
    launcher = find_launcher(mpi)
    if mpi == "openmpi" and not launcher.mpi.title.endswith("4"):
        pytest.skip("other versions print bindings in another way")
    if launcher.mpi.title == "MPICH 5":
        pytest.skip("its launcher fails where this machine does not have the CPUs")
    topology = read_topology(MACHINES[machine])
    file = tmp_path / "machine.xml"
    words = ["lstopo-no-graphics", "--of", "xml", "--input", MACHINES[machine]]
    file.write_text(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    one_machine = [("", [*launcher.mpi.one_machine.flags])]
    options = [("ranks", ["-n", "2"]), *one_machine]
    line = Line({}, [], ["true"], 1, "threads" in settings, launcher.program, launcher.mpi, options, 2)
    plan = plan_of(line, topology, tmp_path)
    _, words = placed.command_of(plan, settings)
    ranks, each = int(settings["ranks_per_node"]), int(settings.get("threads", "1"))
    hyper = "hyper_threads" in settings
    wanted = placed.rank_cpus(plan, ranks, each, hyper, settings["order"], settings["binding"])
    assert bound_by(mpi, words, file, len(wanted)) == dict(enumerate(wanted)), words


@pytest.mark.either("mpi")
def test_without_binding_ranks_may_run_everywhere(mpi, tmp_path):
    launcher = find_launcher(mpi)
    flags = [*launcher.mpi.one_machine.flags, *(["--oversubscribe"] if mpi == "openmpi" else [])]
    program = ["grep", "Cpus_allowed_list", "/proc/self/status"]
    line = Line({}, [], program, 1, False, launcher.program, launcher.mpi, [("ranks", ["-n", "2"]), ("", flags)], 2)
    _, words = placed.command_of(plan_of(line, read_topology(), tmp_path), {"binding": "none"})
    done = subprocess.run(words, env=environment(**AS_ROOT), capture_output=True, text=True, timeout=HANGS_S)
    here = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert sorted(done.stdout.splitlines()) == [here.strip()] * 2, done.stderr


def tuned(folder: Path, mpi: str, *options: str, **variables: str):
    (folder / "here").touch()
    words = [word if word != "RANKS" else "1" for word in built(mpi, folder, "placed_program.c")]
    return culmen("tune", "placement", *options, "--", *words, cwd=folder, **AS_ROOT, **variables)


def test_a_program_is_tuned_and_its_line_is_shown(mpi, tmp_path):
    """Two ranks reach twice the rate, whatever else the machine does."""
    options = ["--figure", r"rate = (\S+)", "--maximize", "--ranks", "1-2", "--runs", "12", "--rounds", "3"]
    done = tuned(tmp_path, mpi, *options)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Use the new settings: 100.0 % more rate" in done.stdout
    shown, line = done.stdout.rstrip().splitlines()[-2:]
    assert shown == "Use this line:"
    assert f"{find_launcher(mpi).program} " in line and "-n 2 " in line
    again = subprocess.run(  # noqa: S602 - a line for a shell
        line, shell=True, cwd=tmp_path, env=environment(**AS_ROOT), capture_output=True, text=True, timeout=HANGS_S
    )
    assert "ranks = 2" in again.stdout, again.stderr
    result = json.loads((tmp_path / "tune-placement" / "result.json").read_text())
    assert result["use"] == "best_found"


@pytest.mark.either("mpi")
def test_a_program_that_gains_nothing_keeps_its_line(mpi, tmp_path):
    options = ["--figure", r"ranks = (\S+)", "--ranks", "1", "--runs", "8", "--rounds", "3", "--quiet"]
    done = tuned(tmp_path, mpi, *options)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Keep what you have" in done.stdout
    assert done.stdout.rstrip().splitlines()[-2] == "Keep this line:"
    assert "-n 1 " in done.stdout.rstrip().splitlines()[-1]


@pytest.mark.either("mpi")
def test_a_program_that_fails_is_a_sentence(mpi, tmp_path):
    words = [word if word != "RANKS" else "1" for word in built(mpi, tmp_path, "placed_program.c")]
    done = culmen("tune", "placement", "--quiet", "--", *words, cwd=tmp_path, **AS_ROOT)
    assert done.returncode == 2
    assert "the program failed with the present settings" in done.stderr


@pytest.mark.either("mpi")
def test_another_command_does_not_continue(mpi, tmp_path):
    options = ["--figure", r"ranks = (\S+)", "--ranks", "1", "--runs", "2", "--rounds", "3", "--quiet"]
    assert tuned(tmp_path, mpi, *options).returncode == 0
    program = str(tmp_path / "placed_program")
    done = culmen("tune", "placement", *options, "--", find_launcher(mpi).program, "-n", "2", program, cwd=tmp_path)
    assert done.returncode == 2
    assert "is of another command or machine" in done.stderr


def test_an_openmp_program_gets_threads(tmp_path):
    """Without mpiexec. The program's output depends only on the number of threads."""
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    (tmp_path / "app.c").write_text(
        "#include <omp.h>\n#include <stdio.h>\n"
        'int main(void) { printf("rate = %d\\n", 10 * omp_get_max_threads()); return 0; }\n'
    )
    subprocess.run(["gcc", "-fopenmp", "app.c", "-o", "app"], cwd=tmp_path, check=True)
    options = ["--figure", r"rate = (\S+)", "--maximize", "--threads", "1-2", "--runs", "12", "--rounds", "3"]
    done = culmen("tune", "placement", *options, "--", "env", "OMP_NUM_THREADS=1", "./app", cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout.rstrip().splitlines()[-2] == "Use this line:"
    line = done.stdout.rstrip().splitlines()[-1]
    assert "OMP_NUM_THREADS=2" in line and line.endswith(" ./app")
    ran = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=HANGS_S)  # noqa: S602
    assert ran.stdout == "rate = 20\n", ran.stderr


def test_nothing_runs_with_the_topology_of_another_machine(tmp_path):
    done = culmen("tune", "placement", "--topology", "pack:2 core:4 pu:1", "--", "true", cwd=tmp_path)
    assert done.returncode == 2
    assert "add --dry-run" in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_culmen_would_try_is_shown_without_a_run(tmp_path):
    (tmp_path / "app").write_text("#!/bin/sh\ntouch ran\n")
    os.chmod(tmp_path / "app", 0o755)  # noqa: PTH101, S103
    done = culmen("tune", "placement", "--dry-run", "--", "./app", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Left out: " in done.stdout
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "tune-placement").exists()
