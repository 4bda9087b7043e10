"""The collectives whose rules ignore the message size, and those without rules, with the reasons."""

from collections.abc import Collection

from ...base.text import enumerated
from ...launch.mpi.collectives import Collectives
from ...report.page import Section, table
from ..rules.made import can_hold, one_for_all_sizes

_UNLIKE = "ranks can compute different sizes for the same call"
_UNSEEN = "the rules of this MPI do not contain its message size"


def about_one_rule(names: Collection[str], known: Collectives) -> list[str]:
    """A sentence for each reason. ``names``: of the tuned collectives."""
    return [
        f"For each number of ranks, one rule holds for all message sizes of {enumerated(sorted(of))}, because {why}."
        for why in (_UNLIKE, _UNSEEN)
        if (of := [name for name in names if one_for_all_sizes(name, known) and _why_one(name, known) == why])
    ]


def _why_one(name: str, known: Collectives) -> str:
    return _UNLIKE if known.of[name]["in_rules"].get("unlike") else _UNSEEN


def without_rules(known: Collectives) -> dict[str, str]:
    """The reason for each collective for which culmen writes no rules."""
    return {name: known.why_no_rules(name) for name in known.measurable if not can_hold(name, known)}


def said_without_rules(known: Collectives) -> list[str]:
    """A sentence for each reason."""
    of = without_rules(known)
    return [
        f"No rules for {enumerated([name for name in of if of[name] == why])}: {why}."
        for why in dict.fromkeys(of.values())
    ]


def section_without_rules(known: Collectives) -> Section:
    rows = [[name, why] for name, why in without_rules(known).items()]
    return Section("without", "Collectives without rules", table(rows, ["collective", "reason"]))
