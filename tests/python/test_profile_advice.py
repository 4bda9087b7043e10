"""Remarks of a profile about odd names, lost ranks, I/O and a chosen part."""

from dataclasses import replace

import numpy as np
import pytest
from culmen.cli.work.profile import _show
from culmen.launch.mpi import with_library
from culmen.profile.chosen import choice
from culmen.profile.figures import figures_of, profile_page
from culmen.profile.layout import KINDS
from culmen.profile.page import advice_of, cells_of, columns_of, share_of, title_of, totals_of, waiting_in
from culmen.profile.recorded import Calls, Rank, Timeline
from culmen.profile.worlds import worlds_of

pytestmark = pytest.mark.no_numbers

LIBRARY = "Open MPI v4.1.4"
NEVER = Timeline(0.1, np.zeros((0, len(KINDS))))


def called(function, kind, seconds, communicator="world"):
    return Calls(function, kind, communicator, 2, 4, -1, 100, 800, seconds, 1e-6, 1e-3, 0.0, 0)


def rank(number, *calls, program="app", seconds=10.0):
    return Rank(number, 2, f"n{number}", LIBRARY, program, seconds, 0.1, 0, 0, 2048, [*calls], {}, NEVER)


def test_brackets_and_colons_in_names_are_no_markup(tmp_path, capsys):
    ranks = [
        rank(n, called("MPI_File_write", "files", 5, "world/file /tmp/a[b].h5"), program="app [/x] :warning:")
        for n in (0, 1)
    ]
    _show(tmp_path, worlds_of(ranks))
    said = capsys.readouterr().out
    assert "app [/x] :warning:" in said
    assert "a[b].h5" in said.replace("\n", "")


