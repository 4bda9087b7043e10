"""Rules files of Open MPI: read, asked, made and explained. The behaviour of Open MPI with them is tested in
tests/mpi."""

import ctypes
import os
import tempfile
from pathlib import Path

import pytest
from culmen.cli.work import summary
from culmen.launch.mpi import load
from culmen.launch.mpi.collectives import DEFAULT, Collectives
from culmen.launch.mpi.versions import UNSAFE
from culmen.tune.rules.file import Row, Rules, RulesError, numbers_in, read_rules, value_of, written
from culmen.tune.rules.lint import Lint, said
from culmen.tune.rules.made import can_hold, looks_at_sizes, one_for_all_sizes, rules_of, steps
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.no_numbers

KNOWN = next(mpi for mpi in load() if mpi.title == "Open MPI 4").collectives
BCAST, ALLTOALL, ALLTOALLV, ALLREDUCE = 7, 3, 4, 2


def rules(tmp_path: Path, text: str) -> Rules:
    (tmp_path / "rules.conf").write_text(text)
    return read_rules(tmp_path / "rules.conf")


def lint(tmp_path: Path, text: str) -> Lint:
    return Lint(rules(tmp_path, text), KNOWN, "Open MPI 4")


def names(measured: Rules, collective: str, ranks: int, size: int) -> str:
    row = measured.row(collective, ranks, size)
    name = [DEFAULT, *KNOWN.of[collective]["algorithms"]][row.algorithm if row else 0]
    return variant(name, row) if row else name


def variant(name: str, row: Row) -> str:
    fan = f":{row.fan}" if row.fan not in (0, KNOWN.fans.get(name, 0)) else ""
    return f"{name}{fan}" + (f"/{row.segment // 1024}K" if row.segment else "")


def test_comments_and_line_ends_do_not_matter(tmp_path):
    read = rules(tmp_path, "# head\n1 # one\n7 1 # bcast\n0\n2 0 1 0 0\n1000 2 4 8192 # chain\n")
    (only,) = read.tables
    assert (only.name, [each.ranks for each in only.ranks]) == ("bcast", [0])
    last = only.ranks[0].rows[1]
    assert (last.size, last.algorithm, last.fan, last.segment, last.line) == (1000, 2, 4, 8192, 6)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("1\n7\n1\n0\n1\n1000 2 0 0\n", 6, "the first message size for 0 ranks is 1000, but it must be 0"),
        ("1\n7\n1\n0\n2\n0 2 0 0\n", 6, "the file ends, but a message size must follow"),
        ("1\n77\n1\n0\n1\n0 2 0 0\n", 2, "77 is too large for the number of a collective"),
        ("1\n7\n1\n0\n1\n0 99999999999999999999 0 0\n", 6, "99999999999999999999 is too large for the number of an"),
        ("1\n7\n1\n0\n1\n0 -1 0 0\n", 6, "the number of an algorithm must stand here, not '-1'"),
        ("", 1, "the file ends, but the number of collectives must follow"),
    ],
)
def test_a_file_that_open_mpi_ignores_is_refused_with_its_line(tmp_path, text, line, said):
    with pytest.raises(RulesError) as error:
        rules(tmp_path, text)
    assert f"line {line}: {said}" in str(error.value)
    assert "Open MPI ignores the whole file" in str(error.value)


@pytest.mark.parametrize(
    ("word", "numbers"),
    [
        ("0x400", [1024]),
        ("010000", [4096]),
        ("08", [0, 8]),
        ("+64", [64]),
        ("--5", [5]),
        ("1K", [1]),
        ("0xg7", [0, 7]),
        ("-3", [-3]),
        ("K", []),
    ],
)
def test_numbers_are_read_as_fscanf_does(word, numbers):
    assert [value_of(each) for each in numbers_in(word)] == numbers
    assert numbers == of_fscanf(word)


@given(st.text("+-0178xXaFg", max_size=12))
def test_any_word_is_read_as_fscanf_does(word):
    assert [value_of(each) for each in numbers_in(word)] == of_fscanf(word)


def of_fscanf(word: str) -> list[int]:
    """As Open MPI calls it: behind each failure it skips a character."""
    library, out, value = ctypes.CDLL(None), [], ctypes.c_long()
    with tempfile.TemporaryFile() as file:
        file.write(word.encode())
        file.flush()
        file.seek(0)
        library.fdopen.restype = ctypes.c_void_p
        stream = ctypes.c_void_p(library.fdopen(os.dup(file.fileno()), b"r"))
        while (rc := library.fscanf(stream, b"%li", ctypes.byref(value))) != -1:
            if rc == 1:
                out.append(value.value)
            else:
                library.fgetc(stream)
        library.fclose(stream)
    return out


