"""Phases of a program, and how much of the processors it used, from ranks made up here."""

import numpy as np
import pytest
from culmen.profile.figures import figures_of
from culmen.profile.layout import KINDS
from culmen.profile.processors import processors_of, shown_cpus
from culmen.profile.recorded import Calls, Rank, Timeline
from culmen.profile.timeline import common_timeline, phases_of

MESSAGES, COLLECTIVE, FILES = (KINDS.index(kind) for kind in ("messages", "collective", "files"))


def rank(number, parts, bin_s=0.01, noise=None, **more):
    """parts: (number of bins, kind, share of the time in it)"""
    rows = []
    for bins, kind, share in parts:
        part = np.zeros((bins, len(KINDS)))
        part[:, kind] = share if noise is None else np.clip(share + noise.normal(0, 0.05, bins), 0, 1)
        rows.append(part * bin_s)
    timeline = Timeline(bin_s, np.vstack(rows))
    seconds = len(timeline.seconds) * bin_s
    calls = Calls("MPI_Bcast", "collective", "world", 2, 4, -1, 100, 800, 1.0, 1e-6, 1e-3, 0.0, 0)
    return Rank(number, 2, "here", "Open MPI v4.1.4", "app", seconds, 0.1, 0, 0, 2048, [calls], {}, timeline, **more)


def bounds(phases):
    return [phase.begin_s for phase in phases] + [phases[-1].end_s]


THREE = [(100, MESSAGES, 0.05), (200, COLLECTIVE, 0.8), (100, FILES, 0.4)]


@pytest.mark.parametrize("seed", range(5))
def test_phases_begin_where_the_program_changes(seed):
    noise = np.random.default_rng(seed)
    timeline = common_timeline([rank(k, THREE, noise=noise) for k in range(2)])
    phases = phases_of(timeline)
    assert bounds(phases) == pytest.approx([0, 1, 3, 4], abs=2 * timeline.bin_s)
    assert [phase.mostly for phase in phases] == ["messages", "collective", "files"]
    assert [phase.in_mpi for phase in phases] == pytest.approx([0.05, 0.8, 0.4], abs=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_an_even_program_has_one_phase(seed):
    noise = np.random.default_rng(seed)
    assert len(phases_of(common_timeline([rank(0, [(400, COLLECTIVE, 0.5)], noise=noise)]))) == 1
    periodic = [(3, COLLECTIVE, 0.9), (3, COLLECTIVE, 0.1)] * 60
    assert len(phases_of(common_timeline([rank(0, periodic)]))) == 1


@pytest.mark.parametrize("length", [20, 80, 300])
def test_a_cpu_lost_for_some_milliseconds_makes_no_phase(length):
    """In bins of 1 ms. A rank that waits for the other one, which has lost its CPU, is in MPI for all of this time."""
    alone = [(length // 3, COLLECTIVE, 0.1), (length // 12, COLLECTIVE, 1.0), (length // 4, COLLECTIVE, 0.1)]
    parts = [*alone, (length // 12, COLLECTIVE, 1.0), (length // 4, COLLECTIVE, 0.1)]
    assert len(phases_of(common_timeline([rank(0, parts, bin_s=0.001)]))) == 1


def test_ranks_with_bins_of_different_widths_are_put_together():
    fine, coarse = (
        rank(0, THREE, bin_s=0.01),
        rank(1, [(50, MESSAGES, 0.05), (100, COLLECTIVE, 0.8), (50, FILES, 0.4)], bin_s=0.02),
    )
    timeline = common_timeline([fine, coarse])
    assert timeline.shares[0] == pytest.approx(timeline.shares[1])
    spent = (timeline.shares.sum(axis=2) * timeline.bin_s).sum(axis=1)
    assert spent == pytest.approx([fine.timeline.seconds.sum()] * 2)


def test_a_program_too_short_to_be_seen_has_no_timeline():
    assert common_timeline([rank(0, [(3, MESSAGES, 0.5)])]) is None
    assert common_timeline([rank(0, [(50, MESSAGES, 0.0)])]) is None


def test_the_figures_have_every_rank_and_share():
    ranks = [rank(k, THREE) for k in range(100)]
    drawn = {figure.key: figure for figure in figures_of(ranks)}
    assert len(drawn["timeline"].data) == 64  # rows, of one or two ranks each
    assert max(drawn["timeline"].data[0]["marker"]["color"]) == pytest.approx(0.8)
    assert {trace["name"] for trace in drawn["phases"].data} == {"messages", "collective functions", "files"}
    assert len(drawn["phases"].layout["shapes"]) == 2
    assert not {"timeline", "phases"} & {figure.key for figure in figures_of(ranks, part=True)}


def test_the_use_of_processors_is_said():
    part = [(100, COLLECTIVE, 0.5)]
    said, _ = processors_of([rank(0, part, cpu_s=0.5), rank(1, part, cpu_s=1.0)])
    assert said == "On average, a rank used 0.75 CPUs (from 0.50 to 1.00)."
    said, uncounted = processors_of([rank(0, part, cpu_s=3.9)])
    assert uncounted.startswith("This machine does not let users count instructions")
    assert said.endswith("So the program runs threads.")
    _, crowded, per_cycle = processors_of([rank(0, part, cpu_s=0.5, preempted=300, instructions=3000, cycles=2000)])
    assert "300 times a second: other programs, or further ranks and threads, use the same CPUs" in crowded
    assert "1.50 instructions per cycle" in per_cycle
    assert processors_of([rank(0, part)]) == []
    assert (shown_cpus(rank(0, part)), shown_cpus(rank(0, part, cpu_s=0.5))) == ("–", "0.50")
