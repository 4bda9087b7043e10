"""`culmen tune io`: its settings, the commands and hints of candidates, file systems, and folders that go away."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from culmen.launch import preloading
from culmen.launch.mpi import load
from culmen.tune.command import measured
from culmen.tune.io import applied
from culmen.tune.io.benchmark import Own
from culmen.tune.io.file_system import is_on_lustre, kind_of
from culmen.tune.io.folder_in_words import check_folder, where_files_are
from culmen.tune.io.found import about_mpi_io
from culmen.tune.io.scratch import Scratch
from culmen.tune.io.space import library_of, plan_of, space_of
from culmen.tune.iobuf.report import why_nothing
from harness import HANGS_S, wait_for

from culmen import InputError

pytestmark = pytest.mark.no_numbers

MPIS = {mpi.title: mpi for mpi in load()}
LFS = """#!/bin/sh
# As the lfs of Lustre 2.12 prints; setstripe leaves what it was told.
case $1 in
getstripe) ;;
osts) echo OBDS:; for k in 0 1 2 3 4 5 6 7 8 9 10 11; do echo "$k: work-OST00${k}_UUID ACTIVE"; done ;;
setstripe)
  shift
  for folder; do :; done
  case "$*" in *"-c 12 "*) echo "error: setstripe: cannot set default stripe: No space left" >&2; exit 1;; esac
  echo "$*" >"$folder/.striping" ;;
esac
"""


@pytest.fixture
def lfs(tmp_path, monkeypatch):
    """A program that stands for lfs, first on PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "lfs").write_text(LFS)
    (tmp_path / "bin" / "lfs").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return tmp_path


def plan_for(title, words=("./app",)):
    mpi = MPIS[title]
    space = space_of(list(words), mpi, Path("/tmp"))  # noqa: S108
    return plan_of(list(words), mpi, space, Path("/"))


def test_settings_as_typed_change_nothing():
    for title in ("Open MPI 4", "Open MPI 5", "MPICH 4", "MPICH 5"):
        plan = plan_for(title)
        space = space_of(["./app"], MPIS[title], Path("/tmp"))  # noqa: S108
        typed = dict.fromkeys(space.parameters, applied.TYPED)
        assert applied.variables_of(plan, typed, "/h") == {}
        assert applied.hints_of(plan, typed) == ""
        assert applied.striping_of(typed, "/out") == []


def test_hints_are_a_file_for_romio():
    settings = {"cb_buffer_size": "4194304", "romio_ds_write": "disable", "cb_config_list": "as typed"}
    plan = plan_for("MPICH 4")
    assert applied.hints_of(plan, settings) == "romio_ds_write disable\ncb_buffer_size 4194304\n"
    assert applied.variables_of(plan, settings, "/h") == {"ROMIO_HINTS": "/h"}


def test_open_mpi_has_two_libraries_for_files():
    plan, settings = plan_for("Open MPI 4"), {"collective": "vulcan", "cb_buffer_size": "1048576", "aggregators": "2"}
    own = {"OMPI_MCA_fcoll": "vulcan", "OMPI_MCA_io_ompio_num_aggregators": "2"}
    assert applied.variables_of(plan, settings, "/h") == own
    assert applied.variables_of(plan, settings | {"library": "ompio"}, "/h") == {"OMPI_MCA_io": "ompio", **own}
    romio = applied.variables_of(plan, settings | {"library": "romio321"}, "/h")
    assert romio == {"OMPI_MCA_io": "romio321", "ROMIO_HINTS": "/h"}
    assert applied.hints_of(plan, settings) == "", "ompio reads no such file"


@pytest.mark.parametrize(
    ("text", "lustre", "library"),
    [
        ("", False, "ompio"),
        ("", True, "romio321"),
        ("romio321", False, "romio321"),
        ("ompio", True, "ompio"),
        ("^ompio", False, "romio321"),
        ("ompio,romio321", True, "romio321"),
    ],
)
def test_the_library_of_open_mpi_is_known(text, lustre, library):
    assert library_of(text, MPIS["Open MPI 4"].io, lustre) == library


def test_present_settings_have_the_library_that_open_mpi_uses(lfs, monkeypatch):
    open_mpi = MPIS["Open MPI 4"]
    space = space_of(["./app", "{folder}"], open_mpi, lfs)
    assert space.parameters["library"] == {"choices": ["romio321", "ompio"], "initial": "romio321"}
    plan = plan_of(["./app", "{folder}"], open_mpi, space, lfs)
    assert applied.variables_of(plan, {"library": "romio321"}, "/h") == {}
    assert applied.variables_of(plan, {"library": "ompio"}, "/h") == {"OMPI_MCA_io": "ompio"}
    monkeypatch.setenv("OMPI_MCA_io", "romio321")
    assert space_of(["./app"], open_mpi, Path("/tmp")).parameters["library"]["initial"] == "romio321"  # noqa: S108
    monkeypatch.setenv("OMPI_MCA_io", "ompio")
    assert space_of(["./app"], open_mpi, lfs).parameters["library"]["initial"] == "ompio"


