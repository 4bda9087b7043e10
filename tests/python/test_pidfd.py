"""Descriptors of processes, with a Python that lacks them, such as conda's."""

import os
import select
import signal
import subprocess
import sys

import pytest
from culmen.base.pidfd import pidfd_open, pidfd_send_signal
from harness import HANGS_S

import culmen

pytestmark = pytest.mark.no_numbers


@pytest.fixture(params=["as it is", "lacking"])
def python(request, monkeypatch):
    if request.param == "lacking":
        monkeypatch.delattr(os, "pidfd_open")
        monkeypatch.delattr(os, "memfd_create")
        monkeypatch.delattr(signal, "pidfd_send_signal")


def test_the_end_of_a_process_is_seen(python):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    there = pidfd_open(child.pid)
    pidfd_send_signal(there, signal.SIGTERM)
    assert select.select([there], [], [], HANGS_S)[0] == [there]
    assert child.wait() == -signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        pidfd_send_signal(there, signal.SIGTERM)
    os.close(there)


def test_an_unknown_process_is_said(python):
    child = subprocess.Popen(["true"])
    child.wait()
    with pytest.raises(ProcessLookupError):
        pidfd_open(child.pid)


def test_large_data_reach_the_function(python):
    data = bytearray(30_000_000)
    result = culmen.minimize(
        lambda p: p["x"] ** 2 + len(data) - 30_000_000, {"x": (-1, 1)}, budget=3, optimizer="random"
    )
    assert result.evaluations == 3
