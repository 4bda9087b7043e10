"""Trees of MPICH: asked, made and explained. What MPICH does with them is tested in tests/mpi."""

import json

import pytest
from culmen.launch.mpi import load
from culmen.launch.mpi.collectives import DEFAULT
from culmen.tune.rules.file import RulesError
from culmen.tune.rules.made import rules_of
from culmen.tune.rules.tree_lint import TreeLint, in_words
from culmen.tune.rules.trees import (
    OF_ALL,
    OF_NODE,
    Call,
    Trees,
    built_in,
    check,
    is_tree,
    name_of_leaf,
    read_tree,
    text,
    way_to_leaf,
    with_rules,
)
from hypothesis import given
from hypothesis import strategies as st

KNOWN = next(mpi for mpi in load() if mpi.title == "MPICH 4").collectives
RING = "algorithm=MPIR_Bcast_intra_scatter_ring_allgather"
SMP = "algorithm=MPIR_Bcast_intra_smp"
BINOMIAL = "algorithm=MPIR_Bcast_intra_binomial"
# As in the library, but smaller: conditions about the communicator come first, and also after others.
ALGORITHMS = {
    "collective=bcast": {
        "comm_type=intra": {
            "comm_size<8": {"avg_msg_size<=64": {BINOMIAL: {}}, "avg_msg_size=any": {RING: {}}},
            "comm_size=any": {
                "avg_msg_size<=12": {"comm_size<16": {SMP: {}}, "comm_size=any": {BINOMIAL: {}}},
                "avg_msg_size=any": {RING: {}},
            },
        },
        "comm_type=inter": {"algorithm=MPIR_Bcast_inter_remote_send_local_bcast": {}},
    },
    "collective=allgather": {
        "comm_type=intra": {
            "total_msg_size<100": {"algorithm=MPIR_Allgather_intra_brucks": {}},
            "total_msg_size=any": {"algorithm=MPIR_Allgather_intra_ring": {}},
        },
    },
    "collective=reduce": {"comm_type=intra": {"algorithm=MPIR_Reduce_intra_binomial": {}}},
    "collective=barrier": {"comm_type=intra": {"algorithm=MPIR_Barrier_intra_dissemination": {}}},
}  # fmt: skip
NODE = {
    "collective=bcast": {
        "comm_type=intra": {"is_multi_threaded=no": {"algorithm=MPIDI_POSIX_mpi_bcast_release_gather": {}}},
    },
}
TREES = Trees(ALGORITHMS, NODE)


def leaf(tree, collective, ranks, size, true=OF_ALL):
    way = way_to_leaf(tree, Call(collective, ranks, size, frozenset(true)))
    return way[-1] if way and way[-1].startswith("algorithm=") else ""


def ruled(collective="bcast", chosen=None):
    return with_rules(TREES, rules_of({collective: chosen or {4: [(8, "smp"), (64, DEFAULT)]}}, KNOWN), KNOWN)


@pytest.mark.parametrize(
    ("ranks", "size", "expected"),
    [
        (7, 64, BINOMIAL),
        (7, 65, RING),
        (8, 64, RING),  # asked once for the communicator: < is less
        (16, 12, SMP),  # asked in each call: < is less or equal
        (17, 12, BINOMIAL),
    ],
)
def test_the_first_condition_that_is_true_counts(ranks, size, expected):
    assert leaf(ALGORITHMS, "bcast", ranks, size) == expected


def test_there_is_no_way_back():
    tree = {"collective=bcast": {"comm_size<=4": {"avg_msg_size<=8": {SMP: {}}}, "comm_size=any": {RING: {}}}}
    assert leaf(tree, "bcast", 4, 9) == ""


@given(
    ranks=st.integers(2, 40),
    size=st.integers(0, 300),
    collective=st.sampled_from(["bcast", "allgather", "reduce", "barrier"]),
    true=st.sampled_from([OF_ALL, OF_NODE]),
)
def test_rules_change_only_what_was_measured(ranks, size, collective, true):
    chosen = {8: [(8, "nb"), (32, "nb"), (100, DEFAULT)], 12: [(8, "nb"), (32, DEFAULT)]}
    if collective == "barrier":
        chosen = {each: [(0, "nb")] for each in chosen}
    of = ruled(collective, chosen).algorithms
    usual = leaf(ALGORITHMS, collective, ranks, size, true)
    measured = (ranks == 8 and (8 <= size <= 32)) or (8 < ranks <= 12 and size == 8) or (
        collective == "barrier" and 8 <= ranks <= 12
    )  # fmt: skip
    between = 8 < ranks < 12 and collective == "allgather"  # total sizes differ with the ranks
    if between and size == 8:
        measured = True
    assert leaf(of, collective, ranks, size, true) == (name_of_leaf(collective, "nb") if measured else usual)
    other = (true - {"is_multi_threaded=no"}) | {"is_multi_threaded=yes"}
    assert leaf(of, collective, ranks, size, other) == usual, "threads that call MPI at once"
    nodes = true - {"comm_hierarchy=node", "comm_size=node_comm_size"}
    assert leaf(of, collective, ranks, size, nodes) == usual, "several nodes"


