"""The time that `culmen profile` adds to real programs of Debian, on two ranks: LAMMPS (`apt install lammps`) and HPC
Challenge (`apt install hpcc`)."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from culmen.launch.mpi import find_launcher
from culmen.launch.programs import own_library
from culmen.profile.recorded import read_folder
from measure import TIMEOUT_S, Bench, Load, Row, foreign, spread

RANKS = 2
HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
# A liquid of Lennard-Jones atoms, so few that messages take a good part of the time.
MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
run {steps}
"""


@dataclass(frozen=True)
class Program:
    """``prepare``: writes the input files into a folder; with True, smaller ones. ``finished``: whether the result is
    in the folder."""

    title: str
    words: tuple[str, ...]
    prepare: Callable[[Path, bool], None]
    finished: Callable[[Path], bool]
    at_least: float | None  # the speed without a profile is 1


def _prepare_lammps(folder: Path, quick: bool) -> None:
    (folder / "in.melt").write_text(MELT.format(steps=500 if quick else 3000))


def _prepare_hpcc(folder: Path, quick: bool) -> None:
    text = HPCC_INPUT.read_text().replace("1000         Ns", f"{1000 if quick else 2000} Ns")
    (folder / "hpccinf.txt").write_text(text.replace("2            Ps", f"{RANKS // 2} Ps"))


PROGRAMS = (
    Program(
        "LAMMPS",
        ("lmp", "-in", "in.melt"),
        _prepare_lammps,
        lambda folder: "Total wall time" in (folder / "log.lammps").read_text(),
        0.99,
    ),
    Program(
        "HPC Challenge, which polls with MPI_Testany",
        ("hpcc",),
        _prepare_hpcc,
        lambda folder: "Success=1" in (folder / "hpccoutf.txt").read_text(),
        None,
    ),
)


def application(bench: Bench) -> Iterator[Row]:
    for program in PROGRAMS:
        if shutil.which(program.words[0]) is None or (program.words[0] == "hpcc" and not HPCC_INPUT.exists()):
            bench.say(f"{program.words[0]} is not installed, so its profile is not measured")
            continue
        runs = {
            "bare": lambda program=program: _run(bench, program, False),
            "profiled": lambda program=program: _run(bench, program, True),
        }
        results = bench.take_turns(runs)
        bare, profiled = spread(results["bare"], "seconds"), spread(results["profiled"], "seconds")
        yield Row(
            f"{program.title}, {RANKS} ranks, with a profile",
            "s",
            profiled,
            bare,
            "without a profile",
            bare.over(profiled),
            at_least=program.at_least,
            foreign=foreign(*results.values()),
        )


def _run(bench: Bench, program: Program, profiled: bool) -> dict:
    """The profile must have the calls, or nothing was measured."""
    folder, profile = bench.scratch / "application", bench.scratch / "application-profile"
    folder.mkdir()
    profile.mkdir()
    program.prepare(folder, bench.quick)
    environment = {**os.environ, **AS_ROOT}
    if profiled:
        environment |= {"LD_PRELOAD": str(own_library("mpiprobe_openmpi")), "CULMEN_PROFILE_DIR": str(profile)}
    command = [find_launcher("openmpi").program, "--oversubscribe", "-n", str(RANKS), *program.words]
    load, begin = Load(), time.monotonic()
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=TIMEOUT_S, check=True)
    seconds, share = time.monotonic() - begin, load.foreign_share()
    calls = sum(each.calls for rank in read_folder(profile) for each in rank.calls) if profiled else 0
    if profiled and calls < 1000:
        raise SystemExit(f"the profile of {program.title} has {calls} calls; the probe was not in their way")
    if not program.finished(folder):
        raise SystemExit(f"{program.title} did not finish")
    shutil.rmtree(folder)
    shutil.rmtree(profile)
    return {"seconds": seconds, "calls": calls, "foreign": share}
