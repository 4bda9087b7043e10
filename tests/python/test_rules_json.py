"""Rules files of Open MPI 6 in JSON: read, written, explained, and converted. No Open MPI reads them here."""

import json
import re
from pathlib import Path

import pytest
from culmen._core import InputError
from culmen.cli.work.convert import convert
from culmen.cli.work.lint import lint, of_open_mpi
from culmen.tune.rules.file import COLLECTIVES, Rules, RulesError, read_rules
from culmen.tune.rules.json_file import (
    Group,
    JsonRules,
    Rule,
    from_numbers,
    is_json,
    name_of,
    read_json,
    to_numbers,
    written,
)
from culmen.tune.rules.json_lint import JsonLint
from culmen.tune.rules.spans import first_that_fit
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.no_numbers

KNOWN = of_open_mpi()
NAMES = ("bcast", "reduce", "allreduce", "allgather", "reduce_scatter", "barrier")


def read(tmp_path: Path, tables: dict) -> JsonRules:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"rule_file_version": 3, "module": "tuned", "collectives": tables}))
    return read_json(path)


def found(tmp_path: Path, tables: dict) -> list[str]:
    return list(JsonLint(read(tmp_path, tables), KNOWN).findings())


def spans(most: int) -> st.SearchStrategy[tuple[int, int | None]]:
    return st.tuples(st.integers(0, most), st.none() | st.integers(0, most))


def rule_lists(numbers: st.SearchStrategy) -> st.SearchStrategy[tuple[Rule, ...]]:
    return st.lists(st.builds(Rule, spans(30), numbers, st.integers(0, 4), st.integers(0, 9)), max_size=5).map(tuple)


GROUPS = st.lists(st.builds(Group, spans(9), rule_lists(st.integers(0, 6))), max_size=4).map(tuple)
TABLES = st.dictionaries(st.sampled_from(NAMES), GROUPS, max_size=3).map(JsonRules)


def chosen(rules: JsonRules, name: str, ranks: int, size: int) -> tuple:
    """As Open MPI 6 does it."""

    def fits(span, value):
        return span[0] <= value and (span[1] is None or value <= span[1])

    group = next((each for each in rules.tables.get(name, ()) if fits(each.ranks, ranks)), None)
    usable = (each for each in group.rules if name_of(name, each.algorithm, KNOWN)) if group else ()
    rule = next((each for each in usable if fits(each.sizes, size)), None)
    return (rule.algorithm, rule.fan, rule.segment) if rule else (0, 0, 0)


def of_numbers(rules: Rules, name: str, ranks: int, size: int) -> tuple:
    row = rules.row(name, ranks, size)
    return (row.algorithm, row.fan, row.segment) if row else (0, 0, 0)


@given(TABLES)
def test_a_written_file_is_read_as_the_same_rules(tmp_path_factory, rules):
    path = tmp_path_factory.mktemp("rules") / "rules.json"
    path.write_text(written(rules))
    assert read_json(path) == rules


@given(TABLES.filter(lambda rules: all(name_of(n, r.algorithm, KNOWN) for n, of in rules.tables.items()
                                       for g in of for r in g.rules)))  # fmt: skip
def test_numbers_and_json_make_the_same_choices(rules):
    numbers = to_numbers(rules, KNOWN)
    again = from_numbers(numbers)
    for name in rules.tables:
        for ranks in range(11):
            for size in range(32):
                expected = chosen(rules, name, ranks, size)
                assert of_numbers(numbers, name, ranks, size) == expected or expected[0] == 0
                assert chosen(again, name, ranks, size) == of_numbers(numbers, name, ranks, size)


@given(TABLES)
def test_lint_names_exactly_the_entries_and_rules_that_never_hold(rules):
    texts = [text for text in JsonLint(rules, KNOWN).findings() if "never holds" in text]
    for name, groups in rules.tables.items():
        taken = dict(_first(groups, 11, lambda group: group.ranks))
        for place, group in enumerate(groups):
            never = any(text.startswith(f"{name}, entry {place + 1}: ") for text in texts)
            assert never == (place not in taken.values())
            if not never:
                usable = [rule for rule in group.rules if name_of(name, rule.algorithm, KNOWN)]
                held = set(dict(_first(usable, 32, lambda rule: rule.sizes)).values())
                count = sum(text.startswith(f"{name}, entry {place + 1}, rule") for text in texts)
                assert count == len(usable) - len(held)


