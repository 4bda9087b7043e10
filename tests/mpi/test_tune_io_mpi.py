"""``culmen tune io`` under both MPIs: the benchmark, its hints, and folders that go away."""

import json
import signal
import subprocess
from pathlib import Path

import pytest
from culmen.launch.mpi import Launcher, LauncherError, find_launcher
from culmen.launch.programs import own_program
from harness import HANGS_S, Running, culmen, environment, wait_for
from profiles import AS_ROOT, flags_of

PATTERNS = [
    *((pattern, "posix") for pattern in ("file-per-process", "contiguous", "strided")),
    *((pattern, "mpiio") for pattern in ("file-per-process", "contiguous", "strided", "collective")),
]
SMALL = ["--size", "64K", "--transfer", "512", "--ranks", "2"]
LFS = """#!/bin/sh
case $1 in
osts) echo OBDS:; for k in 0 1 2 3 4 5 6 7; do echo "$k: work-OST000${k}_UUID ACTIVE"; done ;;
setstripe)
  for folder; do :; done
  while [ $# -gt 1 ]; do [ "$1" = -c ] && echo "$2" >"$folder/.count"; shift; done ;;
esac
"""


def launcher_of(mpi: str) -> Launcher:
    try:
        return find_launcher(mpi)
    except LauncherError as error:
        pytest.skip(str(error))


def benchmark(mpi: str, folder: Path, *words: str, ranks: int = 3, **variables: str):
    launcher = launcher_of(mpi)
    program = str(own_program(f"iobench_{launcher.mpi.module}"))
    command = [launcher.program, *flags_of(mpi), "-n", str(ranks), program, *words, str(folder)]
    variables = {**AS_ROOT, **variables}
    return subprocess.run(command, env=environment(**variables), capture_output=True, text=True, timeout=HANGS_S)


@pytest.mark.either("mpi")
@pytest.mark.parametrize(("pattern", "api"), PATTERNS, ids="-".join)
def test_the_benchmark_reads_what_it_wrote(mpi, tmp_path, pattern, api):
    done = benchmark(mpi, tmp_path, pattern, api, "131072", "1024")
    assert done.returncode == 0, done.stderr
    figures = dict(line.split(" = ") for line in done.stdout.splitlines())
    assert figures["wrong"] == "0"
    assert min(float(figures[name]) for name in ("write", "read", "rate")) > 0
    assert not list(tmp_path.iterdir())


def test_the_benchmark_finds_wrong_bytes(tmp_path):
    (tmp_path / "wrong.c").write_text(
        "#define _GNU_SOURCE\n#include <sys/syscall.h>\n#include <unistd.h>\n"
        "ssize_t pread64(int fd, void* to, size_t n, off64_t at) {\n"
        "  ssize_t got = syscall(SYS_pread64, fd, to, n, at);\n"
        "  if (at == 2048) ((char*)to)[7] ^= 1;\n  return got;\n}\n"
        "ssize_t pread(int fd, void* to, size_t n, off_t at) { return pread64(fd, to, n, at); }\n"
    )
    subprocess.run(["gcc", "-shared", "-fPIC", "wrong.c", "-o", "wrong.so"], cwd=tmp_path, check=True)
    preload = {"LD_PRELOAD": str(tmp_path / "wrong.so")}
    done = benchmark("mpich", tmp_path, "file-per-process", "posix", "8192", "1024", ranks=2, **preload)
    assert "wrong = 2\n" in done.stdout, done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize("api", ["posix", "mpiio"])
def test_the_benchmark_finds_a_read_that_moves_nothing(mpi, tmp_path, api):
    """One call moves all bytes, and the bytes that were written are still in memory."""
    code = "".join(
        f"#include <sys/types.h>\nssize_t {name}(int fd, void* to, size_t n, off_t at) {{ return n; }}\n"
        for name in ("pread", "pread64")
    )
    library = tmp_path / "libnothing.so"
    words = ["cc", "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"]
    subprocess.run(words, input=code, text=True, check=True)
    done = benchmark(mpi, tmp_path, "file-per-process", api, "4096", "4096", ranks=1, LD_PRELOAD=str(library))
    assert done.returncode != 0, done.stdout


def test_large_pieces_need_little_memory(tmp_path):
    (tmp_path / "seen.c").write_text(
        "#include <stddef.h>\n#include <unistd.h>\nvoid* __libc_malloc(size_t);\n"
        'void* malloc(size_t n) { if (n > 128 << 20) write(2, "large\\n", 6); return __libc_malloc(n); }\n'
    )
    subprocess.run(["gcc", "-shared", "-fPIC", "seen.c", "-o", "seen.so"], cwd=tmp_path, check=True)
    preload = {"LD_PRELOAD": str(tmp_path / "seen.so")}
    done = benchmark("mpich", tmp_path, "collective", "mpiio", str(2**24), str(2**24), ranks=1, **preload)
    assert "wrong = 0\n" in done.stdout, done.stderr
    assert "large" not in done.stderr


