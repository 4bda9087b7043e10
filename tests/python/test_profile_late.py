"""Times of messages between nodes whose clocks differ."""

from dataclasses import replace

import numpy as np
import pytest
from culmen.profile.late import with_late_senders
from culmen.profile.layout import KINDS
from culmen.profile.recorded import Calls, Message, Rank, Timeline
from culmen.profile.waits import longest_wait, waits_figure, waits_of

NEVER = Timeline(0.1, np.zeros((0, len(KINDS))))
AHEAD_S = 50.0  # of the clock of the second node


def rank(number, messages, host=None, size=2, **numbers):
    """``numbers``: of the rank in communicators of two ranks; without them, all messages are in the world."""
    communicator = messages[0].communicator
    ranks = size if communicator == "world" else 2
    calls = [Calls("MPI_Irecv", "messages", communicator, ranks, 4, 1 - number % 2, 1, 8, 0.0, 0.0, 0.0, 10.0, 1)]
    return Rank(
        number, size, host or f"n{number}", "MPICH 4.0.2", "app", 100.0, 0.1, 0, 0, 0, calls, {}, NEVER, None,
        messages=messages, numbers={"world": number, **numbers},
    )  # fmt: skip


def message(is_sent, peer, tag, begin_s, end_s=0.0, charged_s=0.0, communicator="world"):
    return Message(is_sent, communicator, peer, tag, 0, begin_s, end_s or begin_s, charged_s, 0)


def test_clocks_of_two_nodes_are_compared_by_messages_both_ways():
    first = [message(True, 1, 5, 103.0), message(False, 1, 6, 106.0, 106.25, 0.25)]
    second = [message(False, 0, 5, 101.0 + AHEAD_S, 103.25 + AHEAD_S, 2.25), message(True, 0, 6, 106.0 + AHEAD_S)]
    one, two = with_late_senders([rank(0, first), rank(1, second)])
    assert (one.calls[0].sampled, one.calls[0].waited_s) == (1, 0)
    assert (two.calls[0].sampled, two.calls[0].sampled_s) == (1, 2.25)
    assert two.calls[0].waited_s == pytest.approx(2.0)


def test_messages_one_way_between_nodes_are_not_measured():
    first, second = [message(True, 1, 5, 103.0)], [message(False, 0, 5, 151.0, 153.25, 2.25)]
    assert [each.calls[0].sampled for each in with_late_senders([rank(0, first), rank(1, second)])] == [0, 0]


def rows(first, second):
    """Two communicators of two ranks. In the first one, the sender is two seconds late; in the second one, early."""
    at = {"begin_s": 101.0, "end_s": 103.25, "charged_s": 2.25}
    return [
        rank(0, [message(True, 1, 5, 103.0, communicator=first)], "n", 4, **{first: 0}),
        rank(1, [message(False, 0, 5, **at, communicator=first)], "n", 4, **{first: 1}),
        rank(2, [message(True, 1, 5, 100.0, communicator=second)], "n", 4, **{second: 0}),
        rank(3, [message(False, 0, 5, **at, communicator=second)], "n", 4, **{second: 1}),
    ]


def test_messages_in_communicators_of_one_name_are_not_measured():
    found = with_late_senders(rows("world/cart_sub 1", "world/cart_sub 1"))
    assert [each.calls[0].sampled for each in found] == [0, 0, 0, 0]
    found = with_late_senders(rows("world/split 1 colour 0", "world/split 1 colour 1"))
    assert [each.calls[0].waited_s for each in found] == pytest.approx([0, 2, 0, 0])


def test_messages_in_the_world_are_measured_although_a_rank_left_no_profile():
    sender, receiver, *_ = rows("world", "world")
    found = with_late_senders([receiver, sender])
    assert [each.calls[0].waited_s for each in found] == pytest.approx([2, 0])


