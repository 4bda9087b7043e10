"""The printed lines give a program the same settings as a run of the tuning."""

import pytest
from culmen.tune.command.lines import lines_of
from culmen.tune.command.recipe import recipe_of

pytestmark = pytest.mark.no_numbers

SETTING = {"choices": ["a", "b"], "initial": "a"}


@pytest.fixture
def line(tmp_path, monkeypatch):
    """line(names, evaluator, …): the last line with the setting b for each of these parameters."""
    (tmp_path / "app").touch()
    monkeypatch.setenv("from_shell", "mine")

    def last(names, evaluator, **tables):
        data = {"name": "app", "space": dict.fromkeys(names, SETTING), "evaluator": {"command": ["./app"]} | evaluator}
        recipe = recipe_of(data | tables, tmp_path / "app.toml")
        lines = lines_of(recipe, dict.fromkeys(names, "b"), tmp_path, tmp_path / "tuned")
        return lines[-1].replace(f"{tmp_path}/", "") if lines else None

    return last


def test_a_setting_that_is_in_no_word_is_in_both_of_its_variables(line):
    assert line(["x"], {}) == "CULMEN_PARAM_X=b x=b app"


def test_a_setting_that_is_in_a_word_of_the_run_needs_no_variable(line):
    assert line(["x", "y"], {"command": ["./app", "{x}"], "environment": {"Y": "{y}"}}) == "Y=b app b"
    assert line(["x"], {"modules": ["mpi/{x}"]}) == "module load mpi/b && app"


def test_the_words_of_a_build_are_not_those_of_the_run(line):
    assert line(["x"], {"command": ["{build}/app"]}, build={"command": ["make", "{x}"]}) == (
        "CULMEN_PARAM_X=b x=b tuned/app"
    )


def test_a_variable_for_libraries_is_set_also_for_a_setting_in_a_word(line):
    assert line(["OMP_NUM_THREADS"], {"command": ["./app", "{OMP_NUM_THREADS}"]}) == "OMP_NUM_THREADS=b app b"


def test_variables_of_the_shell_and_of_culmen_stay(line):
    assert line(["from_shell"], {}) == "CULMEN_PARAM_FROM_SHELL=b app"
    assert line(["CULMEN_X"], {}) == "CULMEN_PARAM_CULMEN_X=b app"
    assert line(["x"], {"environment": {"x": "other"}}) == "CULMEN_PARAM_X=b x=other app"


@pytest.mark.parametrize("name", ["block size", "größe", "a-b", "7z"])
def test_no_line_has_a_name_that_a_shell_does_not_allow(line, name):
    assert line([name], {}) is None


@pytest.mark.parametrize("inputs", [{"copy": ["data"]}, {"link": ["data"]}])
def test_no_line_lacks_the_files_of_inputs(line, tmp_path, inputs):
    (tmp_path / "data").touch()
    assert line(["x"], {"inputs": inputs}) is None
    assert line(["x"], {"inputs": {}}) is not None


def test_a_build_gets_the_variables_that_are_the_same_in_all_runs(tmp_path):
    environment = {"PATH": "/opt/bin", "BLAS": "{x}", "HERE": "{build}"}
    tables = {"name": "app", "space": {"x": SETTING}, "build": {"command": ["make"]}}
    tables["evaluator"] = {"command": ["{build}/app"], "environment": environment}
    build, _ = lines_of(recipe_of(tables, tmp_path / "app.toml"), {"x": "b"}, tmp_path, tmp_path / "tuned")
    assert build.endswith(f"(cd {tmp_path}/tuned && PATH=/opt/bin make)")
