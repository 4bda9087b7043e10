"""Writes counters.c: one counting function for each function that a data file of an MPI names.

    counters.py OUTPUT.c DATA.toml…

A program or a preloaded library exports these functions, so the MPI's own calls of them come here first. All arguments
are numbers or pointers. Each function passes on the largest number of arguments that any of them has.
"""

import re
import sys
from pathlib import Path

ARGUMENTS = 14
HEAD = """// Written by counters.py.
#define _GNU_SOURCE
#include "counters.h"

#include <dlfcn.h>
#include <stddef.h>

"""


def main(output: str, *data: str) -> None:
    text = "".join(Path(name).read_text(encoding="utf-8") for name in data)
    names = sorted(set(re.findall(r'"(ompi_coll_base_\w+)"', text)))
    quoted = ", ".join(f'"{name}"' for name in names)
    lines = [
        f"static int64_t own_counts[{len(names)}];",
        "int64_t* counts = own_counts;",
        f"static const char* const names[] = {{{quoted}}};",
        f"const int counter_count = {len(names)};",
        "const char* counter_name(int number) { return names[number]; }",
        "int64_t counted(int number) { return counts[number]; }",
        "void reset_counters(void) {",
        "  for (int i = 0; i < counter_count; ++i) counts[i] = 0;",
        "}",
    ]
    types = ", ".join(["long"] * ARGUMENTS)
    given = ", ".join(f"long a{i}" for i in range(ARGUMENTS))
    passed = ", ".join(f"a{i}" for i in range(ARGUMENTS))
    for number, name in enumerate(names):
        lines += [
            "",
            f'__attribute__((visibility("default"))) int {name}({given}) {{',
            f"  static int (*next)({types});",
            f'  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "{name}");',
            f"  ++counts[{number}];",
            f"  return next({passed});",
            "}",
        ]
    Path(output).write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


main(*sys.argv[1:])
