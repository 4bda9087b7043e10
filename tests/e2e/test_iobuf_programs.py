"""libculmen-iobuf in small programs that once lost or overwrote bytes. The cases are in tests/iobuf."""

import os
import re
import subprocess
import sys

import pytest
from culmen.tune.iobuf.settings import library
from harness import HANGS_S, ROOT

pytestmark = pytest.mark.no_numbers

FOLDER = ROOT / "tests" / "iobuf"
SOURCES = sorted(FOLDER.glob("cases*.c"))
CASES = [name for source in SOURCES for name in re.findall(r"^    CASE\((\w+)\)", source.read_text(), re.MULTILINE)]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    built = tmp_path_factory.mktemp("cases") / "cases"
    subprocess.run(["cc", "-std=gnu11", "-O1", "-rdynamic", "-pthread", "-o", built, *SOURCES, "-ldl"], check=True)
    return built


def run(words, folder, **variables):
    """In an empty folder. Only what a program tells others sends its bytes to the system, not the time."""
    with_library = {"LD_PRELOAD": str(library()), "CULMEN_IOBUF_DELAY_MS": "3600000"} | variables
    return subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**os.environ, **with_library},
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_as_without_the_library(program, tmp_path, name):
    for kind, preloaded in (("bare", ""), ("buffered", str(library()))):
        (tmp_path / kind).mkdir()
        done = run([program, name], tmp_path / kind, LD_PRELOAD=preloaded)
        assert done.returncode == 0, f"{kind}: {done.stderr}"


@pytest.mark.parametrize("buffers", ["1", "4"])
@pytest.mark.parametrize("name", [name for name in CASES if "while_another_one" in name])
def test_threads_meet_in_small_buffers(program, tmp_path, name, buffers):
    small = {"CULMEN_IOBUF_SIZE": "4096", "CULMEN_IOBUF_BUFFERS": buffers, "CULMEN_IOBUF_DELAY_MS": "2"}
    done = run([program, name], tmp_path, **small)
    assert done.returncode == 0, done.stderr


def test_the_second_thread_that_ends_a_program_waits_for_the_first(program, tmp_path):
    done = run([program, "two_threads_end_the_program"], tmp_path, CULMEN_IOBUF_SIZE="8192")
    assert done.returncode == 0, done.stderr


def built(folder, name, code, *words):
    (folder / f"{name}.c").write_text(code)
    compiler = "c++" if "-xc++" in words else "cc"
    subprocess.run([compiler, *words, "-o", name, f"{name}.c"], cwd=folder, check=True)


