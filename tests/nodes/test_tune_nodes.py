"""``culmen tune cluster`` and ``culmen bench collectives`` on several nodes."""

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from culmen.launch.launcher import cores
from harness import HANGS_S, ROOT
from kernel_files import kernel_limits
from simulated_nodes import OTHER_MPIS

OLD, NEW = 212_992, 1 << 24
RAISE = f"""
import sys
from pathlib import Path
from culmen.launch.mpi import find_launcher
from culmen.tune.cluster.limits import raised_to
files = sorted(Path(sys.argv[2]).glob("*/net/core/*mem_max"))
with raised_to({NEW}, find_launcher(sys.argv[1]), int(sys.argv[3])) as before:
    print(before, *(file.read_text().strip() for file in files))
print(*(file.read_text().strip() for file in files))
"""
EVERY_RULE = """
import sys
from pathlib import Path
from culmen.launch.mpi import find_launcher
from culmen.tune.rules.composed import Made, kinds_of, write_both
from culmen.tune.rules.made import can_hold, rules_of
from culmen.tune.rules.texts import texts_of
from culmen.tune.rules.tried import Expected, not_as_expected
launcher = find_launcher(sys.argv[1])
known, there = launcher.mpi.collectives, []
for name in (each for each in known.names if can_hold(each, known)):
    algorithm = known.safe_algorithms(name, 4, False, True)[1].name
    there.append(Expected(name, 4, 0 if name == "barrier" else 64, algorithm))
rules = rules_of({each.collective: {4: [(each.size, each.algorithm)]} for each in there}, known)
path = Path(known.rules_name)
write_both(texts_of(Made(rules, dict.fromkeys(kinds_of(known), rules)), launcher, ["a test"]), path, known)
print({each.collective: said for each, said in not_as_expected(launcher, path, there).items()})
"""
FILES = {
    "openmpi5": ("openmpi-rules.conf", "openmpi-han-rules.conf"),
    "mpich": ("mpich-rules.json", "mpich-compositions.json"),
}
SMALL = ("--collectives", "bcast", "--sizes", "8", "--seconds", "0.05")


def rows(file):
    with file.open(newline="") as table:
        return [tuple(int(row[name]) for name in ("nodes", "ppn", "ranks")) for row in csv.DictReader(table)]


def limits(folder, n):
    """Files of each node, instead of /proc/sys. One node has a lower limit."""
    hosts = [folder / f"sys-{number}" for number in range(n)]
    for host in hosts:
        kernel_limits(host, OLD - 1000 * (host == hosts[0]))
    return hosts


