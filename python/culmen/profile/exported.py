"""A profile for other programs. docs/howto/profile.md describes the keys."""

from typing import Any

from .chosen import bytes_of
from .layout import KINDS
from .recorded import FURTHER, Calls, Rank, Timeline
from .worlds import Worlds

_SPECIAL_PEERS = {-1: None, -2: "any"}


def as_object(worlds: Worlds, unmeasured: dict[str, int]) -> dict[str, Any]:
    """The object that `culmen profile report --json` prints. ``unmeasured``: see recorded.py."""
    ranks, first = worlds.ranks, worlds.ranks[0]
    return {
        "program": first.program,
        "library": first.library,
        "size": first.size,
        "world": worlds.chosen + 1,
        "worlds": len(worlds.all),
        "unmeasured": unmeasured,
        "ranks": [_rank(rank) for rank in ranks],
        "calls": [_calls(rank.rank, calls) for rank in ranks for calls in rank.calls],
    }


def _rank(rank: Rank) -> dict[str, Any]:
    return {
        "rank": rank.rank,
        "host": rank.host,
        "seconds": rank.seconds,
        "threads": rank.threads,
        "thread_s": rank.thread_s if rank.seconds else None,
        "init_s": rank.init_s,
        "memory_kib": rank.memory_kib,
        "further_calls": rank.further_calls,
        "uncharged": rank.uncharged,
        "hints": rank.hints,
        "invariant_tsc": rank.has_invariant_tsc,
        "cpu_s": rank.cpu_s,
        "preempted": rank.preempted,
        "instructions": rank.instructions or None,
        "cycles": rank.cycles or None,
        "scalars": rank.scalars if rank.memory_cycles else None,
        "vectors": rank.vectors if rank.memory_cycles else None,
        "memory_cycles": rank.memory_cycles or None,
        "regions": rank.regions,
        "region_s": rank.region_s,
        "region_work": rank.region_work if rank.regions else None,
        "timeline": {"bin_s": rank.timeline.bin_s, **_timeline(rank.timeline)},
    }


def _timeline(timeline: Timeline) -> dict[str, list[float]]:
    return {kind: timeline.seconds[:, k].tolist() for k, kind in enumerate(KINDS)}


def _calls(rank: int, calls: Calls) -> dict[str, Any]:
    least, most = bytes_of(calls) or (None, None)
    return {
        "rank": rank,
        "function": calls.function,
        "kind": calls.kind,
        "communicator": calls.communicator or None,
        "ranks": calls.ranks if calls.communicator not in ("", FURTHER) else None,
        "peer": _SPECIAL_PEERS.get(calls.peer, calls.peer),
        "least_bytes": least,
        "most_bytes": most,
        "calls": calls.calls,
        "bytes": calls.bytes,
        "seconds": calls.seconds,
        "least_s": calls.least_s,
        "most_s": calls.most_s,
        "waits_s": calls.charged_s,
        "completed": calls.completed,
        "sampled": calls.sampled,
        "sampled_s": calls.sampled_s,
        "waited_s": calls.waited_s,
        "waited_for": {str(late): seconds for late, seconds in calls.waited_for},
    }
