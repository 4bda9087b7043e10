"""Files of a profile that are empty or damaged, after the program has ended."""

import os
import subprocess

import numpy as np
import pytest
from culmen.cli.work import profile
from culmen.profile.layout import FILE, MAGIC
from culmen.profile.marks import without_room
from culmen.profile.recorded import read_rank

from culmen import InputError

pytestmark = pytest.mark.no_numbers

FILES = {
    b"x": "is not a profile of this version of culmen",
    b"profilea" * 10: "is damaged: it has only 80 of",
    b"": "the program ended with exit code 3 and left no profile",
}


@pytest.mark.parametrize("content", FILES)
def test_the_programs_exit_code_stays(tmp_path, monkeypatch, capsys, content):
    def run(_words, folder, _period, **_options):
        folder.mkdir()
        (folder / "1.profile").write_bytes(content)
        return 3

    monkeypatch.setattr(profile, "run_profiled", run)
    assert profile.run(["app"], tmp_path / "out", 0) == 3
    said = capsys.readouterr().err
    assert FILES[content] in said and said.count("\n") == 1


def of_one_entry(size: int, remote: int = 0) -> np.ndarray:
    """A file with ten calls of the communicator ``world``, all sampled."""
    file = np.zeros(1, FILE)
    header, communicator, entry = file["header"][0], file["communicators"][0, 0], file["entries"][0, 0]
    header["magic"], header["size"], header["communicators"] = MAGIC, size, 1
    header["begin_ns"], header["start_ns"], header["end_ns"] = 1, 2, 3
    header["begin_ticks"], header["start_ticks"], header["end_ticks"] = 1, 2, 3
    communicator["size"], communicator["remote"], communicator["origin"] = size, remote, b"world"
    file["names"][0, 0] = b"MPI_Allreduce"
    entry["key"], entry["calls"], entry["sampled"] = 1 | 1 << 40, 10, 10
    entry["sampled_ticks"], entry["waited_ticks"] = 8, 4
    return file


@pytest.mark.parametrize(("size", "remote", "sampled"), [(2, 0, 10), (1, 1, 10), (1, 0, 0)])
def test_one_rank_alone_waits_for_nobody(tmp_path, size, remote, sampled):
    of_one_entry(size, remote).tofile(tmp_path / "1.profile")
    [calls] = read_rank(tmp_path / "1.profile").calls
    assert (calls.function, calls.calls, calls.sampled) == ("MPI_Allreduce", 10, sampled)
    assert (calls.sampled_s > 0, calls.waited_s > 0) == (sampled > 0, sampled > 0)


def left_nothing(tmp_path, monkeypatch, code, words=("app",)):
    """culmen profiles a program that ends with this code and leaves no file."""

    def run(_words, folder, _period, **_options):
        folder.mkdir(exist_ok=True)
        return code

    monkeypatch.setattr(profile, "run_profiled", run)
    assert profile.run([*words], tmp_path / "out", 0) == code


def test_a_program_that_fails_before_mpi_init_has_said_why(tmp_path, monkeypatch, capsys):
    left_nothing(tmp_path, monkeypatch, 213)
    said = capsys.readouterr().err
    assert said == (
        "culmen: the program ended with exit code 213 before MPI_Init and left no profile; see its messages above\n"
    )


def test_a_folder_that_stays_empty_is_removed_if_culmen_made_it(tmp_path, monkeypatch):
    left_nothing(tmp_path, monkeypatch, 1)
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    left_nothing(tmp_path, monkeypatch, 1)
    assert (tmp_path / "out").exists()


@pytest.mark.parametrize("code", [0, 3])
def test_a_static_program_is_named(tmp_path, monkeypatch, capsys, code):
    (tmp_path / "app.c").write_text("int main(void) { return 0; }")
    app = str(tmp_path / "app")
    if subprocess.run(["cc", "-static", f"{app}.c", "-o", app], capture_output=True).returncode:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no static program can be built here")
    left_nothing(tmp_path, monkeypatch, code, ("mpiexec", "-n", "2", app))
    assert f"left no profile: {app} is linked statically, so culmen cannot profile it" in capsys.readouterr().err


def report(folder, json=False, html=False, functions=None, sizes=None):
    return profile.report(folder, json, html, functions, None, sizes, None, False)


def test_sizes_that_no_call_has_are_told_with_those_that_there_are(tmp_path, capsys):
    file = of_one_entry(2)
    for place, size_class in ((1, 4), (2, 11)):
        file["entries"][0, place] = file["entries"][0, 0]
        file["entries"][0, place]["key"] |= size_class << 32
    file.tofile(tmp_path / "1.profile")
    report(tmp_path, sizes="16-1000")
    assert (
        "No call has a size of 16 to 1000 B; the profile has 0 B, 8 to 15 B and 1 to 2 KiB." in capsys.readouterr().out
    )
    report(tmp_path, html=True, sizes="16-1000")
    assert "No call has a size" in (tmp_path / "profile.html").read_text()
    report(tmp_path, sizes="1K")
    assert "No call has a size" not in capsys.readouterr().out


def test_one_report_is_of_one_kind(tmp_path):
    with pytest.raises(InputError, match="choose one of the two"):
        report(tmp_path, json=True, html=True)


def test_a_rank_without_room_is_told_how_much_it_needs(tmp_path):
    (tmp_path / "1.no-room").touch()
    assert f"each rank needs {FILE.itemsize / 1e6:.1f} MB" in without_room(tmp_path)
