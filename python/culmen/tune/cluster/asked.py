"""The request of ``culmen tune cluster``."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..._core import InputError
from ...bench import words
from ...bench.collectives import plan
from ...bench.collectives.plan import Plan
from ...bench.collectives.points import Protocol
from ...bench.layouts import Layout, layouts_of, one_for_each_number
from ...bench.splits import Split
from ...launch.allocation import tasks_on_nodes
from ...launch.launcher import cores
from ..rules.made import can_hold, one_for_all_sizes
from ..rules.reader import reader_of_rules
from ..rules.texts import check_reader
from .choices import Place
from .learning import LAUNCHES as TUNER_LAUNCHES
from .limits import check_allowed
from .measured import RACE
from .pairs import LAUNCHES, VISITS
from .predicted import order_of
from .setting_gains import TunedVariables
from .variables_asked import VariableTuning, groups_of

_VISIT_S = 0.02
_FAST = ("bcast", "allreduce", "reduce")


class Part(NamedTuple):
    """A collective with one number of ranks, and the message sizes to measure. ``split``: the communicators that call
    it; None for one with all ranks of a launch."""

    collective: str
    ranks: int
    sizes: tuple[int, ...]
    split: Split | None = None

    def plan(self, whole: Plan) -> Plan:
        """The part of a plan."""
        return replace(whole, collectives=(self.collective,), ranks=(self.ranks,), sizes=self.sizes)

    @property
    def mapping(self) -> str:
        """Of a launch on as many nodes as one of the communicators has. Empty if it is the launcher's own, or if the
        nodes have different numbers of ranks."""
        if self.split is None or (self.split.nodes == 1 and not self.split.mapping):
            return ""
        layout = Layout(self.split.nodes, self.split.per_node)
        return layout.mapping if layout.ranks == self.ranks else ""


@dataclass(frozen=True)
class Tuning:
    """A request. ``same_types``, ``commutative``: see Collectives.safe_algorithms(). ``only``: the parts of the plan
    that are measured; empty for all of it. ``groups``: groups of variables, which are tuned first.
    ``variables``: the best environment that this found. ``allow_sysctl``: culmen may raise limits of the kernel for
    these variables. ``left_out``: sentences about layouts and numbers of ranks that are not measured. ``online``: the
    tuner of ``culmen autotune`` searches, instead of races."""

    plan: Plan
    same_types: bool
    commutative: bool = False
    only: tuple[Part, ...] = ()
    groups: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    allow_sysctl: bool = False
    left_out: tuple[str, ...] = ()
    online: bool = False

    def points(self) -> list[dict[str, Any]]:
        """All searches, and then all comparisons, round by round. So the launches of one comparison are not at the same
        time. A race has the names of the earlier races from which its slow algorithms are predicted."""
        mappings, races = dict(self.plan.launches()), self.races()
        launches = [(name, ranks, launch) for launch in range(1, LAUNCHES + 1) for name, ranks in races]
        return [
            {"collective": name, "ranks": ranks, "launch": launch}
            | {"earlier": " ".join(earlier_ones(races, name, ranks)) if self._predicts(launch) else ""}
            | ({"mapping": mappings[ranks]} if mappings[ranks] else {})
            | self._of_part(name, ranks)
            for name, ranks, launch in [*self._searches(), *launches]
        ]

    def _predicts(self, launch: int) -> bool:
        return launch == RACE and not self.online and not self.only

    def _searches(self) -> list[tuple[str, int, int]]:
        """With ``online``, one search is for all collectives with this number of ranks, with commas."""
        if not self.online:
            return [(name, ranks, RACE) for name, ranks in self.races()]
        names: dict[int, list[str]] = defaultdict(list)
        for name, ranks in self.races():
            names[ranks].append(name)
        return [(",".join(there), ranks, RACE) for ranks, there in names.items()]

    def races(self) -> list[tuple[str, int]]:
        all_of = [(name, ranks) for ranks in order_of(self.plan.ranks) for name in self.plan.collectives]
        only = {(part.collective, part.ranks) for part in self.only}
        return [each for each in all_of if not only or each in only]

    def _of_part(self, collective: str, ranks: int) -> dict[str, Any]:
        """Values that only the points of a part have. Communicators of two parts can be on other nodes, so that the
        times of one part do not predict those of another one."""
        for part in self.only:
            if (part.collective, part.ranks) == (collective, ranks):
                return {"sizes": ",".join(map(str, part.sizes)), "split": str(part.split or "")}
        return {}

    def _sizes(self, collective: str, ranks: int) -> tuple[int, ...]:
        there = [part.sizes for part in self.only if (part.collective, part.ranks) == (collective, ranks)]
        return (0,) if collective == "barrier" else there[0] if there else self.plan.sizes

    def mappings(self) -> dict[tuple[str, int], str]:
        """The mapping with which the rules for a collective and a number of ranks are tried."""
        usual = self.plan.mapping_of_ranks()
        of_parts = {(part.collective, part.ranks): part.mapping for part in self.only}
        return {each: of_parts.get(each) or usual[each[1]] for each in self.races()}

    def splits(self) -> list[Split]:
        return list(dict.fromkeys(part.split for part in self.only if part.split))

    def most_ranks(self) -> int:
        """The largest number of ranks of a launch."""
        return max([*self.plan.ranks, *(split.ranks for split in self.splits())])

    def places(self) -> list[Place]:
        """One place for each collective, number of ranks and message size."""
        return [Place(name, ranks, size) for name, ranks in self.races() for size in self._sizes(name, ranks)]

    @property
    def whole(self) -> frozenset[str]:
        """The collectives with one choice for all message sizes."""
        known = reader_of_rules(self.plan.launcher)
        return frozenset(name for name in self.plan.collectives if one_for_all_sizes(name, known))

    @property
    def is_all(self) -> bool:
        """Whether all collectives are tuned for which there can be rules."""
        known = reader_of_rules(self.plan.launcher)
        return {*self.plan.collectives} >= {name for name in known.names if can_hold(name, known)}

    def fixed(self) -> dict[str, Any]:
        names = ("mpi", *(() if self.only else ("sizes",)), "interval", "budget_s", "timeout_s")
        known = reader_of_rules(self.plan.launcher)
        return (
            {name: self.plan.fixed()[name] for name in names}
            | {
                "segments": ",".join(map(str, known.segments)),
                "fan_outs": ",".join(map(str, known.fan_outs)),
                "same_types": self.same_types,
                "commutative": self.commutative,
            }
            | ({"variables": json.dumps(dict(self.variables))} if self.variables else {})
            | ({"online": True} if self.online else {})
        )

    def of_variables(self) -> VariableTuning:
        """The request for the variables. It has the largest number of ranks, because programs that need speed use this
        number."""
        plan = self.plan
        return VariableTuning(
            plan.launcher, plan.mpi, self.groups, plan.collectives, plan.sizes, max(plan.ranks),
            plan.protocol.timeout_s, self.allow_sysctl, dict(plan.launches())[max(plan.ranks)],
        )  # fmt: skip

    def with_variables(self, found: TunedVariables | None) -> "Tuning":
        return replace(self, variables=tuple(sorted(found.environment.items()))) if found else self

    def most_s(self) -> float:
        """Approximate upper limit of the duration in seconds, on a machine without other work."""
        plans = [part.plan(self.plan) for part in self.only] or [self.plan]
        compared = LAUNCHES * len(self.places())
        known, allowed = reader_of_rules(self.plan.launcher), (self.same_types, self.commutative)
        parts_s = self.plan.protocol.budget_s * sum(
            place.size > each.segment
            for place in self.places()
            for each in known.variants(place.collective, place.ranks, *allowed)
        )
        variables_s = self.of_variables().most_s() if self.groups else 0.0
        whole_s = sum(plan.most_s() for plan in plans)
        searched_s = whole_s * TUNER_LAUNCHES if self.online else whole_s + parts_s
        return searched_s + compared * 2 * VISITS * _VISIT_S + len(self.points()) + variables_s


def usual_ranks(room: int) -> tuple[int, ...]:
    """For one rank more than a power of two, algorithms can need one more step. Nodes often have such a number of
    cores, so this is often also one rank more than a node holds."""
    cliffs = {n + 1 for k in range(3, room.bit_length()) if (n := 2**k) < room}
    return tuple(sorted({*plan.ranks_of(f"2-{room}"), *cliffs}))


def _too_many(room: int) -> Iterator[str]:
    """A sentence if there is room for more ranks than are measured."""
    if room > plan.MOST_RANKS:
        yield f"There is room for {room} ranks: culmen tunes for up to {plan.MOST_RANKS} ranks."


def earlier_ones(races: list[tuple[str, int]], collective: str, ranks: int) -> list[str]:
    """Of the races before this one: those of the same collective, and those that give the times of messages."""
    before = races[: races.index((collective, ranks))]
    same = [each for each in before if each[0] == collective]
    messages = [each for each in before if each in (("bcast", 2), ("reduce", 2)) and same and each not in same]
    return [f"{name}-{number}" for name, number in [*same, *messages]]


def tuning_of(
    mpi: str | None,
    collectives: str | None,
    ranks: str | None,
    sizes: str | None,
    seconds: float | None,
    timeout_s: float,
    same_types: bool,
    commutative: bool,
    fast: bool,
    node_counts: str | None = None,
    ranks_per_node: str | None = None,
    most_ranks: int = 0,
    nodes: int = 0,
    variables: str | None = None,
    allow_sysctl: bool = False,
) -> Tuning:
    """``most_ranks``: largest number of ranks in the job; 0 if there is no job. ``nodes``: number of nodes of the job,
    if the user gave it. Raises InputError for a wrong option."""
    launcher = plan.launcher_of(mpi)
    known = reader_of_rules(launcher)
    asked = layouts_of(node_counts, ranks_per_node, nodes, "--ranks" if ranks else "")
    layouts, left_out = one_for_each_number(asked)
    if not most_ranks:  # a job checks it, too
        check_reader(launcher)
    usual = _FAST if fast else tuple(name for name in plan.USUAL if name in known.names)
    all_of = tuple(name for name in known.names if can_hold(name, known))
    chosen = all_of if collectives == "all" else words.words_of(collectives, "--collectives") if collectives else usual
    room = most_ranks or max(2, sum(tasks_on_nodes()) or cores())
    most = min(room, plan.MOST_RANKS)
    if not ranks and not layouts:
        left_out += _too_many(room)
    protocol = Protocol(0.1, seconds or (0.1 if fast else 0.3), 0, timeout_s)
    out = Plan(
        launcher,
        mpi or "default",
        tuple(chosen),
        plan.ranks_of(ranks) if ranks else plan.ranks_in(layouts) or ((most,) if fast else usual_ranks(most)),
        words.sizes_of(sizes or ("8,64,512,4K,32K,256K,1M" if fast else "1-1M")),
        (),
        protocol,
        layouts=layouts,
    )
    out.check(not most_ranks, not sizes)
    no_rules = [name for name in out.collectives if not can_hold(name, known)]
    if no_rules:
        raise InputError(
            f"--collectives: a tuning file of {launcher.mpi.title} cannot have rules for {no_rules[0]}, because "
            f"{known.why_no_rules(no_rules[0])}; it can for {', '.join(all_of)}"
        )
    groups = groups_of(variables)
    if allow_sysctl:
        check_allowed(groups)
    return Tuning(
        out, same_types, commutative, groups=groups, allow_sysctl=allow_sysctl, left_out=tuple(left_out), online=fast
    )
