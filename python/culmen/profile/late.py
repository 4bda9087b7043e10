"""How long requests waited for late senders: the times of sampled messages at both of their ends."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial
from itertools import combinations

from .communicators import members_of
from .recorded import Message, Rank

Pair = tuple[Rank, Message, Rank, Message]
_Found = dict[tuple[int, int], list[tuple[float, int, float]]]
"""For a rank and an index of its calls: the time of each message, its sender, and the wait for the sender."""


def with_late_senders(world: list[Rank]) -> list[Rank]:
    """The same ranks. Their receives with requests also have the time of waits that passed before the message was sent.
    All ranks must be of one world."""
    pairs = list(_pairs(world))
    offsets = _offsets(pairs)
    found: _Found = defaultdict(list)
    for sender, sent, receiver, received in pairs:
        if (offset := offsets.get((sender.host, receiver.host))) is None:
            continue
        late_s, whole_s = sent.begin_s + offset - received.begin_s, received.end_s - received.begin_s
        share = min(1.0, max(0.0, late_s / whole_s)) if whole_s > 0 else 0.0
        late = sender.rank, share * received.charged_s
        found[receiver.rank, received.calls].append((received.charged_s, *late))
    return [_with(rank, found) for rank in world]


def _pairs(world: list[Rank]) -> Iterable[Pair]:
    """The sampled messages of which both ends are known. If communicators share a name, their messages cannot be told
    apart."""
    members = cache(partial(members_of, world))
    sent = {
        (one.communicator, rank.numbers.get(one.communicator), one.peer, one.tag, one.number): (rank, one)
        for rank in world
        for one in rank.messages
        if one.is_sent
    }
    for rank in world:
        for one in rank.messages:
            if one.is_sent or not members(one.communicator, rank.calls[one.calls].ranks):
                continue
            key = one.communicator, one.peer, rank.numbers.get(one.communicator), one.tag, one.number
            if key in sent:
                yield *sent[key], rank, one


def _offsets(pairs: list[Pair]) -> dict[tuple[str, str], float]:
    """Seconds that the clock of the second node is ahead of that of the first one. It is known if messages went both
    ways: the fastest ones of both ways took equally long."""
    least: dict[tuple[str, str], float] = defaultdict(lambda: float("inf"))
    for sender, sent, receiver, received in pairs:
        hosts = sender.host, receiver.host
        least[hosts] = min(least[hosts], received.end_s - sent.begin_s)
    offsets = {(host, host): 0.0 for hosts in least for host in hosts}
    for one, other in combinations(sorted({host for hosts in least for host in hosts}), 2):
        if (one, other) in least and (other, one) in least:
            offsets[one, other] = (least[one, other] - least[other, one]) / 2
            offsets[other, one] = -offsets[one, other]
    return offsets


def _with(rank: Rank, found: _Found) -> Rank:
    calls = [
        replace(
            each,
            sampled=each.sampled + len(times),
            sampled_s=each.sampled_s + sum(charged for charged, _, _ in times),
            waited_s=each.waited_s + sum(late for _, _, late in times),
            waited_for=_by_sender(times),
        )
        if (times := found.get((rank.rank, k)))
        else each
        for k, each in enumerate(rank.calls)
    ]
    return replace(rank, calls=calls)


def _by_sender(times: list[tuple[float, int, float]]) -> tuple[tuple[int, float], ...]:
    out: dict[int, float] = defaultdict(float)
    for _, sender, late in times:
        out[sender] += late
    return tuple(out.items())
