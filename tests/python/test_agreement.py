"""The end of a fit because enough of its local searches agree: by default, by the option, and how it continues."""

import inspect
import re

import numpy as np
import pytest
from fits import DECAY, decay
from harness import culmen as command
from harness import write_fit
from scipy.optimize import least_squares

import culmen
from culmen import InputError

ONCE = "For one search only, add --searches 1 to culmen run.\n"
SPACE = "a = { lower = 0.01, upper = 100, initial = 1 }\nb = { lower = 0.01, upper = 100, initial = 1 }"


def fit(**more):
    return culmen.minimize(decay, DECAY, **{"budget": 100000, "result": "residuals", "workers": 2, **more})


@pytest.mark.parametrize("options", [{}, {"agreement": 2}])
def test_a_fit_ends_when_enough_searches_agree(options):
    result = fit(options=options)
    assert (result.reason, result.final) == ("converged", True)
    assert result.evaluations < 2000
    assert result.message == f"converged after {result.evaluations} evaluations"
    assert result.remark.endswith(
        "searches ended at the best value, so option 'agreement' ended the search; with agreement = 0 it continues"
    )
    assert result.best == pytest.approx({"a": 2.5, "b": 1.3}, rel=1e-12)


def test_one_search_from_a_start_is_one_fit_and_continues(tmp_path):
    store = tmp_path / "fit.db"
    start = [{"a": 1, "b": 1}]
    one = fit(store=store, starts=start, options={"searches": 1, "descents": 1})
    assert one.reason == "converged"
    assert one.evaluations < fit(starts=start).evaluations / 2
    assert one.remark == "option 'searches' ended the study after 1 local search; with searches = 0 it continues"
    assert one.best == pytest.approx({"a": 2.5, "b": 1.3}, rel=1e-9)
    more = fit(store=store, starts=start, options={"descents": 1})
    assert more.evaluations > one.evaluations


def test_one_search_needs_about_as_many_evaluations_as_scipy():
    times = np.linspace(0, 10, 60)
    measured = 8 * np.exp(-times / 2.1) + 0.3 + 0.1 * np.random.default_rng(0).normal(size=60)

    def residuals(p):
        return (p["a"] * np.exp(-times / p["t"]) + p["c"] - measured) / 0.1

    space = {name: culmen.real(-50 if name == "c" else 0.01, 50, initial=1) for name in "atc"}
    one = culmen.minimize(residuals, space, budget=2000, result="residuals", options={"searches": 1}, workers=1)
    theirs = least_squares(lambda x: residuals(dict(zip("atc", x, strict=True))), [1, 1, 1])
    assert one.evaluations < 2 * (theirs.nfev + 3 * theirs.njev)
    errors = np.sqrt(np.diag(np.linalg.inv(theirs.jac.T @ theirs.jac)))
    assert np.all(np.abs(np.array([one.best[name] for name in "atc"]) - theirs.x) < 0.05 * errors)


def test_without_an_agreement_a_fit_goes_on_to_its_limit():
    result = fit(options={"agreement": 0}, budget=3000)
    assert (result.reason, result.evaluations) == ("evaluations", 3000)


@pytest.mark.parametrize("generational", [True, False])
def test_a_fit_that_converged_continues_with_another_agreement_and_repeats_nothing(tmp_path, generational):
    store = tmp_path / "fit.db"
    first = fit(store=store, generational=generational)
    assert fit(store=store).evaluations == first.evaluations
    more = fit(store=store, options={"agreement": 0}, budget=first.evaluations + 100)
    assert (more.reason, more.evaluations) == ("evaluations", first.evaluations + 100)
    assert fit(store=store, options={"agreement": 1}).reason == "converged"


def test_a_fit_needs_no_limit():
    result = fit(budget=None)
    assert (result.reason, result.final) == ("converged", True)
    assert fit(budget=None, options={"searches": 1, "agreement": 0}).reason == "converged"
    for never in ({"options": {"agreement": 0}}, {"optimizer": "cmaes"}, {"result": "value"}):
        with pytest.raises(
            InputError, match="at least one of budget, target, stagnation and wall_time_s must be given"
        ):
            fit(budget=None, **never)


def test_a_start_is_the_first_evaluation_and_its_search_needs_few():
    straight = culmen.minimize(
        lambda p: [p["a"] + p["b"] * t - 2 - 0.5 * t for t in range(9)],
        {"a": (-10, 10), "b": (-10, 10)},
        starts=[{"a": 1, "b": 0}],
        budget=15,
        result="residuals",
        workers=2,
    )
    assert straight.best == pytest.approx({"a": 2, "b": 0.5}, abs=1e-3)


