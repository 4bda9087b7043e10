"""The machines of a launch, as a user names them."""

import socket
from itertools import repeat

from .. import _core


def ranks_on_hosts(names: str, n: int) -> list[tuple[str, int]]:
    """Each host with the number of its ranks. ``names``: names of hosts, separated by commas. Consecutive ranks share a
    host.

    Raises InputError for wrong names, and if a host has no room for a relay and a worker.
    """
    hosts = [name.strip() for name in names.split(",")]
    if not all(hosts):
        raise _core.InputError(f"--hosts must be host names with commas between them, such as a,b,c; got '{names}'")
    for host in hosts:
        if hosts.count(host) > 1:
            raise _core.InputError(f"--hosts names {host} twice; name each host once: the ranks are shared out evenly")
        _check_known(host)
    least = 2 * len(hosts)
    if n < least:
        raise _core.InputError(
            f"{len(hosts)} hosts need at least {least} ranks: a master and a worker on the first host, a relay and a "
            f"worker on each of the others; write -n {least} or more, or fewer hosts"
        )
    each, rest = divmod(n, len(hosts))
    return [
        (host, each + more) for host, more in zip(hosts, [*repeat(1, rest), *repeat(0, len(hosts) - rest)], strict=True)
    ]


def _check_known(host: str) -> None:
    try:
        socket.getaddrinfo(host, None)
    except (OSError, UnicodeError):
        raise _core.InputError(
            f"--hosts names '{host}', but this machine knows no such host; write a name or an address that "
            f"`getent hosts` finds"
        ) from None
