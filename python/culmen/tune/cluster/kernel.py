"""The kernel's limits of socket buffers."""

from pathlib import Path

_CORE = [Path("/proc/sys/net/core", name) for name in ("rmem_max", "wmem_max")]


def socket_limit() -> int:
    """The most bytes for a buffer that a program may ask for; 0: unknown."""
    try:
        return min(int(path.read_text()) for path in _CORE)
    except (OSError, ValueError):
        return 0
