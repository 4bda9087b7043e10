"""The line of progress while culmen is built, and its log."""

import subprocess
import sys
import time

import pytest
from harness import HANGS_S, ROOT

pytestmark = pytest.mark.no_numbers


def test_the_log_grows_line_by_line(tmp_path):
    log, end = tmp_path / "build.log", tmp_path / "end"
    build = f"echo '[1/20] CXX a.o'; while [ ! -e {end} ]; do sleep 0.02; done; echo '[2/20] CXX b.o'"
    command = [sys.executable, ROOT / "tools" / "show_progress", log, "sh", "-c", build]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
        began = time.monotonic()
        try:
            while not (log.exists() and "a.o" in log.read_text()):
                assert time.monotonic() < began + HANGS_S
                time.sleep(0.02)
            assert run.poll() is None
        finally:
            end.touch()
        assert run.wait(HANGS_S) == 0
        assert "compiling: 2 of 20" in run.stderr.read()


def test_the_time_left_is_told_from_the_time_used(tmp_path):
    """A quarter of the steps took 100 s, so the rest takes three times as long."""
    code = (
        "import pathlib, runpy, sys, time\n"
        f"tool = runpy.run_path({str(ROOT / 'tools' / 'show_progress')!r})\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "line = tool['Line'](folder)\n"
        "line.work, line.start = tool['Work'](folder), 0.0\n"
        "time.monotonic = lambda: 100.0\n"
        "line.show(5, 20, 'a.o')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert done.stderr == "compiling: 5 of 20, about 5 min left\n"
