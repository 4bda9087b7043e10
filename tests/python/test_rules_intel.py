"""Variables of Intel MPI: read, explained and written. The expected choices were observed with Intel MPI 2021.18."""

from pathlib import Path

import pytest
from culmen._core import InputError
from culmen.cli.work.convert import convert
from culmen.cli.work.lint import lint
from culmen.tune.rules.intel import Condition, Variable, findings, holding, read_environment, written
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.no_numbers


def of(tmp_path: Path, value: str) -> Variable:
    (tmp_path / "env.sh").write_text(f'export I_MPI_ADJUST_ALLREDUCE="{value}"\n')
    found = read_environment(tmp_path / "env.sh")
    assert found.mistakes == ()
    return found.variables[0]


def said(tmp_path: Path, text: str) -> list[tuple[int, str]]:
    (tmp_path / "env.sh").write_text(text)
    return findings(read_environment(tmp_path / "env.sh"))


def preset(variable: Variable, ranks: int, size: int) -> int:
    value = ranks if variable.by_ranks else size
    pieces = holding(variable)
    return next(each.preset for (low, high), each in pieces if low <= value and (high is None or value <= high))


@pytest.mark.parametrize(
    ("value", "presets"),
    [  # with 2 ranks, for 16, 64, 100, 128, 4096 and 16384 bytes
        ("3:64", (3, 3, 3, 3, 3, 3)),
        ("3:64;8:128", (3, 3, 8, 8, 8, 8)),
        ("8:128;3:64", (8, 8, 8, 8, 3, 3)),
        ("3:8192;8:128", (3, 3, 3, 3, 3, 8)),
        ("3:0-100;8:50-5000", (3, 3, 3, 8, 8, 8)),
        ("8:50-5000;3:0-100", (8, 8, 8, 8, 8, 3)),
        ("3:64;8:64", (8, 8, 8, 8, 8, 8)),
        ("8:64;3:128;1:64", (1, 1, 3, 3, 3, 3)),
        ("8:64;3", (8, 8, 3, 3, 3, 3)),
        ("8;3:64", (8, 8, 8, 8, 8, 8)),
        ("3:64,4096;8", (3, 3, 3, 3, 3, 8)),
        ("3:64@2;8:512@2", (8, 8, 8, 8, 8, 8)),
        ("3:64@3;8:64@2", (3, 3, 3, 3, 3, 3)),
        ("8:64@3;3:64@4", (8, 8, 8, 8, 8, 8)),
        ("8:4096@1", (8, 8, 8, 8, 8, 8)),
        ("8:1000@1;3:64;8:128", (8, 8, 8, 8, 8, 8)),
        ("3:1@4;8:1@2;2:1@4", (2, 2, 2, 2, 2, 2)),
        ("3:64;", (3, 3, 3, 3, 3, 3)),
    ],
)
def test_choices_are_those_of_the_library(tmp_path, value, presets):
    variable = of(tmp_path, value)
    assert tuple(preset(variable, 2, size) for size in (16, 64, 100, 128, 4096, 16384)) == presets


BOUNDS = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda ends: (min(ends), max(ends)))
CONDITIONS = st.builds(Condition, st.integers(0, 32), st.none() | BOUNDS) | st.builds(
    Condition, st.integers(0, 32), BOUNDS, BOUNDS
)


@given(st.lists(CONDITIONS, min_size=1, max_size=6))
def test_a_written_variable_chooses_the_same_presets(tmp_path_factory, conditions):
    path = tmp_path_factory.mktemp("env") / "env.sh"
    variable = Variable("allreduce", tuple(conditions))
    path.write_text(written([variable]))
    found = read_environment(path)
    (again,) = found.variables
    assert (
        found.mistakes == ()
        and findings(found)
        == [(1, "allreduce: Intel MPI ignores all message sizes, because a condition gives a number of ranks.")]
        * variable.by_ranks
    )
    for value in range(1, 23):
        assert preset(again, value, value) == preset(variable, value, value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I_MPI_ADJUST_BCAST=99", "bcast: there is no preset 99; Intel MPI 2021.18 has 0 to 22, and chooses itself."),
        ("I_MPI_ADJUST_BCAST=3:1-4k", "'1-4k' is no condition"),
        ("I_MPI_ADJUST_BCAST=x", "the number of a preset must stand here, not 'x'"),
        ("I_MPI_ADJUST_BCAST='1:64-128;2:4096'", "'1:64-128' also holds for sizes from 0 on: lower bounds do not"),
        ("I_MPI_ADJUST_BCAST='1:0-64;2:65-128'", "'2:65-128' also holds for larger sizes, because it is the last"),
        ("I_MPI_ADJUST_BCAST='1:0-64@2;2:0-64@3'", "Intel MPI ignores all message sizes"),
        ("I_MPI_ADJUST_BCAST='1;2:64'", "'2:64' never holds: other conditions fit all its cases."),
        ("I_MPI_ADJUST_BCAST='1:0-100;2:50-200'", "'2:50-200' holds only from 101 on: an earlier condition also fits."),
        ("I_MPI_ADJUST_BCAST=1\nsetenv I_MPI_ADJUST_BCAST 2", "bcast: line 2 sets the variable again; this line"),
    ],
)
def test_each_mistake_is_named(tmp_path, text, expected):
    assert any(expected in found for _, found in said(tmp_path, text))