@pytest.mark.parametrize("typed", [["mpiexec", "--mca", "io", "romio321"], ["env", "OMPI_MCA_io=romio321", "mpiexec"]])
def test_a_library_in_the_line_stays(typed):
    """It comes before the variables that culmen sets."""
    open_mpi = MPIS["Open MPI 4"]
    space = space_of([*typed, "./app"], open_mpi, Path("/tmp"))  # noqa: S108
    assert not {"library", "collective"} & space.parameters.keys()
    assert "active_when" not in space.parameters["cb_buffer_size"]
    plan = plan_of([*typed, "./app"], open_mpi, space, Path("/"))
    assert applied.variables_of(plan, {"cb_buffer_size": "1048576"}, "/h") == {"ROMIO_HINTS": "/h"}


def test_hints_reach_other_machines(monkeypatch):
    """Open MPI's launcher takes only its own variables, and those that it is told to take."""
    monkeypatch.setattr(preloading, "_kind_of", lambda word: "openmpi")
    words = ["nice", "mpiexec", "-H", "a,b", "-n", "4", "./app"]
    plan = {**plan_for("Open MPI 4", words), "library": "romio321"}
    variables = applied.variables_of(plan, {"library": "romio321", "cb_buffer_size": "1048576"}, "/h")
    forwarded = ["nice", "mpiexec", "-x", "ROMIO_HINTS", *words[2:]]
    assert applied.forwarding(plan, variables) == forwarded
    assert applied.forwarding({**plan, "words": forwarded}, variables) == forwarded
    here = [word for word in words if word not in ("-H", "a,b")]
    assert applied.forwarding(plan_for("Open MPI 4", here), variables) == here


@pytest.mark.parametrize("title", ["Open MPI 4", "MPICH 4"])
def test_settings_without_effect_on_a_pattern_are_left_out(title):
    def names(api, pattern):
        space = space_of(["./bench", "{folder}"], MPIS[title], Path("/tmp"), api, pattern)  # noqa: S108
        assert {*space.hints} <= {*space.parameters}
        return {*space.parameters}, " ".join(space.left_out)

    everything, _ = names("mpiio", "collective")
    assert everything >= {"romio_cb_write", "cb_buffer_size", "romio_ds_write"}
    strided, why = names("mpiio", "strided")
    assert not {"romio_cb_write", "cb_buffer_size", "aggregators", "collective"} & strided
    assert "romio_ds_write" in strided and "no collective calls" in why
    contiguous, why = names("mpiio", "contiguous")
    assert not {"romio_ds_write", "ind_wr_buffer_size"} & contiguous and "without gaps" in why
    posix, why = names("posix", "strided")
    assert not posix and "calls of POSIX do not use them" in why


def test_buffers_are_preloaded_and_told_as_a_command(tmp_path, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "mine.so")
    words = ["./app", "{folder}"]
    space = space_of(words, None, tmp_path, iobuf=Path("/lib/iobuf.so"))
    plan = plan_of(words, None, space, tmp_path)
    names = {"buffer_size", "buffers", "large", "read_ahead", "write_behind"}
    assert {*space.parameters} == {"buffering", *names}
    settings = {**dict.fromkeys(names, "as typed"), "buffering": "on", "buffer_size": "65536", "write_behind": "0"}
    settings |= {"buffers": "8", "large": "8192"}
    assert applied.buffering_of(plan, settings) == {
        "LD_PRELOAD": "/lib/iobuf.so:mine.so",
        "CULMEN_IOBUF_SIZE": "65536",
        "CULMEN_IOBUF_BUFFERS": "8",
        "CULMEN_IOBUF_LARGE": "8192",
        "CULMEN_IOBUF_WRITE_BEHIND": "0",
    }
    line = "culmen iobuf --size 65536 --buffers 8 --large 8192 --write-behind 0 -- ./app x"
    assert applied.buffered(settings, ["./app", "x"]) == line.split()
    off = {"buffering": "as typed", "buffer_size": ""}
    assert applied.buffering_of(plan, off) == {}
    assert applied.buffered(off, words) == words


