"""The choices of ``culmen tune cluster``, from samples of launches, and the trial of its file."""

import csv
import re
from types import SimpleNamespace

import pytest
from culmen._core import InputError
from culmen.base.exit_codes import FINISHED, RESUMABLE
from culmen.bench.collectives.measured import points_of
from culmen.bench.collectives.samples import Samples
from culmen.bench.jobs.asked import Task
from culmen.bench.jobs.folder import JobFolder, Submitted
from culmen.bench.jobs.job import Job
from culmen.bench.measuring import End
from culmen.cli.work import tune_cluster
from culmen.cli.work.submit import _collect
from culmen.launch.mpi import Launcher, load
from culmen.launch.mpi.collectives import DEFAULT, Algorithm
from culmen.launch.scheduler.job import Phase
from culmen.launch.scheduler.job import Place as Phased
from culmen.tune.cluster import asked, origin, page
from culmen.tune.cluster.choices import Lost, Place, tuned_from, write_choices
from culmen.tune.cluster.kept import kept_rows
from culmen.tune.cluster.measured import RACE, candidates, candidates_for_all, file_of, leave_out_lost
from culmen.tune.cluster.pairs import LAUNCHES
from culmen.tune.cluster.results import counted
from culmen.tune.cluster.ruled import about_one_rule, said_without_rules, section_without_rules, without_rules
from culmen.tune.cluster.trial import FILE, Trial, as_tried, tried, write_trial
from culmen.tune.rules.made import rules_of
from culmen.tune.rules.trees import FLAT, PARENT
from tuning_samples import VERSION, measure, samples, write

KNOWN = next(mpi for mpi in load() if mpi.title == "Open MPI 4").collectives
MPICH = next(mpi for mpi in load() if mpi.title == "MPICH 4")


def test_each_row_has_the_shape_of_its_own_race(tmp_path):
    measure(tmp_path, "bcast", 4, [8], nodes=2, ppn=2)
    measure(tmp_path, "bcast", 2, [8])
    tuned = tuned_from([("bcast", 4), ("bcast", 2)], tmp_path)
    write_choices(tuned, tmp_path / "choices.csv")
    with (tmp_path / "choices.csv").open(newline="") as file:
        rows = {row["ranks"]: (row["nodes"], row["ppn"]) for row in csv.DictReader(file)}
    assert rows == {"2": ("1", "2"), "4": ("2", "2")}
    assert page.about_shapes(tuned, KNOWN) == (
        "Measured with 2 ranks on 1 node, 4 ranks on 2 nodes (at most 2 on one). The rules also hold if so many ranks "
        "are on other numbers of nodes."
    )
    assert "4 ranks on 2 nodes" in page.tuning_page(tuned, "", "host")
    assert page.about_shapes(tuned, MPICH.collectives).endswith("Rules for several nodes do not hold within one node.")
    kinds = (None, ("",), (PARENT,), (FLAT,))
    assert [{*tuned.by_collective(kind)["bcast"]} for kind in kinds] == [{2, 4}, {2}, {4}, set()]


def test_launches_of_two_versions_are_not_mixed(tmp_path):
    measure(tmp_path, "bcast", 4, [8])
    write(tmp_path, "bcast", 4, 2, [samples(DEFAULT, 8, 1e-6)], version="Open MPI 4.1.6")
    with pytest.raises(InputError, match=r"launches of Open MPI 4\.1\.4 and Open MPI 4\.1\.6; to measure again, write"):
        tuned_from([("bcast", 4)], tmp_path)


def test_launches_on_different_nodes_are_not_mixed(tmp_path):
    measure(tmp_path, "bcast", 4, [8], partition="main")
    write(tmp_path, "bcast", 4, 2, [samples(DEFAULT, 8, 1e-6)], nodes=2, ppn=2, partition="main")
    with pytest.raises(InputError) as error:
        tuned_from([("bcast", 4)], tmp_path)
    assert "bcast with 4 ranks were on 1 node of main with at most 4 ranks on one and on 2 nodes of main" in str(
        error.value
    )


