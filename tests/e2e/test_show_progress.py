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
