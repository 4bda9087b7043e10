"""Whether messages between ranks go through TCP, so that the size of its buffers can matter."""

import os
from collections.abc import Iterator

from ...launch.programs import said_by
from .program import Program, nodes

_MEMORY = {"vader", "sm", "smcuda", "shm", "posix", "sysv", "cma", "knem", "xpmem", "all"}  # they need no sockets


def has_tcp_buffers(program: Program) -> bool:
    """Whether culmen knows how this MPI sets TCP buffers, and whether messages need them. On one node, they do only if
    the user chose TCP."""
    tcp = program.launcher.mpi.tcp
    if tcp is None or (tcp.linked and tcp.linked not in said_by("ldd", program.path)):
        return False
    return nodes() > 1 or any(_is_tcp_alone(text) for text in _chosen(program, tcp.chosen_in))


def _chosen(program: Program, names: list[str]) -> Iterator[str]:
    """The lists that the user's words and the environment name."""
    words = list(program.words)
    for at, word in enumerate(words):
        name, _, value = word.partition("=")
        if word in names and words[at + 1 :]:
            yield words[at + 1]
        elif name in names and value:
            yield value
    yield from (os.environ[name] for name in names if name in os.environ)


def _is_tcp_alone(text: str) -> bool:
    names = {name.strip() for name in text.split(",")}
    return "tcp" in names and names.isdisjoint(_MEMORY)
