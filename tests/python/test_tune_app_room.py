"""Calls for which the profile of a program had no room: `culmen tune app` says that it does not tune them."""

from dataclasses import replace

import numpy as np
from culmen.launch.mpi import load
from culmen.profile.layout import KINDS
from culmen.profile.page import page
from culmen.profile.recorded import FURTHER, Calls, Rank, Timeline
from culmen.tune.app.cells import cells_of, remark_on_room, remarks_without_rules
from rich.console import Console

KNOWN = next(mpi.collectives for mpi in load() if mpi.name == "openmpi")
NEVER = Timeline(0.1, np.zeros((0, len(KINDS))))


def called(function, seconds, communicator="world", kind="collective"):
    calls = Calls(function, kind, communicator, 4, 7, -1, 1, 64, seconds, 1e-3, 1e-3, 0.0, 0)
    return replace(calls, ranks=0, size_class=None) if communicator == FURTHER else calls


def ranks_with(*calls):
    further = sum(each.calls for each in calls if each.communicator == FURTHER)
    return [Rank(k, 4, "here", "Open MPI v4.1.4", "app", 10.0, 0.1, further, 0, 0, [*calls], {}, NEVER) for k in (0, 1)]


def advice(ranks):
    console = Console(width=300)
    with console.capture() as out:
        console.print(page(ranks))
    return out.get()


def test_the_share_of_calls_without_room_is_said():
    ranks = ranks_with(
        called("MPI_Allreduce", 5.0),
        called("MPI_Allreduce", 2.0, FURTHER),
        called("MPI_Bcast", 0.4, FURTHER),
        called("MPI_Send", 0.6, FURTHER, "messages"),  # no rules can be made for it
    )
    assert [cell.collective for cell in cells_of(ranks, KNOWN)] == ["allreduce"]
    assert remark_on_room(ranks, KNOWN) == (
        "Collectives with 30% of the time in MPI are not tuned, because the profile had no room for their "
        "communicators and sizes (`further calls`)."
    )
    assert "They take 38% of the time in MPI. `culmen tune app` does not tune them." in advice(ranks)


def test_a_small_share_is_not_none():
    ranks = ranks_with(called("MPI_Allreduce", 5.0), called("MPI_Bcast", 1e-4, FURTHER))
    assert remark_on_room(ranks, KNOWN).startswith("Collectives with less than 1% of the time in MPI are not tuned")


def test_a_profile_with_room_for_all_calls_has_no_remark():
    ranks = ranks_with(called("MPI_Allreduce", 5.0), called("MPI_Send", 1.0, kind="messages"))
    assert remark_on_room(ranks, KNOWN) == ""
    assert "tune app` does not tune" not in advice(ranks)
    assert remark_on_room(ranks_with(called("MPI_Send", 1.0, FURTHER, "messages")), KNOWN) == ""


def test_collectives_that_take_time_but_have_no_rules_are_named_with_the_reason():
    ranks = ranks_with(
        called("MPI_Gather", 5.0), called("MPI_Gatherv", 3.0), called("MPI_Ibcast", 1.0), called("MPI_Scatterv", 0.01)
    )
    assert [cell.collective for cell in cells_of(ranks, KNOWN)] == ["gather"]
    assert remarks_without_rules(ranks, KNOWN) == [
        "gatherv takes 30.0% of the run, but is not tuned: this MPI has only one algorithm for it.",
        "ibcast takes 10.0% of the run, but is not tuned: culmen writes rules only for blocking collectives; "
        "`culmen autotune` tunes it.",
    ]
