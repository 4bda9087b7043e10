"""The table of calls with many peers."""

import shutil
import subprocess
from pathlib import Path

import pytest
from harness import HANGS_S, ROOT

SOURCES = [Path(__file__).with_name("entries_program.c"), ROOT / "src/mpiprobe/record.c"]


@pytest.mark.parametrize("peers", [1000, 3000, 5000, 20000])
def test_calls_with_many_peers_have_entries(tmp_path, peers):
    compiler = shutil.which("mpicc.mpich") or shutil.which("mpicc.openmpi")
    if compiler is None:
        pytest.skip("there is no mpicc")
    words = [compiler, "-c", "-O1", "-w", "-I", ROOT / "src", *SOURCES]
    subprocess.run(words, check=True, cwd=tmp_path)
    subprocess.run(["gcc", *(f"{each.stem}.o" for each in SOURCES), "-o", "entries"], check=True, cwd=tmp_path)
    done = subprocess.run([tmp_path / "entries", str(peers)], capture_output=True, text=True, timeout=HANGS_S)
    assert done.returncode == 0, done.stdout