def test_the_address_sanitizer_stays_before_the_buffers(tmp_path, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/lib/libasan.so.8")
    library = Path("/lib/iobuf.so")
    plan = plan_of(["./app"], None, space_of(["./app"], None, tmp_path, iobuf=library), tmp_path)
    variables = applied.buffering_of(plan, {"buffering": "on"})
    assert variables["LD_PRELOAD"] == "/lib/libasan.so.8:/lib/iobuf.so"
    assert variables["LD_PRELOAD"] == preloading.preloaded(library, {})["LD_PRELOAD"]


def test_a_program_whose_files_are_not_seen_is_told():
    said = why_nothing(Counter())
    assert said.startswith(
        "The buffers of --iobuf had no effect, because no file could be buffered: the program opened no"
    )
    assert "statically linked programs" in said
    assert why_nothing(Counter(files=1, aside_lock=2)) == ""
    assert why_nothing(Counter(aside_lock=2, aside_flags=1)).endswith(
        ": 2 files locked (fcntl, flock), 1 file opened with O_DIRECT or O_SYNC."
    )


def test_one_run_with_buffers_writes_reports(tmp_path, monkeypatch):
    base = tmp_path / "base"
    base.mkdir()
    monkeypatch.setenv(applied.BASE, str(base))
    space = space_of(["./app"], None, tmp_path, iobuf=Path("/lib/iobuf.so"))
    plan = plan_of(["./app"], None, space, tmp_path)
    reports = base / applied.REPORTS
    assert "CULMEN_IOBUF_REPORT" not in applied.run_of(plan, {"buffering": "as typed"}, tmp_path)[0]
    assert not reports.exists()
    for _ in range(2):
        assert applied.run_of(plan, {"buffering": "on"}, tmp_path)[0]["CULMEN_IOBUF_REPORT"] == str(reports)
    (reports / "host.1.iobuf").touch()
    assert "CULMEN_IOBUF_REPORT" not in applied.run_of(plan, {"buffering": "on"}, tmp_path)[0]
    assert [*reports.iterdir()] == [reports / "host.1.iobuf"], "later runs keep the reports"


def test_hints_of_the_user_stay(tmp_path, monkeypatch):
    (tmp_path / "mine").write_text("cb_nodes 4\ncb_buffer_size 1\n")
    monkeypatch.setenv("ROMIO_HINTS", str(tmp_path / "mine"))
    plan = plan_for("MPICH 4")
    assert applied.hints_of(plan, {"cb_buffer_size": "2"}) == "cb_nodes 4\ncb_buffer_size 2\n"


def test_without_mpi_and_striping_there_is_nothing(tmp_path):
    space = space_of(["./app"], None, tmp_path)
    assert not space.parameters
    assert len(space.left_out) == 2
    assert "no mpiexec that culmen knows" in space.left_out[0]
    assert "on a file system without it" in space.left_out[1]


def test_the_kind_of_a_file_system_is_that_of_the_nearest_mount():
    mounts = "/dev/a / ext4 rw 0 0\nserver:/home /home nfs4 rw 0 0\nmgs@tcp:/work /home/big\\040disk lustre rw 0 0\n"
    assert kind_of(Path("/tmp"), mounts) == "ext4"  # noqa: S108
    assert kind_of(Path("/home/me"), mounts) == "nfs4"
    assert kind_of(Path("/home/big disk/me"), mounts) == "lustre"


def test_striping_counts_go_up_to_the_number_of_targets(lfs):
    assert is_on_lustre(lfs)
    space = space_of(["./app", "{folder}/out"], None, lfs)
    assert space.parameters["stripe_count"]["choices"] == ["as typed", "1", "2", "4", "8", "12"]
    assert space.parameters["stripe_size"]["choices"] == ["as typed", "1M", "4M", "16M", "64M"]
    mpi = space_of(["./app", "{folder}/out"], MPIS["MPICH 4"], lfs)
    assert not {"striping_unit", "striping_factor"} & mpi.parameters.keys(), "these hints would set the striping, too"
    assert mpi.parameters["cb_nodes"]["choices"] == ["as typed", "1", "2", "4", "8", "12"]
    assert "romio_lustre_co_ratio" in mpi.hints
    own = space_of(["./app"], MPIS["MPICH 4"], lfs)
    assert own.parameters["striping_factor"]["choices"] == ["as typed", "1", "2", "4", "8", "12"]
    assert "striping_unit" in own.hints
    assert any("only files that a run creates" in sentence for sentence in own.left_out)


def test_striping_needs_a_folder_of_its_own(lfs):
    space = space_of(["./app"], None, lfs)
    assert not space.parameters
    assert any("write {folder} in the command" in sentence for sentence in space.left_out)


def test_lfs_that_fails_is_not_lustre(lfs):
    (lfs / "bin" / "lfs").write_text("#!/bin/sh\necho 'error: getstripe failed' >&2\nexit 25\n")
    assert not is_on_lustre(lfs)


def run_expanded(folder, base, **settings):
    """A run as measured.py makes it."""
    plan = {**plan_of(["cat", "{folder}/.striping"], None, space_of(["a"], None, folder), folder)}
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "slot").mkdir(exist_ok=True)
    words = [sys.executable, "-I", "-S", measured.__file__, "--folder", str(folder), f"--expand={applied.__file__}"]
    words += ["--", str(folder / "plan.json"), *(f"{name}={value}" for name, value in settings.items())]
    variables = {**os.environ, applied.BASE: str(base)}
    return subprocess.run(words, cwd=folder / "slot", env=variables, capture_output=True, text=True, timeout=HANGS_S)


