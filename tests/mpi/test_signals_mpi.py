"""Signals to launches: a clean end in time, an exit code that says so, and the same study afterwards."""

import contextlib
import os
import select
import signal
import subprocess
import time

import pytest
from culmen.base.pidfd import pidfd_open
from harness import (
    HANGS_S,
    Running,
    calls_of,
    culmen,
    go_on,
    hold,
    outcomes,
    patience,
    run_undisturbed,
    sequence,
    summary,
    under,
    wait_for,
    wait_for_soon,
    write_study,
)

pytestmark = [pytest.mark.alone, pytest.mark.either("mpi")]  # how long an end takes is measured
BUDGET = 200
CLEAN_END_S = 0.2  # from the signal's arrival at the master to the end of its process
ENOUGH = 60  # calls of the model: a signal comes between 30 calls and these, however late it is
LAUNCH_END_S = 1.0  # where launchers only have to notice it
TRIES = 5


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Sequence and outcomes of the study on local workers."""
    return run_undisturbed(tmp_path_factory.mktemp("local"), BUDGET, workers=3)


def end_of(pid):
    """The moment at which the process was gone."""
    fd = pidfd_open(pid)
    try:
        assert select.select([fd], [], [], HANGS_S)[0], f"process {pid} lives"
        return time.monotonic()
    finally:
        os.close(fd)


def ended_by(number, mpi, folder, rank_zero):
    """Runs the study up to the signal at the master; seconds until master and launch were gone."""
    folder.mkdir()
    write_study(folder, BUDGET)
    hold(folder, ENOUGH)
    with Running(*under(mpi, "run", "study.toml"), cwd=folder) as run:
        wait_for(lambda: len(calls_of(folder)) > 30, "30 calls")
        master = rank_zero(run)
        os.kill(master, number)
        sent = time.monotonic()
        master_s = end_of(master) - sent
        code, out, err = run.end()
        launch_s = time.monotonic() - sent
    assert code == 75, err
    assert "culmen resume study.db" in out
    assert not summary(folder / "study.db")["owned"]
    return master_s, launch_s


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_master_ends_cleanly_in_time(mpi, tmp_path, rank_zero, name):
    tries = []
    for number in range(TRIES):
        tries.append(ended_by(getattr(signal, name), mpi, tmp_path / str(number), rank_zero))
        if tries[-1][0] <= patience(CLEAN_END_S) and tries[-1][1] <= patience(LAUNCH_END_S):
            return
    pytest.fail(f"seconds to the end of master and launch, in each try: {tries}")


def test_a_signal_to_the_launch_ends_it_cleanly(mpi, local, tmp_path):
    write_study(tmp_path, BUDGET)
    hold(tmp_path, ENOUGH)
    with Running(*under(mpi, "run", "study.toml"), cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) > 30, "30 calls")
        run.process.send_signal(signal.SIGINT)
        code, out, _ = run.end()
        wait_for_soon(lambda: not run.processes(), "the end of all processes", 5)
    assert code == 75
    assert "culmen resume study.db" in out
    go_on(tmp_path)
    assert culmen(*under(mpi, "resume", "study.db", "--quiet"), cwd=tmp_path).returncode == 0
    assert sequence(tmp_path / "study.db") == local[0]
    assert outcomes(tmp_path / "study.db") == local[1]


def test_a_signal_to_every_process_leaves_no_trace_in_the_study(mpi, local, tmp_path):
    """As scancel, a time limit of Slurm and the end of a container send it."""
    write_study(tmp_path, BUDGET)
    hold(tmp_path, ENOUGH)
    with Running(*under(mpi, "run", "study.toml"), cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) > 30, "30 calls")
        launchers = {run.process.pid, *(pid for pid, line in run.processes().items() if line.startswith("mpi"))}
        for pid in run.processes().keys() - launchers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        assert run.end()[0] == 75
    go_on(tmp_path)
    assert culmen("resume", "study.db", "--quiet", cwd=tmp_path).returncode == 0
    assert outcomes(tmp_path / "study.db") == local[1]
    assert sequence(tmp_path / "study.db") == local[0]


def test_repeated_signals_end_a_launch_whose_master_hangs(mpi, tmp_path, rank_zero):
    write_study(tmp_path, BUDGET)
    hold(tmp_path, ENOUGH)
    with Running(*under(mpi, "run", "study.toml"), cwd=tmp_path) as run:
        wait_for(lambda: len(calls_of(tmp_path)) > 30, "30 calls")
        os.kill(rank_zero(run), signal.SIGSTOP)
        for _ in range(3):
            run.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.process.wait(1)
        assert run.end()[0] != 0  # 75 where the launcher's own signals woke the master up to end cleanly
        wait_for_soon(lambda: not run.processes(), "the end of all processes", 10)