def test_hexadecimal_and_octal_numbers_count_as_open_mpi_reads_them(tmp_path):
    text = "1\n7\n1\n0\n3\n0 1 0 0\n0x400 2 0 0\n010000 3 0 0\n"
    assert [row.size for row in rules(tmp_path, text).tables[0].ranks[0].rows] == [0, 1024, 4096]
    (finding,) = lint(tmp_path, text).findings()
    assert finding.text == "Open MPI reads 010000 as 4096, because a number that begins with 0 is octal."


def test_the_first_rule_also_holds_for_fewer_ranks(tmp_path):
    read = rules(tmp_path, "1\n7\n1\n8\n1\n0 2 0 0\n")
    assert names(read, "bcast", 4, 8) == "chain"
    assert names(read, "allreduce", 4, 8) == DEFAULT
    (finding,) = lint(tmp_path, "1\n7\n1\n8\n1\n0 2 0 0\n").findings()
    assert finding.text == "bcast: the rules for 8 ranks also hold for fewer ranks: no others come first."


def test_a_rule_after_a_larger_one_replaces_it(tmp_path):
    text = "1\n7\n1\n0\n3\n0 1 0 0\n1000 2 0 0\n500 3 0 0\n"
    read = rules(tmp_path, text)
    assert [names(read, "bcast", 2, size) for size in (8, 600, 2000)] == ["basic_linear", "basic_linear", "pipeline"]
    found = {finding.line: finding.text for finding in lint(tmp_path, text).findings()}
    assert found == {
        7: "bcast, size 1000: this rule never holds: line 8 comes later and replaces it.",
        8: "bcast, size 500: this rule holds only from 1000 on: line 7, which is for 1000, comes before it.",
    }


@pytest.mark.parametrize("text", ["1\n7\n1\n4\n0\n", "1\n7\n0\n"])
def test_a_table_without_rules_is_the_mpis_own_choice(tmp_path, text):
    assert names(rules(tmp_path, text), "bcast", 4, 8) == DEFAULT
    checked = lint(tmp_path, text)
    assert [each for each in checked.meanings() if each.algorithm != DEFAULT] == []
    assert list(checked.expected(8)) == []
    assert all("never holds" not in finding.text for finding in checked.findings())


def test_the_second_table_of_a_collective_holds(tmp_path):
    text = "2\n7\n1\n0\n1\n0 2 0 0\n7\n1\n0\n1\n0 1 0 0\n"
    assert names(rules(tmp_path, text), "bcast", 2, 8) == "basic_linear"
    assert [finding.line for finding in lint(tmp_path, text).findings()] == [2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1\n7\n1\n0\n1\n0 12 0 0\n", "bcast has no algorithm 12 in Open MPI 4, so calls with this rule fail"),
        ("1\n0\n1\n0\n1\n0 6 0 0\n", "allgather: two_proc ends programs with other than 2 ranks"),
        ("1\n4\n1\n0\n2\n0 1 0 0\n100 2 0 0\n", "alltoallv: this rule never holds: Open MPI looks here only at size 0"),
        ("1\n7\n1\n0\n2\n0 2 0 0\n100 2 0 0\n", "bcast: this rule changes nothing: line 6 says the same"),
        ("1\n7\n1\n0\n2\n0 2 4 0\n1K 1 0 0\n", "'1K' is no number; Open MPI reads it as 1"),
        ("1\n7\n1\n0\n2\n0 2 08\n1024 1 0 0\n", "'08' is no number; Open MPI reads it as 0 and 8"),
        ("1\n15\n1\n0\n2\n0 0 0 0\n64 2 0 0\n", "scatter: each rank compares its own arguments"),
        ("1\n2\n1\n0\n1\n0 4 0 0\n", "allreduce: ring needs operators that commute"),
        ("1\n5\n1\n0\n1\n0 2 0 0\n", "culmen does not know the algorithms of alltoallw"),
        ("1\n7\n1\n0\n1\n0 2 0 0\n3\n", "Open MPI reads no further than this"),
        ("rule-file-version-2\n1\n7\n1\n0\n1\n0 2 0 0\n", "Open MPI 4 does not know `rule-file-version`"),
    ],
)
def test_each_mistake_is_named(tmp_path, text, said):
    assert any(said in finding.text for finding in lint(tmp_path, text).findings())


