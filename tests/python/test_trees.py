"""Trees of MPICH: asked, made and explained. The behaviour of MPICH with them is tested in tests/mpi."""

import json

import pytest
from culmen._core import InputError
from culmen.launch.mpi import load
from culmen.launch.mpi.collectives import DEFAULT
from culmen.tune.rules.composed import Made, composed, routes_beside
from culmen.tune.rules.file import Rules, RulesError
from culmen.tune.rules.made import one_for_all_sizes, rules_of
from culmen.tune.rules.reader import environment_for
from culmen.tune.rules.tree_lint import TreeLint
from culmen.tune.rules.trees import (
    ALGORITHM,
    FLAT,
    OF_ALL,
    OF_NODE,
    PARENT,
    Call,
    built_in,
    is_tree,
    name_of_leaf,
    of_nodes,
    read_tree,
    text,
    way_to_leaf,
    with_rules,
)
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.no_numbers

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
NODE = {"collective=bcast": {"comm_type=intra": {"algorithm=MPIDI_POSIX_mpi_bcast_release_gather": {}}}}


def leaf(tree, collective, ranks, size, true=OF_ALL):
    way = way_to_leaf(tree, Call(collective, ranks, size, frozenset(true)))
    return way[-1] if way and way[-1].startswith("algorithm=") else ""


def ruled(collective="bcast", chosen=None):
    return with_rules(ALGORITHMS, rules_of({collective: chosen or {4: [(8, "smp"), (64, DEFAULT)]}}, KNOWN), KNOWN)


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


@pytest.mark.parametrize("ranks", range(4, 9))
def test_an_algorithm_that_not_all_numbers_of_ranks_can_run_holds_only_where_it_was_measured(ranks):
    """noncommutative ends the program with 5 to 7 ranks."""
    rules = rules_of({"reduce_scatter": {n: [(8, "noncommutative"), (64, "noncommutative")] for n in (4, 8)}}, KNOWN)
    row = rules.row("reduce_scatter", ranks, 8 * ranks)
    names = [DEFAULT, *KNOWN.of["reduce_scatter"]["algorithms"]]
    assert names[row.algorithm if row else 0] == ("noncommutative" if ranks in (4, 8) else DEFAULT)


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
    of = ruled(collective, chosen)
    usual = leaf(ALGORITHMS, collective, ranks, size, true)
    measured = (ranks == 8 and (8 <= size <= 32)) or (8 < ranks <= 12 and size == 8) or (
        collective == "barrier" and 8 <= ranks <= 12
    )  # fmt: skip
    between = 8 < ranks < 12 and collective == "allgather"  # total sizes differ with the ranks
    if between and size == 8:
        measured = True
    assert leaf(of, collective, ranks, size, true) == (name_of_leaf(collective, "nb") if measured else usual)
    nodes = true - {"comm_hierarchy=node", "comm_size=node_comm_size"}
    assert leaf(of, collective, ranks, size, nodes) == usual, "several nodes"


COMPOSITIONS = {
    "collective=bcast": {
        "comm_type=intra": {
            "comm_hierarchy=parent": {"composition=MPIDI_Bcast_intra_composition_alpha": {}},
            "comm_hierarchy=any": {"composition=MPIDI_Bcast_intra_composition_gamma": {}},
        },
    },
    "collective=allgather": {"comm_type=intra": {"composition=MPIDI_Allgather_intra_composition_alpha": {}}},
}  # fmt: skip
ON_TWO, ALONE = of_nodes(2, 2)[0], of_nodes(2, 1)[0]  # two ranks on each node, and one


def made_for(chosen, kind):
    """The trees of both files, with rules for one kind of communicators on several nodes."""
    made = Made(Rules(), {kind: rules_of(chosen, KNOWN)})
    texts = composed(made, KNOWN, lambda leaf: ALGORITHMS if leaf == ALGORITHM else COMPOSITIONS, ["a test"])
    return [json.loads(text[text.index("{") :]) for text in texts if text]


@pytest.mark.parametrize(("kind", "there", "elsewhere"), [(PARENT, ON_TWO, ALONE), (FLAT, ALONE, ON_TWO)])
def test_rules_for_several_nodes_hold_only_there(kind, there, elsewhere):
    rules, _ = made_for({"bcast": {4: [(8, "nb"), (32, "nb")]}, "allgather": {4: [(8, "nb")]}}, kind)
    nb = name_of_leaf("bcast", "nb")
    assert [leaf(rules, "bcast", 4, size, there) for size in (7, 8, 32, 33)] == [BINOMIAL, nb, nb, BINOMIAL]
    assert {leaf(rules, "bcast", 4, 8, other) for other in (elsewhere, OF_ALL, OF_NODE)} == {BINOMIAL}
    assert leaf(rules, "allgather", 4, 8, there) == name_of_leaf("allgather", "nb")