@pytest.mark.parametrize("width", [60, 80, 90, 200])
def test_no_figure_of_the_table_is_cut(tmp_path, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    name = "world/cart 1/split 1 colour 0/dup 1"
    calls = replace(called("MPI_Neighbor_alltoallv", "collective", 6, name), calls=11_907_123, bytes=3 * 2**38)
    _show(
        tmp_path,
        worlds_of([rank(0, replace(calls, sampled=9, sampled_s=1.0, waited_s=0.5)), rank(1, calls)]),
        sizes=True,
    )
    lines = capsys.readouterr().out.splitlines()
    [row] = [line for line in lines if line.startswith("MPI_Neighbor_alltoallv ") and "from" not in line]
    assert all(figure in row for figure in ("23,814,246", "1536 GiB", "12.0000", "60.0%", "50%"))
    heading = next(line for line in lines if line.startswith("function") and "communicator" in line)
    table = lines[lines.index(heading) + 2 : lines.index("", lines.index(heading))]
    shown = "".join(line[heading.index("communicator") :].strip() for line in table)
    assert shown.replace(" ", "") == "world/cart1/split1/dup1"


def test_advice_is_about_ranks_whose_whole_time_is_known():
    lost = rank(1, called("MPI_Recv", "messages", 300), seconds=None)
    said = advice_of([rank(0, called("MPI_Allreduce", "collective", 6)), lost])
    assert any("MPI_Allreduce (world) takes most of that time: 60% of the run" in each for each in said)


def test_the_times_of_killed_ranks_end_with_the_last_recorded_call():
    seen = np.zeros((40, len(KINDS)))
    seen[:, KINDS.index("collective")] = 0.06
    lost = [
        replace(rank(n, called("MPI_Allreduce", "collective", 2.4), seconds=None), timeline=Timeline(0.1, seen))
        for n in (0, 1)
    ]
    assert title_of(lost).endswith("4 s after MPI_Init until the end of the last recorded call")
    said = "MPI takes 60% of the time of the ranks until the end of their last recorded calls: from 60% (rank 0) to 60%"
    assert share_of(lost).startswith(said)
    told = advice_of(lost)
    assert told[0].endswith("did not reach MPI_Finalize. Their times end with the last recorded calls.")
    assert any("MPI_Allreduce (world) takes most of that time: 60% of the run" in each for each in told)
    figures = {figure.key: figure for figure in figures_of(lost)}
    assert sum(bar["y"][0] for bar in figures["balance"].data) == 4
    killed_early = [rank(0, called("MPI_Bcast", "collective", 1), seconds=None)]
    assert "is not known" in share_of(killed_early)


def test_the_advice_names_a_tuner_for_files_and_for_messages():
    of_files = " ".join(advice_of([rank(n, called("MPI_File_write_at", "files", 6)) for n in (0, 1)]))
    assert "The program is bound by its I/O." in of_files
    assert "culmen tune io" in of_files
    of_messages = " ".join(advice_of([rank(n, called("MPI_Send", "messages", 6)) for n in (0, 1)]))
    assert "The program is MPI-bound." in of_messages
    assert "culmen tune placement" in of_messages


def test_names_of_the_table_choose_communicators():
    ranks = [rank(n, called("MPI_Bcast", "collective", 1, f"world/split 1 colour {n}")) for n in (0, 1)]
    assert [len(each.calls) for each in choice(None, "world/split 1", None).among(ranks)] == [1, 1]
    assert [len(each.calls) for each in choice(None, "*colour 1", None).among(ranks)] == [0, 1]


def test_a_part_of_a_profile_does_not_call_the_rest_outside_mpi():
    ranks = [rank(n, called("MPI_Bcast", "collective", 1)) for n in (0, 1)]
    names = {part: [row["name"] for row in figures_of(ranks, part)[0].data] for part in (False, True)}
    assert "outside MPI" in names[False]
    assert "outside MPI" not in names[True]
    assert "everything else" in names[True]
    whole, page = profile_page(worlds_of(ranks)), profile_page(worlds_of(ranks), part=True)
    assert ("in the chosen calls" in page, "in the chosen calls" in whole) == (True, False)


def advice(*calls):
    return " ".join(advice_of([rank(0, *calls), rank(1, *calls)]))


def test_twice_as_fast_saves_half_of_the_time_in_the_function():
    said = advice(called("MPI_Alltoall", "collective", 6))
    assert (
        "takes most of that time: 60% of the run. If it were twice as fast, the run would take at most 30% less" in said
    )
    assert "Without the waits" not in said


def test_a_faster_function_does_not_save_the_waits_for_late_ranks():
    sampled = replace(called("MPI_Alltoall", "collective", 6), sampled=10, sampled_s=0.6, waited_s=0.2)
    said = advice(sampled)
    assert (
        "Without the waits for late ranks it takes 40%. If it were twice as fast, the run would take 20% less" in said
    )


@pytest.mark.parametrize(("fewer", "enough"), [(1, "too seldom"), (0, "often enough")])
def test_the_advice_names_the_number_of_calls_that_it_compares(fewer, enough):
    number = len(with_library(LIBRARY).collectives.algorithms("bcast", 2))
    least = 5 * 3 * number  # it chooses after three calls for each algorithm, and a fifth of the calls may be for this
    said = advice(replace(called("MPI_Bcast", "collective", 6), calls=least - fewer))
    assert f"Each rank calls MPI_Bcast {least - fewer} times with messages of 8 to 15 B. That is {enough}" in said
    assert (
        f"there should be at least {least} calls, because culmen needs {3 * number} to choose one of {number}" in said
    )


def test_nonblocking_functions_are_tuned_while_the_program_runs():
    number = len(with_library(LIBRARY).collectives.algorithms("iallreduce", 2))
    said = advice(replace(called("MPI_Iallreduce", "collective", 6), calls=100_000))
    assert f"often enough for `culmen autotune -- …`: there should be at least {15 * number} calls" in said
    assert "culmen tune app" not in said


def test_no_tuner_is_named_for_one_rank():
    alone = replace(called("MPI_Allreduce", "collective", 6, "world/split 1"), ranks=1, calls=100_000)
    numbers = {"world/split 1": 0}
    said = " ".join(advice_of([replace(rank(n, alone), numbers=numbers) for n in (0, 1)]))
    assert "The program is MPI-bound." in said and "These calls are on one rank alone" in said
    assert "autotune" not in said and "culmen tune" not in said and "--imbalance" not in said
    spawned = " ".join(advice_of([rank(n, alone) for n in (0, 1)]))
    assert "on one rank alone" not in spawned, "an intercommunicator has other ranks, too"
    world = [replace(rank(0, called(*each, 6)), size=1) for each in (("MPI_Send", "messages"), ("MPI_Wait", "waits"))]
    assert all("culmen tune" not in " ".join(advice_of([each])) for each in world)


def test_waits_as_short_as_the_added_ones_call_for_no_equal_work():
    for waited_s, short in ((4e-4, True), (4e-3, False)):
        times = {"seconds": 1.5 * waited_s, "sampled_s": 1.5 * waited_s, "waited_s": waited_s}
        sampled = replace(called("MPI_Allreduce", "collective", 6), sampled=100, **times)
        said = waiting_in(totals_of([rank(n, sampled) for n in (0, 1)]), 4 * waited_s)
        assert ("waited only 4 µs" in said, "equal work for all ranks does" in said) == (short, not short)


@pytest.mark.parametrize(("run_s", "short"), [(0.09, True), (0.11, False)])
def test_a_short_run_is_not_judged(run_s, short):
    said = " ".join(
        advice_of([rank(n, called("MPI_Cart_create", "communicators", 0.05), seconds=run_s) for n in (0, 1)])
    )
    assert ("A run of 0.09 s is too short to tell" in said, "MPI-bound. MPI_Cart_create" in said) == (short, not short)


@pytest.mark.parametrize(("waited_s", "named"), [(0.82, True), (0.85, False)])
def test_a_small_gain_calls_for_no_tuner(waited_s, named):
    """Without the waits, the function takes 11 or 9 % of the run. Twice as fast, it would save half of this."""
    sampled = replace(called("MPI_Allreduce", "collective", 6), calls=10_000, sampled=1000, sampled_s=1.0)
    said = advice(replace(sampled, waited_s=waited_s))
    assert ("autotune" in said, "hardly worthwhile" in said) == (named, not named)


def test_samples_much_faster_than_all_calls_say_nothing_of_these():
    """80 of 800 calls, which took 24 µs of 0.116 s."""
    fast = replace(called("MPI_Sendrecv", "messages", 0.058), calls=400, sampled=40, sampled_s=12e-6, waited_s=6e-6)
    allreduce = replace(called("MPI_Allreduce", "collective", 1), sampled=10, sampled_s=0.09, waited_s=0.03)
    totals = totals_of([rank(n, fast, allreduce) for n in (0, 1)])
    cells = {function: cells_of(total, 20, columns_of(totals))[-1] for (function, _), total in totals.items()}
    assert cells == {"MPI_Sendrecv": "–", "MPI_Allreduce": "33%"}
    said = waiting_in(totals, 20)
    assert said.startswith("In MPI_Allreduce, ranks wait") and "(measured in 20 of 200 calls)" in said
    assert waiting_in(totals_of([rank(0, fast)]), 20) == ""


def test_a_run_with_samples_is_not_told_to_measure_samples():
    """Waits for messages from any source cannot be measured."""
    receive, barrier = called("MPI_Irecv", "messages", 6), called("MPI_Barrier", "collective", 1)
    assert "`culmen profile --imbalance 10 -- …` measures it" in advice(receive, barrier)
    assert "--imbalance" not in advice(receive, replace(barrier, sampled=10, sampled_s=0.1, waited_s=0.05))
