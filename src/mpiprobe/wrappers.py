"""Writes the wrappers of functions.ini as C: ``wrappers.py functions.ini wrappers.c``."""

import re
import sys
from configparser import RawConfigParser
from pathlib import Path

_HEAD = """// Made by wrappers.py from functions.ini.
#include <mpi.h>

#include "mpiprobe/record.h"

const char* const probe_names[] = {{{names}}};
const unsigned probe_functions = {count};
void* probe_real[{count}];
"""

# Fortran bindings call MPI_… or PMPI_…, with everything converted to C.
_WRAPPER = """
static int {name}_counted({arguments}) {{
  int (*const real)({types}) = (int (*)({types}))probe_function({number});
  if (probe_inside) return real({words});
  probe_inside = 1;
{before}  const uint64_t begin = probe_ticks();
  const int error = real({words});
  const uint64_t end = probe_ticks();
{after}  probe_inside = 0;
  return error;
}}
PROBE_PUBLIC int {name}({arguments}) {{ return {name}_counted({words}); }}
PROBE_PUBLIC int P{name}({arguments}) {{
  if (probe_counts(__builtin_return_address(0))) return {name}_counted({words});
  return ((int (*)({types}))probe_function({number}))({words});
}}
"""


def main(table: Path, out: Path) -> None:
    read = RawConfigParser()
    read.read_string(table.read_text())
    functions = {name: dict(read[name]) for name in read.sections()}
    large = {name: entry for name, entry in functions.items() if "bytes" in entry}
    names = [*functions, *(f"{name}_c" for name in large)]
    text = _HEAD.format(names=", ".join(f'"{name}"' for name in names), count=len(names))
    numbers = {name: k for k, name in enumerate(names)}
    for name, entry in functions.items():
        text += _wrapper(numbers[name], numbers[name], name, **entry)
    # A program may ask whether its MPI has these, and an MPI without them has nothing to pass calls on to.
    text += "\n#if MPI_VERSION >= 4\n"
    for name, entry in large.items():
        entry = {**entry, "arguments": _large(entry["arguments"])}
        text += _wrapper(numbers[f"{name}_c"], numbers[name], f"{name}_c", **entry)
    out.write_text(f"{text}\n#endif\n")


def _large(arguments: str) -> str:
    """Of the function with large counts (MPI 4), which is counted as the other one."""
    arguments = re.sub(r"\bint (\w*count(s\[\])?)(?=,|$)", r"MPI_Count \1", arguments)
    return re.sub(r"\bint (\w*displs\[\])", r"MPI_Aint \1", arguments)


def _wrapper(number: int, counted_as: int, name: str, *, arguments: str, **entry: str) -> str:
    declared = arguments.split(", ")
    words = ", ".join(_word(one) for one in declared)
    types = ", ".join(_type(one) for one in declared)
    named = [_word(one) for one in declared]
    before, after = _before(named, **entry), _after(counted_as, named, **entry)
    return _WRAPPER.format(
        name=name, arguments=arguments, types=types, words=words, number=number, before=before, after=after
    )


def _word(declared: str) -> str:
    return re.sub(r"\[\]$", "", declared).split()[-1].lstrip("*")


def _type(declared: str) -> str:
    kind = re.sub(r"\s*\w+(\[\])?$", "", declared)
    return f"{kind}*" if declared.endswith("[]") else kind


def _before(words: list[str], *, waits: str = "", drops: str = "", **_: str) -> str:
    lines = []
    if waits:
        lines.append(f"const struct probe_waits waits = probe_take({_number(words)}, {_requests(words)});")
    if drops:
        lines.append(f"probe_freed({drops});")
    return "".join(f"  {line}\n" for line in lines)


def _requests(words: list[str]) -> str:
    return "request" if "request" in words else "requests"


def _number(words: list[str]) -> str:
    return "1" if "request" in words else words[0]


def _ended(how: str, words: list[str]) -> str:
    """How many requests have ended; -1: all."""
    flag = "*flag && " if "flag" in words else ""
    return {
        "all": "-1",
        "flag": "*flag ? -1 : 0",
        "index": f"{flag}*index != MPI_UNDEFINED",
        "outcount": "*outcount == MPI_UNDEFINED ? 0 : *outcount",
    }[how]


def _after(
    number: int,
    words: list[str],
    *,
    bytes: str = "",  # noqa: A002
    in_place: str = "",
    in_place_of: str = "sendbuf",
    peer: str = "-1",
    creates: str = "",
    colour: str = "-1",
    waits: str = "",
    drops: str = "",
) -> str:
    lines = []
    group = "probe_communicator(comm)" if "comm" in words else "probe_no_communicator"
    lines.append(f"const unsigned communicator = {group};")
    amount = _amount(bytes)
    if in_place:
        amount = f"{in_place_of} == MPI_IN_PLACE ? {_amount(in_place)} : {amount}"
    if peer in ("dest", "source") and amount != "0":
        amount = f"{peer} == MPI_PROC_NULL ? 0 : {amount}"
    if peer in ("dest", "source"):
        peer = f"probe_peer({peer})"
    lines.append(f"const uint64_t bytes = error == MPI_SUCCESS ? {amount} : 0;")
    starts = "request" in words and not waits and not drops
    entry = "struct probe_entry* const entry = " if starts or waits else ""
    lines.append(f"{entry}probe_record({number}, communicator, bytes, {peer}, end - begin);")
    if starts:
        lines.append("if (error == MPI_SUCCESS) probe_started(*request, entry);")
    if waits:
        ended = f"error != MPI_SUCCESS ? 0 : {_ended(waits, words)}"
        lines.append(f"probe_charge(&waits, {_requests(words)}, {ended}, end - begin, entry);")
    if creates:
        lines.append(f'if (error == MPI_SUCCESS) probe_created(communicator, *newcomm, "{creates}", {colour});')
    return "".join(f"  {line}\n" for line in lines)


def _amount(product: str) -> str:
    """``count * datatype`` in C."""
    if not product:
        return "0"
    *counts, datatype = product.split(" * ")
    factors = [f"probe_size_of({datatype})"]
    for count in counts:
        if count == "size":
            factors.append("probe_group_size(communicator)")
        elif inner := re.fullmatch(r"sum\((\w+)\)", count):
            factors.append(f"probe_sum({inner[1]}, communicator)")
        elif inner := re.fullmatch(r"(\w+)\[rank\]", count):
            factors.append(f"(uint64_t){inner[1]}[probe_group_rank(communicator)]")
        else:
            factors.append(f"(uint64_t){count}")
    return " * ".join(factors)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
