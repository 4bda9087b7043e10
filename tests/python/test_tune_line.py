"""The common behaviour of `culmen tune placement` and `culmen tune io`: names of figures, time limits, and a new
start."""

import json

import pytest
from culmen.tune.command import line
from culmen.tune.command import tuner as tuning
from culmen.tune.command.line import Use, Wanted, recipe_for, usual_runs, write_plan
from culmen.tune.command.tuner import Tuner
from culmen.tune.io import space as io
from culmen.tune.placement import space as placed

from culmen import InputError

MAKER = "def expanded(words):\n    return ['sh', words[0], *words[1:]]\n"
HANGS_WITH_TWO = '[ "$1" = n=2 ] && exec sleep 600; echo rate = 1; exit 0\n'


def wanted(figure=None, runs=None, time_limit_s=None, price=None, use=Use()):  # noqa: B008
    return Wanted(figure, False, runs, 3, time_limit_s, price, use)


@pytest.mark.parametrize(
    ("figure", "name"),
    [
        (r"rate = (\S+)", "rate"),
        (r"Max Write: (\S+)", "Max_Write"),
        (r"^Max Write:\s*([\d.]+) MiB", "Max_Write"),
        (r"(?i)time\(s\) = (\S+)", "time_s"),
        (r"(\S+) GFlops", "figure"),
        (None, "figure"),
    ],
)
def test_a_figure_has_the_words_before_its_number_as_a_name(figure, name):
    assert wanted(figure).name == name


def tuner_of(folder, **given):
    """The setting n = 2 hangs."""
    (folder / "maker.py").write_text(MAKER)
    (folder / "app").write_text(HANGS_WITH_TWO)
    space = {"n": {"type": "ordinal", "choices": [1, 2, 3], "initial": 1}}
    maker, plan = str(folder / "maker.py"), folder / "app"
    recipe = recipe_for("test", wanted(r"rate = (\S+)", **given), space, {}, 3, maker, plan, 8)
    return Tuner(recipe, plan, folder, quiet=True, limits=True)


def test_a_setting_that_hangs_does_not_block_the_search(tmp_path, monkeypatch):
    monkeypatch.setattr("culmen.launch.watched._MORE_S", 3)
    with tuner_of(tmp_path) as tuner:
        found = tuner.search()
        assert found is not None
    limit_s = tuner.recipe.evaluator.time_limit_s
    assert limit_s is not None and limit_s >= 1
    read = tuning.read(tmp_path / "search.db")
    assert sum(not feasible for feasible in read.feasible) == 1
    with tuner_of(tmp_path) as again:
        assert again.search() == found, "the same command continues with the same limit"
    assert again.recipe.evaluator.time_limit_s == limit_s


def test_the_use_of_the_program_is_weighed(tmp_path):
    with tuner_of(tmp_path, time_limit_s=2, use=Use(runs=3600)) as tuner:
        assert tuner.search() is not None
        run_h = tuning.read(tmp_path / "present.db").columns["wall_time_s"][0] / 3600
    assert tuner.ended is not None
    assert tuner.ended.use_h == pytest.approx(3600 * run_h)
    with pytest.raises(InputError, match="--use-hours and --use-runs say the same; give one of them"):
        wanted(use=Use(1.0, 1))


def test_a_time_limit_of_the_user_counts(tmp_path):
    with tuner_of(tmp_path, time_limit_s=7, runs=1) as tuner:
        assert tuner.search() is not None
    assert tuner.recipe.evaluator.time_limit_s == 7


def test_all_nodes_are_paid_for(tmp_path):
    assert tuner_of(tmp_path, price=1.0).recipe.tune.cores == 8


def test_beginning_anew_removes_old_runs_before_the_plan_changes(tmp_path, monkeypatch):
    write_plan(tmp_path, {"a": 1}, begin_again=False)
    (tmp_path / "found.json").write_text("{}")
    with pytest.raises(InputError, match="of another command or machine"):
        write_plan(tmp_path, {"a": 2}, begin_again=False)

    def fails(*_given, **_more):
        raise OSError("the disk is full")

    monkeypatch.setattr(line, "replacing", fails)
    with pytest.raises(OSError, match="full"):
        write_plan(tmp_path, {"a": 2}, begin_again=True)
    assert json.loads((tmp_path / "plan.json").read_text()) == {"a": 1}
    assert not (tmp_path / "found.json").exists()


def test_a_search_has_at_most_the_runs_that_a_job_expects():
    many = {f"n{k}": {"choices": [1, 2, 3]} for k in range(9)}
    assert min(placed.Space(many).runs, io.Space(many).runs) > line.MOST_RUNS
    assert usual_runs(placed.Space(many).runs) == usual_runs(io.Space(many).runs) == line.MOST_RUNS
    assert usual_runs(8) == 8