def test_calls_with_a_rule_are_not_combined():
    chosen = {"bcast": {4: [(8, "scatter_recursive_doubling_allgather")] * 2}, "allgather": {4: [(8, "nb")]}}
    _, routes = made_for(chosen, PARENT)
    usual, direct = (f"composition=MPIDI_Bcast_intra_composition_{each}" for each in ("alpha", "gamma"))
    for size, where, expected in ((8, ON_TWO, direct), (9, ON_TWO, usual), (8, OF_ALL, usual), (9, ALONE, direct)):
        assert way_to_leaf(routes, Call("bcast", 4, size, where))[-1] == expected, (size, where)
    assert way_to_leaf(routes, Call("bcast", 5, 8, ON_TWO))[-1] == usual
    assert routes["collective=allgather"] == COMPOSITIONS["collective=allgather"]


def test_only_rules_for_several_nodes_need_a_second_file(tmp_path):
    assert len(made_for({"bcast": {4: [(8, DEFAULT)]}}, PARENT)) == 1
    rules = tmp_path / KNOWN.rules_name
    assert [*environment_for(KNOWN, rules)] == ["MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"]
    routes = routes_beside(rules, KNOWN)
    routes.touch()
    assert environment_for(KNOWN, rules)["MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE"] == str(routes)
    assert {*environment_for(KNOWN, rules)} == {*KNOWN.without_rules}
    assert routes_beside(tmp_path / "other.json", KNOWN) is None


@pytest.mark.parametrize(
    ("algorithm", "without", "instead"),
    [
        ("reduce_scatter_gather", "is_op_built_in=yes", "is_op_built_in=no"),
        ("smp", "is_commutative=yes", "is_commutative=no"),
    ],
)
def test_an_algorithm_is_used_only_where_it_is_right(algorithm, without, instead):
    of = ruled("reduce", {4: [(64, algorithm)]})
    assert leaf(of, "reduce", 4, 64) == name_of_leaf("reduce", algorithm)
    assert leaf(of, "reduce", 4, 64, (OF_ALL - {without}) | {instead}) == "algorithm=MPIR_Reduce_intra_binomial"


@pytest.mark.parametrize("consecutive", ["yes", "no"])
def test_scan_combines_nodes_only_if_their_ranks_are_consecutive(consecutive):
    """Otherwise the values would be added in the order of the nodes, and not in that of the ranks."""
    doubling = name_of_leaf("scan", "recursive_doubling")
    rules = Made(Rules(), {PARENT: rules_of({"scan": {4: [(64, "smp")]}}, KNOWN)})
    made = with_rules({"collective=scan": {"comm_type=intra": {doubling: {}}}}, rules.rules, KNOWN, rules.between)
    true = (ON_TWO - {"is_node_consecutive=yes"}) | {f"is_node_consecutive={consecutive}"}
    assert leaf(made, "scan", 4, 64, true) == (name_of_leaf("scan", "smp") if consecutive == "yes" else doubling)


def test_fewer_elements_than_ranks_are_not_scattered():
    of = ruled("reduce", {8: [(16, "reduce_scatter_gather"), (64, "reduce_scatter_gather")]})
    assert leaf(of, "reduce", 8, 28) == "algorithm=MPIR_Reduce_intra_binomial"  # 7 elements
    assert leaf(of, "reduce", 8, 32) == name_of_leaf("reduce", "reduce_scatter_gather")


def test_other_communicators_and_collectives_stay_as_they_are():
    made = ruled()
    assert made["collective=bcast"]["comm_type=inter"] == ALGORITHMS["collective=bcast"]["comm_type=inter"]
    assert {k: v for k, v in made.items() if k != "collective=bcast"} == {
        k: v for k, v in ALGORITHMS.items() if k != "collective=bcast"
    }


def test_a_file_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "rules.json"
    path.write_text(text(ALGORITHMS, ["one", "two"]))
    assert read_tree(path) == ALGORITHMS
    assert is_tree(path)
    assert not is_tree(tmp_path / "none")