@pytest.mark.parametrize("key", UNSAFE)
def test_an_unsafe_algorithm_is_not_chosen_and_is_explained(tmp_path, key):
    of = {"bcast": {"number_in": "x", "algorithms": ["linear", "chain"], "in_rules": {"sizes": "own"}, key: ["chain"]}}
    known = Collectives(of=of)
    assert [one.name for one in known.safe_algorithms("bcast", 4)] == [DEFAULT, "linear"]
    found = Lint(rules(tmp_path, "1\n7\n1\n0\n1\n0 2 0 0\n"), known, "Open MPI 4").findings()
    assert [each.text for each in found] == [f"bcast: chain {UNSAFE[key]}."]


def test_rules_with_different_numbers_of_requests_differ(tmp_path):
    text = "rule-file-version-2\n1\n3\n1\n0\n2\n0 4 0 0 8\n64 4 0 0 16\n"
    assert [row.requests for row in rules(tmp_path, text).tables[0].ranks[0].rows] == [8, 16]
    assert not any("changes nothing" in finding.text for finding in lint(tmp_path, text).findings())


def test_a_rule_for_two_ranks_alone_may_name_an_algorithm_for_two(tmp_path):
    assert not lint(tmp_path, "1\n0\n3\n0\n1\n0 0 0 0\n2\n1\n0 6 0 0\n3\n1\n0 0 0 0\n").findings()


def test_sizes_are_said_as_those_of_a_message(tmp_path):
    text = "2\n3\n2\n4\n2\n0 1 0 0\n4096 2 0 0\n6\n1\n0 0 0 0\n7\n1\n0\n2\n0 0 0 0\n1024 2 4 8192\n"
    found = [(each.collective, *said(each)) for each in lint(tmp_path, text).meanings() if each.algorithm != DEFAULT]
    assert found == [
        ("alltoall", "up to 5", "up to 4095 B / ranks", "linear"),
        ("alltoall", "up to 5", "from 4 KiB / ranks", "pairwise"),
        ("bcast", "0 and more", "from 1 KiB", "chain, fan-out 4, segments of 8 KiB"),
    ]


SIZES = st.lists(st.integers(0, 2**20), min_size=1, max_size=5, unique=True).map(sorted)
RANKS = st.lists(st.integers(2, 40), min_size=1, max_size=4, unique=True).map(sorted)


@st.composite
def measured(draw):
    """Choices of some collectives, at sizes and numbers of ranks."""
    out = {}
    for name in draw(
        st.lists(
            st.sampled_from(sorted(filter(lambda name: can_hold(name, KNOWN), KNOWN.of))),
            min_size=1,
            max_size=3,
            unique=True,
        )
    ):
        sizes = draw(SIZES)
        by_ranks = {}
        for ranks in draw(RANKS):
            there = [*KNOWN.safe_algorithms(name, ranks), *KNOWN.variants(name, ranks)]
            algorithms = [one.name for one in there]
            by_ranks[ranks] = [(size, draw(st.sampled_from(algorithms))) for size in sizes]
        out[name] = by_ranks
    return out


def counted(name: str, ranks: int, size: int) -> int:
    """The size that Open MPI compares."""
    return {"own": size, "all_ranks": size * ranks, "element": 4 * ranks, "zero": 0}[
        KNOWN.of[name]["in_rules"]["sizes"]
    ]


@given(measured())
def test_what_is_written_says_what_was_chosen_and_nothing_more(tmp_path_factory, chosen):
    made = rules_of(chosen, KNOWN)
    path = tmp_path_factory.mktemp("rules") / "rules.conf"
    path.write_text(written(made, ["about"]))
    read = read_rules(path)
    assert Lint(read, KNOWN, "Open MPI 4").findings() == []
    for name, by_ranks in chosen.items():
        one_for_all = not looks_at_sizes(name, KNOWN)
        for ranks, points in by_ranks.items():
            for size, algorithm in points:
                ran = names(read, name, ranks, counted(name, ranks, size))
                assert ran == algorithm or (one_for_all and ran == DEFAULT)
        least, most = min(by_ranks), max(by_ranks)
        for ranks in (least - 1, most + 1):
            assert names(read, name, ranks, counted(name, ranks, points[0][0])) == DEFAULT


