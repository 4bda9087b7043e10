"""`culmen iobuf`: files are the same as without it, whatever a program does with them."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest
from culmen.tune.iobuf.report import sentences
from culmen.tune.iobuf.settings import library
from harness import CULMEN, HANGS_S, ROOT, culmen, environment

pytestmark = pytest.mark.no_numbers

STEPS = 100_000


@pytest.fixture(scope="module")
def torture(tmp_path_factory):
    """The program of random calls, and what it prints without the library."""
    program = tmp_path_factory.mktemp("torture") / "torture"
    source = ROOT / "tests" / "iobuf" / "torture.c"
    subprocess.run(["cc", "-std=gnu11", "-O1", "-pthread", "-o", program, source], check=True)
    return program


def run_torture(program, folder, seed, steps, threads, **variables):
    folder.mkdir()
    words = [program, folder, seed, steps, threads]
    done = subprocess.run(
        [str(word) for word in words],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    shutil.rmtree(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def settings_of(seed):
    """Small buffers, so that calls meet their ends."""
    return {
        "LD_PRELOAD": str(library()),
        "CULMEN_IOBUF_SIZE": str(4096 << seed % 6),
        "CULMEN_IOBUF_LARGE": str(500 << seed % 9),
        "CULMEN_IOBUF_BUFFERS": str(1 + seed % 5),
        "CULMEN_IOBUF_READ_AHEAD": str(seed % 3),
        "CULMEN_IOBUF_WRITE_BEHIND": str(seed % 4),
        "CULMEN_IOBUF_DELAY_MS": str(5 + seed),
    }


@pytest.mark.parametrize("seed", range(6))
def test_each_call_gives_what_the_model_gives(torture, tmp_path, seed):
    threads = 4 if seed % 2 else 1
    bare = run_torture(torture, tmp_path / "bare", seed, 10_000, threads)
    buffered = run_torture(torture, tmp_path / "buffered", seed, 10_000, threads, **settings_of(seed))
    assert buffered == bare


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_each_call_gives_what_the_model_gives_for_long(torture, tmp_path, seed):
    threads = 4 if seed % 2 else 1
    bare = run_torture(torture, tmp_path / "bare", seed, STEPS, threads)
    buffered = run_torture(torture, tmp_path / "buffered", seed, STEPS, threads, **settings_of(seed))
    assert buffered == bare


def test_memory_errors_are_not_found(tmp_path):
    """The library and the program as one, with the address sanitizer."""
    program = tmp_path / "torture"
    sources = [ROOT / "tests/iobuf/torture.c", *sorted((ROOT / "src/iobuf").glob("*.c"))]
    words = ["cc", "-std=gnu11", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run([*words, f"-I{ROOT / 'src'}", "-o", program, *sources, "-ldl", "-pthread"], check=True)
    for seed in (1, 2):
        settings = settings_of(seed) | {"LD_PRELOAD": "", "ASAN_OPTIONS": "detect_leaks=0"}
        run_torture(program, tmp_path / "files", seed, 4000, 1 + seed % 2 * 3, **settings)


# Programs that are on every machine. Each works in a folder of its own, on `data`, `lines` and `tree`.
SCRIPTS = {
    "cp": "cp data a; cp --sparse=always data b; cp -p lines c; cp -r tree t",
    "dd": "dd if=data of=a bs=700 status=none; dd if=data of=a bs=100 count=50 seek=20 conv=notrunc status=none; "
    "dd if=lines of=b bs=3k oflag=append conv=notrunc status=none; dd if=data of=c bs=1k conv=fsync status=none",
    "sort": "sort -S 64k -T . lines > a; sort -r -o b lines; uniq a > c; shuf --random-source=data lines > d",
    "tar": "tar --sort=name --mtime=@0 -cf a.tar tree; tar -rf a.tar lines --mtime=@0; mkdir x; tar -xf a.tar -C x; "
    "ls -l --time-style=+%s x/tree > list",
    "gzip": "gzip -nk data; gzip -dc data.gz > a; cat data.gz data.gz > b.gz; gzip -d b.gz",
    "sqlite3": "for k in 1 2 3 4; do sqlite3 a.db 'create table if not exists t(x); insert into t "
    "with recursive c(x) as (select 1 union all select x+1 from c where x<3000) select x*x from c;' & wait; done; "
    "sqlite3 a.db 'pragma journal_mode=wal; insert into t select x+1 from t; delete from t where x%3=0; vacuum;'; "
    "sqlite3 a.db 'pragma integrity_check; select count(*), sum(x) from t;' > sums",
    "git": "export GIT_AUTHOR_DATE=2020-01-01T00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00Z HOME=$PWD; "
    "git init -q r; cd r; git config user.name a; git config user.email a@b; cp -r ../tree ../lines .; git add .; "
    "git commit -qm one; echo more >> lines; git commit -qam two; git gc -q --no-detach 2>/dev/null || git gc -q; "
    "git fsck; git clone -q . ../s; cd ..; git -C s log --format=%H > hashes; rm -rf r/.git s/.git",
    "python": f"{sys.executable} -c \"import shelve, zipfile\nwith open('a', 'w+b', 0) as f:\n"
    "  for k in range(3000): f.write(b'%d,' % k)\n  f.seek(100); f.write(b'here'); f.seek(0); print(len(f.read()))\n"
    "with zipfile.ZipFile('z', 'w') as z: z.writestr(zipfile.ZipInfo('n'), open('data', 'rb').read())\n"
    "open('b', 'ab', 0).write(open('a', 'rb', 0).read(50))\" > out",
    "shell": "for k in 1 2 3 4 5 6 7 8 9; do echo $k; head -c 100 data; done > a; (echo x; echo y >&2) > b 2>&1; "
    'exec 3<>c; echo one >&3; cat a >&3; echo two >&3; while read -r line; do echo "$line"; done < lines > d; '
    "split -b 3000 lines part",
}


BUFFERED = ("sqlite3", "git", "python")  # the others use stdio, or make large calls


def state_of(folder):
    """The name, size, mode and content of each file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path.relative_to(folder))] = (path.stat().st_size, path.stat().st_mode, digest)
    return found