def _first(those, most, span_of):
    for value in range(most):
        for place, each in enumerate(those):
            first, last = span_of(each)
            if first <= value and (last is None or value <= last):
                yield value, place
                break


@given(st.lists(spans(12), max_size=8))
def test_pieces_name_the_first_span_that_fits(given_spans):
    pieces = list(first_that_fit(given_spans))
    assert pieces[0][0][0] == 0 and pieces[-1][0][1] is None
    first = dict(_first(given_spans, 15, lambda span: span))
    for (low, high), place in pieces:
        assert all(first.get(value) == place for value in range(low, 15 if high is None else high + 1))


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"reducescatter": []}, "there is no collective 'reducescatter'; write reduce_scatter"),
        ({"brodcast": []}, "there is no collective 'brodcast'"),
        ({"bcast": {}}, "bcast must be a list"),
        ({"bcast": [{}]}, "bcast, entry 1 must be an object with a list 'rules'"),
        ({"bcast": [{"comm_size_min": -1, "rules": []}]}, "bcast, entry 1: comm_size_min must be a number from 0 to"),
        ({"bcast": [{"rules": [{"alg": 1, "msg_size_max": "1K"}]}]}, "bcast, entry 1, rule 1: msg_size_max must be"),
    ],
)
def test_a_file_that_open_mpi_ignores_is_refused_with_the_place(tmp_path, tables, said):
    with pytest.raises(RulesError) as error:
        read(tmp_path, tables)
    assert said in str(error.value) and "ignores the whole file" in str(error.value)


@pytest.mark.parametrize(
    ("group", "said"),
    [
        ({"rules": [{"alg": 1, "segsize": 8}]}, "entry 1, rule 1: Open MPI skips 'segsize'; write seg_size."),
        ({"rules": [{"alg": "flat"}]}, "entry 1, rule 1: bcast has no algorithm flat; Open MPI skips this rule."),
        ({"rules": [{"alg": 1, "msg_size_min": 9, "msg_size_max": 8}]}, "it ends at 8, before it begins at 9"),
        ({"rules": [{"alg": 1}, {"alg": 2}]}, "entry 1, rule 2: this rule never holds: earlier rules fit all its"),
        ({"comm_size_max": "inf", "rules": []}, "entry 1: Open MPI may read this comm_size_max as -1; leave it out."),
        ({"rules": [{}]}, "entry 1, rule 1: 'alg' must be the number or the name of an algorithm."),
        ({"comm_rank_distribution": "near", "rules": []}, "there is no comm_rank_distribution 'near'"),
    ],
)
def test_each_mistake_is_named(tmp_path, group, said):
    assert any(said in text for text in found(tmp_path, {"bcast": [group]}))


def test_an_entry_for_one_node_hides_no_entry_for_all_communicators(tmp_path):
    alone = {"comm_rank_distribution": "single-node", "rules": [{"alg": 2}]}
    assert found(tmp_path, {"bcast": [alone, {"rules": [{"alg": 1}]}]}) == []
    hidden = found(tmp_path, {"bcast": [{"rules": [{"alg": 1}]}, alone]})
    assert hidden == ["bcast, entry 2: this entry never holds: earlier entries fit all its cases."]


def test_lint_explains_a_file(tmp_path, capsys):
    read(tmp_path, {"allgather": [{"comm_size_min": 8, "rules": [{"msg_size_min": 2048, "alg": "sparbit"}]}]})
    assert lint(tmp_path / "rules.json", None, 0) == 0
    said = capsys.readouterr().out
    assert "allgather   8 and more  from 2 KiB / ranks  sparbit" in said
    assert "Open MPI 4 and 5 cannot read this file." in said