def test_constructors_of_other_libraries_open_files(tmp_path):
    """Those that run before the library's own."""
    opens = (
        "#include <fcntl.h>\n#include <unistd.h>\nint early = -1;\n"
        "__attribute__((constructor)) static void begin(void) {\n"
        '  early = open("a", O_CREAT | O_WRONLY, 0644);\n  if (write(early, "one ", 4) != 4) early = -1;\n}\n'
    )
    goes_on = '#include <unistd.h>\nextern int early;\nint main(void) { return write(early, "two", 3) != 3; }\n'
    built(tmp_path, "libearly.so", opens, "-shared", "-fPIC")
    (tmp_path / "app.c").write_text(goes_on)
    words = ["cc", "-o", "app", "app.c", "-L.", "-l:libearly.so", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert run(["./app"], tmp_path).returncode == 0
    assert (tmp_path / "a").read_text() == "one two"


def test_a_stream_of_cxx_that_appends_begins_at_the_end(tmp_path):
    code = '#include <fstream>\nint main() { return std::ofstream("a", std::ios::app).tellp() != 4; }\n'
    built(tmp_path, "app", code, "-xc++")
    (tmp_path / "a").write_text("1234")
    assert run(["./app"], tmp_path).returncode == 0


def test_a_busy_queue_does_not_keep_a_byte_for_longer(program, tmp_path):
    name = "a_byte_waits_no_longer_than_the_delay"
    assert run([program, name], tmp_path, CULMEN_IOBUF_DELAY_MS="20").returncode == 0


def test_a_byte_that_is_written_during_a_slow_write_waits_for_its_own_delay(program, tmp_path):
    name = "a_byte_is_not_early_after_a_slow_write"
    done = run([program, name], tmp_path, CULMEN_IOBUF_DELAY_MS="600")
    assert done.returncode == 0, done.stderr


LOOKS = """
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include <sys/syscall.h>
static int size(void) {
  char bytes[9];
  const int fd = syscall(SYS_openat, AT_FDCWD, "a", O_RDONLY, 0), n = syscall(SYS_read, fd, bytes, 9);
  syscall(SYS_close, fd);
  return n;
}
"""


def test_a_thread_starts_in_a_program_with_much_thread_local_data(tmp_path):
    code = LOOKS + (
        "__thread char large[400000];\nint main(void) {\n  large[5] = 1;\n"
        '  const int fd = open("a", O_CREAT | O_WRONLY, 0644);\n  if (write(fd, "1", 1) != 1) return 1;\n'
        "  while (size() == 0) {}\n}\n"
    )
    built(tmp_path, "app", code)
    assert run(["./app"], tmp_path, CULMEN_IOBUF_DELAY_MS="20").returncode == 0


def test_a_program_writes_itself_if_no_thread_can_start(tmp_path):
    code = LOOKS + (
        "int pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*run)(void*), void* p) { return EAGAIN; }\n"
        'int main(void) {\n  const int fd = open("a", O_CREAT | O_WRONLY, 0644);\n'
        '  return write(fd, "1", 1) != 1 || size() != 1;\n}\n'
    )
    built(tmp_path, "app", code, "-rdynamic")
    assert run(["./app"], tmp_path).returncode == 0


def test_a_module_finds_the_mpi_library_that_no_other_one_sees(tmp_path):
    built(tmp_path, "libmpi_own.so", "int MPI_File_sync(void* file) { return 42; }\n", "-shared", "-fPIC")
    code = "int MPI_File_sync(void*);\nint synchronize(void) { return MPI_File_sync(0); }\n"
    (tmp_path / "module.c").write_text(code)
    words = ["cc", "-shared", "-fPIC", "-o", "module.so", "module.c", "-L.", "-l:libmpi_own.so", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(words, cwd=tmp_path, check=True)
    script = "import ctypes\nprint(ctypes.CDLL('./module.so').synchronize())\n"
    done = run([sys.executable, "-c", script], tmp_path)
    assert done.stdout == "42\n", done.stderr


def test_libraries_for_asynchronous_calls_find_all_bytes(tmp_path):
    """Libraries of the same names stand for libaio and liburing."""
    library_code = (
        "#include <sys/syscall.h>\n#include <unistd.h>\n"
        'int io_submit(void* c, long n, int** list) { return syscall(SYS_pwrite64, list[0][5], "2", 1, 0); }\n'
        "int io_uring_queue_init(unsigned n, void* ring, unsigned flags) { return 0; }\n"
    )
    code = LOOKS + (
        "int io_submit(void* c, long n, int** list);\nint io_uring_queue_init(unsigned n, void* r, unsigned flags);\n"
        'int main(void) {\n  const int fd = open("b", O_CREAT | O_WRONLY, 0644);\n'
        "  int control[16] = {0, 0, 0, 0, 0, fd}, *list[] = {control};\n"
        '  if (write(fd, "1", 1) != 1 || io_submit(0, 1, list) != 1 || close(fd) != 0) return 1;\n'
        "  if (io_uring_queue_init(1, 0, 0) != 0) return 2;\n"
        '  return write(open("a", O_CREAT | O_WRONLY, 0644), "12", 2) != 2 || size() != 2;\n}\n'
    )
    built(tmp_path, "libown.so", library_code, "-shared", "-fPIC")
    (tmp_path / "app.c").write_text(code)
    words = ["cc", "-o", "app", "app.c", "-L.", "-l:libown.so", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert run(["./app"], tmp_path).returncode == 0
    assert (tmp_path / "b").read_text() == "2"
