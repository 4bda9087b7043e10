"""Slurms on this machine, for these tests alone: with their own keys, ports, configurations and folders."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import environment, wait_for

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "salloc", "scancel", "unshare")
CPUS = 8
CONFIGURATION = """
ClusterName=culmentest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
KillWait=3
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=ALL MaxTime=1 State=UP
PartitionName=closed Nodes=ALL MaxTime=1 State=DOWN
"""
NODE = """
NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory=1000 State=UNKNOWN
"""
# MPIs tell nodes from each other by their host names.
ON_NODE = ("unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"')


class Slurm:
    def __init__(self, folder: Path, nodes: int) -> None:
        self.folder = folder
        self._nodes = [f"n{i}" for i in range(1, nodes + 1)]
        self.configuration = folder / "slurm.conf"
        self._daemons: list[subprocess.Popen] = []

    def start(self) -> None:
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        controller, *ports = _free_ports(1 + len(self._nodes))
        words = {"host": socket.gethostname(), "folder": self.folder, "user": "root", "cpus": CPUS}
        nodes = [NODE.format(name=name, port=port, **words) for name, port in zip(self._nodes, ports, strict=True)]
        self.configuration.write_text(CONFIGURATION.format(controller=controller, **words) + "".join(nodes))
        self._start_munge(key)
        self._start("slurmctld", "-D", "-i", "-f", self.configuration)
        for name in self._nodes:
            (self.folder / f"spool.{name}").mkdir()
            place = (*ON_NODE, name) if len(self._nodes) > 1 else ()
            self._start(*place, "slurmd", "-D", "-N", name, "-f", self.configuration)
        wait_for(lambda: self._is_idle(), "idle nodes")

    def _is_idle(self) -> bool:
        states = self.run("sinfo", "-h", "-N", "-p", "main", "-o", "%T").stdout.split()
        return states == ["idle"] * len(self._nodes)

    def _start_munge(self, key: Path) -> None:
        names = {
            "socket": "munge.socket",
            "pid-file": "munged.pid",
            "log-file": "munged.log",
            "seed-file": "munged.seed",
        }
        files = [f"--{option}={self.folder / name}" for option, name in names.items()]
        self._start("munged", "--foreground", "--force", f"--key-file={key}", *files)
        wait_for((self.folder / "munge.socket").exists, "munged's socket")

    def _start(self, *words: object) -> None:
        log = (self.folder / f"{words[0]}.out").open("a")
        command = [shutil.which(words[0]), *map(str, words[1:])]
        self._daemons.append(subprocess.Popen(command, stdout=log, stderr=log, env=self._environment()))

    def stop(self) -> None:
        self.run("scancel", "--user", "root")
        for daemon in reversed(self._daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def _environment(self) -> dict[str, str]:
        return environment(SLURM_CONF=str(self.configuration))

    def run(self, *words: object, cwd: Path | None = None, timeout: float = 60) -> subprocess.CompletedProcess:
        command = list(map(str, words))
        return subprocess.run(
            command, cwd=cwd, env=self._environment(), capture_output=True, text=True, timeout=timeout
        )

    def batch(self, script: str, folder: Path, *options: str) -> tuple[int, str]:
        """Submits and waits; the script's exit code, and all that it printed."""
        first = "" if script.startswith("#!") else "#!/bin/bash\n"
        (folder / "job.sh").write_text(f"{first}{script}\n")
        submitted = self.run("sbatch", "--parsable", "-o", "job.out", *options, "job.sh", cwd=folder)
        assert submitted.returncode == 0, submitted.stderr
        job = submitted.stdout.strip()
        state = wait_for(lambda: self._end_of(job), f"the end of job {job}")
        return int(state["ExitCode"].partition(":")[0]), (folder / "job.out").read_text()

    def _end_of(self, job: str) -> dict[str, str] | None:
        """The record of Slurm about a job that has ended."""
        words = self.run("scontrol", "show", "job", job, "--oneliner").stdout.split()
        state = dict(word.split("=", 1) for word in words if "=" in word)
        return None if state.get("JobState") in (None, "PENDING", "RUNNING", "COMPLETING") else state


def _free_ports(n: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


@contextmanager
def _cluster(folder: Path, nodes: int) -> Iterator[Slurm]:
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        reason = f"no Slurm can be started here: root is needed, and missing are {', '.join(missing) or 'no programs'}"
        (pytest.fail if os.environ.get("CULMEN_TEST_ALL") else pytest.skip)(reason)
    cluster = Slurm(folder, nodes)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """One node."""
    with _cluster(tmp_path_factory.mktemp("slurm"), 1) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def slurm_of_four(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """Four nodes."""
    with _cluster(tmp_path_factory.mktemp("slurm4"), 4) as cluster:
        yield cluster