def test_an_optimizer_that_the_program_asks_says_that_it_has_converged():
    optimizer = culmen.Optimizer(DECAY, result="residuals")
    told = 0
    while not optimizer.finished and told < 5000:
        for candidate in optimizer.ask(4):
            optimizer.tell(candidate, decay(candidate.params))
            told += 1
    assert told < 2000
    assert optimizer.ask(1), "the program decides when it ends"


@pytest.fixture
def folder(tmp_path):
    model = f"import math\n\n{inspect.getsource(decay)}".replace("decay", "f")
    write_fit(tmp_path, model, SPACE, 100_000, workers=1)
    return tmp_path


def test_the_commands_say_that_a_fit_converged_and_how_it_continues(folder):
    checked = command("check", "study.toml", cwd=folder)
    assert "or when enough local searches, at least 6, have found the best point again" in " ".join(
        checked.stdout.split()
    )
    done = command("run", "study.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "converged after" in done.stdout
    assert "To search further: culmen resume study.db --agreement 0" in done.stdout
    assert ONCE in done.stdout
    assert "finished (converged)" in command("status", "study.db", cwd=folder).stdout
    advice = "has finished (converged); to continue, give a new limit: `culmen resume study.db --agreement 0`"
    for words in (["run", "study.toml"], ["resume", "study.db"], ["resume", "study.db", "--agreement", "6"]):
        again = command(*words, cwd=folder)
        assert (again.returncode, advice in again.stdout) == (0, True), again.stdout + again.stderr
    told = culmen._core.Store.read(str(folder / "study.db")).summary()["told"]
    more = command("resume", "study.db", "--agreement", "0", "--evaluations", str(told + 50), cwd=folder)
    assert more.returncode == 0, more.stderr
    assert f"limit of evaluations reached after {told + 50} evaluations" in more.stdout
    assert ONCE in more.stdout


def test_the_end_of_one_search_does_not_name_its_option(folder):
    done = command("run", "study.toml", "--searches", "1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "To search further: culmen resume study.db --agreement 0 --searches 0" in done.stdout
    assert ONCE not in done.stdout


def test_a_study_file_of_a_fit_needs_no_limit(folder):
    file = folder / "study.toml"
    file.write_text(file.read_text().replace("[stop]\nevaluations = 100000\n", ""))
    assert "stop" not in file.read_text()
    ends = "when enough local searches, at least 6, have found the best point again"
    assert f"ends {ends}" in " ".join(command("check", "study.toml", cwd=folder).stdout.split())
    refused = command("run", "study.toml", "--agreement", "0", cwd=folder)
    assert (refused.returncode, refused.stderr.count("the table [stop] is missing")) == (2, 1)
    done = command("run", "study.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"Ends: {ends}\n" in done.stdout
    told = culmen._core.Store.read(str(folder / "study.db")).summary()["told"]
    refused = command("resume", "study.db", "--agreement", "0", cwd=folder)
    assert refused.returncode == 2
    limit = re.search(r"may never end; give a limit, for example `--evaluations (\d+)`\n", refused.stderr)
    assert int(limit[1]) > told
    advice = re.search(r"To search further: culmen (resume study.db --agreement 0 --evaluations \d+)\n", done.stdout)
    more = command(*advice[1].split(), cwd=folder)
    assert more.returncode == 0, more.stderr
    assert f"limit of evaluations reached after {advice[1].split()[-1]} evaluations" in more.stdout


def test_run_names_the_resume_of_a_fit_whose_agreement_has_changed(folder):
    assert command("run", "study.toml", "--quiet", cwd=folder).returncode == 0
    refused = command("run", "study.toml", "--agreement", "20", cwd=folder)
    assert refused.returncode == 2
    assert "`culmen resume study.db --agreement 20`" in refused.stderr


def test_other_optimizers_have_no_agreement(folder):
    with (folder / "study.toml").open("a") as study:
        study.write('\n[optimizer]\nname = "cmaes"\n')
    refused = command("run", "study.toml", "--agreement", "0", cwd=folder)
    assert refused.returncode == 2
    assert "optimizer 'cmaes' has no option 'agreement'" in refused.stderr
    with pytest.raises(InputError, match="option 'agreement' is -1, it must be a whole number from 0 to 1000000"):
        fit(options={"agreement": -1})
