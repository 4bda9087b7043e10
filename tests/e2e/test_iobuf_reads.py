"""How much libculmen-iobuf reads in advance: little if a program jumps, and more the longer it reads in sequence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from culmen.tune.iobuf.report import read_reports
from culmen.tune.iobuf.settings import library
from harness import HANGS_S

pytestmark = [
    pytest.mark.no_numbers,
    pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="this kernel does not count bytes"),
]

MIB = 1 << 20
BEGIN = """
import os, random
def bytes_read():
    with open("/proc/self/io") as io: return int(io.readline().split()[1])
def must(got, expected): assert got == expected, (got, expected)
"""


def run(folder, code, **variables):
    """The bytes that the system has read, which the program prints, and the sums of the report."""
    reports = folder / "reports"
    reports.mkdir()
    own = {"LD_PRELOAD": str(library()), "CULMEN_IOBUF_REPORT": str(reports), "CULMEN_IOBUF_FILES": "data"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "CULMEN_IOBUF_DELAY_MS": "3600000"} | own | variables,
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout), read_reports(reports)


def content(size):
    """Bytes at which a wrong place is seen."""
    return b"".join(k.to_bytes(4, "little") for k in range(size // 4))


def write_data(folder, size):
    (folder / "data").write_bytes(content(size))


EXPECTED = """
def expected(at, n):
    first = at // 4
    words = b"".join(k.to_bytes(4, "little") for k in range(first, (at + n) // 4 + 1))
    return words[at - 4 * first :][:n]
"""

RECORDS = """
fd, records, before = os.open("data", os.O_RDONLY), 300, bytes_read()
random.seed(1)
for record in range(records):
    at = random.randrange(31 << 20)
    os.lseek(fd, at, os.SEEK_SET)
    for n in PARTS:
        must(os.read(fd, n), expected(at, n))
        at += n
print((bytes_read() - before) // records)
os.close(fd)
"""


@pytest.mark.parametrize(
    ("parts", "most"),
    [
        ((64,) * 3, 8 << 10),
        ((64,) * 4, 8 << 10),
        ((100,) * 60, 32 << 10),
        ((16, 16, 50_000, 16, 16), 60 << 10),
    ],
)
def test_a_record_at_a_random_place_brings_little_more_than_itself(tmp_path, parts, most):
    write_data(tmp_path, 32 * MIB)
    each, sums = run(tmp_path, BEGIN + EXPECTED + RECORDS.replace("PARTS", repr(parts)))
    assert (sums["files"], sums["reads"]) == (1, 300 * len(parts))
    assert each < most


SEQUENCE = """
fd, size = os.open("data", os.O_RDONLY), os.stat("data").st_size
at = os.lseek(fd, BEGINS, os.SEEK_SET)
while at < size:
    n = min(STEP, size - at)
    must(os.read(fd, STEP), expected(at, n))
    at += n
must(os.read(fd, STEP), b"")
print(bytes_read())
"""


@pytest.mark.parametrize(("begins", "step"), [(0, 512), (0, 4000), (300_001, 700), (MIB, 4096)])
def test_reads_in_sequence_become_as_large_as_a_buffer(tmp_path, begins, step):
    write_data(tmp_path, 6 * MIB + 1000)
    code = BEGIN + EXPECTED + SEQUENCE.replace("BEGINS", str(begins)).replace("STEP", str(step))
    _, sums = run(tmp_path, code)
    assert sums["system_reads"] < 24  # 7 for the blocks


TWO_PLACES = """
fd = os.open("data", os.O_RDWR)
for k in range(1000):
    must(os.read(fd, 64), expected(64 * k, 64))
    must(os.pwrite(fd, b"w" * 64, 200_000 + 64 * k), 64)
os.close(fd)
print(0)
"""


def test_a_block_that_is_read_at_one_place_and_written_at_another_one_is_filled_once(tmp_path):
    write_data(tmp_path, MIB)
    _, sums = run(tmp_path, BEGIN + EXPECTED + TWO_PLACES)
    assert sums["system_reads"] + sums["system_writes"] < 12
    before = content(MIB)
    assert (tmp_path / "data").read_bytes() == before[:200_000] + b"w" * 64_000 + before[264_000:]


GROWING = """
fd, out = os.open("data", os.O_RDONLY), os.open("data", os.O_WRONLY)
size, at = os.stat("data").st_size, 0
for step in range(40):
    for k in range(50):
        must(os.pwrite(out, expected(size, 100), size), 100)
        size += 100
    while at < size:
        n = min(90, size - at)
        must(os.read(fd, 90), expected(at, n))
        at += n
    must(os.read(fd, 90), b"")
print(0)
"""


@pytest.mark.parametrize("size", ["4K", "16K", "1M"])
def test_a_reader_follows_the_end_of_a_file_that_grows(tmp_path, size):
    write_data(tmp_path, 40_000)
    run(tmp_path, BEGIN + EXPECTED + GROWING, CULMEN_IOBUF_SIZE=size)


SHORTENED = """
fd = os.open("data", os.O_RDWR)
for k in range(4): os.read(fd, 64)
os.ftruncate(fd, 100)
os.lseek(fd, 0, os.SEEK_SET)
for at in range(0, 80, 20): must(os.read(fd, 20), expected(at, 20))
must(os.pwrite(fd, b"w", 99), 1)
must(os.read(fd, 20), expected(80, 19) + b"w")
must(os.read(fd, 20), b"")
os.close(fd)
print(0)
"""


def test_written_bytes_at_the_end_of_a_file_that_was_shortened_are_kept(tmp_path):
    """The library still has the size from before, and looks for more bytes behind the written ones."""
    write_data(tmp_path, 40_000)
    run(tmp_path, BEGIN + EXPECTED + SHORTENED)
    assert (tmp_path / "data").read_bytes() == content(100)[:99] + b"w"
