"""The time that `culmen profile` adds to a real program: HPC Challenge of Debian (`apt install hpcc`), on two ranks."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from culmen.launch.mpi import find_launcher
from culmen.launch.programs import own_library
from culmen.profile.recorded import read_folder
from measure import TIMEOUT_S, Bench, Load, Row, foreign, spread

RANKS = 2
INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def application(bench: Bench) -> Iterator[Row]:
    if shutil.which("hpcc") is None or not INPUT.exists():
        bench.say("hpcc is not installed, so a profile of a real program is not measured")
        return
    runs = {"bare": lambda: _run(bench, False), "profiled": lambda: _run(bench, True)}
    results = bench.take_turns(runs)
    bare, profiled = spread(results["bare"], "seconds"), spread(results["profiled"], "seconds")
    yield Row(
        f"HPC Challenge on {RANKS} ranks, with a profile",
        "s",
        profiled,
        bare,
        "without a profile",
        bare.over(profiled),
        at_least=0.99,
        foreign=foreign(*results.values()),
    )


def _run(bench: Bench, profiled: bool) -> dict:
    """The profile must have the calls, or nothing was measured."""
    folder, profile = bench.scratch / "hpcc", bench.scratch / "hpcc-profile"
    folder.mkdir()
    profile.mkdir()
    size = 1000 if bench.quick else 2000
    text = INPUT.read_text().replace("1000         Ns", f"{size} Ns").replace("2            Ps", f"{RANKS // 2} Ps")
    (folder / "hpccinf.txt").write_text(text)
    environment = {**os.environ, **AS_ROOT}
    if profiled:
        environment |= {"LD_PRELOAD": str(own_library("mpiprobe_openmpi")), "CULMEN_PROFILE_DIR": str(profile)}
    command = [find_launcher("openmpi").program, "--oversubscribe", "-n", str(RANKS), "hpcc"]
    load, begin = Load(), time.monotonic()
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=TIMEOUT_S, check=True)
    seconds, share = time.monotonic() - begin, load.foreign_share()
    calls = sum(each.calls for rank in read_folder(profile) for each in rank.calls) if profiled else 0
    if profiled and calls < 10_000:
        raise SystemExit(f"the profile of hpcc has {calls} calls; the probe was not in the way of the calls")
    if "Success=1" not in (folder / "hpccoutf.txt").read_text():
        raise SystemExit("hpcc did not succeed")
    shutil.rmtree(folder)
    shutil.rmtree(profile)
    return {"seconds": seconds, "calls": calls, "foreign": share}
