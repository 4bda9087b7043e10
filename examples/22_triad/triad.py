"""Writes the recipe for the triad on this machine: python triad.py [MEGABYTES], then culmen tune command triad.toml"""

import json
import os
import platform
import shutil
import sys
from pathlib import Path

RECIPE = """# Written by triad.py for this machine. Run: culmen tune command triad.toml
[space]
compiler = {{ {compilers} }}
level = {{ choices = ["-O1", "-O2", "-O3"], initial = "-O2" }}
machine = {{ {machines} }}
threads = {{ type = "integer", lower = 1, upper = {cores}, initial = 1 }}
schedule = {{ choices = ["static", "static,4096", "dynamic,4096", "guided"], initial = "static" }}
huge_pages = {{ type = "ordinal", choices = [0, 1], initial = 0 }}

[build]
command = ["./build.sh", "{{compiler}}", "{{level}}", "{{machine}}"]
sources = ["build.sh", "triad.c"]

[evaluator]
command = ["{{build}}/triad", "{megabytes}"]
time_limit_s = 60

[evaluator.environment]
OMP_NUM_THREADS = "{{threads}}"
OMP_SCHEDULE = "{{schedule}}"
GLIBC_TUNABLES = "glibc.malloc.hugetlb={{huge_pages}}"

[evaluator.values]
bandwidth = {{ regex = 'bandwidth = (\\S+)' }}

[objectives]
bandwidth = "maximize"

[stop]
evaluations = 60
"""


def recipe(megabytes: int) -> str:
    """The text of the recipe, with only the compilers and cores that this machine has."""
    found = [name for name in ("gcc", "clang") if shutil.which(name)]
    if not found:
        raise SystemExit("there is neither gcc nor clang in PATH; install one of them")
    first = json.dumps(found[0])
    compilers = f"choices = {json.dumps(found)}, initial = {first}" if len(found) > 1 else f"value = {first}"
    is_x86 = platform.machine() == "x86_64"
    machines = 'choices = ["x86-64", "native"], initial = "x86-64"' if is_x86 else 'value = "native"'
    cores = max(2, len(os.sched_getaffinity(0)))
    return RECIPE.format(compilers=compilers, machines=machines, cores=cores, megabytes=megabytes)


def main() -> None:
    megabytes = sys.argv[1] if len(sys.argv) > 1 else "64"
    if not megabytes.isdecimal() or int(megabytes) < 1:
        raise SystemExit(f"{megabytes} must be the size of an array in megabytes")
    Path("triad.toml").write_text(recipe(int(megabytes)))
    print("written: triad.toml")


if __name__ == "__main__":
    main()