BCAST = "collective=bcast"


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({BCAST: {"comm_typ=intra": {RING: {}}}}, "MPICH does not know the condition 'comm_typ=intra'."),
        ({"bcast": {RING: {}}}, "'bcast' stands where only conditions such as 'collective=bcast' may be."),
        ({BCAST: {"avg_msg_size<=1K": {RING: {}}}}, "MPICH does not know the condition 'avg_msg_size<=1K'."),
        ({BCAST: {"count<8": {RING: {}}}}, "MPICH does not know the condition 'count<8'."),
        ({BCAST: {"comm_type=any": {RING: {}}}}, "MPICH does not know the condition 'comm_type=any'."),
        ({BCAST: {RING: None}}, f"'collective=bcast → {RING}' is followed by 'None' instead of {{…}}."),
        ({RING: {}}, f"'{RING}' stands where only conditions such as 'collective=bcast' may be."),
        ({BCAST: 3}, "'collective=bcast' is followed by '3' instead of {…}."),
        ({BCAST: {"is_commutative=yes": {}}}, "'collective=bcast → is_commutative=yes' has nothing below it."),
        (
            {BCAST: {"comm_size<3": {RING: {}}}},
            "'collective=bcast → comm_size<3' is the last condition of a list; 'comm_size=any' must follow.",
        ),
        (
            {BCAST: {"composition=MPIDI_Bcast_intra_composition_alpha": {}}},
            "'composition=MPIDI_Bcast_intra_composition_alpha' is for the file of another",
        ),
    ],
)
def test_what_ends_programs_is_one_sentence(tree, said, tmp_path):
    (tmp_path / "rules.json").write_text(json.dumps(tree))
    with pytest.raises(RulesError) as error:
        read_tree(tmp_path / "rules.json")
    assert f"{tmp_path}/rules.json: {said}" in str(error.value)
    assert str(error.value).endswith("MPICH ends each program that reads the file.")


@pytest.mark.parametrize("text", ["{", "[]", "3", "null", '"ab"', "[[1]]", "\0\1", ""])
def test_what_is_no_tree_is_one_sentence(text, tmp_path):
    (tmp_path / "rules.json").write_text(text)
    with pytest.raises(RulesError, match=r"is no tree of MPICH: "):
        read_tree(tmp_path / "rules.json")


def test_rules_of_open_mpi_6_are_called_by_their_name(tmp_path):
    (tmp_path / "rules.json").write_text('{"rule_file_version": 3, "module": "tuned", "collectives": {}}')
    with pytest.raises(InputError, match=r"has rules of Open MPI 6 in JSON, and no tree of MPICH"):
        read_tree(tmp_path / "rules.json")


def test_a_file_never_fills_its_last_page(tmp_path):
    """MPICH maps it, and reads to a zero byte."""
    path = tmp_path / "rules.json"
    for length in range(4096):
        written = text(ALGORITHMS, ["x" * length])
        assert len(written.encode()) % 4096
    path.write_text(json.dumps(ALGORITHMS).ljust(8192))
    with pytest.raises(RulesError, match=r"has 8192 bytes, a multiple of a page of memory"):
        read_tree(path)


def test_blanks_in_conditions_do_not_count(tmp_path):
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(ALGORITHMS).replace("<=", " <= "))
    assert read_tree(path) == ALGORITHMS


def test_alltoall_in_place_keeps_its_algorithm():
    """Its sizes are those of arguments that do not count then."""
    usual = {"is_sendbuf_inplace=yes": {name_of_leaf("alltoall", "pairwise_sendrecv_replace"): {}},
             "is_sendbuf_inplace=no": {name_of_leaf("alltoall", "scattered"): {}}}  # fmt: skip
    made = with_rules(
        {"collective=alltoall": {"comm_type=intra": usual}},
        rules_of({"alltoall": {4: [(64, "nb"), (1024, "nb")]}}, KNOWN),
        KNOWN,
    )
    in_place = (OF_ALL - {"is_sendbuf_inplace=no"}) | {"is_sendbuf_inplace=yes"}
    for size in (0, 64, 100, 2000):
        assert leaf(made, "alltoall", 4, size, in_place) == name_of_leaf("alltoall", "pairwise_sendrecv_replace")
    assert leaf(made, "alltoall", 4, 64) == name_of_leaf("alltoall", "nb")


WHOLE = ("gather", "gatherv", "scatter", "scatterv", "alltoallv", "scan", "exscan")


