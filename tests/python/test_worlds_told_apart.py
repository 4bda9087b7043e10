"""The worlds of a profile, by the names that launchers give them, and by the times of ranks."""

import numpy as np
import pytest
from culmen.profile.layout import KINDS
from culmen.profile.recorded import Rank, Timeline
from culmen.profile.worlds import remark_on, worlds_of

pytestmark = pytest.mark.no_numbers

NEVER = Timeline(0.1, np.zeros((0, len(KINDS))))


def rank(number, size, begin_s, seconds=10.0, world=0):
    rest = {"timeline": NEVER, "world": world, "begin_s": begin_s}
    return Rank(number, size, "here", "MPICH 4.0.2", "app", seconds, 0.1, 0, 0, 0, [], {}, **rest)


def numbers(worlds):
    return [[each.rank for each in world] for world in worlds.all]


def test_names_tell_worlds_apart_that_ran_at_a_time():
    ranks = [rank(n, 2, 100 + 0.1 * n + 0.01 * world, world=world) for n in (0, 1) for world in (7, 8)]
    worlds = worlds_of(ranks)
    assert numbers(worlds) == [[0, 1], [0, 1]]
    assert [{each.world for each in world} for world in worlds.all] == [{7}, {8}]
    assert worlds.is_sure


def test_times_tell_worlds_apart_that_have_no_name():
    first, second = [rank(0, 2, 100)], [rank(0, 2, 120), rank(1, 2, 120.1)]  # rank 1 of the first one left nothing
    worlds = worlds_of([*second, *first])
    assert worlds.all == [first, second]
    assert worlds.is_sure
    assert worlds.ranks == second


def test_a_launcher_may_give_a_name_twice():
    ranks = [rank(n, 2, begin_s, world=5) for begin_s in (100, 120) for n in (0, 1)]
    assert worlds_of(ranks).all == [ranks[:2], ranks[2:]]


def test_worlds_that_cannot_be_told_apart_are_said():
    worlds = worlds_of([rank(n, 2, 100 + k) for k in (0, 1) for n in (0, 1)])
    assert len(worlds.all) == 2
    assert "ranks may be in the wrong world" in remark_on(worlds)


def test_the_world_with_the_most_time_is_shown():
    ranks = [rank(0, 1, 100, 30), rank(0, 2, 120, 20), rank(1, 2, 120, 20)]
    worlds = worlds_of(ranks)
    assert worlds.chosen == 1
    assert "This is world 2 of 2;" in remark_on(worlds)
    assert worlds_of(ranks, 1).ranks == ranks[:1]