def prepare(folder):
    (folder / "tree" / "deep").mkdir(parents=True)
    (folder / "data").write_bytes(b"".join(hashlib.sha256(b"%d" % k).digest() for k in range(20_000)) + bytes(100_000))
    (folder / "lines").write_text("".join(f"{k * 7919 % 10_007} line\n" for k in range(20_000)))
    for k in range(30):
        (folder / "tree" / ("deep" if k % 2 else ".") / f"f{k}").write_bytes(bytes([k]) * k * 997)


@pytest.mark.parametrize("name", SCRIPTS)
def test_programs_leave_the_same_files(tmp_path, name):
    for kind in ("bare", "buffered"):
        folder = tmp_path / kind
        prepare(folder)
        words = ["sh", "-ec", SCRIPTS[name]]
        if kind == "buffered":
            words = [*CULMEN, "iobuf", "--report", "--size", "16K", "--", *words]
        done = subprocess.run(
            words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=HANGS_S, check=False
        )
        assert done.returncode == 0, done.stderr
    if name in BUFFERED:
        before, after = re.search(r"(\d+) writes of the program became (\d+)", done.stderr).groups()
        assert int(after) < int(before), done.stderr
    assert state_of(tmp_path / "buffered") == state_of(tmp_path / "bare")


# Where writes of the system are counted: a program that waits for a CPU for longer than the delay has more of them.
LATE = ("--delay-ms", "3600000")


def run_python(folder, code, *options):
    (folder / "app.py").write_text("import os, signal, subprocess, sys\n" + code)
    return culmen("iobuf", *options, "--", sys.executable, "app.py", cwd=folder)


def test_a_report_says_what_became_of_the_calls(tmp_path):
    code = "fd = os.open('a', os.O_CREAT | os.O_WRONLY)\nfor k in range(5000): os.write(fd, b'x' * 100)\nos.close(fd)\n"
    done = run_python(tmp_path, code, "--report", "--files", "a", *LATE)
    assert done.returncode == 0, done.stderr
    assert "culmen: 1 file buffered." in done.stderr
    assert "culmen: 5000 writes of the program became 1 write of the system (0.5 MiB)." in done.stderr
    assert (tmp_path / "a").read_bytes() == b"x" * 500_000


def test_a_report_without_buffered_files_begins_with_the_reason(tmp_path):
    done = run_python(tmp_path, "os.close(os.open('a', os.O_CREAT | os.O_WRONLY))\n", "--report", "--files", "b*")
    said = [line for line in done.stderr.splitlines() if line.startswith("culmen: ")]
    assert re.fullmatch(r"culmen: Not buffered: \d+ files? left out by name \(--files, --except\)\.", said[0]), (
        done.stderr
    )
    assert "became" not in done.stderr
    assert " 0.0 MiB" not in done.stderr


def test_a_report_without_files_says_so():
    assert "killed processes" in sentences(Counter(), failed=True)[0]
    assert sentences(Counter()) == ["The program opened no file that could be buffered."]


def test_a_report_calls_the_standard_streams_by_their_name(tmp_path):
    done = culmen("iobuf", "--report", "--", "sh", "-c", "echo one > a", cwd=tmp_path)
    assert re.search(r"Not buffered: \d+ files? used by stdio, or as standard input or output\.", done.stderr), (
        done.stderr
    )