def test_an_algorithm_that_is_refused_at_one_size_is_used_at_others(tmp_path):
    refused = "too few elements"
    pairs = [samples(DEFAULT, 65536, 2e-6), samples("tree", 65536, 1e-6)]
    first = [samples(DEFAULT, 8, 2e-6), samples("tree", 8, 0, refused)]
    write(tmp_path, "allreduce", 4, RACE, [*first, *pairs])
    for launch in range(1, LAUNCHES + 1):
        write(tmp_path, "allreduce", 4, launch, pairs)
    tuned = tuned_from([("allreduce", 4)], tmp_path)
    assert {each.place.size: each.algorithm for each in tuned.choices} == {8: DEFAULT, 65536: "tree"}
    assert tuned.lost == {("allreduce", 4, 8, "tree"): refused}
    assert page.lost_rows(tuned) == [["allreduce", "4", "8 B", "tree", refused]]


def test_an_algorithm_that_was_refused_later_is_not_chosen_although_it_was_faster(tmp_path):
    measure(tmp_path, "bcast", 4, [8])
    write(tmp_path, "bcast", 4, RACE, [samples(DEFAULT, 8, 2e-6), samples("chain", 8, 0, "too few elements")])
    tuned = tuned_from([("bcast", 4)], tmp_path)
    assert [each.algorithm for each in tuned.choices] == [DEFAULT]


def test_the_fastest_two_of_a_race_are_compared_and_the_faster_one_is_chosen(tmp_path):
    seconds = {DEFAULT: 4e-6, "chain": 2e-6, "pipeline": 2.1e-6, "knomial": 3e-6}
    write(tmp_path, "bcast", 4, RACE, [samples(name, 8, s) for name, s in seconds.items()])
    assert candidates(file_of("bcast", 4, RACE, tmp_path)) == {8: ["chain", "pipeline"]}
    of_launches = {DEFAULT: 4e-6, "chain": 3e-6, "pipeline": 2e-6}
    for launch in range(1, LAUNCHES + 1):
        write(tmp_path, "bcast", 4, launch, [samples(name, 8, s) for name, s in of_launches.items()])
    (choice,) = tuned_from([("bcast", 4)], tmp_path).choices
    assert (choice.algorithm, choice.gain.times_faster) == ("pipeline", pytest.approx(2.0))


def test_times_of_different_rounds_are_not_compared(tmp_path):
    """From the fifth round on, everything is four times slower. The chain was only in the rounds before."""
    rounds = [1e-6] * 4 + [4e-6] * 6
    speeds = {DEFAULT: (1.0, 10), "linear": (0.6, 10), "chain": (0.9, 4)}
    points = [
        Samples(name, 8, [[k * s] * 2 for s in rounds[:n]], [False] * n, True, "") for name, (k, n) in speeds.items()
    ]
    write(tmp_path, "bcast", 4, RACE, points)
    assert candidates(file_of("bcast", 4, RACE, tmp_path)) == {8: ["linear", "chain"]}


def test_algorithms_that_are_not_clearly_faster_in_the_race_are_not_compared(tmp_path):
    seconds = {DEFAULT: 4e-6, "chain": 3.95e-6, "pipeline": 5e-6}
    write(tmp_path, "bcast", 4, RACE, [samples(name, 8, s) for name, s in seconds.items()])
    assert candidates(file_of("bcast", 4, RACE, tmp_path)) == {}


@pytest.mark.parametrize(
    ("why", "ended", "refuses", "left"),
    [
        ("too few elements", False, True, [64]),
        ("a result is wrong", False, True, []),
        ("the ranks ended", True, True, []),
        ("MPI_ERR_ARG", False, False, []),  # rules of this MPI have no conditions
    ],
)
def test_only_a_refusal_is_for_one_size(why, ended, refuses, left):
    points = points_of("allreduce", [Algorithm(DEFAULT, {}), Algorithm("tree", {})], [8, 64])
    for point in points:
        point.visits = [[1.0]]
        if (point.algorithm.name, point.size) == ("tree", 8):
            point.visits, point.unavailable, point.ended = [], why, ended
    leave_out_lost(points, refuses)
    assert [point.size for point in points if point.algorithm.name == "tree" and point.visits] == left
    assert all(point.visits for point in points if point.algorithm.name == DEFAULT)


