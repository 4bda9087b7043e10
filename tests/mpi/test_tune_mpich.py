"""``culmen tune`` with ranks of MPICH 4: what it does with trees, and the files that it reads."""

import csv
import itertools
import json
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from culmen._core import InputError
from culmen.bench.collectives.samples import Table
from culmen.bench.conversation import LostError
from culmen.bench.session import Session
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT
from culmen.tune.cluster.measured import RACE, SLOW, file_of, measure
from culmen.tune.rules import texts, trees
from culmen.tune.rules.composed import Made, routes_beside, write_both
from culmen.tune.rules.file import Rules
from culmen.tune.rules.made import rules_of
from culmen.tune.rules.reader import environment_for
from culmen.tune.rules.texts import built_in, check_reader, texts_of
from culmen.tune.rules.tried import Expected, error_of, not_as_expected
from harness import HANGS_S, culmen
from profiles import AS_ROOT, built
from tuning_samples import samples
from tuning_samples import write as write_race

SLOWEST = "recursive_doubling"
COLLECTIVE = "reduce_scatter_block"  # nothing in MPI_Init calls it
OWN = {trees.name_of_leaf(COLLECTIVE, "recursive_doubling"): {}}
OTHER = {trees.name_of_leaf("bcast", "nb"): {}}  # of another collective: a call that comes here ends the ranks
pytestmark = pytest.mark.parametrize("mpi", ["mpich"], indirect=True)


@pytest.fixture
def launcher(mpi):
    found = find_launcher(mpi)
    if found.mpi.title != "MPICH 4":
        pytest.skip(f"{found.mpi.title} does not show its trees")
    return found


def write(launcher, folder, chosen, kind=""):
    known = launcher.mpi.collectives
    path, rules = folder / known.rules_name, rules_of(chosen, known)
    made = Made(Rules(), {kind: rules}) if kind else Made(rules)
    write_both(texts_of(made, launcher, ["a test"]), path, known)
    return path


def first(condition):
    """A tree that leads to OTHER if the condition is true, else to OWN."""
    name, value = condition.replace("<", "=").split("=")[0], condition.rpartition("=")[2]
    return {condition: OTHER, f"{name}={ {'yes': 'no', 'no': 'yes'}.get(value, 'any') }".replace(" ", ""): OWN}


# culmen's explanation of a tree must agree with MPICH's behaviour.
@pytest.mark.parametrize(
    ("tree", "ranks", "size"),
    [
        (first("total_msg_size<=16"), 2, 8),
        (first("total_msg_size<16"), 2, 8),
        (first("comm_size<3"), 3, 8),
        (first("comm_size<=3"), 3, 8),
        (first("comm_size=pow2"), 3, 8),
        (first("comm_size=node_comm_size"), 2, 8),
        (first("comm_hierarchy=node"), 2, 8),
        (first("comm_hierarchy=parent"), 2, 8),
        (first("is_multi_threaded=no"), 2, 8),
        (first("is_commutative=yes"), 2, 8),
        ({"is_commutative=yes": first("comm_size<3"), "is_commutative=no": OWN}, 3, 8),
        ({"is_commutative=yes": first("comm_size<=2"), "is_commutative=no": OWN}, 3, 8),
        ({"is_commutative=yes": {"comm_size<=2": OWN, **first("comm_size<=3")}, "is_commutative=no": OWN}, 3, 8),
        ({"comm_size<3": OWN, "comm_size<4": OTHER, "comm_size=any": OWN}, 3, 8),
        ({"comm_size<=4": first("total_msg_size<=4"), "comm_size=any": OTHER}, 3, 8),
        ({"comm_hierarchy=parent": OTHER}, 2, 8),
    ],
)
def test_mpich_reads_a_tree_as_culmen_says(launcher, tmp_path, tree, ranks, size):
    usual = built_in(launcher)
    whole = {**usual, f"collective={COLLECTIVE}": {"comm_type=intra": tree}}
    way = trees.way_to_leaf(whole, trees.Call(COLLECTIVE, ranks, size, trees.OF_ALL))
    file = tmp_path / "rules.json"
    file.write_text(trees.text(whole, ["a test"]))
    with Session(launcher, ranks, HANGS_S, environment_for(launcher.mpi.collectives, file)) as session:
        if way[-1] in OTHER:
            with pytest.raises(LostError) as error:
                session.check(COLLECTIVE, 0, size, 0)
            assert "mpir_coll.c" in error.value.said
        else:
            assert way[-1] in OWN
            session.check(COLLECTIVE, 0, size, 0)


