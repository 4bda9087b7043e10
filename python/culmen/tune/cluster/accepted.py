"""Which values of variables an MPI accepts on this machine. An MPI ignores wrong names without a message, so culmen
asks it first."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from ...bench.conversation import RefusedError
from ...bench.session import Session
from ...launch.kernel import LIMITS
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import DEFAULT
from ...launch.mpi.variables import TRANSPORT, Variable
from ...launch.programs import own_program, said_by


@dataclass(frozen=True)
class Asked:
    """``variables``: those that can be tuned, with the values that can be tried. ``defaults``: the MPI's own values, as
    far as it reports them. ``refused``: why each of the other values cannot be tried. ``nodes``: number of nodes of the
    ranks."""

    variables: list[Variable]
    defaults: dict[str, str]
    refused: dict[tuple[str, str], str] = field(default_factory=dict)
    nodes: int = 1


def ask(launcher: Launcher, session: Session, groups: Sequence[str], most_bytes: int) -> Asked:
    """``session``: a session of ranks with the MPI's own settings. ``most_bytes``: the kernel's limit of a socket's
    buffer; 0 if it is unknown."""
    names = launcher.mpi.names
    parameters = parameters_of(launcher.program, tuple(names.lists)) if names.parameters else None
    netmods = session.netmods()

    def why_not(name: str, value: str) -> str:
        if parameters is not None and name.startswith(names.parameters):
            return parameters.why_not(name.removeprefix(names.parameters), value)
        if name == names.netmod:
            return "" if value in netmods and len(netmods) > 1 else f"this MPI has only {' and '.join(netmods)}"
        if names.control and name.startswith(names.control):
            return _cvar(session, name)
        return "" if _is_read(name, launcher) else f"this MPI does not read {name}"

    out = Asked([], {}, nodes=session.nodes()[0])
    for variable in launcher.mpi.variables:
        if variable.group not in groups:
            continue
        out.defaults[variable.name] = own = _own_value(variable, session, parameters, names.parameters)
        kept = {}
        for value, environment in variable.values.items():
            reasons = [why_not(*each) for each in environment.items()]
            if variable.socket_buffers and int(value) > most_bytes:
                reasons.append(_too_large(most_bytes))
            if variable.own_cores and session.oversubscribed:
                reasons.append("there are more ranks than cores")
            if why := next(filter(None, reasons), ""):
                out.refused[variable.name, value] = why
            elif value not in own.split(" "):
                kept[value] = environment
        if kept:
            out.variables.append(replace(variable, values=kept))
    return out


def _too_large(most_bytes: int) -> str:
    if not most_bytes:
        return f"the limit of the kernel is not known ({', '.join(LIMITS)})"
    return f"the kernel allows {most_bytes} bytes ({', '.join(LIMITS)}); see --allow-sysctl"


def _own_value(variable: Variable, session: Session, parameters: "Parameters | None", prefix: str) -> str:
    """The MPI's own value, followed by its name if it has one. Empty if the MPI does not report the value."""
    if variable.name == TRANSPORT or not variable.sets:
        return ""
    name = variable.sets[0].removeprefix(prefix)
    if parameters is not None and name in parameters.values:
        return parameters.values[name]
    try:
        return " ".join(session.value_of(name))
    except RefusedError:
        return ""


def _cvar(session: Session, name: str) -> str:
    try:
        session.value_of(name)
    except RefusedError:
        return f"this MPI has no variable {name}"
    return ""


@dataclass(frozen=True)
class Parameters:
    """The output of ``ompi_info``. ``components``: pairs such as ("btl", "tcp"). ``names``: the allowed values of a
    parameter, as numbers and as names. A parameter that is not in ``names`` takes any value. ``lists``: parameters
    whose values are lists of components."""

    components: set[tuple[str, str]]
    values: dict[str, str]
    names: dict[str, set[str]]
    lists: tuple[str, ...] = ()

    def why_not(self, name: str, value: str) -> str:
        """Why the MPI does not take this value; empty if it does."""
        if name not in self.values:
            return f"this MPI has no parameter {name}"
        if name in self.lists:
            lacking = [each for each in value.split(",") if (name, each) not in self.components]
            return f"this MPI has no {name} {lacking[0]}" if lacking else ""
        allowed = self.names.get(name)
        if allowed and value not in allowed:
            return f"this MPI allows only {', '.join(sorted(each for each in allowed if not each.isdecimal()))}"
        return ""


@cache
def parameters_of(program: str, lists: tuple[str, ...]) -> Parameters:
    """``program``: the launcher. The result is empty if there is no ``ompi_info``."""
    beside = Path(shutil.which(program) or program).resolve().parent / "ompi_info"
    info = str(beside) if beside.exists() else shutil.which("ompi_info") or ""
    said = said_by(info, "--all", "--parsable") if info else ""
    found = Parameters(set(re.findall(r"^mca:(\w+):(\w+):version:", said, re.MULTILINE)), {}, {}, lists)
    for name, value in re.findall(r"^mca:[^:]+:[^:]+:param:(\w+):value:(.*)$", said, re.MULTILINE):
        found.values[name] = value.strip('"')
    for name, number, word in re.findall(
        r"^mca:[^:]+:[^:]+:param:(\w+):enumerator:value:(-?\d+):(\S+)$", said, re.MULTILINE
    ):
        found.names.setdefault(name, set()).update((number, word))
    return found


def _is_read(name: str, launcher: Launcher) -> bool:
    """Whether a library that the ranks load, or the launcher, contains this name."""
    composed = launcher.mpi.names.composed
    words = name.split("_")
    wanted = [b"\0" + "_".join(words[first:]).encode() + b"\0" for first in range(len(words))]
    linked = said_by("ldd", str(own_program(f"mpibench_{launcher.mpi.module}")))
    files = re.findall(r"=> (/\S+)", linked) if composed and name.startswith(composed) else []
    files = [each for each in files if re.search(launcher.mpi.names.composed_in, each)] or [
        shutil.which(launcher.program) or ""
    ]
    return any(word in data for data in map(_bytes_of, files) for word in wanted)


@cache
def _bytes_of(file: str) -> bytes:
    try:
        return Path(file).resolve().read_bytes()
    except OSError:
        return b""


def shown_default(variable: str, asked: Mapping[str, str]) -> str:
    """The MPI's own value, by its name if it has one."""
    return asked.get(variable, "").split(" ")[-1] or DEFAULT