def test_the_nodes_own_way_is_left_where_a_rule_holds():
    node = ruled().node
    own = "algorithm=MPIDI_POSIX_mpi_bcast_release_gather"
    assert leaf(node, "bcast", 4, 8) == ""
    assert [leaf(node, "bcast", ranks, size) for ranks, size in ((4, 7), (4, 9), (4, 64), (3, 8), (5, 8))] == [own] * 5


@pytest.mark.parametrize(
    ("algorithm", "without", "instead"),
    [
        ("reduce_scatter_gather", "is_op_built_in=yes", "is_op_built_in=no"),
        ("smp", "is_commutative=yes", "is_commutative=no"),
    ],
)
def test_an_algorithm_is_used_only_where_it_is_right(algorithm, without, instead):
    of = ruled("reduce", {4: [(64, algorithm)]}).algorithms
    assert leaf(of, "reduce", 4, 64) == name_of_leaf("reduce", algorithm)
    assert leaf(of, "reduce", 4, 64, (OF_ALL - {without}) | {instead}) == "algorithm=MPIR_Reduce_intra_binomial"


def test_fewer_elements_than_ranks_are_not_scattered():
    of = ruled("reduce", {8: [(16, "reduce_scatter_gather"), (64, "reduce_scatter_gather")]}).algorithms
    assert leaf(of, "reduce", 8, 28) == "algorithm=MPIR_Reduce_intra_binomial"  # 7 elements
    assert leaf(of, "reduce", 8, 32) == name_of_leaf("reduce", "reduce_scatter_gather")


def test_other_communicators_and_collectives_stay_as_they_are():
    made = ruled()
    assert made.algorithms["collective=bcast"]["comm_type=inter"] == ALGORITHMS["collective=bcast"]["comm_type=inter"]
    assert {k: v for k, v in made.algorithms.items() if k != "collective=bcast"} == {
        k: v for k, v in ALGORITHMS.items() if k != "collective=bcast"
    }


def test_a_file_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "rules.json"
    path.write_text(text(ALGORITHMS, ["one", "two"]))
    assert read_tree(path) == ALGORITHMS
    assert is_tree(path)
    assert not is_tree(tmp_path / "none")


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({"collective=bcast": {"comm_typ=intra": {}}}, "MPICH does not know the condition 'comm_typ=intra'"),
        ({"bcast": {}}, "MPICH does not know the condition 'bcast'"),
        ({"collective=bcast": 3}, "'collective=bcast' is followed by '3' instead of {…}"),
    ],
)
def test_what_ends_programs_is_one_sentence(tree, said, tmp_path):
    with pytest.raises(RulesError) as error:
        check(tree, tmp_path / "rules.json")
    assert f"{tmp_path}/rules.json: {said}" in str(error.value)


def test_no_json_is_one_sentence(tmp_path):
    (tmp_path / "rules.json").write_text("{")
    with pytest.raises(RulesError, match=r"is no tree of MPICH: Expecting"):
        read_tree(tmp_path / "rules.json")


def test_the_trees_of_a_library_are_found(tmp_path):
    library = tmp_path / "libmpich.so"
    parts = [b"\x7fELF", b'{"collective=bcast": {', json.dumps(NODE).encode(), json.dumps(ALGORITHMS).encode(), b"end"]
    library.write_bytes(b"\0".join(parts))
    assert built_in(library) == TREES
    library.write_bytes(b"\x7fELF\0nothing")
    with pytest.raises(Exception, match="does not contain the rules by which MPICH chooses algorithms"):
        built_in(library)


def lint_of(tree, most_ranks=8):
    return TreeLint(tree, TREES, KNOWN, most_ranks)


def test_only_differences_are_named():
    rows = in_words(
        lint_of(ruled("bcast", {4: [(8, "nb"), (16, "nb")], 5: [(8, "nb"), (16, "nb")]}).algorithms).differences()
    )
    assert rows == [["bcast", "4 – 5", "8 B – 16 B", "MPIR_Bcast_allcomm_nb"]]
    assert in_words(lint_of(ALGORITHMS).differences()) == []


def test_mistakes_are_named(tmp_path):
    tree = {
        "collective=bcast": {
            "comm_type=intra": {
                "avg_msg_size<9": {SMP: {}},
                "avg_msg_size<=8": {RING: {}},
                "avg_msg_size=any": {"algorithm=MPIR_Bcast_intra_unknown": {}},
                "comm_size<4": {RING: {}},
            }
        },
        "collective=allgather": {"avg_msg_size<=3": {"algorithm=MPIR_Allgather_intra_ring": {}}},
    }
    said = "\n".join(lint_of(tree).findings(tmp_path / "rules.json"))
    assert "The file has nothing for reduce, barrier: programs that call them end." in said
    assert "does not know algorithm=MPIR_Bcast_intra_unknown" in said
    assert "allgather: MPICH has only total_msg_size for it; calls end the program." in said
    assert "avg_msg_size<=8 never holds" in said
    assert "comm_size<4 never holds" in said
    assert "There is no rules-node.json, so MPICH may use the node's own ways for bcast" in said


def test_what_culmen_writes_has_no_mistakes(tmp_path):
    made = ruled()
    (tmp_path / "rules-node.json").write_text(text(made.node, []))
    assert list(lint_of(made.algorithms).findings(tmp_path / "rules.json")) == []