def test_conditions_of_algorithms_are_known_for_their_collective(launcher):
    """MPICH ends the program at a condition that it does not have for a collective."""
    usual = built_in(launcher)
    for collective, table in launcher.mpi.collectives.of.items():
        there = json.dumps(usual[f"collective={collective}"])
        for need in [each for needs in table.get("needs", {}).values() for each in needs]:
            name = re.split("[<=]", need.removeprefix("not "))[0]
            assert name.startswith("comm_") or f'"{name}' in there, f"{collective}: {need}"


# Conditions without which an algorithm is wrong. The library has the others for speed: an algorithm for operators that
# do not commute, or for ranks in any order, is right for all.
NEEDED = re.compile(
    r"comm_hierarchy=(?!any)\w+|comm_size=pow2|not count<pow2|is_(?!(commutative|node_consecutive)=no)\w+=\w+"
)


def ways_to_leaves(tree, way=()):
    for key, below in tree.items():
        if key.startswith(trees.ALGORITHM):
            yield key, {each for each in way if NEEDED.fullmatch(each)}
        else:
            yield from ways_to_leaves(below, (*way, "not count<pow2" if key == "count=any" else key))


def lead_to_it(ways, needs):
    """Whether one of the ways leads to the algorithm for each call that fulfils the needs."""
    names = sorted({each.partition("=")[0] for way in ways for each in way if each.startswith("is_")})
    for values in itertools.product(("yes", "no"), repeat=len(names)):
        call = {f"{name}={value}" for name, value in zip(names, values, strict=True)}
        others = {f"{name}={'no' if value == 'yes' else 'yes'}" for name, value in zip(names, values, strict=True)}
        if not others & needs and not any(way <= needs | call for way in ways):
            return False
    return True


def test_an_algorithm_needs_what_it_needs_in_the_library(launcher):
    usual, missing = built_in(launcher), {}
    for collective, table in launcher.mpi.collectives.of.items():
        there = defaultdict(list)
        own = usual[f"collective={collective}"]
        for leaf, conditions in ways_to_leaves(own.get("comm_type=intra", own)):
            there[leaf].append(conditions)
        for name in table["algorithms"]:
            needs = {*table.get("needs", {}).get(name, []), table.get("before_sizes")}
            ways = there[trees.name_of_leaf(collective, name)]
            if ways and not lead_to_it(ways, needs):
                missing[collective, name] = ways
    assert missing == {}


@pytest.mark.parametrize(
    "tree",
    [
        {"comm_typ=intra": OWN},
        {"comm_size<=4": OWN},
        {"comm_size=pow2": OWN},
        {"total_msg_size<=4": OWN},
        {"total_msg_size<=4": {}, "total_msg_size=any": OWN},
        {"is_commutative=yes": OWN, "is_commutative=no": {}},
        {"count<8": OWN, "count=any": OWN},
        {"total_msg_size<=1K": OWN, "total_msg_size=any": OWN},
    ],
)
def test_what_culmen_refuses_ends_programs(launcher, tmp_path, tree):
    file = tmp_path / "rules.json"
    whole = {**built_in(launcher), f"collective={COLLECTIVE}": {"comm_type=intra": tree}}
    file.write_text(trees.text(whole, ["a test"]))
    with pytest.raises(trees.RulesError, match="MPICH ends each program that reads the file"):
        trees.read_tree(file)
    if "1K" not in str(tree):  # this one MPICH reads as 1
        error = error_of(launcher, Expected(COLLECTIVE, 2, 8, ""), environment_for(launcher.mpi.collectives, file))
        assert "csel" in error.said


def test_the_trees_of_other_libraries_are_not_written(launcher, monkeypatch):
    check_reader(launcher)
    known = launcher.mpi.collectives
    other = replace(launcher, mpi=replace(launcher.mpi, collectives=replace(known, rules_version="MPICH 3")))
    with pytest.raises(InputError, match=r"cannot write tuning files for MPICH 4\.\S+ yet, but for MPICH 3$"):
        check_reader(other)
    monkeypatch.setattr(texts, "_OF_NODE", known.rules_file)  # a build that reads this file ends, for it is not there
    with pytest.raises(InputError, match="has algorithms of its own for one node"):
        check_reader(launcher)


@pytest.mark.parametrize("collective", ["bcast", "allreduce", "alltoall", "allgather", "reduce_scatter", "barrier"])
def test_a_rule_is_tried(launcher, tmp_path, collective):
    names = launcher.mpi.collectives.of[collective]["algorithms"]
    name, other = names[-1], names[0]
    size = 0 if collective == "barrier" else 64
    rules = write(launcher, tmp_path, {collective: {3: [(size, name)]}})
    assert not_as_expected(launcher, rules, [Expected(collective, 3, size, name)]) == {}
    said = not_as_expected(launcher, rules, [Expected(collective, 3, size, other)])
    assert [*said.values()] == [f"the file has {trees.name_of_leaf(collective, name)}"]


