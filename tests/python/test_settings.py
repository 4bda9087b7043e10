"""The models of study files are the one place of each setting: what comes of them is complete, and C++ agrees."""

import inspect
import json
import re
import subprocess
import sys
from typing import Any, Literal, get_args, get_origin

import pytest
from culmen.cli.settings import LISTENING, SETTINGS
from culmen.problem.command import Command
from culmen.study_file.evaluator import CommandOptions, EvaluatorOptions, EvaluatorTable
from culmen.study_file.figure import FigureTable
from culmen.study_file.file import LimitTable, OptimizerTable, RunTable, StopTable, StudyFile
from culmen.study_file.listening import ListeningTable
from culmen.study_file.program import ProgramStudy, settings_of_program
from culmen.study_file.space import ParameterTable
from culmen.study_file.table import Setting, Table
from harness import ROOT, culmen

import culmen as culmen_package
from culmen import InputError, _core

pytestmark = pytest.mark.no_numbers

TABLES = [StudyFile, ParameterTable, LimitTable, EvaluatorTable, FigureTable, OptimizerTable, StopTable, RunTable]
PARTS = {"config": _core.StudyConfig, "evaluator": _core.EvaluatorSpec, "options": _core.RunOptions}
KINDS = {"keep": "command"}  # of evaluators that alone have the setting; Python functions have the others
SETS = [
    (table, name, said) for table in (*TABLES, ListeningTable) for name, said in table.settings().items() if said.sets
]


def named(parameters: Any) -> str:
    return parameters if isinstance(parameters, str) else ""


def part_for(name: str, said: Setting) -> Any:
    part = PARTS[said.sets]()
    if said.sets == "evaluator":
        part.kind = KINDS.get(name, "python")
    return part


@pytest.mark.parametrize("table", [*TABLES, ProgramStudy, ListeningTable], ids=lambda table: table.__name__)
def test_every_key_has_a_setting(table):
    assert table.settings().keys() == table.model_fields.keys()
    assert all(said.about and not said.about.endswith(".") for said in table.settings().values())


def test_the_schema_describes_every_key_in_plain_text(tmp_path):
    schema = json.loads(culmen("schema", cwd=tmp_path).stdout)
    tables = [schema, *schema["$defs"].values()]
    said = [(key, entry.get("description", "")) for table in tables for key, entry in table["properties"].items()]
    assert len(said) > 45
    assert [key for key, about in said if not about or "`" in about or "](" in about] == []


def test_the_schema_has_the_bounds_of_numbers(tmp_path):
    text = culmen("schema", cwd=tmp_path).stdout
    assert re.findall(r'"(?:ge|gt|le|lt)":', text) == []
    evaluator = json.loads(text)["$defs"]["EvaluatorTable"]["properties"]
    assert (evaluator["retries"]["minimum"], evaluator["retries"]["maximum"]) == (0, 1000)


@pytest.mark.parametrize(("table", "name", "said"), SETS, ids=named)
def test_cpp_has_the_setting_with_the_same_default(table, name, said):
    default = table.model_fields[name].get_default(call_default_factory=True)
    part = part_for(name, said)
    if name == "name":  # a study file always has one
        return
    if default is not None:
        assert getattr(part, name) == default
    setattr(part, name, getattr(part, name))


@pytest.mark.parametrize(("table", "name", "said"), SETS, ids=named)
def test_cpp_knows_the_words_of_the_setting(table, name, said):
    annotation = table.model_fields[name].annotation
    if get_origin(annotation) is not Literal:
        return
    part = part_for(name, said)
    for word in get_args(annotation):
        setattr(part, name, word)
        assert getattr(part, name) == word
    with pytest.raises(InputError, match='"zz" is not one of "'):
        setattr(part, name, "zz")


def test_a_table_sets_what_it_says_and_leaves_the_rest():
    class Config:
        evaluations, target, workers = 0, 7.0, 3

    config = Config()
    StopTable(evaluations=5).apply("config", config)
    assert (config.evaluations, config.target, config.workers) == (5, 7.0, 3)


def test_a_derived_table_keeps_the_setting_of_a_field_that_it_gives_anew():
    class First(Table):
        count: int = 1

    class Second(StopTable):
        evaluations: int | None = 4

    assert First.settings() == {}
    assert Second.settings()["evaluations"] is StopTable.settings()["evaluations"]


def test_texts_without_markdown():
    said = Setting("a [list](page.md#there) of `names`, [twice](x)")
    assert (said.unlinked, said.plain) == ("a list of `names`, twice", "a list of names, twice")


def test_minimize_takes_every_setting_of_a_function_with_its_default():
    signature, text = inspect.signature(culmen_package.minimize), culmen_package.minimize.__doc__
    for name, field, _ in settings_of_program():
        default = field.get_default(call_default_factory=True)
        assert signature.parameters[name].default == {"[]": (), "{}": None}.get(str(default), default), name
        assert f"- ``{name}``: " in text
    keys = {*EvaluatorOptions.model_fields, *StopTable.model_fields, *RunTable.model_fields, "seed", "generational"}
    assert {name for name, _, _ in settings_of_program()} == keys - {"evaluations"} | {"budget"}


def test_a_command_takes_every_setting_of_a_program():
    keys = CommandOptions.model_fields.keys() - EvaluatorOptions.model_fields.keys() - {"inputs"} | {"copy", "link"}
    assert set(inspect.signature(Command).parameters) == keys | {"words", "folder"}


def test_options_of_commands_are_keys_that_a_start_may_change():
    told = {key for table in (StopTable, RunTable) for key, said in table.settings().items() if said.option}
    assert SETTINGS.keys() == told


@pytest.mark.parametrize("function", [culmen_package.minimize, culmen_package.Study.run], ids=lambda f: f.__name__)
def test_a_run_takes_every_setting_for_other_machines_with_its_default(function):
    parameters = inspect.signature(function).parameters
    assert LISTENING.keys() == ListeningTable.model_fields.keys() <= parameters.keys()
    assert all(parameters[name].default == ListeningTable.default(name) for name in LISTENING)


@pytest.mark.parametrize("tool", ["quote_settings", "write_stub"])
def test_generated_files_are_as_generated(tool):
    done = subprocess.run([sys.executable, ROOT / "tools" / tool, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
