"""The data files of versions of an MPI. They extend a file that all versions share.

src/mpiprobe/autotune/tables.py also loads this module, without the package, so it imports nothing of culmen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Data = dict[str, Any]

UNSAFE = {
    "equal_counts_only": "needs the same count for all ranks",
    "wrong_in_place": "gives wrong results with MPI_IN_PLACE",
    "wrong": "gives wrong results",
    "hangs": "can hang",
}
"""Keys of a collective with algorithms that not every program can use, and why."""


def versions(files: Mapping[str, Data]) -> Iterator[tuple[str, Data]]:
    """The names and contents of those with a title, with all that they share. ``files``: the content of each data file,
    by its name without an ending."""
    for name, data in files.items():
        if "title" in data:
            own = {key: value for key, value in data.items() if key != "extends"}
            yield name, _joined(files[data["extends"]], own) if "extends" in data else own


def _joined(shared: Data, own: Data) -> Data:
    """Tables are joined key by key; another value replaces the shared one."""
    out = dict(shared)
    for key, value in own.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = _joined(out[key], value) if both else value
    return out
