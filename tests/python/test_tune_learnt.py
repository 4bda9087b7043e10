"""The choices that the tuner of ``culmen autotune`` makes for ``culmen tune cluster --fast``."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from culmen.bench.collectives.samples import Header
from culmen.launch.mpi import Launcher, load
from culmen.launch.mpi.collectives import DEFAULT
from culmen.launch.preloading import flags_of_variables
from culmen.tune.cluster import learning
from culmen.tune.cluster.choices import tuned_from
from culmen.tune.cluster.learning import _Cell, _groups, class_of
from culmen.tune.cluster.learnt import Choice, about_searches, learnt_file, read_learnt, write_learnt, write_why_not

HEADER = Header("openmpi", "Open MPI 4.1.4", "bcast", 4, 2, 2)


def chosen(launch, size, algorithm, times_faster):
    return Choice(launch, size, algorithm, 1e-5, 1e-5 / times_faster, 30)


@pytest.fixture
def file(tmp_path) -> Path:
    choices = [
        chosen(1, 8, "chain", 1.2), chosen(2, 8, "binomial", 1.5), chosen(3, 8, "chain", 1.3),
        chosen(1, 64, DEFAULT, 1.0), chosen(2, 64, "chain", 1.1), chosen(3, 64, DEFAULT, 1.0),
        *(chosen(launch, 512, DEFAULT, 1.0) for launch in (1, 2, 3)),
    ]  # fmt: skip
    path = learnt_file("bcast", 4, tmp_path)
    write_learnt(path, HEADER, choices)
    return path


def test_the_algorithms_of_all_launches_are_proposed(file):
    learnt = read_learnt(file)
    assert learnt.proposals(2) == {8: ["binomial", "chain"], 64: ["chain"]}
    assert learnt.proposals(1) == {8: ["binomial"], 64: ["chain"]}
    assert learnt.header == HEADER


def test_points_without_a_comparison_keep_the_default(file, tmp_path):
    tuned = tuned_from([("bcast", 4)], tmp_path)
    assert [(each.place.size, each.algorithm, each.default_s) for each in tuned.choices] == [
        (size, DEFAULT, pytest.approx(1e-5)) for size in (8, 64, 512)
    ]
    assert tuned.shapes == {("bcast", 4): (2, 2)}
    assert tuned.calls == 9 * 30


def test_a_search_without_the_tuner_is_told(file, tmp_path):
    write_why_not(
        learnt_file("reduce", 4, tmp_path), "reduce", 4, "under the tuner, with 8 bytes: no answer within 60 s"
    )
    assert about_searches([("bcast", 4), ("reduce", 4)], tmp_path) == [
        "The tuner of `culmen autotune` proposed another algorithm for 2 of 3 points.",
        "culmen measured all algorithms of reduce with 4 ranks without this tuner: under the tuner, with 8 bytes: no "
        "answer within 60 s.",
    ]


@pytest.mark.parametrize(
    ("collective", "size", "smallest"),
    [("bcast", 0, 0), ("bcast", 1, 1), ("bcast", 12, 8), ("allgather", 12, 8), ("reduce_scatter", 12, 32)],
)
def test_sizes_have_the_classes_of_the_tuner(collective, size, smallest):
    assert class_of(collective, size, 4) == smallest


def test_sizes_of_one_class_are_in_several_launches():
    mpi = next(each for each in load() if each.title == "Open MPI 4")
    cell = _Cell(Launcher("mpirun", mpi), ("bcast",), 4, (8, 12, 15, 16, 24), "", {}, 0.1, 60.0, (False, False))
    assert _groups(cell, "bcast") == [[8, 16], [12, 24], [15]]
    assert _groups(replace(cell, sizes=(8, 64)), "bcast") == [[8, 64]]
    assert _groups(cell, "barrier") == [[0]]


def test_variables_reach_other_hosts():
    mpis = {each.title: Launcher("mpirun", each) for each in load()}
    names, file = ["LD_PRELOAD", "OMPI_MCA_coll"], mpis["Open MPI 4"].mpi.host_file
    assert flags_of_variables(mpis["Open MPI 4"], names, {file: "hosts"}) == ["-x", "LD_PRELOAD"]
    assert flags_of_variables(mpis["Open MPI 4"], names, {}) == []
    assert flags_of_variables(mpis["MPICH 4"], names, {mpis["MPICH 4"].mpi.host_file: "hosts"}) == []


def test_the_calls_for_further_comparisons_are_those_of_the_tuner():
    folder = Path(__file__).parents[2] / "src/mpiprobe/autotune"
    header, cells = (folder / "race.h").read_text(), (folder / "cells.c").read_text()
    usual = r"tune_passes = (\d+), tune_look_rounds = (\d+) \* tune_passes, tune_most_looked_again = (\d+)"
    passes, rounds, again = map(int, re.search(usual, header).groups())
    assert (passes * rounds, again) == (learning._LOOK_ROUNDS, learning._LOOKED_AGAIN)
    assert int(re.search(r"longer = (\d+)", cells)[1]) == learning._LONGER
