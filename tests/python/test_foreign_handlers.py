"""Handlers of signals, where a library has installed one of its own before Python started."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.no_numbers

LIBRARY = """
#include <signal.h>
static void handle(int number) { (void)number; }
__attribute__((constructor)) static void install(void) { signal(SIGUSR2, handle); }
"""
PROGRAM = """
import signal
from culmen.base.signals import handling

seen = []
with handling((signal.SIGUSR2,), lambda number, _frame: seen.append(number)):
    signal.raise_signal(signal.SIGUSR2)
print(seen == [signal.SIGUSR2], signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL)
"""


def test_a_handler_that_is_not_pythons_is_no_error(tmp_path):
    (tmp_path / "handler.c").write_text(LIBRARY)
    library = tmp_path / "libhandler.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(tmp_path / "handler.c"), "-o", str(library)], check=True)
    variables = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=variables, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True True\n", "")