@given(measured(), st.integers(0, 50), st.integers(0, 2**20))
def test_between_two_measured_places_both_must_have_chosen_it(tmp_path_factory, chosen, ranks, size):
    made = rules_of(chosen, KNOWN)
    for name, by_ranks in chosen.items():
        if not looks_at_sizes(name, KNOWN):
            continue
        below, above = (
            max((n for n in by_ranks if n <= ranks), default=None),
            min((n for n in by_ranks if n >= ranks), default=None),
        )
        if below is None or above is None:
            assert names(made, name, ranks, counted(name, ranks, size)) == DEFAULT
            continue
        beside = []
        for points in (by_ranks[below], by_ranks[above]):
            sizes = [each for each, _ in points]
            low, high = (
                max((s for s in sizes if s <= size), default=None),
                min((s for s in sizes if s >= size), default=None),
            )
            beside += [DEFAULT if end is None else dict(points)[end] for end in (low, high)]
        ran = names(made, name, ranks, counted(name, ranks, size))
        not_all = {*KNOWN.two_ranks_only, *KNOWN.powers_of_two_only}
        same = beside[0] if len(set(beside)) == 1 else DEFAULT
        assert ran == (DEFAULT if below != above and same in not_all else same)


@given(measured(), st.integers(0, 50), st.integers(0, 2**22))
def test_the_words_of_lint_say_the_same_as_the_rules(chosen, ranks, size):
    made = rules_of(chosen, KNOWN)
    meanings = list(Lint(made, KNOWN, "Open MPI 4").meanings())
    for name in chosen:
        there = [
            variant(each.algorithm, each.row)
            for each in meanings
            if each.collective == name
            and each.ranks[0] <= ranks <= (10**9 if each.ranks[1] is None else each.ranks[1])
            and (
                each.sizes is None
                or each.sizes[0] <= counted(name, ranks, size) <= (10**18 if each.sizes[1] is None else each.sizes[1])
            )
        ]
        assert (there or [DEFAULT]) == [names(made, name, ranks, counted(name, ranks, size))]


ANY_ORDER = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 9)), max_size=12)


@given(ANY_ORDER)
def test_the_words_of_lint_are_right_for_rules_in_any_order(tmp_path_factory, given_rows):
    path = tmp_path_factory.mktemp("rules") / "rules.conf"
    rows = [(0, 1), *given_rows]
    path.write_text("\n".join(["1", "7", "1", "0", str(len(rows)), *(f"{s} {a} 0 0" for s, a in rows)]) + "\n")
    read, checked = read_rules(path), Lint(read_rules(path), KNOWN, "Open MPI 4")
    of = [(each.sizes[0], 99 if each.sizes[1] is None else each.sizes[1], each.row.line) for each in checked.meanings()]
    for size in range(15):
        assert [line for first, last, line in of if first <= size <= last] == [read.row("bcast", 2, size).line]
    never = {finding.line for finding in checked.findings() if "never holds" in finding.text}
    assert never == {line for line in range(6, 6 + len(rows)) if line not in [line for _, _, line in of]}


def test_a_table_with_many_rows_looks_like_one_with_few(monkeypatch, capsys):
    rows = [["bcast", "8 – 16", "9"], ["reduce_scatter", "", "1000"], ["ring → é", "all", "10"]]
    summary.print_table(["collective", "ranks", "line"], rows, ["collective", "ranks"])
    few = capsys.readouterr().out
    monkeypatch.setattr(summary, "_MANY_ROWS", 2)
    summary.print_table(["collective", "ranks", "line"], iter(rows), ["collective", "ranks"])
    assert capsys.readouterr().out == few
    summary.print_table(["collective"], [["x" * 500]] * 3, ["collective"])
    assert "x" * 500 not in capsys.readouterr().out


def test_steps_are_exact_where_a_neighbour_keeps_the_default():
    found = [tuple(step) for step in steps([(8, DEFAULT), (64, "chain"), (512, "ring"), (4096, DEFAULT)])]
    assert found == [
        (0, False, DEFAULT),
        (64, False, "chain"),
        (64, True, DEFAULT),
        (512, False, "ring"),
        (512, True, DEFAULT),
    ]


def test_a_chain_has_the_fan_out_with_which_it_was_measured():
    made = rules_of({"bcast": {4: [(8, "chain"), (64, "binomial")]}}, KNOWN)
    assert [(row.algorithm, row.fan) for row in made.tables[0].ranks[1].rows][1:] == [(2, 4), (0, 0), (6, 0), (0, 0)]


@pytest.mark.parametrize("collective", ["gather", "scatter", "scan", "exscan", "alltoallv", "allgatherv"])
def test_one_rule_holds_for_all_sizes_if_ranks_may_not_see_the_same_size(collective):
    assert can_hold(collective, KNOWN) and one_for_all_sizes(collective, KNOWN)
    name = KNOWN.algorithms(collective, 4)[-1].name
    made = rules_of({collective: {4: [(8, name), (4096, name)], 8: [(8, name), (4096, DEFAULT)]}}, KNOWN)
    assert {names(made, collective, 4, size) for size in (0, 1, 32, 2**40)} == {name}
    assert {names(made, collective, ranks, 32) for ranks in (2, 3, 5, 8, 9)} == {DEFAULT}
    assert all([row.size for row in each.rows] == [0] for each in made.tables[0].ranks)
    assert Lint(made, KNOWN, "Open MPI 4").findings() == []