def test_settings_of_a_pattern_hold_for_its_files(tmp_path):
    code = (
        "for name in ('a.dat', 'b'):\n  fd = os.open(name, os.O_CREAT | os.O_WRONLY)\n"
        "  for k in range(1024): os.write(fd, b'x' * 64)\n  os.close(fd)\n"
    )
    names = ("--files", "b", "--for", "*.dat:size=8K,buffers=2,write_behind=0")
    done = run_python(tmp_path, code, "--report", *names, *LATE)
    assert "culmen: 2048 writes of the program became 9 writes of the system" in done.stderr, done.stderr


def test_files_are_left_out(tmp_path):
    code = (
        "for name in ('a', 'b.log', 'c'):\n  fd = os.open(name, os.O_CREAT | os.O_WRONLY)\n"
        "  for k in range(1024): os.write(fd, b'x' * 64)\n  os.close(fd)\n"
    )
    names = ("--files", "a,c,*.log", "--for", "c:size=8K", "--except", "*.log", "--except", "c,none")
    done = run_python(tmp_path, code, "--report", *names, *LATE)
    assert "culmen: 1024 writes of the program became 1 write of the system" in done.stderr, done.stderr
    assert all((tmp_path / name).read_bytes() == b"x" * 65536 for name in ("a", "b.log", "c"))


def test_the_size_of_a_buffer_is_rounded_up_to_a_power_of_two(tmp_path):
    code = "fd = os.open('a', os.O_CREAT | os.O_WRONLY)\nfor k in range(1024): os.write(fd, b'x' * 64)\nos.close(fd)\n"
    done = run_python(tmp_path, code, "--report", "--files", "a", "--size", "5K", "--memory", "4G", *LATE)
    assert "culmen: 1024 writes of the program became 8 writes of the system" in done.stderr, done.stderr


def test_the_exit_code_is_the_programs(tmp_path):
    assert run_python(tmp_path, "sys.exit(7)").returncode == 7
    assert run_python(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)").returncode == 137


@pytest.mark.parametrize("end", ["os._exit(0)", "os.abort()", "os.kill(os.getpid(), signal.SIGKILL)", "sys.exit(0)"])
def test_no_byte_is_lost_if_the_program_ends_itself(tmp_path, end):
    code = f"fd = os.open('a', os.O_CREAT | os.O_WRONLY)\nos.write(fd, b'last words')\n{end}\n"
    run_python(tmp_path, code, "--delay-ms", "3600000")
    assert (tmp_path / "a").read_bytes() == b"last words"


def test_bytes_go_to_the_system_after_the_delay(tmp_path):
    """The program waits by a stream of its own until another process sees the bytes."""
    code = (
        "fd = os.open('a', os.O_CREAT | os.O_WRONLY)\nos.write(fd, b'seen')\n"
        "import ctypes\nlibc = ctypes.CDLL(None)\nbuffer = ctypes.create_string_buffer(9)\n"
        "own = libc.syscall(2, b'a', 0)\n"
        "while libc.syscall(17, own, buffer, 9, 0) != 4: pass\n"
    )
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers of system calls are those of x86_64")
    assert run_python(tmp_path, code, "--delay-ms", "20").returncode == 0


def test_a_failed_write_is_reported_by_close_and_fsync(tmp_path):
    code = (
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "for name, call in (('a', os.close), ('b', os.fsync)):\n"
        "  fd = os.open(name, os.O_CREAT | os.O_WRONLY)\n  os.write(fd, b'x' * 2000)\n"
        "  try: call(fd)\n  except OSError as error: print(call.__name__, error.errno)\n"
    )
    done = run_python(tmp_path, code)
    assert done.stdout == "close 27\nfsync 27\n", done.stderr


LIMITED = (
    "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "fd = os.open('a', os.O_CREAT | os.O_WRONLY)\nos.write(fd, b'x' * 2000)\n"
)


@pytest.mark.parametrize(
    "end", ["os.execvp('true', ['true'])", "os.dup2(0, fd)", "os.closerange(fd, fd + 1)", "os._exit(0)", "sys.exit()"]
)
def test_an_error_that_no_call_can_tell_is_printed_once(tmp_path, end):
    done = run_python(tmp_path, LIMITED + end + "\n", "--report")
    assert done.stderr.count(f"culmen: bytes of {tmp_path}/a were lost: File too large.\n") == 1, done.stderr
    assert "culmen: 1 write in the background failed; no call could tell the program." in done.stderr


def test_the_report_says_that_the_program_was_told(tmp_path):
    done = run_python(tmp_path, LIMITED + "try: os.close(fd)\nexcept OSError: print('told')\n", "--report")
    assert (done.stdout, "lost" in done.stderr) == ("told\n", False), done.stderr
    assert "culmen: 1 write in the background failed; the program was told." in done.stderr