def test_neighbours_do_not_hold_where_a_race_failed(tmp_path):
    for ranks in (2, 8):
        measure(tmp_path, "bcast", ranks, [8, 4096])
    wanted = [Place("bcast", ranks, size) for ranks in (2, 4, 8) for size in (8, 64, 4096)]
    tuned = tuned_from([("bcast", 2), ("bcast", 8)], tmp_path, wanted)
    rules = rules_of(tuned.by_collective(), KNOWN)
    names = [DEFAULT, *KNOWN.of["bcast"]["algorithms"]]
    holds = {
        (place.ranks, place.size): names[rules.row("bcast", place.ranks, place.size).algorithm] for place in wanted
    }
    assert [place for place, name in holds.items() if name == "chain"] == [(2, 8), (2, 4096), (8, 8), (8, 4096)]
    assert rules.row("bcast", 3, 8).algorithm == 0
    assert [place.size for place in tuned.unmeasured if place.ranks == 2] == [64]


def test_what_fails_its_trial_is_not_in_the_file(tmp_path):
    measure(tmp_path, "bcast", 4, [8, 64])
    files = []

    def wrong_in(tuned):
        files.append([each.place.size for each in tuned.changed])
        return {Lost("bcast", 4, 8, "chain"): "binomial ran"} if len(files) == 1 else {}

    tuned, trial = tried(tuned_from([("bcast", 4)], tmp_path), wrong_in)
    assert files == [[8, 64], [64]], "the new file is tried again"
    assert [each.algorithm for each in tuned.choices] == [DEFAULT, "chain"]
    assert tuned.lost == {("bcast", 4, 8, "chain"): "binomial ran"}
    assert trial.whole


def test_the_trial_of_a_job_is_read_where_the_rules_are_written(tmp_path):
    measure(tmp_path, "bcast", 4, [8, 64])
    found = tuned_from([("bcast", 4)], tmp_path)
    tuned, trial = as_tried(found, tmp_path)
    assert (len(tuned.changed), trial.whole) == (2, False), "there is no result"
    write_trial(Trial(frozenset([Lost("bcast", 4, 64, "chain")]), {Lost("bcast", 4, 8, "chain"): "hung"}), tmp_path)
    tuned, trial = as_tried(found, tmp_path)
    assert ([each.place.size for each in tuned.changed], trial.whole) == ([64], True)
    write_trial(Trial(frozenset([Lost("bcast", 4, 64, "ring")]), {}), tmp_path)
    assert not as_tried(found, tmp_path)[1].whole, "it is of another file"
    (tmp_path / FILE).write_text("{")
    assert not as_tried(found, tmp_path)[1].whole


@pytest.mark.parametrize("whole", [True, False])
def test_a_file_that_was_not_tried_is_not_offered(tmp_path, whole, monkeypatch, capsys):
    """Nor is it written: programs may use the old one."""
    measure(tmp_path, "bcast", 4, [8])
    if whole:
        write_trial(Trial(frozenset([Lost("bcast", 4, 8, "chain")]), {}), tmp_path)
    mpi, old = next(mpi for mpi in load() if mpi.title == "Open MPI 4"), tmp_path / "rules"
    wanted = SimpleNamespace(plan=SimpleNamespace(launcher=Launcher("mpiexec", mpi)), points=list, places=list,
                             online=False, whole=frozenset(), is_all=False, groups=(), variables=(),
                             races=lambda: [("bcast", 4)])  # fmt: skip
    monkeypatch.setattr(tune_cluster, "outcomes_in", lambda _store: ([], []))
    monkeypatch.setattr(tune_cluster, "write_results", lambda *_: old.write_text("new") and old)
    old.write_text("old")
    code = tune_cluster.conclude(wanted, [tmp_path], tmp_path, End.WHOLE, quiet=False, here=False)
    said = capsys.readouterr().out
    assert ("culmen tune install" in said) == whole
    assert ("every one of these algorithms runs" in said) == whole
    assert ("the new tuning file was not tried, so it is not written" in said) == (not whole)
    assert (code, old.read_text()) == ((FINISHED, "new") if whole else (RESUMABLE, "old"))