def test_one_rule_for_all_sizes_also_holds_between_two_numbers_of_ranks():
    made = rules_of({"gather": {4: [(8, "binomial"), (64, "binomial")], 8: [(8, "binomial")]}}, KNOWN)
    assert [names(made, "gather", ranks, 64) for ranks in (3, 4, 6, 8, 9)] == [DEFAULT, *["binomial"] * 3, DEFAULT]
    assert len(made.tables[0].ranks) == 3


def test_the_reason_is_said_if_a_collective_can_have_no_rules():
    assert KNOWN.why_no_rules("gather") == KNOWN.why_no_rules("bcast") == ""
    assert KNOWN.why_no_rules("gatherv") == "this MPI has only one algorithm for it"
    assert KNOWN.why_no_rules("ibcast").startswith("culmen writes rules only for blocking collectives")


def test_algorithms_for_operators_that_commute_need_this_promise():
    assert "ring" not in [one.name for one in KNOWN.safe_algorithms("allreduce", 4)]
    assert "ring" in [one.name for one in KNOWN.safe_algorithms("allreduce", 4, commutative=True)]


def test_a_row_has_the_fan_out_of_its_variant():
    made = rules_of({"bcast": {4: [(8, "chain"), (64, "chain:2"), (512, "chain:2/8K")]}}, KNOWN)
    rows = [made.row("bcast", 4, size) for size in (8, 64, 512)]
    assert [(row.fan, row.segment) for row in rows] == [(4, 0), (2, 0), (2, 8192)]


def test_a_fan_out_is_tried_only_with_more_ranks():
    names = {ranks: [one.name for one in KNOWN.variants("bcast", ranks)] for ranks in (2, 3, 9)}
    assert names == {2: [], 3: ["chain:2"], 9: ["chain:2", "chain:8"]}


def test_messages_are_sent_in_parts_only_where_this_is_right():
    def of(collective, **allowed):
        return [one.name for one in KNOWN.variants(collective, 4, **allowed)]

    assert of("bcast") == ["chain:2"]
    assert {"pipeline/8K", "chain/8K", "chain:2/8K"} <= set(of("bcast", same_types=True))
    assert of("reduce") == ["in-order_binary/8K", "in-order_binary/64K"]
    assert {"pipeline/8K", "pipeline/64K"} <= set(of("reduce", commutative=True))
    assert of("allreduce") == []
    assert of("allreduce", commutative=True) == ["segmented_ring/8K", "segmented_ring/64K"]
    assert of("alltoall", same_types=True, commutative=True) == []


def test_lint_says_what_segments_need(tmp_path):
    (of_bcast,) = lint(tmp_path, "1\n7\n1\n0\n2\n0 0 0 0\n65536 3 0 8192\n").findings()
    assert of_bcast.text == "bcast: segments need the same count and datatype on all ranks."
    (useless,) = lint(tmp_path, "1\n3\n1\n0\n2\n0 0 0 0\n65536 2 0 8192\n").findings()
    assert useless.text == "alltoall: pairwise sends no segments, so 8192 has no effect."
    (own,) = lint(tmp_path, "1\n7\n1\n0\n2\n0 2 0 0\n65536 0 0 8192\n").findings()
    assert own.text == "bcast: algorithm 0 is Open MPI's own choice, so the segment size 8192 has no effect."


@pytest.mark.parametrize(("digits", "requests"), [(5000 * "1", 7), (40 * "0" + "2", 7), (40 * "0" + "1", 0)])
def test_a_version_can_have_many_digits(tmp_path, digits, requests):
    text = f"rule-file-version-{digits}\n1\n7\n1\n0\n1\n0 2 0 0 7\n"
    assert rules(tmp_path, text).tables[0].ranks[0].rows[0].requests == requests


@pytest.mark.parametrize("character", ["\v", "\f", "\r", "\x1c", "\x85", "\u2028"])
def test_only_a_line_feed_ends_a_comment(tmp_path, character):
    (tmp_path / "rules.conf").write_bytes(f"1\r\n7 # a{character}9\r\n1\n0\n1\n0 2 0 0\n".encode())
    (table,) = read_rules(tmp_path / "rules.conf").tables
    assert (table.name, table.ranks[0].rows[0].line) == ("bcast", 6)
