"""The layout of the files that the ranks of a profiled program leave; the same as src/mpiprobe/layout.h."""

import numpy as np

MAGIC = 0x61656C69666F7270
_FUNCTIONS, _COMMUNICATORS, _HINTS, _BINS = 384, 1024, 128, 512
ENTRIES = 8192
"""Entries of one kind of calls. Further ones, one for each function, have the calls without room."""
MESSAGES = 8192
KIND_NAMES = {
    "messages": "messages",
    "waits": "waits for requests",
    "collective": "collective functions",
    "one-sided": "one-sided functions",
    "files": "files",
    "communicators": "communicators",
}
KINDS = tuple(KIND_NAMES)
"""The purposes of functions, in the order of probe_kind in layout.h."""
HEADER = np.dtype(
    [
        ("magic", "u8"),
        ("rank", "i4"),
        ("size", "i4"),
        ("world", "u8"),
        ("begin_unix_ns", "u8"),
        ("process", "u4"),
        ("functions", "u4"),
        ("communicators", "u4"),
        ("hints", "u4"),
        ("threads", "u4"),
        ("period", "u4"),
        ("invariant", "u4"),
        ("bin_shift", "u4"),
        ("begin_ticks", "u8"),
        ("begin_ns", "u8"),
        ("start_ticks", "u8"),
        ("start_ns", "u8"),
        ("end_ticks", "u8"),
        ("end_ns", "u8"),
        ("by_session", "u8"),
        ("messages", "u8"),
        ("uncharged", "u8"),
        ("memory_kib", "u8"),
        ("cpu_ns", "u8"),
        ("preempted", "u8"),
        ("instructions", "u8"),
        ("cycles", "u8"),
        ("scalars", "u8"),
        ("vectors", "u8"),
        ("memory_cycles", "u8"),
        ("regions", "u8"),
        ("region_ticks", "u8"),
        ("region_work", "u8"),
        ("region_room", "u8"),
        ("host", "S64"),
        ("library", "S128"),
        ("program", "S256"),
    ]
)
COMMUNICATOR = np.dtype([("rank", "i4"), ("size", "i4"), ("remote", "i4"), ("first", "i4"), ("origin", "S176")])
FILE_HINTS = np.dtype([("file", "u4"), ("text", "S252")])
ENTRY = np.dtype(
    [
        ("key", "u8"),
        ("calls", "u8"),
        ("bytes", "u8"),
        ("ticks", "u8"),
        ("least_ticks", "u8"),
        ("most_ticks", "u8"),
        ("charged", "i8"),
        ("completed", "u8"),
        ("sampled", "u8"),
        ("sampled_ticks", "u8"),
        ("waited_ticks", "u8"),
    ]
)
MESSAGE = np.dtype(
    [
        ("communicator", "u4"),
        ("sends", "u4"),
        ("peer", "i4"),
        ("tag", "i4"),
        ("number", "u4"),
        ("entry", "u4"),
        ("first", "u8"),
        ("last", "u8"),
        ("charged", "u8"),
    ]
)
FILE = np.dtype(
    [
        ("header", HEADER),
        ("names", "S48", _FUNCTIONS),
        ("communicators", COMMUNICATOR, _COMMUNICATORS),
        ("hints", FILE_HINTS, _HINTS),
        ("entries", ENTRY, ENTRIES + _FUNCTIONS),
        ("kinds", "u1", _FUNCTIONS),
        ("timeline", "u8", (_BINS, len(KINDS))),
        ("thread_ticks", "i8", _BINS),
        ("thread_changes", "i4", _BINS),
        ("messages", MESSAGE, MESSAGES),
    ]
)