def test_an_error_is_not_printed_into_a_file_of_the_program(tmp_path):
    opens = "os.close(2)\nos.open('own', os.O_CREAT | os.O_WRONLY)\n"
    assert run_python(tmp_path, opens + LIMITED + "os._exit(0)\n").returncode == 0
    assert (tmp_path / "own").read_bytes() == b""


def test_a_reader_that_is_told_by_a_pipe_sees_the_bytes(tmp_path):
    code = (
        "child = subprocess.Popen([sys.executable, '-c', "
        "'input(); print(open(\"a\").read())'], stdin=subprocess.PIPE, bufsize=0)\n"
        "fd = os.open('a', os.O_CREAT | os.O_WRONLY)\nos.write(fd, b'news')\n"
        "os.write(child.stdin.fileno(), b'go\\n')\nsys.exit(child.wait())\n"
    )
    done = run_python(tmp_path, code, "--delay-ms", "3600000")
    assert (done.returncode, done.stdout) == (0, "news\n"), done.stderr


def test_bytes_of_others_are_not_written_back(tmp_path):
    """Two processes write neighbouring bytes of one block."""
    code = (
        "fd = os.open('a', os.O_RDWR)\nos.read(fd, 10); os.read(fd, 10); os.read(fd, 10)\n"
        "os.pwrite(fd, b'mine', 100)\n"
        "subprocess.run([sys.executable, '-c', 'import os; os.pwrite(os.open(\"a\", os.O_RDWR), b\"other\", 104)'], "
        "env={})\nos.pwrite(fd, b'mine', 96)\nprint(os.pread(fd, 13, 96))\nos.close(fd)\n"
    )
    (tmp_path / "a").write_bytes(b"." * 5000)
    done = run_python(tmp_path, code)
    assert done.stdout == "b'minemineother'\n", done.stderr
    assert (tmp_path / "a").read_bytes()[95:110] == b".minemineother."


CXX = """
#include <fstream>
#include <iostream>
#include <string>
int main() {
  {
    std::ofstream out("a");
    for (int k = 0; k < 20000; ++k) out << k << " line\\n";
  }
  std::fstream both("a", std::ios::in | std::ios::out);
  both.seekp(10);
  both << "changed" << std::flush;
  std::ofstream("a", std::ios::app) << "end\\n";
  both.seekg(0);
  std::string line;
  long sum = 0;
  while (std::getline(both, line)) sum += static_cast<long>(line.size());
  std::cout << sum << std::endl;
}
"""


def test_streams_of_cxx_are_buffered(tmp_path):
    (tmp_path / "app.cpp").write_text(CXX)
    subprocess.run(["c++", "-o", "app", "app.cpp"], cwd=tmp_path, check=True)
    bare = subprocess.run(["./app"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    expected = (tmp_path / "a").read_bytes()
    (tmp_path / "a").unlink()
    done = culmen("iobuf", "--report", "--files", "a", "--", "./app", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, bare), done.stderr
    assert (tmp_path / "a").read_bytes() == expected
    assert "buffered." in done.stderr
    assert "stdio" not in done.stderr


def test_the_path_of_the_library_is_for_ld_preload(tmp_path):
    printed = culmen("iobuf", "--library", cwd=tmp_path).stdout.strip()
    done = subprocess.run(["env", f"LD_PRELOAD={printed}", "echo", "here"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("here\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "a command after -- is missing; example: culmen iobuf -- ./app"),
        (["--", "./nothing"], "the program './nothing' was not found; write the path of a program after --"),
        (["--size", "1K", "--", "true"], "--size must be from 4K to 1G, got '1K'"),
        (["--size", "4K-8K", "--", "true"], "--size must be one size such as 64K or 4M, got '4K-8K'"),
        (["--size", "3Q", "--", "true"], "--size must be one size such as 64K or 4M, got '3Q'"),
        (["--memory", "1K", "--", "true"], "--memory must be from 4K to 9223372036854775807 bytes, got '1K'"),
        (["--for", "*:size=8K-1M", "--", "true"], "--for: size must be one size such as 64K or 4M, got '8K-1M'"),
        (["--large", "0", "--", "true"], "--large must be from 1 to 1G, got '0'"),
        (["--except", "", "--", "true"], "--except is empty; write names with commas between them"),
        (["--except", "x" * 5000, "--", "true"], "the patterns of --except are longer than 4000 bytes"),
        (["--for", "*.dat", "--", "true"], "--for must be PATTERN:NAME=VALUE,… such as '*.dat:size=4M,buffers=8'"),
        (["--for", "*:sise=4M", "--", "true"], "there is no setting 'sise'; did you mean 'size'"),
        (["--for", "*:buffers=0", "--", "true"], "--for: buffers must be a whole number from 1 to 64, got '0'"),
    ],
)
def test_wrong_words_are_explained(tmp_path, words, message):
    done = culmen("iobuf", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
