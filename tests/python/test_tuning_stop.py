"""When a search stops, because more runs do not pay: on made-up programs with noise, whose best settings are known."""

import math
import signal

import numpy as np
import pytest
from culmen.bench.stopping import StoppedError, stoppable
from culmen.bench.verdict import verdict_of
from culmen.tune.command import stopping
from culmen.tune.command.recipe import comparison_file, read_recipe, use_h_of, with_use
from culmen.tune.command.results import Tuned, sentences
from culmen.tune.command.search import search_while_it_pays
from culmen.tune.command.stopping import Ended, Look, StopRule, as_dict, ended_from, expected_share, improvement
from culmen.tune.command.surrogate import Prediction
from culmen.tune.command.worth import Worth

import culmen
from culmen import InputError

SPACE = {
    "kind": culmen.categorical(["a", "b", "c"], initial="a"),
    "fast": culmen.boolean(initial=False),
    "block": culmen.ordinal([8, 16, 32, 64, 128], initial=8),
    "threads": culmen.integer(1, 16, initial=1),
}
PARAMETERS, RUNS, RUN_H, NOISE = len(SPACE), 60, 10 / 3600, 0.03
SEEDS = range(1, 4)


def planted(p):
    """1 at the best settings; 3.4 at the first ones."""
    slower = {"a": 1.3, "b": 1.1, "c": 1.0}[p["kind"]] * (1.0 if p["fast"] else 1.2)
    return slower * (1 + 0.06 * (math.log2(p["block"]) - 6) ** 2) * (1 + 0.03 * math.log2(p["threads"] / 12) ** 2)


class Search:
    """The real optimizer, and runs that take 10 s times a factor."""

    def __init__(self, time_of, seed):
        rng = np.random.default_rng(seed)
        study = culmen.Optimizer(SPACE, "bayes", options={"model": "additive"}, seed=seed, evaluations=RUNS)
        self.space, self.time_of = study.space.core, time_of
        self.x, self.times, self.picks = [], [], []
        for _ in range(RUNS):
            (candidate,) = study.ask(1)
            time = time_of(candidate.params) * math.exp(NOISE * rng.standard_normal())
            study.tell(candidate, time)
            self.x.append(self.space.vector_of(candidate.params))
            self.times.append(time)
            best = self.space.named(self.x[int(np.argmin(self.times))])
            self.picks.append(study.recommended.params if study.recommended else best)

    def evaluations(self, more=lambda columns: None):
        """As culmen.read gives them."""

        class Found:
            space, order = self.space, np.arange(RUNS)
            x, values = np.array(self.x), np.array(self.times)[:, None]
            feasible, duration_s = np.full(RUNS, True), 3600 * RUN_H * np.array(self.times)

        more(Found)
        return Found

    def ends(self, use_h):
        """The number of runs until the rule stops it, and the hours of all runs and of the whole use afterwards."""
        rule, runs = StopRule(use_h, False, PARAMETERS, 1), 0
        while (runs := rule.next_runs(runs)) <= RUNS:
            if rule.seen(self.evaluations(), runs).stopped:
                break
        return min(runs, RUNS), self.total_h(min(runs, RUNS), use_h)

    def total_h(self, runs, use_h):
        first = self.time_of(self.space.named(self.x[0]))
        return RUN_H * sum(self.times[:runs]) + use_h * self.time_of(self.picks[runs - 1]) / first


@pytest.fixture(scope="module", autouse=True)
def each_model_once():
    """The looks at the same runs differ only in the use of the program."""
    known = {}

    def share(space, x, logs, seed):
        key = (logs.tobytes(), seed)
        if key not in known:
            known[key] = expected_share(space, x, logs, seed)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stopping, "expected_share", share)
        yield


@pytest.fixture(scope="module")
def flat():
    return [Search(lambda _: 1.0, seed) for seed in SEEDS]


@pytest.fixture(scope="module")
def real():
    return [Search(planted, seed) for seed in SEEDS]