# Variables with which MPICH takes ranks of this machine for ranks on several nodes.
@pytest.mark.parametrize(
    ("variable", "kind", "ranks"),
    [("MPIR_CVAR_ODD_EVEN_CLIQUES", trees.PARENT, 4), ("MPIR_CVAR_NOLOCAL", trees.FLAT, 3)],
)
def test_rules_for_several_nodes_are_tried(launcher, tmp_path, monkeypatch, variable, kind, ranks):
    known = launcher.mpi.collectives
    named = dict.fromkeys(("barrier", "bcast", "reduce", "allgather", "alltoall", "reduce_scatter_block", "scan"), "nb")
    named |= {"allreduce": "recursive_doubling", "bcast": "scatter_ring_allgather"}
    sizes = {name: 0 if name == "barrier" else 64 for name in named}
    rules = write(launcher, tmp_path, {name: {ranks: [(sizes[name], one)]} for name, one in named.items()}, kind)
    expected = [Expected(name, ranks, sizes[name], one) for name, one in named.items()]
    usual = built_in(launcher)
    own = {each: trees.way_to_leaf(usual, trees.Call(*each[:3], trees.OF_ALL))[-1] for each in expected}
    said = not_as_expected(launcher, rules, expected)
    assert said == {each: f"the file has {leaf}" for each, leaf in own.items()}, "on one node"
    monkeypatch.setenv(variable, "1")
    assert not_as_expected(launcher, rules, expected) == {}
    routes_beside(rules, known).unlink()
    combined = {"allreduce", "barrier", "bcast", "reduce"} if kind == trees.PARENT else set()
    assert {each.collective for each in not_as_expected(launcher, rules, expected)} == combined


def test_scan_is_right_if_the_ranks_of_nodes_are_not_consecutive(launcher, tmp_path, monkeypatch):
    rules = write(launcher, tmp_path, {"scan": {4: [(64, "smp")]}}, trees.PARENT)
    monkeypatch.setenv("MPIR_CVAR_ODD_EVEN_CLIQUES", "1")
    call = Expected("scan", 4, 64, "smp")
    assert error_of(launcher, call, environment_for(launcher.mpi.collectives, rules)) is None


def test_smp_is_tried_where_it_is_used(launcher, tmp_path):
    rules = write(launcher, tmp_path, {"allreduce": {3: [(64, "smp")]}})
    assert not_as_expected(launcher, rules, [Expected("allreduce", 3, 64, "smp")]) == {}


def test_a_rule_that_is_not_reached_is_told(launcher, tmp_path):
    """culmen thinks that the call is commutative; the tree asks for a property that no call of the benchmark has."""
    rules = write(launcher, tmp_path, {COLLECTIVE: {3: [(64, "nb")]}})
    expected = Expected(COLLECTIVE, 3, 64, "nb")
    assert not_as_expected(launcher, rules, [expected]) == {}
    rules.write_text(rules.read_text().replace("comm_size=node_comm_size", "comm_hierarchy=flat"))
    assert not_as_expected(launcher, rules, [expected])[expected].startswith(("the file has", "another algorithm ran"))


