"""The file of `culmen tune command`: the studies that it describes, and mistakes in it."""

import pytest
from culmen.cli.work.tune_command import show_plan
from culmen.run.study import Study
from culmen.study_file import Mistakes
from culmen.tune.command.recipe import comparison_file, counts_time, objective_of, present_of, read_recipe, search_file

from culmen import InputError

pytestmark = pytest.mark.no_numbers

RECIPE = """
[space]
level = { type = "integer", lower = 1, upper = 9, initial = 6 }
[evaluator]
command = ["./app", "{level}"]
"""


@pytest.fixture
def recipe_of(tmp_path):
    def read(text):
        (tmp_path / "app.toml").write_text(text)
        (tmp_path / "app").touch()
        return read_recipe(tmp_path / "app.toml")

    return read


def test_the_default_is_wall_time(recipe_of, tmp_path):
    recipe = recipe_of(RECIPE)
    assert objective_of(recipe) == ("wall time", False)
    study = search_file(recipe, tmp_path, tmp_path / "builds")
    assert study.evaluator.value.key == "wall_time_s"
    assert study.run.workers == 1
    assert study.stop.evaluations == 150


@pytest.mark.parametrize(
    ("name", "is_time"), [("wall_time_s", True), ("cpu_time_s", True), ("memory_bytes", False), ("score", False)]
)
def test_measured_times_are_times_as_objectives_too(recipe_of, name, is_time):
    text = f"[objectives]\n{name} = 'minimize'\n[evaluator]\nvalues = {{ score = {{ file = 'score' }} }}"
    assert counts_time(recipe_of(RECIPE.replace("[evaluator]", text, 1))) == is_time


def test_less_memory_saves_no_hours_as_an_objective_either(recipe_of):
    text = "[tune]\nuse_hours = 3\n[objectives]\nmemory_bytes = 'minimize'\n[evaluator]"
    with pytest.raises(InputError, match="less memory_bytes saves no hours, so remove use_hours"):
        recipe_of(RECIPE.replace("[evaluator]", text, 1))


def test_a_comparison_has_exactly_the_given_runs(recipe_of, tmp_path):
    settings = [{"level": 3}, {"level": 6}, {"level": 3}]
    study = comparison_file(recipe_of(RECIPE), tmp_path, tmp_path / "builds", settings)
    assert [start["level"] for start in study.starts] == [3, 6, 3]
    assert study.space["level"].initial == 3, "another initial value would be one more candidate"
    assert study.stop.evaluations == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((", initial = 6", ""), "the present setting of level is not known; write initial"),
        (('command = ["./app", "{level}"]', 'python = "math:sqrt"'), "must have a command"),
        (("[evaluator]", "[tune]\nweights = { b = 2 }\n[evaluator]"), "weights are for several objectives"),
        (("[evaluator]", "[tune]\nmeasure = 'wall'\n[evaluator]"), "[tune] measure"),
        (("[evaluator]", "[tune]\nround = 3\n[evaluator]"), "'round'"),
        (("[evaluator]", "[build]\nsources = []\n[evaluator]"), "command is missing"),
        (("[evaluator]", "[tune]\nexpand = 'no.py'\n[evaluator]"), 'there is no file "no.py"'),
        (("[space]", "[space"), "is not valid TOML"),
        (("./app", "./other"), "there is no program"),
        (("./app", "{build}/app"), "but there is no [build]"),
        (
            ("[evaluator]", "[build]\ncommand = ['make']\nsources = ['nothing']\n[evaluator]"),
            'no file or folder "nothing"',
        ),
        (("[evaluator]", "[build]\ncommand = ['make']\nsources = ['.']\n[evaluator]"), "contains this file"),
        (("[evaluator]", "[run]\nworkers = 2\n[evaluator]"), "would disturb each other"),
        (("[evaluator]", "[constraints]\nlow = 'level < 5'\n[evaluator]"), "violate [constraints]"),
        (("[evaluator]", "[evaluator.values]\nwall_time_s = { key = 'a' }\n[evaluator]"), "measures this itself"),
        (('"{level}"]', '"{level}"]\nresult = "residuals"'), "residuals are for fits"),
    ],
)
def test_mistakes_are_sentences(recipe_of, change, message):
    assert change[0] in RECIPE
    with pytest.raises(InputError) as caught:
        recipe_of(RECIPE.replace(*change, 1))
    assert message in str(caught.value)


