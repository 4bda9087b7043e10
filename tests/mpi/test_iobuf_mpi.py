"""`culmen iobuf` with MPI-IO."""

import re
import subprocess

import pytest
from harness import HANGS_S, ROOT, culmen
from profiles import AS_ROOT, built

RANKS = 3


@pytest.mark.parametrize("delay_ms", ["1", "3600000"])
def test_ranks_read_what_others_wrote_before_a_synchronization(mpi, tmp_path, delay_ms):
    command = [str(RANKS) if word == "RANKS" else word for word in built(mpi, tmp_path, "shared_file_program.c")]
    own = ("iobuf", "--report", "--files", "shared", "--delay-ms", delay_ms, "--")
    done = culmen(*own, *command, "shared", cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0 wrong bytes\n"
    content = (tmp_path / "shared").read_text()
    assert content[:24] == "0000000 0000000 000002\0\0", content[:24]
    assert len(content) == RANKS * 40 * 24
    # Open MPI 5 locks files that ranks share; such files are not buffered.
    assert re.search("files? (buffered|locked)", done.stderr), done.stderr


def test_ranks_read_what_others_wrote_before_a_message(mpi, tmp_path):
    command = [str(RANKS) if word == "RANKS" else word for word in built(mpi, tmp_path, "told_by_messages_program.c")]
    own = ("iobuf", "--report", "--files", "own*", "--delay-ms", "3600000", "--")
    done = culmen(*own, *command, "own", cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)
    assert (done.returncode, done.stdout) == (0, "0 wrong records\n"), done.stderr
    assert "files buffered" in done.stderr, done.stderr


def test_a_rank_reads_what_another_wrote_before_any_call_that_tells_it(mpi, tmp_path):
    command = ["2" if word == "RANKS" else word for word in built(mpi, tmp_path, "told_by_calls_program.c")]
    own = ("iobuf", "--report", "--files", "data", "--delay-ms", "3600000", "--")
    done = culmen(*own, *command, "data", cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"0 of \d+ calls did not tell\n", done.stdout), done.stdout
    assert "files buffered" in done.stderr, done.stderr


def test_wrappers_have_the_number_of_arguments_of_mpi(mpi):
    words = [f"mpicc.{mpi}", "-E", "-P", "-x", "c", "-"]
    header = subprocess.run(words, input="#include <mpi.h>\n", capture_output=True, text=True, check=True).stdout
    found = re.findall(r"\bPMPI_(\w+)\s*\(([^;]*?)\)(?:\s*__attribute__[^;]*)?\s*;", header)
    arguments = {name: text.count(",") + 1 for name, text in found}
    calls = re.findall(r"^CALL\(\w+, (\w+), (\w+), (\d+)\)", (ROOT / "src/iobuf/mpi_calls.h").read_text(), re.MULTILINE)
    assert [name for name, small, _ in calls if name.lower() != small] == []
    known = {name: int(count) for name, _, count in calls if name in arguments}
    assert len(known) > 100
    assert known == {name: arguments[name] for name in known}