def test_an_algorithm_that_open_mpi_calls_default_is_not_its_own_choice(tmp_path, capsys):
    read(tmp_path, {"allgatherv": [{"rules": [{"alg": "default"}]}]})
    assert lint(tmp_path / "rules.json", None, 0) == 0
    assert re.search("allgatherv .* gather_bcast", capsys.readouterr().out)
    rules = to_numbers(read_json(tmp_path / "rules.json"), KNOWN)
    assert [row.algorithm for row in rules.tables[0].ranks[0].rows] == [1]


KEYS = st.sampled_from(
    ["comm_size_min", "comm_size_max", "comm_rank_distribution", "rules", "msg_size_min", "msg_size_max", "alg", "reqs"]
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**64) | st.floats() | st.text(max_size=3) | st.just("inf"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
)
ANY_GROUP = st.fixed_dictionaries({"rules": st.lists(st.dictionaries(KEYS, ANY_JSON, max_size=4), max_size=3)})


@given(st.dictionaries(st.sampled_from(["bcast", "alltoallw", "x"]), ANY_JSON | st.lists(ANY_GROUP, max_size=3)))
def test_any_json_is_explained_or_refused_in_one_sentence(tmp_path_factory, tables):
    try:
        rules = read(tmp_path_factory.mktemp("rules"), tables)
    except RulesError as error:
        assert "Open MPI ignores the whole file" in str(error)
        return
    checked = JsonLint(rules, KNOWN)
    assert all(len(row) == 4 for row in checked.in_words())
    assert all(text.endswith(".") for text in checked.findings())


def test_a_mistake_in_the_json_is_said(tmp_path, capsys):
    (tmp_path / "rules.json").write_text('{"rule_file_version": 3, "collectives": {"bcast": [],}}')
    assert lint(tmp_path / "rules.json", None, 0) == 1
    assert "rules.json is no JSON, so Open MPI 6 reads only its numbers: " in capsys.readouterr().out


def test_a_file_for_open_mpi_4_becomes_json_and_back(tmp_path):
    old, new, again = tmp_path / "old.conf", tmp_path / "new.json", tmp_path / "again.conf"
    old.write_text("1\n7\n2\n0\n1\n0 0 0 0\n4\n3\n0 2 4 0\n1000 3 0 8192\n5000 0 0 0\n")
    assert convert(old, "openmpi-json", new) == 0 and is_json(new)
    assert convert(new, "openmpi-rules", again) == 0
    rules, other = read_rules(old), read_rules(again)
    for ranks in range(8):
        for size in (0, 999, 1000, 4999, 5000, 9999):
            assert of_numbers(rules, "bcast", ranks, size) == of_numbers(other, "bcast", ranks, size)


@pytest.mark.parametrize(
    ("group", "said"),
    [
        ({"comm_rank_distribution": "single-node", "rules": []}, "only the JSON of Open MPI 6 has them"),
        ({"rules": [{"alg": 1, "reqs": 4}]}, "culmen writes no numbers of requests"),
        ({"rules": [{"alg": "knomial"}]}, "only Open MPI 6 has the algorithm knomial"),
    ],
)
def test_what_the_old_form_cannot_say_is_refused(tmp_path, group, said):
    with pytest.raises(InputError, match=said):
        to_numbers(read(tmp_path, {"reduce": [group]}), KNOWN)


def test_conversions_between_unlike_mpis_are_refused(tmp_path):
    file = tmp_path / "rules.conf"
    file.write_text("0\n")
    with pytest.raises(InputError, match="the numbers of algorithms in Intel MPI and in Open MPI cannot be converted"):
        convert(file, "intel", None)
    with pytest.raises(InputError, match="none cannot be read: there is no such file"):
        convert(tmp_path / "none", "intel", None)
    with pytest.raises(InputError, match="there is no such form; the forms are openmpi-json, openmpi-rules, intel"):
        convert(file, "yaml", None)


def test_all_names_of_collectives_are_written_as_open_mpis_reader_knows_them(tmp_path):
    assert list(read(tmp_path, {name: [] for name in COLLECTIVES}).tables) == list(COLLECTIVES)
