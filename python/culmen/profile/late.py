"""How long requests waited for late ranks: the times of sampled messages and nonblocking collectives on these ranks."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations

from .communicators import members_of
from .recorded import Message, Rank

Pair = tuple[Rank, Message, Rank, Message]
_Members = Callable[[str, int], dict[int, int]]
_Call = tuple[str, int, int]  # communicator, tag and number
_Found = dict[tuple[int, int], list[tuple[float, int, float]]]
"""For a rank and an index of its calls: the time of each message, its sender, and the wait for the sender."""

# As probe_needs_… in src/mpiprobe/record.h. The others (3) need all ranks if they are the root.
_ALL, _ROOT, _LOWER, _END = 1, 2, 4, 8


def with_late_senders(world: list[Rank]) -> list[Rank]:
    """The same ranks. Their receives with requests also have the time of waits that passed before the message was sent.
    Their nonblocking collectives also have the time of waits that passed before all ranks whose data they need had made
    the call. All ranks must be of one world."""
    members = cache(partial(members_of, world))
    messages = [*_pairs(world, members)]
    # Not from collectives: if a rank always comes early, nothing that it sends arrives quickly.
    offsets = {(rank.host, rank.host): 0.0 for rank in world} | _offsets([pair for (pair,) in messages])
    found: _Found = defaultdict(list)
    for pairs in [*messages, *_joined(world, members)]:
        ahead = [offsets.get((sender.host, receiver.host)) for sender, _, receiver, _ in pairs]
        if not pairs or None in ahead:
            continue
        came = [sent.begin_s + (offset or 0) for (_, sent, _, _), offset in zip(pairs, ahead, strict=True)]
        last_s = max(came)
        sender, _, receiver, one = pairs[came.index(last_s)]
        late_s, whole_s = last_s - one.begin_s, one.end_s - one.begin_s
        share = min(1.0, max(0.0, late_s / whole_s)) if whole_s > 0 else 0.0
        found[receiver.rank, one.calls].append((one.charged_s, sender.rank, share * one.charged_s))
    return [_with(rank, found) for rank in world]


def _pairs(world: list[Rank], members: _Members) -> Iterator[list[Pair]]:
    """The sampled messages of which both ends are known. If communicators share a name, their messages cannot be told
    apart."""
    sent = {
        (one.communicator, rank.numbers.get(one.communicator), one.peer, one.tag, one.number): (rank, one)
        for rank in world
        for one in rank.messages
        if one.is_sent and one.tag >= 0
    }
    for rank, one in _receives(world, members):
        key = one.communicator, one.peer, rank.numbers.get(one.communicator), one.tag, one.number
        if one.tag >= 0 and key in sent:
            yield [(*sent[key], rank, one)]


def _joined(world: list[Rank], members: _Members) -> Iterator[list[Pair]]:
    """For each sampled collective of a rank, the last rank of each node that it needs; none if some are not known."""
    came: dict[_Call, dict[int, Message]] = defaultdict(dict)
    for rank in world:
        for one in rank.messages:
            if one.is_sent and one.tag < 0:
                came[one.communicator, one.tag, one.number][rank.rank] = one
    ranks = {rank.rank: rank for rank in world}

    @cache
    def last(call: _Call, needed: tuple[int, ...]) -> list[tuple[Rank, Message]]:
        there = came[call]
        if not all(number in there for number in needed):
            return []
        in_order = sorted(needed, key=lambda number: there[number].begin_s)
        return [*{ranks[number].host: (ranks[number], there[number]) for number in in_order}.values()]

    for rank, one in _receives(world, members):
        if one.tag < 0:
            numbers = members(one.communicator, rank.calls[one.calls].ranks)
            own = rank.numbers.get(one.communicator, rank.rank)
            needed = tuple(numbers[k] for k in _needed(one, own, len(numbers)))
            yield [(*each, rank, one) for each in last((one.communicator, one.tag, one.number), needed)]


def _needed(one: Message, own: int, size: int) -> Sequence[int]:
    """Ranks of the communicator, among them ``own``, the calling rank: it does not wait for itself."""
    needs = -one.tag % _END
    if needs == _ROOT:
        return [one.peer]
    if needs == _LOWER:
        return range(own + 1)
    return range(size) if needs == _ALL or one.peer == own else [own]


def _receives(world: list[Rank], members: _Members) -> Iterator[tuple[Rank, Message]]:
    for rank in world:
        for one in rank.messages:
            if not one.is_sent and members(one.communicator, rank.calls[one.calls].ranks):
                yield rank, one


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