@pytest.mark.parametrize("collective", WHOLE)
def test_no_size_decides_where_ranks_may_not_see_the_same_size(collective):
    assert one_for_all_sizes(collective, KNOWN)
    usual = {f"algorithm=MPIR_{collective.capitalize()}_intra_own": {}}
    chosen = {collective: {4: [(8, "nb"), (4096, "nb")], 6: [(8, "nb"), (4096, DEFAULT)]}}
    made = with_rules({f"collective={collective}": usual}, rules_of(chosen, KNOWN), KNOWN)
    assert {leaf(made, collective, 4, size) for size in (0, 8, 10**6)} == {name_of_leaf(collective, "nb")}
    assert {leaf(made, collective, ranks, 8) for ranks in (2, 3, 5, 6, 7)} == set(usual)
    assert "msg_size" not in json.dumps(made)
    of_two_groups = OF_ALL - {"comm_type=intra"} | {"comm_type=inter"}
    assert leaf(made, collective, 4, 8, of_two_groups) == next(iter(usual))


def test_a_rule_of_allgatherv_compares_the_bytes_of_all_ranks():
    usual = {"comm_type=intra": {name_of_leaf("allgatherv", "ring"): {}}}
    chosen = {"allgatherv": {4: [(8, "recursive_doubling"), (64, DEFAULT)], 3: [(8, "recursive_doubling")]}}
    made = with_rules({"collective=allgatherv": usual}, rules_of(chosen, KNOWN), KNOWN)
    assert '"total_msg_size<=31"' in json.dumps(made)
    found = {(ranks, size): leaf(made, "allgatherv", ranks, size) for ranks in (3, 4) for size in (7, 8, 9)}
    doubling = name_of_leaf("allgatherv", "recursive_doubling")
    assert [place for place, name in found.items() if name == doubling] == [(4, 8)]  # three is no power of two


def test_alltoallv_in_place_keeps_its_algorithm():
    usual = {name_of_leaf("alltoallv", "pairwise_sendrecv_replace"): {}}
    made = with_rules(
        {"collective=alltoallv": {"comm_type=intra": usual}},
        rules_of({"alltoallv": {4: [(64, "scattered")]}}, KNOWN),
        KNOWN,
    )
    in_place = (OF_ALL - {"is_sendbuf_inplace=no"}) | {"is_sendbuf_inplace=yes"}
    assert leaf(made, "alltoallv", 4, 64, in_place) == next(iter(usual))
    assert leaf(made, "alltoallv", 4, 64) == name_of_leaf("alltoallv", "scattered")


def test_the_trees_of_a_library_are_found(tmp_path):
    library = tmp_path / "libmpich.so"
    parts = [b"\x7fELF", b'{"collective=bcast": {', json.dumps(NODE).encode(), json.dumps(ALGORITHMS).encode(), b"end"]
    library.write_bytes(b"\0".join(parts))
    assert built_in(library) == ALGORITHMS
    library.write_bytes(b"\x7fELF\0nothing")
    with pytest.raises(Exception, match="does not contain the rules by which MPICH chooses algorithms"):
        built_in(library)


def test_a_bound_that_is_too_large_is_one_sentence(tmp_path):
    file = tmp_path / "rules.json"
    key = f"avg_msg_size<={'9' * 5000}"
    file.write_text(json.dumps({"collective=bcast": {key: {SMP: {}}, "avg_msg_size=any": {SMP: {}}}}))
    with pytest.raises(RulesError) as error:
        read_tree(file)
    assert str(error.value).endswith("is too large; the largest is 2147483647")
    assert len(str(error.value)) < 300


def lint_of(tree):
    return TreeLint(tree, ALGORITHMS, KNOWN)


def test_only_differences_are_named():
    made = ruled("bcast", {ranks: [(8, "nb"), (16, "nb")] for ranks in (4, 5, 40)})
    rows = lint_of(made).in_words()
    assert rows == [["bcast", "4 – 40, all on one node", "8 B – 16 B", "MPIR_Bcast_allcomm_nb"]]
    assert lint_of(ALGORITHMS).in_words() == []