def test_a_job_that_failed_after_its_launches_is_told(tmp_path, capsys):
    folder, ends = JobFolder(tmp_path / "main"), []
    folder.path.mkdir()
    (folder.path / "tuning.db").touch()
    folder.output.write_text("the trial crashed\n")
    task = Task("tuning", [], 2, "tuning.db", "launches", 6, 1.0, lambda _: 0,
                lambda _folders, _to, end: ends.append(end) or 1, left=lambda _store, _points: (0, 0),
                is_complete=lambda job: (job / FILE).exists())  # fmt: skip
    job = Job(folder, SimpleNamespace(name="main"), Submitted("slurm", "7", "main", [], "now"))
    job.place = Phased(Phase.ENDED, "FAILED", exit_code=1)
    assert _collect(task, SimpleNamespace(title="Slurm"), [job], tmp_path) == 1
    said = capsys.readouterr().out
    assert "job 7 on main ended as FAILED with exit code 1" in said
    assert "the trial crashed" in said
    (folder.path / FILE).touch()
    _collect(task, SimpleNamespace(title="Slurm"), [job], tmp_path)
    assert capsys.readouterr().out == ""
    assert ends == [End.WHOLE, End.WHOLE]


def test_a_measurement_is_not_resumed_with_another_version_or_cpu(tmp_path, monkeypatch):
    monkeypatch.setattr(origin, "here", lambda: {"host": "one", "cpu": "EPYC 1"})
    origin.check_origin(tmp_path, VERSION, resumed=False)
    origin.check_origin(tmp_path, VERSION, resumed=True)
    assert origin.said_of(tmp_path) == "one, EPYC 1"
    with pytest.raises(
        InputError, match=r"with Open MPI 4\.1\.4 on EPYC 1, but here is Open MPI 4\.1\.6 on EPYC 1; gi"
    ):
        origin.check_origin(tmp_path, "Open MPI 4.1.6", resumed=True)
    monkeypatch.setattr(origin, "here", lambda: {"host": "two", "cpu": "EPYC 2"})
    with pytest.raises(InputError, match=r"but here is Open MPI 4\.1\.4 on EPYC 2; .* write --overwrite"):
        origin.check_origin(tmp_path, VERSION, resumed=True)
    assert origin.said_of(tmp_path) == "one, EPYC 1"
    origin.check_origin(tmp_path, VERSION, resumed=False)
    assert origin.said_of(tmp_path) == "two, EPYC 2"


def test_the_usual_ranks_contain_one_more_than_a_power_of_two(monkeypatch):
    """A power of two and the next number can differ much. Ranges of the user, and of other commands, do not change."""
    mpi = next(mpi for mpi in load() if mpi.title == "Open MPI 4")
    monkeypatch.setattr(asked.plan, "launcher_of", lambda _mpi: Launcher("no-mpiexec", mpi))

    def of(ranks):
        return asked.tuning_of("openmpi", "bcast", ranks, "8", None, 9, False, False, False, most_ranks=20)

    assert of(None).plan.ranks == (2, 3, 4, 6, 8, 9, 12, 16, 17, 20)
    assert of("2-20").plan.ranks == (2, 3, 4, 6, 8, 12, 16, 20)
    assert of(None).most_s() > of("2-20").most_s()


@pytest.mark.parametrize("fast", [False, True])
def test_a_job_with_more_ranks_than_can_be_measured_is_tuned_for_fewer(monkeypatch, fast):
    mpi = next(mpi for mpi in load() if mpi.title == "Open MPI 4")
    monkeypatch.setattr(asked.plan, "launcher_of", lambda _mpi: Launcher("no-mpiexec", mpi))

    def of(ranks):
        return asked.tuning_of("openmpi", "bcast", ranks, "8", None, 9, False, False, fast, most_ranks=8192)

    assert max(of(None).plan.ranks) == 4096
    assert of(None).left_out == ("There is room for 8192 ranks: culmen tunes for up to 4096 ranks.",)
    assert not of("2-20").left_out


def gathered(folder, seconds, launches=range(LAUNCHES + 1), candidate="binomial"):
    """``seconds``: of the default and of the candidate, at each size."""
    points = [
        samples(name, size, s)
        for size, both in seconds.items()
        for name, s in zip((DEFAULT, candidate), both, strict=True)
    ]
    for launch in launches:
        write(folder, "gather", 4, launch, points)