def test_romio_reads_the_hints(tmp_path):
    """Open MPI does not tell the hints of its ROMIO."""
    hints = tmp_path / "hints"
    hints.write_text("cb_buffer_size 1048576\nromio_ds_write disable\ncb_config_list *:2\nstriping_unit 65536\n")
    more = {"ROMIO_HINTS": str(hints), "IOBENCH_HINTS": "1"}
    done = benchmark("mpich", tmp_path, "collective", "mpiio", "65536", "512", ranks=2, **more)
    for line in ("cb_buffer_size = 1048576", "romio_ds_write = disable", "cb_nodes = 2", "striping_unit = 65536"):
        assert f"hint {line}\n" in done.stdout, done.stderr


@pytest.mark.parametrize("library", ["ompio", "romio"])
def test_settings_of_open_mpi_name_what_it_has(tmp_path, library):
    """A component that is not there ends the program."""
    io = launcher_of("openmpi").mpi.io
    name = io.romio if library == "romio" else io.own
    for collective in io.values["collective"]:
        variables = {io.chosen_by: name, io.variables["collective"]: collective}
        done = benchmark("openmpi", tmp_path, "collective", "mpiio", "65536", "512", ranks=2, **variables)
        assert done.returncode == 0, f"{collective}: {done.stderr}"
        assert "wrong = 0" in done.stdout
        if library == "romio":
            break


def test_the_benchmark_is_tuned(mpi, tmp_path):
    options = ["--pattern", "collective", *SMALL, "--mpi", mpi, "--runs", "10", "--rounds", "3"]
    done = culmen("tune", "io", *options, cwd=tmp_path, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    assert "Left out: Striping:" in done.stdout
    assert "Use this line:" in done.stdout or "Keep this line:" in done.stdout
    assert json.loads((tmp_path / "tune-io" / "result.json").read_text())["objective"] == "rate"
    assert not list(tmp_path.glob("culmen-io-*"))
    line = done.stdout.rstrip().splitlines()[-1]
    again = subprocess.run(  # noqa: S602 - a line for a shell
        line, shell=True, cwd=tmp_path, env=environment(**AS_ROOT), capture_output=True, text=True, timeout=HANGS_S
    )
    assert "wrong = 0" in again.stdout, again.stderr


@pytest.mark.either("mpi")
def test_buffers_are_tried_with_small_calls_of_posix(mpi, tmp_path):
    options = ["--pattern", "contiguous", "--api", "posix", *SMALL, "--mpi", mpi, "--iobuf", "--runs", "8"]
    done = culmen("tune", "io", *options, "--rounds", "3", cwd=tmp_path, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    assert "  buffering: as typed, on\n" in done.stdout
    plan = json.loads((tmp_path / "tune-io" / "plan.json").read_text())
    assert Path(plan["preload"].partition(":")[0]).is_file()
    assert not list(tmp_path.glob("culmen-io-*"))


def write_striped(folder: Path, more: str = "") -> dict[str, str]:
    """A program that is best with four stripes, and something that stands for lfs."""
    (folder / "bin").mkdir()
    count = "count=$(cat $1/.count 2>/dev/null || echo 1)"
    app = f"#!/bin/sh\n{count}\n{more}\necho rate = $((20 - ($count-4)*($count-4)))\n"
    for path, text in ((folder / "bin" / "lfs", LFS), (folder / "app", app)):
        path.write_text(text)
        path.chmod(0o755)
    return {"PATH": f"{folder / 'bin'}:{environment()['PATH']}"}


def test_striping_is_found_and_told_but_not_set(tmp_path):
    variables = write_striped(tmp_path)
    options = ["--figure", r"rate = (\S+)", "--maximize", "--runs", "24", "--rounds", "3"]
    done = culmen("tune", "io", *options, "--", "./app", "{folder}", cwd=tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    assert "lfs setstripe -c 4" in done.stdout
    assert done.stdout.rstrip().endswith("Use this line:\n  ./app .")
    assert not (tmp_path / ".count").exists(), "the user's folder is as before"
    assert not list(tmp_path.glob("culmen-io-*"))


def test_ctrl_c_leaves_no_folder(tmp_path):
    variables = write_striped(tmp_path, "echo run >>runs; sleep 0.2")
    options = ["--figure", r"rate = (\S+)", "--runs", "500", "--quiet"]
    with Running("tune", "io", *options, "--", "./app", "{folder}", cwd=tmp_path, **variables) as run:
        wait_for(lambda: (tmp_path / "runs").exists() and len((tmp_path / "runs").read_text()) > 12, "three runs")
        assert list(tmp_path.glob("culmen-io-*"))
        run.process.send_signal(signal.SIGINT)
        code, _, err = run.end()
    assert code == 75, err
    assert not list(tmp_path.glob("culmen-io-*"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "a command after -- is missing, or --pattern"),
        (["--pattern", "strided", "--", "true"], "leave it out, or the command after --"),
        (["--folder", "none", "--", "true"], "there is no such folder"),
        (["--maximize", "--", "true"], "--maximize needs --figure"),
        (["--figure", "rate", "--", "true"], "has 0 groups"),
        (["--", "./none"], "the program './none' was not found"),
    ],
)
def test_mistakes_are_sentences(tmp_path, words, message):
    done = culmen("tune", "io", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
