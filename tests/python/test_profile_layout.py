"""The layout of a profile is written twice: for the probe in C, and for its reader in Python."""

import os
import re
import shutil
import subprocess
from configparser import RawConfigParser

import numpy as np
import pytest
from culmen.profile import layout as read
from culmen.profile.waits import _WAIT_FOR_PEER
from harness import ROOT

pytestmark = pytest.mark.no_numbers

STRUCTS = {
    "probe_header": read.HEADER,
    "probe_communicator": read.COMMUNICATOR,
    "probe_hints": read.FILE_HINTS,
    "probe_entry": read.ENTRY,
    "probe_message": read.MESSAGE,
    "probe_file": read.FILE,
}


def test_both_sides_agree(tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no C compiler")
    lines = ["#include <stddef.h>", "#include <stdio.h>", '#include "mpiprobe/layout.h"', "int main(void) {"]
    for name, layout in STRUCTS.items():
        lines.append(f'printf("{name} %zu", sizeof(struct {name}));')
        lines += [f'printf(" %zu", offsetof(struct {name}, {field}));' for field in layout.names]
        lines.append('printf("\\n");')
    lines.append('printf("magic %llu\\n", (unsigned long long)PROBE_MAGIC); return 0; }')
    (tmp_path / "layout.c").write_text("\n".join(lines))
    subprocess.run([compiler, "-I", ROOT / "src", "layout.c", "-o", "layout"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "layout"], capture_output=True, text=True, check=True).stdout
    expected = [f"{name} {_offsets(layout)}" for name, layout in STRUCTS.items()]
    assert printed.splitlines() == [*expected, f"magic {read.MAGIC}"]


def _offsets(layout: np.dtype) -> str:
    return " ".join(str(n) for n in (layout.itemsize, *(layout.fields[name][1] for name in layout.names)))


@pytest.fixture(scope="module")
def functions():
    table = RawConfigParser()
    table.read(ROOT / "src/mpiprobe/functions.ini")
    return {name: table[name] for name in table.sections()}


def test_both_sides_agree_on_the_functions_that_wait_for_one_rank(functions):
    of_one = {name for name, entry in functions.items() if entry.get("waits_for") in ("root", "sender")}
    assert of_one == _WAIT_FOR_PEER


def test_each_way_to_make_a_communicator_has_a_counter(functions):
    """Unknown ways would share the counter of windows. Communicators of the other ways get names elsewhere."""
    ways = re.search(r"ways\[\] = \{(.*?)\}", (ROOT / "src/mpiprobe/names.c").read_text(), re.DOTALL)
    known = re.findall(r'"(\w+)"', ways[1])
    made = {entry["creates"] for entry in functions.values() if "creates" in entry}
    assert known[-1] == "window"
    assert made - {*known} == {"parent", "create_group", "from_group", "from_groups"}
