"""The second file of Open MPI 5, and the priority of its component han. See also tests/nodes/test_tune_nodes.py."""

import pytest
from culmen.bench.conversation import RefusedError
from culmen.bench.session import Session
from culmen.cli.work import lint
from culmen.launch.mpi import Launcher, load
from culmen.launch.mpi.collectives import DEFAULT
from culmen.tune.rules.composed import Made, Texts, composed, kinds_of, remove_both, routes_beside, write_both
from culmen.tune.rules.made import rules_of
from culmen.tune.rules.reader import environment_for

pytestmark = pytest.mark.no_numbers

KNOWN = next(mpi for mpi in load() if mpi.title == "Open MPI 5").collectives
OLDER = next(mpi for mpi in load() if mpi.title == "Open MPI 4").collectives


def texts(chosen, known=KNOWN):
    rules = rules_of(chosen, known)
    return composed(Made(rules, dict.fromkeys(kinds_of(known), rules)), known, lambda _leaf: {}, ["a test"])


def components(text, number, ranks, size):
    """The component that takes a call, read as Open MPI does."""
    words = [word for line in text.splitlines() for word in line.partition("#")[0].split()]
    at = iter(words)
    found = ""
    for _ in range(int(next(at))):
        this, levels, level = (int(next(at)) for _ in range(3))
        assert (levels, level) == (1, 2)
        for place in range(int(next(at))):
            least = int(next(at))
            assert place or least == 1
            rows = [(int(next(at)), next(at)) for _ in range(int(next(at)))]
            assert rows[0][0] == 0
            if this == number and least <= ranks:
                found = [name for start, name in rows if start <= size][-1]
    assert next(at, None) is None
    return found


def test_calls_with_a_rule_go_to_the_component_with_the_rules():
    text = texts({"bcast": {4: [(8, "chain"), (64, "chain"), (512, DEFAULT)]}}).routes
    there = {size: components(text, 7, 4, size) for size in (7, 8, 64, 65, 512)}
    assert there == {7: "han", 8: "tuned", 64: "tuned", 65: "han", 512: "han"}
    assert {components(text, 7, ranks, 8) for ranks in (2, 3, 5, 64)} == {"han"}


@pytest.mark.parametrize("ranks", [3, 4])
def test_sizes_are_those_of_one_rank(ranks):
    """The file with rules counts all ranks for allgather."""
    made = texts({"allgather": {ranks: [(8, "ring"), (64, "ring")]}})
    assert f"\n{8 * ranks} 4 0 0\n" in made.rules
    there = {size: components(made.routes, 0, ranks, size) for size in (7, 8, 64, 65)}
    assert there == {7: "han", 8: "tuned", 64: "tuned", 65: "han"}


def test_collectives_that_han_does_not_have_are_not_in_the_file():
    assert texts({"alltoall": {4: [(8, "pairwise")]}, "bcast": {4: [(8, "chain")]}}).routes.count("# bcast") == 1
    assert texts({"alltoall": {4: [(8, "pairwise")]}}).routes == "", "Open MPI rejects a file without collectives"
    assert texts({"bcast": {4: [(8, DEFAULT)]}}) == Texts(texts({}).rules)
    assert texts({"bcast": {4: [(8, "chain")]}}, OLDER).routes == ""


def test_a_second_file_that_is_not_needed_any_more_is_removed(tmp_path):
    rules = tmp_path / KNOWN.rules_name
    both = {KNOWN.rules_name, KNOWN.routes_name}
    for collective, algorithm, names in (("bcast", "chain", both), ("alltoall", "pairwise", {KNOWN.rules_name})):
        write_both(texts({collective: {4: [(8, algorithm)]}}), rules, KNOWN)
        assert {each.name for each in tmp_path.iterdir()} == names
    remove_both(rules, KNOWN)
    assert not list(tmp_path.iterdir())


def test_programs_get_both_files(tmp_path):
    rules = tmp_path / KNOWN.rules_name
    alone = environment_for(KNOWN, rules)
    routes_beside(rules, KNOWN).touch()
    assert environment_for(KNOWN, rules) == alone | {
        "OMPI_MCA_coll_han_use_dynamic_file_rules": "1",
        "OMPI_MCA_coll_han_dynamic_rules_filename": str(tmp_path / "openmpi-han-rules.conf"),
    }


def test_lint_names_the_rules_that_need_the_second_file(tmp_path, monkeypatch, capsys):
    file = tmp_path / KNOWN.rules_name
    file.write_text(texts({"alltoall": {4: [(8, "pairwise")]}, "bcast": {4: [(8, "chain")]}}).rules)
    for title, is_said in (("Open MPI 5", True), ("Open MPI 4", False)):
        found = Launcher("mpirun", next(mpi for mpi in load() if mpi.title == title))
        monkeypatch.setattr(lint, "_launcher", lambda _mpi, _file, found=found: found)
        assert lint.lint(file, "openmpi", 0) == 0
        said = (
            "On several nodes, Open MPI 5 takes other algorithms for bcast, unless a second file "
            "(coll_han_dynamic_rules_filename) sends these calls to the rules.\n"
        )
        assert (said in capsys.readouterr().out) == is_said


class Answering(Session):
    """``own``: the priority of han; None if Open MPI does not use it."""

    def __init__(self, own):
        self._collectives, self._now, self._usual, self._communicators = KNOWN, {}, {}, {}
        self.own, self.asked = own, []

    def value_of(self, variable):
        if self.own is None:
            raise RefusedError(f"there is no variable {variable}")
        return [str(self.own)]

    def _ask(self, command):
        self.asked.append(command)
        return "1"


@pytest.mark.parametrize("own", [35, None])
def test_only_communicators_with_a_named_algorithm_are_without_han(own):
    session = Answering(own)
    default, named = KNOWN.algorithms("bcast", 4)[:2]
    session.choose("bcast", default)
    assert not any("han" in command for command in session.asked)
    session.asked.clear()
    session.choose("bcast", named)
    of_han = [command for command in session.asked if "han" in command or command == "new"]
    assert of_han == (["new"] if own is None else ["set coll_han_priority 0", "new", "set coll_han_priority 35"])
