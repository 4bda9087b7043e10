"""The kernel's limits of socket buffers."""

import os
import socket
from pathlib import Path

# Buffers that a program asks for have only these two limits. net.ipv4.tcp_rmem and tcp_wmem are limits of buffers that
# the kernel chooses, see tcp(7).
LIMITS = ("net.core.rmem_max", "net.core.wmem_max")
_TOO_MUCH = 1 << 30


def folder_of_limits() -> str:
    """The folder in which the kernel shows its limits. Tests use another folder, in which {host} stands for the name of
    the node."""
    return os.environ.get("CULMEN_PROC_SYS", "/proc/sys")


def socket_limit() -> int:
    """The largest buffer, in bytes, that a program may ask for; 0 if it is unknown."""
    folder = Path(folder_of_limits().replace("{host}", socket.gethostname()))
    try:
        return min(int(folder.joinpath(*name.split(".")).read_text()) for name in LIMITS)
    except (OSError, ValueError):
        return _granted()


def _granted() -> int:
    """The buffer, in bytes, that a socket gets if it asks for too much. The kernel reports twice this size, see
    socket(7)."""
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
    """The command with which an administrator allows buffers of this many bytes, also after a restart."""
    lines = "".join(f"{name} = {size}\\n" for name in LIMITS)
    return f"printf '{lines}' >/etc/sysctl.d/90-culmen.conf; sysctl --system"
