"""`culmen tune io --iobuf` says if the library could buffer no file."""

import json
import sys

import pytest
from harness import culmen

pytestmark = pytest.mark.no_numbers

NOTHING = "The buffers of --iobuf had no effect, because no file could be buffered: "
# The program writes a small file, prints a constant rate, and does nothing else with files.
APP = """#!{python} -ISB
import mmap, os
{code}
print("rate = 1")
"""
WRITTEN = """fd = os.open("data", os.O_RDWR | os.O_CREAT, 0o666)
os.write(fd, b"x" * 100)
"""
MAPPED = """fd = os.open("data", os.O_RDWR | os.O_CREAT, 0o666)
os.ftruncate(fd, 4096)
mmap.mmap(fd, 4096)[:3] = b"abc"
"""


def tuned(folder, code, **variables):
    (folder / "app").write_text(APP.format(python=sys.executable, code=code))
    (folder / "app").chmod(0o755)
    words = ("--iobuf", "--figure", r"rate = (\S+)", "--runs", "6", "--rounds", "3", "--quiet", "--", "./app")
    done = culmen("tune", "io", *words, cwd=folder, **{"CULMEN_IOBUF_FILES": "data", **variables})
    assert done.returncode == 0, done.stderr
    ending = json.loads((folder / "tune-io" / "result.json").read_text())["ending"]
    assert "\n".join(ending) in done.stdout
    return [line for line in ending if line.startswith(NOTHING)]


def test_buffered_files_need_no_sentence(tmp_path):
    assert tuned(tmp_path, WRITTEN) == []


def test_files_that_are_left_out_by_name_are_the_reason(tmp_path):
    (said,) = tuned(tmp_path, WRITTEN, CULMEN_IOBUF_FILES="other")
    assert "left out by name (--files, --except)" in said


def test_mapped_files_are_the_reason(tmp_path):
    (said,) = tuned(tmp_path, MAPPED)
    assert "1 file mapped into memory (mmap)" in said
