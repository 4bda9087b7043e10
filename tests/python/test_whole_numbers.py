"""A whole number with an exponent is the same in a study file, in a program and on a command line."""

import pytest
from culmen.cli.commands import load
from culmen.cli.usage import sentence
from culmen.study_file import StopTable

KEYS = ["3e3", "3E+3", "3_000", "3000.0"]


def given(command, *words):
    return load(command).make_context(command, list(words)).params


@pytest.mark.parametrize("text", KEYS)
def test_the_command_line_and_the_study_file_agree(text):
    in_file = float(text) if set(text) & set("eE.") else int(text)
    assert StopTable(evaluations=in_file).evaluations == 3000
    for option in ("--evaluations", "--workers", "--stagnation", "--seed", "--agreement"):
        name = option.removeprefix("--")
        assert repr(given("run", "s.toml", option, text)[name]) == "3000"
    assert repr(given("launch", "-n", text, "run", "s.toml")["n"]) == "3000"


def test_large_whole_numbers_keep_all_digits():
    assert given("run", "s.toml", "--seed", str(2**53 + 1))["seed"] == 2**53 + 1


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("3.5e0", "a whole number"),
        ("1e-3", "a whole number"),
        ("inf", "a whole number"),
        ("e3", "a whole number"),
        ("0e3", "at least 1"),
        ("-1e1", "at least 1"),
    ],
)
def test_other_numbers_are_refused(text, rule):
    with pytest.raises(Exception) as error:  # of any of typer's modules
        given("run", "s.toml", "--evaluations", text)
    assert sentence(error.value).startswith(f"culmen run: --evaluations must be {rule}, got ")


def test_options_with_other_values_are_unchanged():
    words = given("run", "s.toml", "--target", "1e3", "--fix", "n=1e1", "--digits", "all", "--store", "1e3")
    assert (words["target"], words["fix"], words["digits"]) == (1000.0, ["n=1e1"], "all")
    assert str(words["store"]) == "1e3"
