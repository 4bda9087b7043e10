#!/usr/bin/env python3
"""Measures the overhead of culmen. A peer does the same work without culmen, in the same run."""

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from figures import FIGURES
from measure import Bench, Row, mpis_here, short
from rich.console import Console
from rich.table import Table

import culmen

ROOT = Path(__file__).resolve().parent.parent
TEXTS = ("measurement", "name of the peer", "target", "met")  # columns


def main() -> int:
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 200)
    begin = time.monotonic()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="culmen-bench-") as scratch, console.status("") as status:

        def say(text: str) -> None:
            status.update(text)
            if options.verbose:
                console.print(text, highlight=False)

        repeat = options.repeat or (2 if options.quick else 5)
        bench = Bench(options.build.resolve(), Path(scratch), repeat, options.quick, say)
        for name in options.only or FIGURES:
            rows += FIGURES[name](bench)
    machine = _machine()
    console.print(_table(rows), *(f"{key}: {value}" for key, value in machine.items()), sep="\n", highlight=False)
    console.print(f"{time.monotonic() - begin:.0f} s")
    if options.json:
        record = {"machine": machine, "rows": [row.record() for row in rows]}
        options.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter runs, two minutes in all")
    parts = ", ".join(FIGURES)
    parser.add_argument("--only", action="append", choices=FIGURES, metavar="NAME", help=f"only this part: {parts}")
    parser.add_argument("--repeat", type=int, metavar="N", help="number of repetitions (5; with --quick 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all values to this file")
    build = ROOT / "build/release"
    parser.add_argument("--build", type=Path, default=build, help="folder of a build with CULMEN_BENCHMARKS")
    parser.add_argument("--verbose", action="store_true", help="print the values of each repetition")
    options = parser.parse_args()
    if options.repeat is not None and options.repeat < 1:
        parser.error(f"--repeat is {options.repeat}; it must be at least 1")
    return options


def _machine() -> dict[str, str]:
    cpu = Path("/proc/cpuinfo").read_text().partition("model name\t: ")[2].partition("\n")[0] or platform.machine()
    mpis = []
    for name, launcher in mpis_here():
        said = subprocess.run([launcher.program, "--version"], capture_output=True, text=True, check=False).stdout
        number = next((word for word in said.split() if word[0].isdigit()), "?")
        mpis.append(f"{name} {number}")
    return {
        "Machine": f"{cpu}, {os.cpu_count()} cores, Linux {platform.release()}",
        "Versions": f"culmen {culmen.__version__}; {', '.join(mpis)}; mpi4py {version('mpi4py')}",
        "Commit": _commit(),
        "Date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


def _commit() -> str:
    git = shutil.which("git")
    if git is None:
        return "?"
    words = [git, "-C", str(ROOT), "describe", "--always", "--dirty"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip() or "?"


def _table(rows: list[Row]) -> Table:
    caption = (
        "median (minimum – maximum) of the repetitions. A target with ≥ is for the ratio, with ≤ for culmen's figure.\n"
        "others: largest share of the machine's CPU time that other programs used."
    )
    table = Table(caption=caption, caption_justify="left")
    for heading in ("measurement", "culmen", "peer", "name of the peer", "ratio", "target", "met", "others"):
        table.add_column(heading, justify="left" if heading in TEXTS else "right", no_wrap=True)
    for row in rows:
        figure = row.figure.text() if row.at_most is not None else short(row.figure.median)
        peer = short(row.peer.median) if row.peer else ""
        ratio = row.ratio.text() if row.ratio else ""
        met = {True: "[green]yes", False: "[bold red]no", None: ""}[row.met]
        others = f"{row.foreign:.0%}" if row.foreign else ""
        table.add_row(row.name, f"{figure} {row.unit}".strip(), peer, row.peer_name, ratio, row.target, met, others)
    return table


if __name__ == "__main__":
    sys.exit(main())
