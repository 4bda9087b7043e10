"""`culmen tune app` and `culmen autotune --validate` with a program that does not end, under both MPIs."""

import signal
from pathlib import Path

import pytest
from harness import HANGS_S, Running, culmen, wait_for
from profiles import AS_ROOT, built

pytestmark = pytest.mark.either("mpi")
COMMANDS = {
    "tune app": (("tune", "app"), "Not all runs are done. The finished runs are kept; the same command continues."),
    "validate": (("autotune", "--validate", "3"), "so nothing is said about the speed; the same command starts again."),
}


def endless(mpi: str, folder: Path) -> list[str]:
    """Of one rank: it adds up nothing, so its number is known."""
    words = ["1" if word == "RANKS" else word for word in built(mpi, folder, "ordered_program.c")]
    return [*words, "0", "hang", "1"]


@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_ends_the_command_and_is_no_failure_of_the_program(mpi, tmp_path, name):
    words, said = COMMANDS[name]
    with Running(*words, "--", *endless(mpi, tmp_path), cwd=tmp_path, **AS_ROOT) as running:
        program = str(tmp_path / "ordered_program")
        wait_for(lambda: any(line.startswith(program) for line in running.processes().values()), "the program")
        running.process.send_signal(signal.SIGINT)
        code, out, errors = running.end()
        wait_for(lambda: not running.processes(), "the end of all processes")
    assert code == 75 and said in errors, out + errors
    assert "ended with exit code" not in errors and "Traceback" not in errors


@pytest.mark.parametrize("name", COMMANDS)
def test_a_program_that_hangs_is_ended_and_said(mpi, tmp_path, name):
    words, _ = COMMANDS[name]
    command = (*words, "--time-limit", "2", "--", *endless(mpi, tmp_path))
    done = culmen(*command, cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)
    assert done.returncode == 2 and "the program ran longer than 2 s, and culmen ended it" in done.stderr, done.stderr
    assert "--time-limit allows longer runs" in done.stderr


def test_options_of_other_runs_are_refused(mpi, tmp_path):
    def said(*words: str) -> str:
        done = culmen(*words, "--", "mpiexec", "true", cwd=tmp_path, timeout=HANGS_S)
        assert done.returncode == 2
        return " ".join(done.stderr.split())

    assert "add --direct, or leave out --minutes" in said("tune", "app", "--minutes", "3")
    assert "add --direct, or leave out --figure" in said("tune", "app", "--figure", "a = (.*)")
    assert "--seconds is for the benchmark" in said("tune", "app", "--direct", "--seconds", "1")
    assert "has 0 groups" in said("tune", "app", "--direct", "--figure", "rate")
    assert "add --validate N, or leave out --time-limit" in said("autotune", "--time-limit", "3")