def test_the_choices_are_written_tried_and_used(launcher, tmp_path):
    words = ("--collectives", "allreduce,alltoall", "--ranks", "2", "--sizes", "8,1K", "--seconds", "0.05")
    whole = culmen("tune", "cluster", *words, "--mpi", "mpich", cwd=tmp_path)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    folder = tmp_path / "tune-cluster"
    with (folder / "choices.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    changed = [row for row in rows if row["algorithm"] != DEFAULT]
    assert len(rows) == 4
    expected = [Expected(r["collective"], int(r["ranks"]), int(r["size"]), r["algorithm"]) for r in changed]
    assert not_as_expected(launcher, folder / "mpich-rules.json", expected) == {}
    if changed:
        assert "every one of these algorithms runs" in whole.stdout
        assert "culmen tune install tune-cluster --module FILE" in whole.stdout
    page = (folder / "tuning.html").read_text()
    assert ("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE" in page) == bool(changed)
    said = culmen("tune", "lint", folder / "mpich-rules.json", cwd=tmp_path)
    assert said.returncode == 0, said.stdout + said.stderr
    assert re.search(r"Everything else is as without the file", said.stdout)


def test_an_algorithm_that_mpich_refuses_at_one_size_is_measured_at_others(launcher, mpi, tmp_path, monkeypatch):
    monkeypatch.setenv("CULMEN_BENCH_FOLDER", str(tmp_path))
    asked = {"collective": "allreduce", "ranks": 4, "launch": RACE, "mpi": mpi, "interval": 0.1, "budget_s": 0.02,
             "timeout_s": HANGS_S, "same_types": False, "commutative": False, "sizes": "8,65536"}  # fmt: skip
    measure(asked)
    found = Table([file_of("allreduce", 4, RACE)])
    name = "reduce_scatter_allgather"
    assert [key.size for key in found.unavailable if key.algorithm == name] == [8]
    assert [key.size for key in found.points if key.algorithm == name] == [65536]


def test_an_algorithm_that_is_predicted_to_be_slow_is_not_called(launcher, mpi, tmp_path, monkeypatch):
    monkeypatch.setenv("CULMEN_BENCH_FOLDER", str(tmp_path))
    for ranks in (2, 8):
        earlier = [samples(DEFAULT, 8, 1e-6, number=6), samples(SLOWEST, 8, 9e-6)]
        write_race(tmp_path, "allreduce", ranks, RACE, earlier)
    asked = {"collective": "allreduce", "ranks": 4, "launch": RACE, "mpi": mpi, "interval": 0.1, "budget_s": 0.02,
             "timeout_s": HANGS_S, "same_types": False, "commutative": False, "sizes": "8",
             "earlier": "allreduce-2 allreduce-8"}  # fmt: skip
    measure(asked)
    found = Table([file_of("allreduce", 4, RACE)])
    assert {key.algorithm: why for key, why in found.unavailable.items()}[SLOWEST] == SLOW
    assert {DEFAULT, "nb"} == {key.algorithm for key in found.points}


def test_a_module_is_written_for_a_folder(launcher, tmp_path):
    folder = tmp_path / "tune-cluster"
    folder.mkdir()
    write(launcher, folder, {"bcast": {2: [(8, "nb")]}})
    refused = culmen("tune", "install", cwd=tmp_path)
    assert refused.returncode == 2
    assert "MPICH 4 has no file for settings; write an environment module with --module FILE" in refused.stderr
    done = culmen("tune", "install", "--module", "mine", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    file = re.search(r"setenv MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE {(.*)}", (tmp_path / "mine").read_text())[1]
    assert "collective=bcast" in trees.read_tree(Path(file))
    write(launcher, folder, {})
    refused = culmen("tune", "install", "--module", "other", cwd=tmp_path)
    assert refused.returncode == 2
    assert "mpich-rules.json has no rules: it leaves all choices to the MPI" in refused.stderr
    (folder / "mpich-rules.json").write_text("{}")
    refused = culmen("tune", "install", "--module", "other", cwd=tmp_path)
    assert refused.returncode == 2
    assert "tune-cluster/mpich-rules.json would end programs: The file has nothing for bcast" in refused.stderr
    (tmp_path / "any.json").write_text("{}")
    assert "any.json would end programs" in culmen("tune", "install", "any.json", "--module", "x", cwd=tmp_path).stderr
    assert not (tmp_path / "other").exists()


def test_files_of_another_version_are_refused(launcher, tmp_path):
    rules = write(launcher, tmp_path, {"bcast": {2: [(8, "nb")]}})
    text = rules.read_text().partition("*/")[2]
    rules.write_text(f"/* Rules for the collectives of MPICH 3.9.9, from `culmen tune cluster` */{text}")
    refused = culmen("tune", "install", rules, "--module", "mine", cwd=tmp_path)
    assert refused.returncode == 2
    assert "was measured with MPICH 3.9.9, but" in refused.stderr
    assert not (tmp_path / "mine").exists()


def test_lint_names_what_ends_programs(launcher, tmp_path):
    file = tmp_path / "rules.json"
    file.write_text(json.dumps({"collective=bcast": {"comm_typ=intra": {}}}))
    said = culmen("tune", "lint", file, cwd=tmp_path)
    assert said.returncode == 1
    assert "MPICH does not know the condition 'comm_typ=intra'. MPICH ends each program" in said.stdout
    file.write_text(json.dumps({"collective=bcast": {"comm_type=intra": OWN}}))
    said = culmen("tune", "lint", file, cwd=tmp_path)
    assert said.returncode == 1
    assert "programs that call them end" in said.stdout
    assert "bcast has no MPIR_Reduce_scatter_block_intra_recursive_doubling in MPICH" in said.stdout
    assert "culmen does not try a file that ends programs." in said.stdout


def test_a_program_is_tuned(launcher, tmp_path):
    words = ["2" if word == "RANKS" else word for word in built("mpich", tmp_path, "allreduce_program.c")]
    done = culmen("tune", "app", "--seconds", 0.05, "--rounds", 3, "--", *words, cwd=tmp_path, **AS_ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^allreduce +world +2 +1 +64 ", done.stdout, re.MULTILINE), done.stdout
    assert re.search("All points keep the default|With the rules, the program is|not clearly faster or", done.stdout)