@pytest.mark.parametrize(
    ("at_64", "algorithm", "why"),
    [
        ((2e-6, 1e-6), "binomial", []),
        ((2e-6, 2e-6), "binomial", []),  # at one size, it is as fast as the default
        ((2e-6, 2.5e-6), DEFAULT, ["slower at 64 B, but one rule must hold for all sizes"]),
        ((2e-6, 9e-6), DEFAULT, ["slower at 64 B, but one rule must hold for all sizes"]),
    ],
)
def test_a_choice_for_all_sizes_is_slower_at_none_of_them(tmp_path, at_64, algorithm, why):
    gathered(tmp_path, {8: (2e-6, 1e-6), 64: at_64, 4096: (2e-6, 1e-6)})
    tuned = tuned_from([("gather", 4)], tmp_path, whole={"gather", "scan"})
    assert {each.algorithm for each in tuned.choices} == {algorithm}
    assert list(dict.fromkeys(row[3] for row in kept_rows(tuned))) == why
    assert tuned.whole == {"gather"}
    assert counted(tuned).startswith(
        "Of 3 points, 0 are faster with" if why else "Of 3 points, 3 get another algorithm; 0"
    )
    made = rules_of(tuned.by_collective(), KNOWN)
    assert [each.name for each in made.tables] == ([] if why else ["gather"])


def test_a_choice_for_all_sizes_was_measured_at_all_of_them(tmp_path):
    gathered(tmp_path, {8: (2e-6, 1e-6), 64: (2e-6, 1e-6)})
    wanted = [Place("gather", 4, size) for size in (8, 64, 4096)]
    tuned = tuned_from([("gather", 4)], tmp_path, wanted, {"gather"})
    assert not tuned.changed and tuned.unmeasured == [wanted[-1]]
    assert "not clearly faster over all sizes" in {row[3] for row in kept_rows(tuned)}


def test_a_choice_for_all_sizes_falls_as_a_whole(tmp_path):
    measure(tmp_path, "bcast", 4, [8, 64])
    gathered(tmp_path, {8: (2e-6, 1e-6), 64: (2e-6, 1e-6)})
    tuned = tuned_from([("bcast", 4), ("gather", 4)], tmp_path, whole={"gather"})
    assert len(tuned.changed) == 4
    left = tuned.without({Lost("gather", 4, 64, "binomial"): "tried", Lost("bcast", 4, 64, "chain"): "tried"})
    assert [each.place for each in left.changed] == [("bcast", 4, 8)]


def test_the_rivals_for_all_sizes_are_the_fastest_on_average(tmp_path):
    """linear_sync is the fastest at one size, but slower than the default at another one."""
    of = {DEFAULT: (4e-6, 4e-6), "binomial": (2e-6, 4e-6), "linear_sync": (1e-6, 40e-6), "basic_linear": (3e-6, 3e-6)}
    points = [samples(name, size, s) for name, both in of.items() for size, s in zip((8, 64), both, strict=True)]
    write(tmp_path, "gather", 4, RACE, [*points, samples("other", 8, 1e-7)])
    found = candidates_for_all(file_of("gather", 4, RACE, tmp_path))
    assert found == {8: ["binomial", "basic_linear"], 64: ["binomial", "basic_linear"]}
    assert candidates_for_all(tmp_path / "none") == {}


def test_the_page_says_why_one_rule_holds_for_all_sizes_and_what_has_no_rules():
    (unlike,) = about_one_rule(["gather", "bcast", "scatter"], KNOWN)
    assert unlike == (
        "For each number of ranks, one rule holds for all message sizes of gather and scatter, because ranks can "
        "compute different sizes for the same call."
    )
    (unseen,) = about_one_rule(["scan", "barrier"], KNOWN)
    assert unseen.endswith("of scan, because the rules of this MPI do not contain its message size.")
    assert without_rules(KNOWN)["gatherv"] == "this MPI has only one algorithm for it"
    assert not {"gather", "allgather"} & {*without_rules(KNOWN)}
    assert any(re.match("No rules for .*gatherv.*: this MPI has only", each) for each in said_without_rules(KNOWN))
    assert "scatterv" in section_without_rules(KNOWN).body