def test_a_search_with_nothing_to_gain_stops_early(flat):
    """All settings take 10 s, and the program will run for half an hour: 60 runs would take 10 minutes."""
    runs = [search.ends(0.5)[0] for search in flat]
    assert np.median(runs) <= RUNS / 2, runs


def test_a_search_with_something_to_gain_loses_little(real):
    """Tuning and use take, together, hardly more time than with all runs, whatever the use."""
    for use_h in (0.1, 1, 10, 100):
        lost = [search.ends(use_h)[1] / search.total_h(RUNS, use_h) for search in real]
        assert np.median(lost) <= 1.02, (use_h, lost)
        assert max(lost) <= 1.15, (use_h, lost)


def test_more_use_means_more_runs(real):
    runs = [sum(search.ends(use_h)[0] for search in real) for use_h in (0.05, 1, 1000)]
    assert runs[0] < runs[2]
    assert sorted(runs) == runs
    assert runs[2] == RUNS * len(real), "at a thousand hours, seconds of a run always pay"


def test_looks_depend_on_the_runs_alone(real):
    whole, later = StopRule(1, False, PARAMETERS, 1), StopRule(1, False, PARAMETERS, 1)
    seen = [whole.seen(real[0].evaluations(), runs) for runs in (16, 30, 60)]
    assert later.seen(real[0].evaluations(), 60) == seen[-1]
    assert ended_from(as_dict(seen[-1])) == seen[-1]
    assert ended_from(as_dict(None)) is None


def test_two_looks_in_a_row_must_say_that_it_is_enough(monkeypatch):
    """The looks say: enough, not enough, enough, enough."""
    rule, enough = StopRule(1, False, PARAMETERS, 1), iter([True, False, True, True])
    monkeypatch.setattr(stopping, "look_at", lambda _found, _use_h, _maximize, runs, _seed: saying(next(enough), runs))
    runs, stops = 0, []
    for _ in range(4):
        runs = rule.next_runs(runs)
        stops.append(rule.seen(None, runs).stopped)
    assert stops == [False, False, False, True]


def saying(enough, runs):
    look = Look(runs, 0.0 if enough else 1.0, 0.5)
    assert look.is_enough is enough
    return look


def test_failed_runs_are_as_bad_as_the_worst(real):
    def fail(found):
        found.feasible = found.feasible.copy()
        found.feasible[3:6] = False
        found.values = found.values.copy()
        found.values[3:6] = np.nan

    ended = StopRule(1, False, PARAMETERS, 1).seen(real[0].evaluations(fail), 30)
    assert 0 < ended.look.saves_h < 1


def only_the_present_settings_succeed(found):
    found.feasible = np.zeros_like(found.feasible)
    found.feasible[found.order[0]] = True


def shifted(found):
    found.values = found.values - 2


@pytest.mark.parametrize("change", [shifted, only_the_present_settings_succeed])
def test_values_that_tell_nothing_give_no_look(real, change):
    ended = StopRule(1, False, PARAMETERS, 1).seen(real[0].evaluations(change), RUNS)
    assert ended == Ended(1, False, None)
    (sentence, *_) = sentences(tuned_with(ended))
    assert "not known whether more would pay" in sentence


def test_equal_times_promise_nothing(real):
    assert expected_share(real[0].space, np.array(real[0].x), np.zeros(RUNS), 1) == 0


def test_the_expected_improvement_is_that_of_random_draws():
    rng = np.random.default_rng(1)
    model = Prediction(np.array([0.1, 0.0]), np.array([0.02, -0.1]), np.array([0.05, 0.2]), 0.1, 1.0)
    for runs in (1, 4):
        known = model.deviation**2 / np.sqrt(model.deviation**2 + model.noise**2 / runs)
        draws = model.mean + known * rng.standard_normal((200_000, 2))
        saved = np.maximum(0, 1 - np.exp(draws)).mean(axis=0)
        assert improvement(model, runs) == pytest.approx(saved, rel=0.03)