def test_rules_for_several_nodes_are_explained():
    rules = rules_of({name: {4: [(8, "nb"), (16, "nb")]} for name in ("bcast", "allgather")}, KNOWN)
    checked = lint_of(with_rules(ALGORITHMS, Rules(), KNOWN, {PARENT: rules}))
    named = {"allgather": "MPIR_Allgather_allcomm_nb", "bcast": "MPIR_Bcast_allcomm_nb"}
    lines = [[name, "4, several on some node", "8 B – 16 B", leaf] for name, leaf in named.items()]
    assert checked.in_words() == lines
    assert checked.routed() == ["bcast"], "MPICH combines no algorithms for allgather"
    whole = {**ALGORITHMS, "collective=barrier": {"comm_type=intra": {name_of_leaf("barrier", "nb"): {}}}}
    assert lint_of(whole).in_words() == [["barrier", "2 – 17", "all", "MPIR_Barrier_allcomm_nb"]]


def test_a_bound_of_elements_is_a_bound_of_sizes():
    made = ruled("reduce", {8: [(16, "reduce_scatter_gather"), (64, "reduce_scatter_gather")]})
    assert lint_of(made).in_words() == [
        ["reduce", "8, all on one node", "32 B – 64 B", "MPIR_Reduce_intra_reduce_scatter_gather"]
    ]


def test_mistakes_are_named():
    tree = {
        "collective=bcast": {
            "total_msg_size<9": {SMP: {}},
            "total_msg_size<=8": {RING: {}},
            "total_msg_size=any": {name_of_leaf("allreduce", "nb"): {}},
            "comm_size<4": {RING: {}},
        },
        "collective=allgather": {"avg_msg_size=any": {"algorithm=MPIR_Allgather_intra_ring": {}}},
        "collective=reduce": {"comm_type=intra": {"algorithm=MPIR_Reduce_intra_binomial": {}}},
    }
    assert list(lint_of(tree).findings()) == [
        "The file has nothing for barrier: programs that call them end.",
        "bcast has no MPIR_Allreduce_allcomm_nb in MPICH: such calls, or each program, end.",
        "MPICH has no avg_msg_size for allgather: such calls end the program.",
        *(
            f"'collective=bcast → {key}' never holds: a condition before it is true for the same calls."
            for key in ("total_msg_size<=8", "comm_size<4")
        ),
    ]


@pytest.mark.parametrize(
    ("tree", "gap"),
    [
        ({"is_commutative=yes": {RING: {}}}, "is_commutative=yes"),
        ({"comm_type=intra": {RING: {}}}, "comm_type=intra"),
        ({"comm_hierarchy=node": {RING: {}}, "comm_hierarchy=parent": {RING: {}}}, "comm_hierarchy=parent"),
        ({"is_commutative=yes": {"comm_type=inter": {RING: {}}}, "is_commutative=no": {RING: {}}},
         "is_commutative=yes → comm_type=inter"),
    ],
)  # fmt: skip
def test_calls_that_end_the_program_are_named(tree, gap):
    whole = {**ALGORITHMS, "collective=bcast": tree}
    assert f"'collective=bcast → {gap}' has nothing for other calls: they end the program." in list(
        lint_of(whole).ends_programs()
    )


def test_sizes_one_byte_apart_have_a_rule_each():
    made = ruled("bcast", {4: [(1, "smp"), (2, "nb"), (3, DEFAULT)]})
    assert [leaf(made, "bcast", 4, size) for size in (0, 1, 2, 3)] == [
        BINOMIAL, SMP, name_of_leaf("bcast", "nb"), BINOMIAL
    ]  # fmt: skip


def test_bounds_of_ranks_mean_other_numbers_in_calls():
    """There, < is also true for the bound itself."""

    def below_a_size(*keys):
        lists = {**{key: {SMP: {}} for key in keys}, "comm_size=any": {RING: {}}}
        return {**ALGORITHMS, "collective=bcast": {"avg_msg_size<=9": lists, "avg_msg_size=any": {RING: {}}}}

    assert list(lint_of(below_a_size("comm_size<=7", "comm_size<8")).findings()) == []
    (found,) = lint_of(below_a_size("comm_size<8", "comm_size<=8")).findings()
    assert "comm_size<=8' never holds" in found


def test_what_culmen_writes_has_no_mistakes(tmp_path):
    (tmp_path / "rules.json").write_text(text(ruled(), []))
    assert list(lint_of(read_tree(tmp_path / "rules.json")).findings()) == []


def test_a_tree_with_too_many_levels_is_refused(tmp_path):
    levels = 200
    (tmp_path / "tree.json").write_text(levels * '{"collective=bcast":' + "{}" + levels * "}")
    with pytest.raises(InputError, match="has 200 levels of conditions; culmen reads trees with at most 100"):
        read_tree(tmp_path / "tree.json")