def test_a_missing_file_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_recipe(tmp_path / "nothing.toml")


def test_starts_give_the_present_settings_before_initial(recipe_of):
    recipe = recipe_of(RECIPE.replace("[space]", "[[starts]]\nlevel = 2\n[[starts]]\nlevel = 9\n[space]"))
    assert present_of(recipe) == {"level": 2}


def test_a_setting_that_is_inactive_at_present_needs_no_value(recipe_of):
    more = (
        'mode = { choices = ["a", "b"], initial = "a" }\ntile = { lower = 1, upper = 9, active_when = "mode == \'b\'" }'
    )
    assert present_of(recipe_of(RECIPE.replace("[space]", f"[space]\n{more}"))) == {"level": 6, "mode": "a"}
    with pytest.raises(InputError, match="present setting of tile is not known"):
        recipe_of(RECIPE.replace("[space]", f"[space]\n{more}").replace('initial = "a"', 'initial = "b"'))


def test_values_alone_are_not_what_is_tuned_for(recipe_of):
    recipe = recipe_of(RECIPE + "values = { error = { regex = 'error (.*)' } }\n")
    assert objective_of(recipe) == ("wall time", False)


def test_a_build_lacks_only_variables_that_depend_on_settings_or_on_the_build(recipe_of, tmp_path):
    entries = 'PATH = "/opt/bin", HOME = "{CULMEN_STUDY_FOLDER}/home", LEVEL = "{level}", LIBS = "{build}/lib"'
    recipe = recipe_of(RECIPE + f'environment = {{ {entries} }}\n[build]\ncommand = ["make"]\n')
    words = search_file(recipe, tmp_path, tmp_path / "builds").evaluator.command
    assert {word for word in words if word.startswith("--hide=")} == {"--hide=LEVEL", "--hide=LIBS", "--hide=level"}


def test_a_parameter_can_have_a_name_like_build(recipe_of, tmp_path):
    words = RECIPE.replace("level", "bind").replace('"./app", ', '"env", "{build}/app", ')
    text = words + 'environment = { LIBS = "{build}/lib" }\n[build]\ncommand = ["make", "PREFIX={build}"]\n'
    study = search_file(recipe_of(text), tmp_path, tmp_path / "builds")
    Study.of(study, tmp_path, Mistakes("app.toml"), str(tmp_path / "search.db"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"{level}"', '"{blok}"'), "{blok} is not a parameter, and the parameter 'level' is not used"),
        (("[evaluator]", "[evaluator]\nvalue = { regex = '(\\S+' }"), "is not a regular expression"),
        (("./app", "no-such-program"), 'there is no program "no-such-program" on PATH'),
        (("./app", "app"), 'on PATH; write "./app" for the one in the folder of app.toml'),
        (("[evaluator]", "[objectives]\nwall_time = 'minimize'\n[evaluator]"), "did you mean 'wall_time_s'?"),
        (("[evaluator]", "[objectives]\nrate = 'minimize'\n[evaluator]"), '"rate" is not in [evaluator.values]; there'),
    ],
)
def test_mistakes_that_need_no_run_are_found_without_one(recipe_of, tmp_path, change, message):
    with pytest.raises(InputError) as refused:
        recipe_of(RECIPE.replace(*change))
        show_plan(tmp_path / "app.toml", None, None, None)
    assert message in str(refused.value)