def test_the_reason_is_said():
    stopped = Ended(20, True, Look(22, 1 / 3600, 12 / 3600))
    assert next(sentences(tuned_with(stopped))) == (
        "The search stopped after 2 runs, because more runs do not pay: one more run takes 12 s, and is expected to "
        "save 1 s of 20:00:00."
    )
    limit = Ended(20, False, Look(22, 60 / 3600, 12 / 3600))
    assert next(sentences(tuned_with(limit))) == (
        "The search ended at its limit after 2 runs. More runs may pay: one more run takes 12 s, and is expected to "
        "save 0:01:00 of 20:00:00."
    )


def tuned_with(ended):
    return Tuned("wall time", False, {"n": 1}, {"n": 1}, None, None, None, [], [2.0, 1.0], 60, ended)


def test_the_use_is_compared_with_the_gain():
    times = verdict_of([(2.0, 1.0)] * 3, maximize=False)
    assert Worth.of(times, False, 3600, 1, None, use_h=10).saves_h == pytest.approx((5.0, 5.0, 5.0))
    rates = verdict_of([(1.0, 2.0)] * 3, maximize=True)
    assert Worth.of(rates, True, 3600, 1, None, use_h=10).saves_h == pytest.approx((5.0, 5.0, 5.0))
    assert Worth.of(verdict_of([(1.0, 1.0)] * 3, True), True, 3600, 1, None, use_h=10).saves_h is None


RECIPE = """
[space]
level = { type = "integer", lower = 1, upper = 9, initial = 6 }
[evaluator]
command = ["./app", "{level}"]
[tune]
"""


@pytest.fixture
def recipe_of(tmp_path):
    def read(text):
        (tmp_path / "app.toml").write_text(RECIPE + text)
        (tmp_path / "app").touch()
        return read_recipe(tmp_path / "app.toml")

    return read


def test_the_use_never_changes_the_comparison(recipe_of, tmp_path):
    settings = [{"level": 3}, {"level": 6}]
    plain, used = recipe_of(""), recipe_of("use_hours = 5")
    assert comparison_file(plain, tmp_path, tmp_path, settings) == comparison_file(used, tmp_path, tmp_path, settings)


def test_the_use_is_hours_or_runs(recipe_of):
    assert use_h_of(recipe_of("use_hours = 5"), 10) == 5
    assert use_h_of(recipe_of("use_runs = 720"), 10) == pytest.approx(2)
    assert use_h_of(recipe_of(""), 10) is None
    assert use_h_of(with_use(recipe_of("use_hours = 5"), None, 360), 10) == pytest.approx(1)


def test_mistakes_about_the_use_are_sentences(recipe_of):
    with pytest.raises(InputError, match="use_hours and use_runs say the same; leave one"):
        recipe_of("use_hours = 5\nuse_runs = 3")
    with pytest.raises(InputError, match="less memory saves no hours, so remove use_runs"):
        recipe_of("measure = 'memory'\nuse_runs = 3")
    with pytest.raises(InputError, match="use_hours"):
        recipe_of("use_hours = 0")
    with pytest.raises(InputError, match="give one of them"):
        with_use(recipe_of(""), 1, 1)


class Watched:
    """A monitor."""

    slice_s, closed = 0.1, False

    def close(self):
        self.closed = True


class Paused:
    """A study whose runs end for this reason."""

    store = None

    def __init__(self, reason):
        self.reason = reason

    def open(self):
        return 0

    def conduct(self, begin, _exit_code, _limit, _left_s):
        begin()
        return self


class NoLook(StopRule):
    """A signal comes at the beginning of a look; nothing else may happen in it."""

    def __init__(self):
        super().__init__(1, False, PARAMETERS, 1)
        self.looks = 0

    def seen(self, _found, _runs):
        self.looks += 1
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the look went on")


@pytest.mark.parametrize(("reason", "looks"), [("interrupted", 0), ("evaluations", 1)])
def test_a_signal_ends_a_search_at_once(reason, looks):
    rule, monitor, before = NoLook(), Watched(), signal.getsignal(signal.SIGINT)
    with pytest.raises(StoppedError), stoppable():
        search_while_it_pays(Paused(reason), rule, lambda: monitor, 100, None, lambda _: None)
    assert rule.looks == looks
    assert monitor.closed
    assert signal.getsignal(signal.SIGINT) is before
