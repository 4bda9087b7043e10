"""When a program was in MPI: a program that knows its phases."""

import ctypes
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from culmen.profile.layout import KINDS
from culmen.profile.recorded import read_folder
from harness import culmen
from profiles import built, profiled

pytestmark = pytest.mark.either("mpi")

RANKS = 2


@pytest.fixture
def phased(mpi, tmp_path):
    """(the folder of the profile, the ends of the phases in seconds)"""
    done = profiled(tmp_path, built(mpi, tmp_path, "timeline_program.c"), RANKS)
    assert done.returncode == 0, done.stderr
    words = next(line for line in done.stdout.splitlines() if line.startswith("phases")).split()
    return tmp_path / "out", [float(word) for word in words[1:]]


def test_the_timeline_has_the_time_of_all_calls(phased):
    for rank in read_folder(phased[0]):
        for k, kind in enumerate(KINDS):
            calls_s = sum(calls.seconds for calls in rank.calls if calls.kind == kind)
            assert rank.timeline.seconds[:, k].sum() == pytest.approx(calls_s, rel=1e-9, abs=1e-12)


def test_the_timeline_knows_when(phased):
    folder, (computed, received, reduced) = phased
    one = read_folder(folder)[1].timeline
    edges = np.arange(len(one.seconds)) * one.bin_s
    in_mpi = one.seconds.sum(axis=1) / one.bin_s
    messages, collective = (one.seconds[:, KINDS.index(kind)] / one.bin_s for kind in ("messages", "collective"))
    apart = 2 * one.bin_s  # the program reads its clock a little later than the probe
    before = edges + apart < computed
    during = (edges > computed + apart) & (edges + apart < received)
    after = (edges > received + apart) & (edges + apart < reduced)
    assert before.sum() > 5
    assert during.sum() > 5
    assert after.sum() > 5
    assert not in_mpi[before].any()
    assert messages[during] == pytest.approx(1)  # in one call of MPI_Sendrecv
    assert not collective[during].any()
    assert not messages[after].any()
    assert np.median(collective[after]) > 0
    assert edges[-1] < read_folder(folder)[1].seconds


def test_a_long_end_without_mpi_is_in_the_timeline(mpi, tmp_path):
    done = profiled(tmp_path, built(mpi, tmp_path, "timeline_program.c"), RANKS, "1.5")
    assert done.returncode == 0, done.stderr
    for rank in read_folder(tmp_path / "out"):
        drawn_s = len(rank.timeline.seconds) * rank.timeline.bin_s
        assert rank.seconds <= drawn_s < rank.seconds + rank.timeline.bin_s
        begins_s = np.arange(len(rank.timeline.seconds)) * rank.timeline.bin_s
        assert not rank.timeline.seconds[begins_s > rank.seconds - 1.4].any()


def test_json_has_the_timeline_and_the_processors(phased):
    done = culmen("profile", "report", "out", "--json", cwd=phased[0].parent)
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    for rank, of in zip(read["ranks"], read_folder(phased[0]), strict=True):
        assert rank["timeline"]["bin_s"] == of.timeline.bin_s
        assert set(rank["timeline"]) == {"bin_s", *KINDS}
        assert rank["timeline"]["collective"] == list(of.timeline.seconds[:, KINDS.index("collective")])
        assert rank["cpu_s"] > 0
        assert rank["preempted"] >= 0


def test_instructions_and_cycles_are_those_of_the_kernel(mpi, tmp_path):
    words = built(mpi, tmp_path, "timeline_program.c")
    fake = tmp_path / "fake_counters.so"
    source = Path(__file__).with_name("fake_counters.c")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", fake, "-ldl"], check=True)
    if not ctypes.CDLL(str(fake)).can_count():
        pytest.skip("this kernel lets users count nothing; see perf_event_open(2)")
    done = profiled(tmp_path, words, RANKS, LD_PRELOAD=str(fake))
    assert done.returncode == 0, done.stderr
    assert "instructions per cycle" in done.stdout
    for rank in read_folder(tmp_path / "out"):
        # A process uses at most the time that passes, and 0.1 s before or after. The kernel's counter and `cpu_s` can
        # differ: only the counter includes the time that another virtual machine took.
        assert 0.1 * rank.cpu_s < rank.cycles * 1e-9 < rank.seconds + 0.1
        assert rank.instructions == pytest.approx(rank.cycles, rel=0.1)
