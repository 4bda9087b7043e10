"""End to end: how much faster programs are with `culmen autotune`, and with the file of `culmen tune cluster` or
`culmen tune app`. The runs of a round are interleaved, and each is compared with the default of its round."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from application import AS_ROOT, HPCC_INPUT
from culmen.launch.mpi import Launcher
from culmen.launch.programs import own_library
from culmen.tune.cluster.choices import changed_in
from culmen.tune.rules.reader import environment_for, reader_of_rules
from measure import TIMEOUT_S, Bench, Load, Row, Spread, foreign, mpis_here, spread

KINDS = ("default", "tuned while it runs", "from the tuning file", "offline")
RANKS = {"openmpi": 8, "mpich": 2}  # ranks of MPICH do not give their cores away
LEAST_GAIN = 0.02  # of offline tuning, below which a ratio of gains says nothing
LEAST_RATIO = 0.9


@dataclass(frozen=True)
class Program:
    """``prepare``: writes the input and returns the words. ``offline``: arguments of `culmen tune`, before
    the command of the program if ``own``. A program without halves writes no times: its wall time counts."""

    title: str
    prepare: Callable[[Bench, str, Path], list[str]]
    offline: tuple[str, ...]
    own: bool = False


def _bound_by(collective: str, size: int, calls: dict[str, int]) -> Program:
    def prepare(bench: Bench, mpi: str, folder: Path) -> list[str]:
        program = bench.program(f"collective_bound_{mpi}")
        return [program, collective, str(size), str(bench.scaled(calls[mpi])), str(folder / "halves.json")]

    words = ("cluster", "--collectives", collective, "--sizes", str(size), "--seconds", "0.1")
    allowed = "--commutative" if collective == "allreduce" else "--same-types"
    return Program(f"{collective} of {size} bytes", prepare, (*words, allowed))


def _prepare_hpcc(_bench: Bench, _mpi: str, folder: Path) -> list[str]:
    text = HPCC_INPUT.read_text().replace("1000         Ns", "600 Ns")
    (folder / "hpccinf.txt").write_text(text.replace("2            Ps", "4 Ps"))
    return ["hpcc"]


# Halves of about half a second, if the machine is quiet.
SMALL = _bound_by("allreduce", 8, {"openmpi": 60_000, "mpich": 1_000_000})
LARGE = _bound_by("bcast", 262144, {"openmpi": 10_000, "mpich": 100_000})
# With more ranks than cores, the default of Open MPI 4 needs more messages in a row than the fastest algorithm.
MEDIUM = _bound_by("allreduce", 16384, {"openmpi": 6_000})
HPCC = Program("HPC Challenge", _prepare_hpcc, ("app", "--rounds", "3", "--seconds", "0.1", "--commutative"), own=True)


def autotuned(bench: Bench) -> Iterator[Row]:
    for mpi, launcher in mpis_here():
        for program in (SMALL, LARGE, MEDIUM) if mpi == "openmpi" else (SMALL, LARGE):
            yield from _rows(bench, mpi, launcher, program)
        if mpi == "openmpi" and shutil.which("hpcc") and HPCC_INPUT.exists():
            yield from _rows(bench, mpi, launcher, HPCC)


def _rows(bench: Bench, mpi: str, launcher: Launcher, program: Program) -> Iterator[Row]:
    folder = bench.scratch / f"autotuned-{mpi}"
    folder.mkdir()
    words = program.prepare(bench, mpi, folder)
    command = [launcher.program, *launcher.mpi.oversubscribed.flags, *launcher.mpi.one_machine.flags]
    command += ["-n", str(RANKS[mpi]), *words]
    what = f"{program.title}, {RANKS[mpi]} ranks, {launcher.mpi.title}"
    bench.say(f"{what}: offline")
    rules = _offline(mpi, launcher, program, command, folder)
    tuning = folder / "choices.tuning"
    library = {"LD_PRELOAD": str(own_library(f"autotune_{launcher.mpi.module}"))}
    load = {"CULMEN_TUNING_LOAD": str(tuning)}
    same = {"CULMEN_TUNING_SAME_TYPES": "1"} if program is LARGE else {}  # as `offline` has it
    bench.say(f"{what}: a first run, which makes the tuning file")
    _run(command, folder, {**library, **same, "CULMEN_TUNING_DUMP": str(tuning)})
    ways: dict[str, Mapping[str, str]] = dict(
        zip(KINDS, ({}, library | same, library | same | load, rules), strict=True)
    )
    results = bench.take_turns({name: lambda way=way: _run(command, folder, way) for name, way in ways.items()})
    shutil.rmtree(folder)
    yield from _compared(what, results, bool(rules), program.own)


def _compared(what: str, results: dict[str, list[dict]], has_rules: bool, whole: bool) -> Iterator[Row]:
    key, part = ("seconds", "wall time") if whole else ("second_s", "second half")
    default, load = spread(results["default"], key), foreign(*results.values())
    for name in KINDS[1:]:
        if name == "offline" and not has_rules:
            continue  # it kept the default everywhere
        own = spread(results[name], key)
        yield Row(f"{what}: {part}, {name}", "s", own, default, "default", default.over(own), foreign=load)
    gains = {name: _gain(default, spread(results[name], key)) for name in KINDS[1:]}
    ahead = gains["tuned while it runs"], gains["offline"]
    compares = has_rules and ahead[1] >= LEAST_GAIN
    yield Row(
        f"{what}: share of the {part} that the tuner saves",
        "",
        Spread([ahead[0]]),
        Spread([ahead[1]]),
        "offline tuning" if has_rules else "offline tuning, which kept the default",
        Spread([ahead[0] / ahead[1]]) if compares else None,
        at_least=LEAST_RATIO if compares else None,
        foreign=load,
    )
    if not whole:
        first, usual = spread(results[KINDS[1]], "first_s"), spread(results["default"], "first_s")
        yield Row(f"{what}: first half, {KINDS[1]}", "s", first, usual, "default", usual.over(first), foreign=load)


def _gain(default: Spread, own: Spread) -> float:
    """The median over the rounds."""
    return float(np.median([1 - a / b for a, b in zip(own.values, default.values, strict=True)]))


def _offline(mpi: str, launcher: Launcher, program: Program, command: list[str], folder: Path) -> dict[str, str]:
    """The variables with which the program uses the file; empty if there is none, or if it keeps the default."""
    out = folder / "offline"
    culmen = [sys.executable, "-m", "culmen", "tune", *program.offline, "--output", str(out), "--quiet"]
    more = ["--", *command] if program.own else ["--mpi", mpi, "--ranks", str(RANKS[mpi])]
    environment = {**os.environ, **AS_ROOT}
    done = subprocess.run(
        [*culmen, *more], cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join([*culmen, *more])}\nended with exit code {done.returncode}: {done.stderr}")
    known = reader_of_rules(launcher)
    table = out / "choices.csv"
    return environment_for(known, out / known.rules_name) if table.exists() and changed_in(table) else {}


def _run(command: list[str], folder: Path, variables: Mapping[str, str]) -> dict:
    halves = folder / "halves.json"
    halves.unlink(missing_ok=True)
    environment = {**os.environ, **AS_ROOT, **variables}
    load, begin = Load(), time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    seconds, share = time.monotonic() - begin, load.foreign_share()
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nended with exit code {done.returncode}: {done.stderr}")
    times = json.loads(halves.read_text()) if halves.exists() else {}
    return {**times, "seconds": seconds, "foreign": share}
