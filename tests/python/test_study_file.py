"""Study files: the values that correct ones give, and that any other text is an error of input."""

import json
import math
import sys

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from study_texts import EVALUATOR, STUDY, X, with_

from culmen import InputError, Study


def test_defaults_of_a_study_file(folder):
    study = Study.from_file("study.toml")
    config, options = study.config, study.options
    assert (config.name, config.seed, config.optimizer) == ("study", 1, "auto")
    assert (config.evaluations, config.target, config.wall_time_s) == (100, -math.inf, math.inf)
    assert (config.on_failure, config.retries) == ("penalise", 2)
    assert (options.workers, options.prefetch, options.store, options.durability) == (0, True, "study.db", "process")
    assert config.evaluator.target == f"{folder}/model.py:chi2"
    assert config.evaluator.interpreter == sys.executable
    parameters = [(p.name, p.kind, p.scale, p.lower, p.upper) for p in config.space.parameters]
    assert parameters == [
        ("x", "real", "linear", -5, 5),
        ("tau", "real", "log", 1e-6, 1),
        ("n", "integer", "linear", 1, 10),
    ]


def test_what_a_study_file_says_arrives(folder):
    more = 'target = -1.5\nwall_time_s = 9\n[optimizer]\nname = "cmaes"\nsigma = 0.2\npopulation = 12\n'
    more += '[run]\nworkers = 3\nprefetch = false\ndurability = "power"\n'
    text = 'name = "fit"\nseed = 7\nstore = "there/fit.db"\n' + STUDY + more
    text = text.replace(
        EVALUATOR, EVALUATOR + '\nresult = "residuals"\ntime_limit_s = 2\non_failure = "retry"\nretries = 5'
    )
    (folder / "study.toml").write_text(text)
    study = Study.from_file("study.toml")
    config, options = study.config, study.options
    assert (config.name, config.seed, config.optimizer_options) == ("fit", 7, {"sigma": 0.2, "population": 12})
    assert (config.evaluations, config.target, config.wall_time_s) == (100, -1.5, 9)
    assert (config.on_failure, config.retries, config.evaluator.time_limit_s) == ("retry", 5, 2)
    assert config.evaluator.result == "residuals"
    assert (options.workers, options.prefetch, options.durability) == (3, False, "power")
    assert options.store == "there/fit.db"
    assert config.evaluator.working_folder == f"{folder}/there/fit.work"


def test_an_optimizer_can_be_given_by_its_name_alone(tmp_path):
    (tmp_path / "study.toml").write_text('optimizer = "sobol"\n' + STUDY)
    (tmp_path / "model.py").touch()
    config = Study.from_file(tmp_path / "study.toml").config
    assert (config.optimizer, config.optimizer_options) == ("sobol", {})


def test_without_an_optimizer_the_study_decides_and_its_store_remembers(folder):
    study = Study.from_file("study.toml", workers=2)
    study.settle()
    assert json.loads(study.config.configuration)["optimizer"] == {"name": "auto", "generational": True}
    residuals = with_(EVALUATOR, EVALUATOR + '\nresult = "residuals"').replace("n = {", "# n = {")
    (folder / "study.toml").write_text(residuals)
    study = Study.from_file("study.toml")
    assert (study.config.optimizer, study.config.optimizer_why) == (
        "lm",
        "residuals, only real parameters, no constraints, no limits",
    )
    study.settle()
    assert json.loads(study.config.configuration)["optimizer"] == {"name": "lm", "generational": True}
    (folder / "study.toml").write_text(residuals + '[optimizer]\nname = "lm"')
    assert Study.from_file("study.toml").config.fingerprint == study.config.fingerprint


def test_options_may_be_words(folder):
    (folder / "study.toml").write_text(STUDY + '[optimizer]\nname = "grid"\norder = "rows"\npoints = 5')
    assert Study.from_file("study.toml").config.optimizer_options == {"order": "rows", "points": 5}


def test_a_relative_program_starts_at_the_study_file_and_others_are_looked_up(folder):
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "study.toml").write_text(with_(EVALUATOR, 'command = ["./run.sh", "--fast"]'))
    assert Study.from_file("study.toml").config.evaluator.command == [f"{folder}/run.sh", "--fast"]
    (folder / "study.toml").write_text(with_(EVALUATOR, 'command = ["awk"]'))
    assert Study.from_file("study.toml").config.evaluator.command == ["awk"]


def test_the_configuration_knows_the_folder_and_all_that_was_said(folder):
    configuration = json.loads(Study.from_file("study.toml").config.configuration)
    assert configuration["folder"] == str(folder)
    assert configuration["space"]["tau"] == {"type": "real", "lower": 1e-6, "upper": 1.0, "scale": "log"}


CHANGES = {
    "seed": ("\n[space]", "seed = 2\n[space]", False),
    "figure": (EVALUATOR, 'command = ["cat"]\nvalue = { key = "a" }', False),
    "environment": (EVALUATOR, EVALUATOR + '\nenvironment = { A = "1" }', True),
    "bound": ("upper = 5 }", "upper = 6 }", False),
    "order": (X + "\n", "", False),
    "function": ("model.py:chi2", "model.py:chi3", False),
    "result": (EVALUATOR, EVALUATOR + '\nresult = "residuals"', False),
    "optimizer": ("[stop]", '[optimizer]\nname = "sobol"\n[stop]', False),
    "option": ("[stop]", '[optimizer]\nname = "cmaes"\nsigma = 0.1\n[stop]', False),
    "budget": ("= 100", "= 200", True),
    "workers": ("[stop]", "[run]\nworkers = 3\n[stop]", True),
    "time limit": (EVALUATOR, EVALUATOR + "\ntime_limit_s = 3", True),
    "name": ("\n[space]", 'name = "other"\n[space]', True),
    "spelt out default": ("x = { lower", 'x = { type = "real", lower', True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_fingerprint_is_of_what_decides_the_candidates_and_values(folder, change):
    old, new, same = CHANGES[change]
    before = Study.from_file("study.toml").config.fingerprint
    (folder / "study.toml").write_text(with_(old, new))
    assert (Study.from_file("study.toml").config.fingerprint == before) == same


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=200) | st.binary(max_size=200).map(lambda b: b.decode("latin-1")))
def test_any_text_at_all_is_a_study_or_an_input_error(folder, text):
    (folder / "any.toml").write_text(text, encoding="utf-8", errors="replace")
    with pytest.raises(InputError, match=r"any\.toml"):
        Study.from_file("any.toml")


SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=5)
VALUES = st.recursive(SCALARS, lambda v: st.lists(v, max_size=2) | st.dictionaries(st.text(max_size=5), v, max_size=2))
KEYS = ["name", "seed", "store", "space", "evaluator", "optimizer", "stop", "run"]


@settings(max_examples=300, deadline=None)
@example(data={"int": None, "space": {"float": 3}, "evaluator": {"environment": {"bool": 1}}})
@given(
    data=st.dictionaries(
        st.sampled_from([*KEYS, "int", "float", "bool", "str"]) | st.text(max_size=5), VALUES, max_size=8
    )
)
def test_any_tree_of_values_is_a_study_or_sentences(data):
    from culmen.study_file import StudyFile, checked

    try:
        checked(StudyFile, {"name": "any", **data}, "any.toml")
    except InputError as e:
        assert all(line.startswith("any.toml: ") and "something else" not in line for line in str(e).split("\n"))
