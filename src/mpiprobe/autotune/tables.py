"""Writes tables.c, the algorithms of each MPI: ``tables.py OUTPUT.c DATA.toml…``."""

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

try:
    import tomllib
except ImportError:  # Python 3.10
    from pip._vendor import tomli as tomllib

Table = dict[str, Any]

_HEAD = """// Made by tables.py from the data files of the MPIs.
#include "mpiprobe/autotune/tune.h"
"""


def main(output: str, *data: str) -> None:
    parts = [_HEAD]
    mpis: dict[str, list[str]] = {"openmpi": [], "mpich": []}
    sys.path.insert(0, str(Path(data[0]).parent))
    from versions import UNSAFE, versions

    files = {Path(name).stem: tomllib.loads(Path(name).read_text(encoding="utf-8")) for name in sorted(data)}
    for name, mpi in versions(files):
        if "collectives" not in mpi:
            continue
        tables, own = _collectives(re.sub(r"\W", "_", name), mpi["collectives"], UNSAFE)
        parts += _for(mpi["module"], tables)
        mpis[mpi["module"]].append(own.format(version=mpi["title"].split()[-1]))
    for module, rows in mpis.items():
        lines = ["const struct tune_mpi tune_mpis[] = {", *rows, "};"]
        parts += _for(module, [*lines, f"const unsigned tune_mpi_count = {len(rows)};"])
    Path(output).write_text("\n".join(parts) + "\n", encoding="utf-8")


def _for(module: str, lines: Iterable[str]) -> list[str]:
    condition = "defined(OPEN_MPI)" if module == "openmpi" else "!defined(OPEN_MPI)"
    return [f"#if {condition}", *lines, "#endif", ""]


def _collectives(prefix: str, collectives: Table, unsafe_keys: Iterable[str]) -> tuple[list[str], str]:
    """The tables, and the row of the MPI, in which the version is missing."""
    lines, places = [], []
    nonblocking = {f"i{what}": table for what, table in collectives.get("nonblocking", {}).items()}
    for what, table in {**collectives["of"], **nonblocking}.items():
        names = table["algorithms"]
        seconds = [(name, value, table["forced"][name]) for name, value in table.get("default", {}).items()]
        assert len(seconds) <= 1, f"{what} has more than one further variable"
        second, usual, forced = seconds[0] if seconds else (None, 0, 0)
        masks = [_mask(names, collectives.get(key, [])) for key in ("two_ranks_only", "powers_of_two_only")]
        unsafe = [name for key in unsafe_keys for name in table.get(key, [])]
        fields = [
            *map(json.dumps, (what, table["number_in"])),
            *(json.dumps(second) if second else "NULL", str(usual), str(forced), str(len(names))),
            f"names_{prefix}_{what}",
            *map(str, [*masks, _mask(names, unsafe), _mask(names, table.get("splits_counts", []))]),
        ]
        lines.append(f"static const char* const names_{prefix}_{what}[] = {{{', '.join(map(json.dumps, names))}}};")
        lines.append(f"static const struct tune_collective {prefix}_{what} = {{{', '.join(fields)}}};")
        places.append(f"[tune_{what}] = &{prefix}_{what}")
    kept = int(collectives.get("kept_by_communicator", False))
    return lines, f'  {{{{"{{version}}", {kept}, {{{{{", ".join(places)}}}}}}}}},'


def _mask(names: list[str], chosen: list[str]) -> int:
    return sum(1 << k for k, name in enumerate(names) if name in chosen)


main(*sys.argv[1:])