def slow_default(folder, compiler, *options):
    """The library that makes the MPI's own choice slow."""
    made = folder / "slow_default.so"
    source = Path(__file__).with_name("slow_default.c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", *options, source, "-o", made], check=True)
    return str(made)


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_limits_are_raised_on_every_node(nodes, mpi, tmp_path):
    for host, name in zip(limits(tmp_path, 3), nodes.names[:3], strict=True):
        host.rename(tmp_path / name)
    variables = nodes.hosts(mpi, tmp_path, 2) | {"CULMEN_PROC_SYS": f"{tmp_path}/{{host}}"}
    done = nodes.run(mpi, sys.executable, "-c", RAISE, mpi, tmp_path, 3, cwd=tmp_path, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    raised, restored = done.stdout.splitlines()
    assert raised.split() == [str(OLD - 1000), *[str(NEW)] * 6]
    assert sorted(restored.split()) == sorted([str(OLD - 1000)] * 2 + [str(OLD)] * 4)
    assert done.stderr == ""


def test_simulated_nodes_refuse_real_limits(nodes, tmp_path):
    """In a network namespace, the kernel does not let even root change these limits."""
    words = (shutil.which("culmen"), "tune", "cluster", *SMALL, "--ranks", 2, "--variables", "tcp", "--allow-sysctl")
    done = nodes.run("openmpi", *words, "--mpi", "openmpi", cwd=tmp_path, **nodes.hosts("openmpi", tmp_path, 2))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "net.core.rmem_max cannot be changed" in done.stderr
    assert "Traceback" not in done.stderr


def test_collectives_are_measured_with_each_layout(nodes, tmp_path):
    words = ("bench", "collectives", *SMALL, "--node-counts", "1,2", "--ranks-per-node", "1,2", "--mpi", "openmpi")
    done = nodes.run(
        "openmpi", shutil.which("culmen"), *words, cwd=tmp_path, **nodes.hosts("openmpi", tmp_path, 2)
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(rows(tmp_path / "bench-collectives/collectives.csv")) == {(1, 2, 2), (2, 1, 2), (2, 2, 4)}


def test_rules_hold_for_one_layout_of_each_number_of_ranks(nodes, tmp_path):
    words = ("tune", "cluster", *SMALL, "--node-counts", "1,2", "--ranks-per-node", "1,2", "--mpi", "openmpi")
    done = nodes.run(
        "openmpi", shutil.which("culmen"), *words, cwd=tmp_path, **nodes.hosts("openmpi", tmp_path, 2)
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "culmen tunes only 1 node with 2 ranks each." in done.stdout
    assert rows(tmp_path / "tune-cluster/choices.csv") == [(1, 2, 2), (2, 2, 4)]


@pytest.mark.parametrize("mpi", [*FILES])
def test_a_faster_algorithm_is_found_written_and_tried(nodes, tmp_path, mpi):
    """A preloaded library makes the MPI's own choice slow. All nodes share the cores of this machine. With few cores,
    calls are not started by the clock only if there are more ranks on a node than cores."""
    name = mpi.removesuffix("5")
    if name != mpi and not (OTHER_MPIS / "build/modules").exists():
        pytest.skip("make mpis installs Open MPI 5")
    compiler = f"{OTHER_MPIS}/bin/mpicc.openmpi" if name != mpi else f"mpicc.{mpi}"
    slow = slow_default(tmp_path, compiler)
    per_node = 3 if cores() < 4 else 2
    small = ("--collectives", "allreduce", *SMALL[2:])  # it has few algorithms
    words = ("tune", "cluster", *small, "--node-counts", "2", "--ranks-per-node", per_node, "--mpi", name)
    variables = nodes.hosts(mpi, tmp_path, per_node) | {"LD_PRELOAD": slow}
    done = nodes.run(mpi, shutil.which("culmen"), *words, cwd=tmp_path, timeout_s=4 * HANGS_S, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert "Of 1 point, 1 are faster with another algorithm" in said, said
    assert "culmen tried the finished tuning file: every one of these algorithms runs." in said
    folder = tmp_path / "tune-cluster"
    assert rows(folder / "choices.csv") == [(2, per_node, 2 * per_node)]
    assert {each.name for each in folder.iterdir()} >= {*FILES[mpi]}
    assert all(name in (folder / "tuning.html").read_text() for name in FILES[mpi])


@pytest.mark.parametrize("mpi", [*FILES])
def test_the_rule_of_every_collective_holds_on_several_nodes(nodes, tmp_path, mpi):
    name = mpi.removesuffix("5")
    if name != mpi and not (OTHER_MPIS / "build/modules").exists():
        pytest.skip("make mpis installs Open MPI 5")
    hosts = nodes.hosts(mpi, tmp_path, 2)
    done = nodes.run(mpi, sys.executable, "-c", EVERY_RULE, name, cwd=tmp_path, timeout_s=4 * HANGS_S, **hosts)
    assert (done.stderr, done.stdout) == ("", "{}\n")
    assert all((tmp_path / file).exists() for file in FILES[mpi])


def test_the_tuner_searches_on_several_nodes(nodes, tmp_path):
    words = ("tune", "cluster", "--fast", *SMALL, "--node-counts", "2", "--ranks-per-node", "1", "--mpi", "openmpi")
    done = nodes.run(
        "openmpi", shutil.which("culmen"), *words, cwd=tmp_path, **nodes.hosts("openmpi", tmp_path, 2)
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert " of 1 point." in done.stdout, done.stdout
    assert "Without this tuner" not in done.stdout
    assert rows(tmp_path / "tune-cluster/choices.csv") == [(2, 1, 2)]


def test_missing_nodes_are_told_at_the_start(nodes, tmp_path):
    words = ("tune", "cluster", *SMALL, "--node-counts", "2", "--ranks-per-node", "2", "--mpi", "mpich")
    done = nodes.run("mpich", shutil.which("culmen"), *words, cwd=tmp_path, PBS_JOBID="1")
    assert done.returncode == 2, done.stdout + done.stderr


def test_a_program_on_other_hosts_is_not_tuned_on_this_one(nodes, tmp_path):
    """The option of mpiexec names the hosts, and culmen does not know them."""
    program = tmp_path / "broadcasts"
    subprocess.run(["mpicc.openmpi", ROOT / "tests/mpi/broadcasts_program.c", "-o", program], check=True)
    [(variable, file)] = nodes.hosts("openmpi", tmp_path, 1).items()
    started = ("mpirun.openmpi", "--allow-run-as-root", "--hostfile", file, "-n", "4", program, "200", "100")
    command = (shutil.which("culmen"), "tune", "app", "--", *started)
    done = nodes.run("openmpi", *command, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    said = " ".join(done.stderr.split())
    assert f"the program ran on {', '.join(nodes.names[1:])}, but culmen would measure" in said
    assert f"with the variable {variable}=FILE" in said


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_columns_are_tuned_on_the_nodes_of_the_program(nodes, mpi, tmp_path):
    """Each column is on two nodes. The rules are tried there, too: with MPICH, other rules hold on one node. A
    preloaded library makes the MPI's own choice slow, so that there usually are rules."""
    program = tmp_path / "rows"
    subprocess.run([f"mpicc.{mpi}", ROOT / "tests/mpi/rows_program.c", "-o", program], check=True)
    launcher = ["mpirun.openmpi", "--allow-run-as-root"] if mpi == "openmpi" else ["mpiexec.mpich"]
    words = (*launcher, "-n", 4, program, 20, "columns")
    command = (shutil.which("culmen"), "tune", "app", "--seconds", 0.1, "--rounds", 3, "--", *words)
    variables = nodes.hosts(mpi, tmp_path, 2) | {"LD_PRELOAD": slow_default(tmp_path, f"mpicc.{mpi}", "-DOF_BCAST")}
    done = nodes.run(mpi, *command, cwd=tmp_path, timeout_s=2 * HANGS_S, **variables, COLUMNS="200")
    assert done.returncode == 0, done.stdout + done.stderr
    listed = re.findall(r"^(\w+) +world.* \(2 of them\) +2 +(1|2 × 1 rank) ", done.stdout, re.MULTILINE)
    assert ("bcast", "2 × 1 rank") in listed, done.stdout
    with (tmp_path / "tune-app/choices.csv").open(newline="") as file:
        found = {(row["collective"], row["ranks"], row["nodes"], row["ppn"]) for row in csv.DictReader(file)}
    assert found == {("bcast", "2", "2", "1")}
    assert "tried, but" not in done.stdout, done.stdout
