"""Remarks of a profile about each node, from ranks of several nodes."""

import numpy as np
import pytest
from culmen.profile.figures import profile_page
from culmen.profile.layout import KINDS
from culmen.profile.nodes import nodes_of, remark_on
from culmen.profile.page import page
from culmen.profile.recorded import Calls, Rank, Timeline
from culmen.profile.worlds import worlds_of
from rich.console import Console

pytestmark = pytest.mark.no_numbers

NEVER = Timeline(0.1, np.zeros((0, len(KINDS))))


def rank(number, host, in_mpi, seconds=10.0):
    calls = Calls("MPI_Allreduce", "collective", "world", 4, 4, -1, 100, 800, in_mpi, 1e-6, 1e-3, 0.0, 0)
    return Rank(number, 4, host, "Open MPI v4.1.4", "app", seconds, 0.1, 0, 0, 2048, [calls], {}, NEVER)


def shown(ranks):
    console = Console(width=120)
    with console.capture() as out:
        console.print(page(ranks))
    return out.get()


UNEVEN = [rank(0, "thin", 5), rank(1, "fat", 1), rank(2, "thin", 7), rank(3, "fat", 3)]


def test_a_node_has_the_times_of_its_ranks():
    thin, fat = nodes_of(UNEVEN)
    assert (thin.name, thin.ranks, thin.share, thin.least, thin.most, thin.memory_kib) == (
        "thin",
        2,
        0.6,
        0.5,
        0.7,
        4096,
    )
    assert (fat.name, fat.share) == ("fat", 0.2)


def test_the_pages_have_a_row_for_each_node():
    text = shown(UNEVEN)
    row = next(line.split() for line in text.splitlines() if line.startswith("thin"))
    assert row == ["thin", "2", "60.0%", "50.0%", "70.0%", "4", "MiB"]
    assert "Either fat is slower, or its ranks have more work." in " ".join(text.split())
    assert 'id="nodes"' in profile_page(worlds_of(UNEVEN))


def test_one_node_has_no_row_of_its_own():
    ranks = [rank(0, "thin", 5), rank(1, "thin", 1)]
    assert not any(line.startswith("thin") for line in shown(ranks).splitlines())
    assert 'id="nodes"' not in profile_page(worlds_of(ranks))


def test_nodes_with_like_shares_are_not_remarked_on():
    assert not remark_on(nodes_of([rank(0, "a", 5), rank(1, "b", 6)]))


def test_ranks_without_an_end_do_not_count_for_the_share():
    lost = [rank(0, "a", 5, seconds=None), rank(1, "b", 6)]
    node = nodes_of(lost)[0]
    assert (node.share, node.least, node.ranks) == (None, None, 1)
    assert not remark_on(nodes_of(lost))
    assert "–" in shown(lost)
