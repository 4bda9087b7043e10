"""Variables of an MPI that choose no algorithm of a collective, as in its data file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .collectives import DEFAULT

GROUPS = ("transport", "binding", "wait", "copy", "eager", "tcp")
"""In the order in which they are tuned: which transport is best decides what else has an effect."""
TRANSPORT = "transport"  # the variable with which others have an effect or not


@dataclass(frozen=True)
class Variable:
    """``values``: the names of its values without DEFAULT, and the environment of each. ``sets``: the names in this
    environment if all have one value. ``own_cores``: it has an effect only if each rank has a core for itself.
    ``socket_buffers``: its values are bytes, up to a limit of the kernel.

    ``within_node``, ``between_nodes``: values of the variable TRANSPORT with which it has an effect, on one node and on
    several; the latter by default as on one node. Empty: it always has one.
    """

    name: str
    group: str
    values: dict[str, dict[str, str]]
    sets: list[str] = field(default_factory=list)
    own_cores: bool = False
    socket_buffers: bool = False
    within_node: list[str] = field(default_factory=list)
    between_nodes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, name: str, table: dict) -> Variable:
        values = table["values"]
        if not isinstance(values, dict):
            values = {value: dict.fromkeys(table["sets"], value) for value in values}
        return cls(name, **{**table, "values": values})

    def has_effect(self, transport: str, nodes: int) -> bool:
        """``transport``: the value of TRANSPORT; DEFAULT: the MPI chooses."""
        there = self.between_nodes or self.within_node if nodes > 1 else self.within_node
        return transport in there or not (self.within_node or self.between_nodes)


def sorted_by_group(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    return tuple(sorted(variables, key=lambda variable: GROUPS.index(variable.group)))


@dataclass(frozen=True)
class Names:
    """How an MPI is asked whether it knows the name of an environment variable. Empty: there are no such names.

    ``parameters``: the beginning of names that ``ompi_info`` shows without it. ``lists``: the parameters whose values
    are names of components. ``control``: the beginning of names of control variables of MPI_T. ``netmod``: the control
    variable whose values are the library's netmods. ``composed``: the beginning of names that libraries compose of
    their parts; ``composed_in``: the paths of these libraries, as a regular expression.
    """

    parameters: str = ""
    lists: list[str] = field(default_factory=list)
    control: str = ""
    netmod: str = ""
    composed: str = ""
    composed_in: str = ""


Setting = Mapping[str, str]
"""For variables, the names of their values; other variables have their DEFAULT."""


def environment_of(setting: Setting, variables: Iterable[Variable]) -> dict[str, str]:
    """That gives programs a setting."""
    out: dict[str, str] = {}
    for variable in variables:
        out |= variable.values.get(setting.get(variable.name, DEFAULT), {})
    return out
