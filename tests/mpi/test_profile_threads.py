"""Threads that send at the same time."""

import shutil
import subprocess
from pathlib import Path

import pytest
from harness import HANGS_S, ROOT

SOURCES = [Path(__file__).with_name("requests_program.c"), ROOT / "src" / "mpiprobe" / "requests.c"]


@pytest.mark.parametrize("flags", [[], pytest.param(["-fsanitize=thread", "-g"], marks=pytest.mark.slow)])
def test_no_request_is_lost_when_threads_get_the_same_handles(tmp_path, flags):
    """The handles are numbers, as those of MPICH; its library is not needed."""
    if shutil.which("mpicc.mpich") is None:
        pytest.skip("there is no mpicc.mpich")
    program, objects = tmp_path / "requests", [f"{source.stem}.o" for source in SOURCES]
    words = ["mpicc.mpich", "-c", "-O1", "-w", *flags, "-I", ROOT / "src", *SOURCES]
    subprocess.run(words, check=True, cwd=tmp_path)
    subprocess.run(["gcc", *flags, *objects, "-o", program, "-pthread"], check=True, cwd=tmp_path)
    done = subprocess.run([program, "4", "5000"], capture_output=True, text=True, timeout=HANGS_S)
    said = done.stdout + done.stderr
    if "unexpected memory mapping" in said:
        pytest.skip("the thread sanitizer of this compiler does not run on this kernel")
    assert done.returncode == 0, said
    assert said.count("5000 of 5000 requests ended, 10000 ticks") == 4
    assert "data race" not in said
