"""The settings of libculmen-iobuf, as variables of the environment."""

import os
import subprocess
import sys

import pytest
from culmen.tune.iobuf.report import read_reports
from culmen.tune.iobuf.settings import library
from harness import HANGS_S

pytestmark = pytest.mark.no_numbers

WRITES = (
    "import os, sys\nfor name in sys.argv[1:]:\n  fd = os.open(name, os.O_CREAT | os.O_WRONLY)\n"
    "  for k in range(1024): os.write(fd, b'x' * 64)\n  os.close(fd)\n"
)


def run(folder, words, **variables):
    """The text on standard error, and the sums of the reports."""
    reports = folder / "reports"
    reports.mkdir()
    # A program that waits for a CPU for longer than the delay has more writes of the system.
    own = {"LD_PRELOAD": str(library()), "CULMEN_IOBUF_REPORT": str(reports), "CULMEN_IOBUF_DELAY_MS": "3600000"}
    bare = {name: value for name, value in os.environ.items() if not name.endswith("_RANK")}
    done = subprocess.run(
        words, cwd=folder, env=bare | own | variables, capture_output=True, text=True, timeout=HANGS_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr, read_reports(reports)


def write_files(folder, *names, **variables):
    return run(folder, [sys.executable, "-c", WRITES, *names], **variables)


def system_writes(folder, *names, **variables):
    """Of 64 KiB for each file."""
    printed, sums = write_files(folder, *names, **{"CULMEN_IOBUF_FILES": "*.dat"} | variables)
    assert printed == ""
    return sums["system_writes"]


@pytest.mark.parametrize("size", ["8192", "8K", "8k", "8KiB", "5K"])
def test_a_size_may_have_a_unit_and_is_rounded_up(tmp_path, size):
    assert system_writes(tmp_path, "a.dat", CULMEN_IOBUF_SIZE=size) == 8


def test_a_size_in_a_rule_may_have_a_unit(tmp_path):
    assert system_writes(tmp_path, "a.dat", CULMEN_IOBUF_RULES="*.dat:size=16K,buffers=2") == 4


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("SIZE", "lots", "a size from 4K to 1G"),
        ("SIZE", "1K", "a size from 4K to 1G"),
        ("SIZE", "-4096", "a size from 4K to 1G"),
        ("SIZE", "99999999999999999999G", "a size from 4K to 1G"),
        ("LARGE", "0", "a size from 1 to 1G"),
        ("BUFFERS", "65", "a whole number from 1 to 64"),
        ("BUFFERS", "4K", "a whole number from 1 to 64"),
        ("READ_AHEAD", "x", "a whole number from 0 to 64"),
        ("WRITE_BEHIND", "1.5", "a whole number from 0 to 64"),
        ("MEMORY", "1K", "a size of at least 4K"),
        ("DELAY_MS", "0", "a whole number from 1 to 3600000"),
    ],
)
def test_a_wrong_number_is_one_sentence_and_the_default_is_used(tmp_path, name, value, allowed):
    variables = {f"CULMEN_IOBUF_{name}": value, "CULMEN_IOBUF_FILES": "*.dat"}
    printed, sums = write_files(tmp_path, "a.dat", **variables)
    assert printed == f"culmen: CULMEN_IOBUF_{name} must be {allowed}, got '{value}'; the default is used.\n"
    assert sums["writes"] == 1024
    assert sums["system_writes"] == 1 or name == "DELAY_MS", "the default delay is short for a busy machine"


def test_a_wrong_setting_of_a_rule_is_one_sentence_and_the_others_hold(tmp_path):
    rules = "*.dat:size=lots,sise=8K,size=8K"
    printed, sums = write_files(tmp_path, "a.dat", CULMEN_IOBUF_RULES=rules, CULMEN_IOBUF_FILES="b")
    assert printed.splitlines() == [
        "culmen: CULMEN_IOBUF_RULES: size of '*.dat' must be a size from 4K to 1G, got 'lots'; it is ignored.",
        "culmen: CULMEN_IOBUF_RULES: 'sise=8K' of '*.dat' must be NAME=VALUE with size, large, buffers, read_ahead or "
        "write_behind; it is ignored.",
    ]
    assert sums["system_writes"] == 8


@pytest.mark.parametrize("rules", ["*:size=lots", "*:none=1", "x" * 5000, "*:size=4K;" * 65])
def test_children_do_not_say_it_again(tmp_path, rules):
    printed, _ = run(tmp_path, ["sh", "-c", "sh -c 'true; env true'; env true"], CULMEN_IOBUF_RULES=rules)
    assert printed.count("culmen: CULMEN_IOBUF_RULES") == 1


def test_of_the_ranks_only_the_first_says_it(tmp_path):
    said = [
        run(folder, ["true"], CULMEN_IOBUF_SIZE="lots", PMI_RANK=str(rank))[0]
        for rank in range(2)
        if (folder := tmp_path / str(rank)).mkdir() is None
    ]
    assert [bool(text) for text in said] == [True, False]


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("FILES", "*.dat," * 1000, "is longer than 4095 bytes"),
        ("EXCEPT", "b," * 3000, "is longer than 4095 bytes"),
        ("RULES", "*.dat:size=8K;" * 300, "is longer than 4095 bytes"),
        ("RULES", "*.dat:size=8K;" * 65, "has more than 64 rules"),
    ],
)
def test_nothing_is_buffered_if_patterns_do_not_fit(tmp_path, name, value, why):
    """Neither in the program nor in its children."""
    words = ["sh", "-c", '"$@"; exec "$@"', "sh", sys.executable, "-c", WRITES, "a.dat"]
    printed, sums = run(tmp_path, words, **{f"CULMEN_IOBUF_{name}": value})
    assert printed == f"culmen: CULMEN_IOBUF_{name} {why}; nothing is buffered.\n"
    assert (sums["files"], sums["aside_pattern"] >= 2) == (0, True)


@pytest.mark.parametrize("pattern", ["b", "*/b", "link", "*/none,*/b,x", "{folder}/b"])
def test_a_file_is_left_out_by_its_name_and_by_that_of_a_link(tmp_path, pattern):
    (tmp_path / "b").touch()
    (tmp_path / "link").symlink_to("b")
    pattern = pattern.replace("{folder}", str(tmp_path))
    rules = "a:size=8K;link:size=8K"
    _, sums = write_files(tmp_path, "a", "link", CULMEN_IOBUF_EXCEPT=pattern, CULMEN_IOBUF_RULES=rules)
    assert sums["system_writes"] == 8
    assert (tmp_path / "b").read_bytes() == b"x" * 65536


SYSCALL = """
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
  const int fd = open("a", O_CREAT | O_WRONLY, 0644);
  if (write(fd, "one", 3) != 3) return 1;
  return syscall(SYS_write, fd, "two", 3) != 3;
}
"""


def test_a_file_that_is_left_out_can_be_written_by_syscall(tmp_path):
    (tmp_path / "app.c").write_text(SYSCALL)
    subprocess.run(["cc", "-o", "app", "app.c"], cwd=tmp_path, check=True)
    run(tmp_path, ["./app"], CULMEN_IOBUF_EXCEPT="a")
    assert (tmp_path / "a").read_bytes() == b"onetwo"
