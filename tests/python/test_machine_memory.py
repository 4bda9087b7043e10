"""The memory that a program can still get: of the machine, and of the control groups around it."""

import os

import pytest
from culmen.base.machine import available_bytes

pytestmark = pytest.mark.no_numbers

MEMINFO = "MemTotal:       8000 kB\nMemAvailable:   1000 kB\n"


def machine(folder, files):
    for name, text in {"proc/meminfo": MEMINFO, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return available_bytes(folder)


def group(path, limit, used, cache=0, version=2):
    names = ("memory.max", "memory.current", "inactive_file")
    if version == 1:
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    return {
        f"sys/fs/cgroup/{path}/{names[0]}": f"{limit}\n",
        f"sys/fs/cgroup/{path}/{names[1]}": f"{used}\n",
        f"sys/fs/cgroup/{path}/memory.stat": f"anon 1\n{names[2]} {cache}\n",
    }


SECOND = {"proc/self/cgroup": "0::/jobs/one\n"}
FIRST = {"proc/self/cgroup": "5:cpu:/\n4:memory,hugetlb:/jobs/one\n0::/\n"}
FREE = 1000 * 1024


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, FREE),
        (SECOND, FREE),
        (SECOND | group("jobs/one", "max", 5), FREE),
        (SECOND | group("jobs/one", 5000, 2000), 3000),
        (SECOND | group("jobs/one", 5000, 2000, 1000), 4000),
        (SECOND | group("jobs/one", 5000, 6000), 0),
        (SECOND | group("jobs/one", "max", 5) | group("jobs", 4000, 3000), 1000),
        (SECOND | group("jobs/other", 10, 5), FREE),
        (SECOND | group(".", 7000, 1000), 6000),  # a container, whose own group is mounted
        (SECOND | group("unified/jobs/one", 7000, 1000), 6000),
        (SECOND | group("jobs/one", FREE * 9, 0), FREE),
        (FIRST | group("memory/jobs/one", 5000, 2000, 500, version=1), 3500),
        (FIRST | group("memory", 9223372036854771712, 2000, version=1), FREE),
        ({"proc/meminfo": "MemTotal: 1 kB\n"}, float("inf")),
        ({"proc/meminfo": "MemTotal: 1 kB\n"} | SECOND | group("jobs/one", 5000, 2000), 3000),
    ],
)
def test_the_smallest_limit_counts(tmp_path, files, free):
    assert machine(tmp_path, files) == free


def test_this_machine_has_memory():
    assert 1 << 20 < available_bytes() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