def test_lines_of_shells_are_read(tmp_path):
    text = "#!/bin/sh\nexport I_MPI_ADJUST_BCAST=1  # binomial\n\nsetenv I_MPI_ADJUST_REDUCE '2:0-64;3'\nN=4\n"
    text += "I_MPI_PIN=0\n"
    assert said(tmp_path, text) == []
    found = read_environment(tmp_path / "env.sh")
    assert [(each.collective, each.line) for each in found.variables] == [("bcast", 2), ("reduce", 4)]
    assert found.others == ((6, "culmen does not explain I_MPI_PIN."),)


@given(st.text("0123456789:;,@- kx", max_size=20))
def test_any_value_is_explained_or_a_mistake(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("env") / "env.sh"
    path.write_text(f"export I_MPI_ADJUST_REDUCE='{value}'\n")
    found = read_environment(path)
    assert len(found.variables) + len(found.mistakes) == 1
    assert all(text.startswith("reduce: ") or text.startswith("I_MPI_ADJUST_REDUCE: ") for _, text in findings(found))
    assert all(holding(each) for each in found.variables)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("export I_MPI_ADJUST_BCAST_LIST=1-3,5", "the autotuner of Intel MPI tries only the presets 1-3,5."),
        ("export I_MPI_TUNING_BIN=tuned.dat", "Intel MPI may take other presets from tuned.dat, which culmen cannot"),
    ],
)
def test_variables_of_the_autotuner_are_explained(tmp_path, line, expected):
    (tmp_path / "env.sh").write_text(line)
    ((_, text),) = read_environment(tmp_path / "env.sh").others
    assert expected in text


def test_lint_and_convert_explain_and_rewrite_a_script(tmp_path, capsys):
    file = tmp_path / "env.sh"
    file.write_text("export I_MPI_ADJUST_ALLREDUCE='8:50-5000;3:0-100'\nexport I_MPI_ADJUST_BARRIER=2:1@16\n")
    assert lint(file, None, 0) == 1
    out = capsys.readouterr().out
    words = [line.split() for line in out.splitlines()]
    assert ["allreduce", "all", "up", "to", "5000", "B", "8"] in words
    assert ["allreduce", "all", "from", "5001", "B", "3"] in words
    assert ["barrier", "1", "and", "more", "all", "2"] in words
    assert convert(file, "intel", None) == 0
    assert capsys.readouterr().out.splitlines() == [
        'export I_MPI_ADJUST_ALLREDUCE="8:0-5000;3:5001-2147483647"',
        'export I_MPI_ADJUST_BARRIER="2:0-2147483647@1-2147483647"',
    ]
    file.write_text("export I_MPI_ADJUST_BCAST=1:\n")
    assert convert(file, "intel", None) == 0
    file.write_text("export I_MPI_ADJUST_BCAST=1:4k\n")
    with pytest.raises(InputError, match="line 1: I_MPI_ADJUST_BCAST: '4k' is no condition"):
        convert(file, "intel", None)


@pytest.mark.parametrize("value", [5000 * "1", f"1:{5000 * '1'}"])
def test_a_number_with_too_many_digits_is_a_mistake(tmp_path, value):
    ((line, text),) = said(tmp_path, f"I_MPI_ADJUST_BCAST={value}\n")
    assert line == 1 and text.endswith("111… has 5000 digits; a number may have at most 19.")
