"""Several nodes on this machine: network namespaces with host names of their own, joined by a line with a delay."""

import os
import shutil
import subprocess
from pathlib import Path

from harness import HANGS_S, ROOT, environment, wait_for

HERE = Path(__file__).parent / "nodes"
OTHER_MPIS = ROOT / "build/other-mpis"  # of tools/other_mpis
HOST_FILES = {
    "openmpi": "OMPI_MCA_orte_default_hostfile",
    "openmpi5": "PRTE_MCA_prte_default_hostfile",
    "mpich": "HYDRA_HOST_FILE",
}
PROGRAMS = ("ip", "unshare", "gcc")  # that it needs, besides root and /dev/net/tun
ONE_WAY_US, MEGABITS = 50, 1000
# On a node: its network, and its own host name.
ON_NODE = 'exec ip netns exec "$0" unshare --uts sh -c \'hostname "$0" && exec "$@"\' "$0" "$@"'
# Instead of ssh. As there, a shell gets the words of the command. The last number of an address is that of a node.
AGENT = """#!/bin/bash
while [[ ${1:-} == -* ]]; do case "$1" in -o|-l|-p|-i|-F) shift 2;; *) shift;; esac; done
node=PREFIX${1##*.}; shift
set -- "$node" sh -c "$*"
exec sh -c 'ON_NODE' "$@"
"""
LINES = {
    "openmpi": {
        "OMPI_MCA_plm": "rsh",
        "OMPI_MCA_plm_rsh_agent": "AGENT",
        "OMPI_MCA_oob_tcp_if_include": "mpi0",
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "self,vader,tcp",
        "OMPI_MCA_btl_tcp_if_include": "mpi0",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    },
    "openmpi5": {
        "PRTE_MCA_plm_ssh_agent": "AGENT",
        "PRTE_MCA_prte_if_include": "10.77.0.0/24",
        "PMIX_MCA_ptl_tcp_if_include": "10.77.0.0/24",
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "self,sm,tcp",
        "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "PATH": f"{OTHER_MPIS}/bin:{os.environ['PATH']}",
        "CULMEN_MODULE_DIR": f"{OTHER_MPIS}/build/modules",
    },
    "mpich": {  # UCX finds shared memory through the namespaces: both have the same boot id
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": "mpi0",
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": "AGENT",
        "HYDRA_IFACE": "mpi0",
        "LD_PRELOAD": "YIELD",
    },
}


class Nodes:
    """``names``, ``addresses``: of the nodes; a run starts on the first."""

    def __init__(self, folder: Path, n: int) -> None:
        self._folder = folder
        self._prefix = f"culmen{os.getpid()}n"
        self.names = [f"{self._prefix}{i}" for i in range(1, n + 1)]
        self.addresses = [f"10.77.0.{i}" for i in range(1, n + 1)]
        self._line: subprocess.Popen | None = None

    def start(self) -> None:
        line, self._yield = self._folder / "delay_line", self._folder / "mpich_yield.so"
        subprocess.run(["gcc", "-O2", "-o", line, HERE / "delay_line.c"], check=True)
        subprocess.run(
            ["gcc", "-O2", "-shared", "-fPIC", "-o", self._yield, HERE / "mpich_yield.c", "-ldl"], check=True
        )
        self._agent = self._folder / "agent"
        self._agent.write_text(AGENT.replace("PREFIX", self._prefix).replace("ON_NODE", ON_NODE.replace("'", "'\\''")))
        self._agent.chmod(0o755)
        for name in self.names:
            subprocess.run(["ip", "netns", "add", name], check=True)
        log = self._folder / "delay_line.log"
        real_time = ["chrt", "-f", "10"] if shutil.which("chrt") else []  # ranks that poll must not starve the line
        with log.open("w") as out:
            words = [*real_time, str(line), str(ONE_WAY_US), str(MEGABITS), *self.names]
            self._line = subprocess.Popen(words, stdout=out, stderr=out)
        wait_for(lambda: "ready" in log.read_text(), "the line between the nodes")

    def stop(self) -> None:
        if self._line is not None:
            self._line.kill()
            self._line.wait()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False)

    def launch(self, mpi: str, *words: object, cwd: Path, **variables: str) -> subprocess.CompletedProcess:
        """``culmen launch`` on the first node."""
        return self.run(mpi, shutil.which("culmen"), "launch", "--mpi", mpi, *words, cwd=cwd, **variables)

    def run(
        self, mpi: str, *command: object, cwd: Path, timeout_s: float = HANGS_S, **variables: str
    ) -> subprocess.CompletedProcess:
        """A command on the first node, which can start ranks of this MPI on all nodes."""
        words, env = self.first(mpi, *command, **variables)
        return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout_s)

    def first(self, mpi: str, *command: object, **variables: str) -> tuple[list[str], dict[str, str]]:
        """The words and the environment of a command on the first node."""
        places = {"AGENT": str(self._agent), "YIELD": str(self._yield)}
        more = {name: places.get(value, value) for name, value in LINES[mpi].items()}
        if {"LD_PRELOAD"} <= {*more} & {*variables}:
            variables["LD_PRELOAD"] += f":{more['LD_PRELOAD']}"
        return ["sh", "-c", ON_NODE, self.names[0], *map(str, command)], environment(**{**more, **variables})

    def hosts(self, mpi: str, folder: Path, slots: int) -> dict[str, str]:
        """Variables with which launchers find all nodes, without a job."""
        file = folder / f"hosts-{mpi}"
        form = "{}:{}\n" if mpi == "mpich" else "{} slots={}\n"
        file.write_text("".join(form.format(each, slots) for each in self.addresses))
        return {HOST_FILES[mpi]: str(file)}

    def packets(self) -> int:
        """That all nodes have sent so far."""
        counts = (
            subprocess.run(
                ["ip", "netns", "exec", name, "cat", "/sys/class/net/mpi0/statistics/tx_packets"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for name in self.names
        )
        return sum(map(int, counts))


def cannot_be_made() -> str:
    """Why there can be no nodes here; empty if there can."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if not missing and os.geteuid() == 0 and Path("/dev/net/tun").exists():
        return ""
    return f"no nodes can be made here: root and /dev/net/tun are needed, and missing are {missing or 'no programs'}"
