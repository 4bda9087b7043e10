"""The kernel's limits of socket buffers."""

import os
import socket
from pathlib import Path

# Buffers that a program asks for have only these two limits. net.ipv4.tcp_rmem and tcp_wmem are limits of buffers that
# the kernel chooses, see tcp(7).
LIMITS = ("net.core.rmem_max", "net.core.wmem_max")
_TOO_MUCH = 1 << 30


def folder_of_limits() -> str:
    """Where the kernel shows its limits. Tests have a folder of their own; {host} in it is the name of the node."""
    return os.environ.get("CULMEN_PROC_SYS", "/proc/sys")


def socket_limit() -> int:
    """The most bytes for a buffer that a program may ask for; 0: unknown."""
    folder = Path(folder_of_limits().replace("{host}", socket.gethostname()))
    try:
        return min(int(folder.joinpath(*name.split(".")).read_text()) for name in LIMITS)
    except (OSError, ValueError):
        return _granted()


def _granted() -> int:
    """What a socket gets that asks for too much. The kernel then shows the double, see socket(7)."""
    try:
        with socket.socket() as one:
            sizes = []
            for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                one.setsockopt(socket.SOL_SOCKET, option, _TOO_MUCH)
                sizes.append(one.getsockopt(socket.SOL_SOCKET, option) // 2)
            return min(sizes)
    except OSError:
        return 0


def sysctl_line(size: int) -> str:
    """What an administrator types so that programs may ask for this many bytes, also after a restart."""
    lines = "".join(f"{name} = {size}\\n" for name in LIMITS)
    return f"printf '{lines}' >/etc/sysctl.d/90-culmen.conf; sysctl --system"