def test_a_run_has_a_new_folder_with_its_striping(lfs):
    base = lfs / "base"
    base.mkdir()
    ran = run_expanded(lfs, base, stripe_count="8", stripe_size="4M")
    (first,) = base.glob("run-*")
    assert ran.stdout == f"-c 8 -S 4M {first / 'files'}\n", ran.stderr
    (first / "files" / "old").touch()
    run_expanded(lfs, base, stripe_count="2", stripe_size="as typed")
    (second,) = base.iterdir()
    assert second != first, "on NFS, the folder of the run before may still be there"
    assert [path.name for path in (second / "files").iterdir()] == [".striping"]


def test_striping_that_lfs_refuses_is_a_sentence(lfs):
    base = lfs / "base"
    base.mkdir()
    ran = run_expanded(lfs, base, stripe_count="12", stripe_size="as typed")
    assert ran.returncode != 0
    assert "lfs setstripe -c 12" in ran.stderr and "No space left" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_folder_of_runs_is_removed(tmp_path):
    with Scratch(tmp_path) as scratch:
        (scratch.path / "file").touch()
        assert scratch.path.parent == tmp_path
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="an error"), Scratch(tmp_path):
        raise ValueError("an error")
    assert not list(tmp_path.iterdir())


def test_the_folder_of_runs_is_removed_if_culmen_is_killed(tmp_path):
    code = f"""
import time
from pathlib import Path
from culmen.tune.io.folder_in_words import check_folder, where_files_are
from culmen.tune.io.found import about_mpi_io
from culmen.tune.io.scratch import Scratch
with Scratch(Path({str(tmp_path)!r})) as scratch:
    (scratch.path / "file").touch()
    time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        wait_for(lambda: list(tmp_path.glob("*/file")), "the folder")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_for(lambda: not list(tmp_path.iterdir()), "no folder")


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="no folder can be made there"):
        Scratch(tmp_path / "none")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pattern": "random"}, "there is no pattern 'random'"),
        ({"api": "hdf5"}, "there is no interface 'hdf5'"),
        ({"api": "posix", "pattern": "collective"}, "POSIX has no collective calls"),
        ({"transfer": "12"}, "must be a multiple of 8 bytes"),
        ({"transfer": "1M", "size": "64K"}, "must be a multiple of 8 bytes"),
        ({"measure": "all"}, "there is no part 'all'"),
        ({"size": "16M,64M"}, "--size must be one size such as 64K or 4M, got '16M,64M'"),
        ({"transfer": "4K-8K"}, "--transfer must be one size such as 64K or 4M, got '4K-8K'"),
        ({"size": "2G"}, "--size 2G must be at most 2147483647 bytes"),
    ],
)
def test_wrong_benchmarks_are_sentences(given, message):
    right = {"pattern": "strided", "api": "mpiio", "measure": "both", "ranks": 2, "size": "1M", "transfer": "4K"}
    with pytest.raises(InputError) as caught:
        Own(**{**right, "mpi": None, **given}).words()
    assert message in str(caught.value)


def test_lfs_is_not_needed(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert not is_on_lustre(tmp_path)


@pytest.mark.parametrize(
    ("words", "folder", "message"),
    [
        (["./app", "{foldr}/out"], "", "the word '{foldr}/out' contains {foldr}; did you mean {folder}?"),
        (["./app", "{Folder}"], "", "did you mean {folder}?"),
        (["./app", "out"], "data", "--folder data has no effect, because the command does not contain {folder}"),
    ],
)
def test_a_folder_that_no_run_would_use_is_refused(words, folder, message):
    with pytest.raises(InputError) as refused:
        check_folder(words, Path(folder))
    assert message in str(refused.value)


def test_without_a_folder_the_user_is_warned():
    assert "it may overwrite your files" in where_files_are(["./app", "{order}", "${foldr}"], Path())[0]
    assert where_files_are(["./app", "{folder}/out"], Path())[0].startswith("The files are in . (")
    check_folder(["./app", "{order}", "${foldr}"], Path())


def test_only_settings_of_mpi_io_need_calls_of_mpi_io(tmp_path):
    space = space_of(["./app"], MPIS["MPICH 4"], tmp_path)
    plan = plan_of(["./app"], MPIS["MPICH 4"], space, tmp_path)
    assert "MPI_File_" in about_mpi_io(plan, {"romio_cb_write": "enable"})[0]
    assert about_mpi_io(plan, {"romio_cb_write": "as typed", "buffering": "on"}) == []