def test_waits_are_known_by_the_waiting_and_the_late_rank():
    """In communicators of two ranks, the number of the late rank is another one than in the world."""
    found = with_late_senders(rows("world/split 1 colour 0", "world/split 1 colour 1"))
    assert waits_of(found).seconds == pytest.approx({(1, 0): 2.0})
    last = found[3]
    samples = {"sampled": 1, "sampled_s": 5.0, "waited_s": 4.0, "waited_for": ()}
    bcast = replace(last.calls[0], function="MPI_Bcast", peer=0, **samples)
    allreduce = replace(bcast, function="MPI_Allreduce", peer=-1, waited_s=3.0)
    found[3] = replace(last, calls=[*last.calls, bcast, allreduce])
    waits = waits_of(found)
    assert waits.seconds == pytest.approx({(1, 0): 2.0, (3, 2): 4.0})
    assert waits.unknown_s == pytest.approx(3.0)
    assert longest_wait(found) == "In the measured calls, rank 3 waited longest for rank 2: 4 s in all."
    figure = waits_figure(found)
    assert "Further waits of 3 s are not drawn" in figure.notes[0]
    assert "rank 3 waited for rank 2: 4 s" in str(figure.data)


def test_the_longest_wait_is_not_named_if_most_late_ranks_are_unknown():
    """In MPI_Allreduce, rank 1 may have waited longer for another rank."""
    found = with_late_senders(rows("world/split 1 colour 0", "world/split 1 colour 1"))
    samples = {"sampled": 1, "sampled_s": 5.0, "waited_for": ()}
    allreduce = replace(found[3].calls[0], function="MPI_Allreduce", peer=-1, waited_s=1.5, **samples)
    found[3] = replace(found[3], calls=[*found[3].calls, allreduce])
    assert "rank 1 waited longest for rank 0: 2 s" in longest_wait(found)
    found[3] = replace(found[3], calls=[*found[3].calls, allreduce])
    assert longest_wait(found) == ""


def test_without_samples_there_are_no_waits():
    ranks = [rank(0, [message(True, 1, 5, 103.0)]), rank(1, [message(True, 0, 5, 103.0)])]
    assert waits_figure(ranks) is None
    assert longest_wait(ranks) == ""


ALL, ROOT, AT_ROOT, LOWER = -1, -2, -3, -4  # as probe_needs_… in record.h


@pytest.mark.parametrize(
    ("needs", "root", "waits"),
    [
        (ALL, -1, [0, 2]),
        (ROOT, 1, [0, 2]),
        (ROOT, 2, []),
        (AT_ROOT, 0, [0]),
        (AT_ROOT, 1, []),
        (LOWER, -1, [2]),
    ],
)
@pytest.mark.parametrize("nodes", [1, 3])
def test_nonblocking_collectives_wait_for_the_last_rank_that_they_need(needs, root, waits, nodes):
    """Rank 1 makes the call when the others already wait for two seconds. Messages tell the clocks of nodes."""
    world = []
    for number in range(3):
        ahead_s = AHEAD_S * (number % nodes)
        begin_s = (100.0, 103.0, 100.5)[number] + ahead_s
        wait_s = (101.0, 103.0, 101.0)[number] + ahead_s
        end_s = 103.25 + ahead_s
        collective = [message(True, root, needs, begin_s), message(False, root, needs, wait_s, end_s, end_s - wait_s)]
        others = [other for other in range(3) if other != number]
        sent = [message(True, other, 10 * number + other, 200.0 + ahead_s) for other in others]
        received = [message(False, other, 10 * other + number, 200.0 + ahead_s, 200.1 + ahead_s) for other in others]
        world.append(rank(number, [*collective, *sent, *received], f"n{number % nodes}", 3))
    found = with_late_senders(world)
    assert all(each.calls[0].sampled == 3 for each in found)
    late = {(each.rank, to): s for each in found for to, s in each.calls[0].waited_for if s > 0.001}
    assert late == pytest.approx({(waiter, 1): 2.0 for waiter in waits})


def test_collectives_of_which_a_rank_is_not_known_are_not_measured():
    first = [message(True, -1, ALL, 100.0), message(False, -1, ALL, 101.0, 103.25, 2.25)]
    assert with_late_senders([rank(0, first)])[0].calls[0].sampled == 0
