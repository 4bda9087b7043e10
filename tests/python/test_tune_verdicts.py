"""The result of `culmen tune command`: verdicts, effects of parameters, failures, and the time spent."""

import math
from dataclasses import replace

import numpy as np
import pytest
from culmen.bench.verdict import verdict_of
from culmen.tune.command.effects import Effect, effects_of
from culmen.tune.command.failed import Failed, failed_in, failure_sentences
from culmen.tune.command.results import Compared, Tuned, rows_of, sentences
from culmen.tune.command.worth import Worth
from culmen.tune.hpl.output import HplError
from culmen.tune.hpl.report import Case, lost_in

import culmen


def pairs_of(ratio, rounds, seed=1):
    noise = np.exp(0.05 * np.random.default_rng(seed).standard_normal((rounds, 2)))
    return [(noise[k, 0], ratio * noise[k, 1]) for k in range(rounds)]


def test_times_become_shares_that_are_saved():
    verdict = verdict_of(pairs_of(0.8, 20), maximize=False)
    assert verdict.is_better
    assert not verdict.is_worse
    assert verdict.low < 0.2 < verdict.high
    assert verdict_of(pairs_of(1.3, 20), maximize=False).is_worse


def test_rates_become_shares_that_are_gained():
    verdict = verdict_of(pairs_of(1.5, 20), maximize=True)
    assert verdict.low < 0.5 < verdict.high


def test_values_with_both_signs_become_differences():
    verdict = verdict_of([(-1.0, 1.0), (0.0, 2.1), (1.0, 2.9)], maximize=True)
    assert not verdict.relative
    assert verdict.gain == pytest.approx(2.0)


def test_equal_settings_are_rarely_called_better():
    better = [verdict_of(pairs_of(1.0, 10, seed), False).is_better for seed in range(400)]
    assert np.mean(better) <= 0.05


def test_equal_values_have_no_interval_and_are_not_better():
    assert not verdict_of([(2.0, 2.0)] * 5, False).is_better


def test_the_time_to_save_what_was_spent():
    verdict = verdict_of([(2.0, 1.0)] * 3, maximize=False)  # an hour saves an hour
    assert Worth.of(verdict, False, 7200, 4, 0.1) == Worth(2.0, 2.0, pytest.approx(0.8))
    assert Worth.of(verdict_of([(1.0, 2.0)] * 3, True), True, 7200, 4, None) == Worth(2.0, pytest.approx(2.0), None)
    assert Worth.of(verdict_of([(1.0, 1.0)] * 3, True), True, 7200, 4, None).back_h is None


def test_what_matters_is_told_from_what_does_not():
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.integers(3, size=150), rng.random(150), rng.integers(2, size=150)]).astype(float)
    values = np.array([1.0, 1.5, 2.0])[x[:, 0].astype(int)] * (1 + (x[:, 1] - 0.5) ** 2)
    values *= np.exp(0.05 * rng.standard_normal(150))
    effects = effects_of(["kind", "size", "idle"], x, values, [False, True, False])
    by_name = {effect.name: effect for effect in effects}
    assert [effect.name for effect in effects] == ["kind", "size", "idle"]
    assert by_name["kind"].low < 2.0 < by_name["kind"].high * 1.05
    assert by_name["kind"].matters
    assert by_name["size"].matters
    assert by_name["idle"].size < 1.05


@pytest.mark.parametrize("true", [0.0, 0.05, 0.2])
def test_intervals_of_effects_contain_the_true_effect(true):
    """Effects of 1, 1.05 and 1.22, with a noise of 10 %. Rounding changes the bounds by parts in a billion only."""
    covers = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.integers(5, size=(60, 4)).astype(float)
        values = np.exp(np.linspace(0, true, 5)[x[:, 0].astype(int)] + 0.1 * rng.standard_normal(60))
        effects = effects_of("abcd", x, values, [False] * 4, seed)
        assert all(effect.low <= effect.size <= effect.high for effect in effects)
        assert all(effect.low == 1 for effect in effects if not effect.matters)
        covers += sum(effect.low <= np.exp(true) <= effect.high for effect in effects if effect.name == "a")
    assert covers >= 8, covers


def test_few_runs_tell_nothing_of_parameters():
    for parameters, least in ((1, 10), (3, 14)):
        names, x = ["a", "b", "c"][:parameters], np.arange(3.0 * least).reshape(least, 3)[:, :parameters]
        values, ordered = 1 + np.arange(float(least)), [True] * parameters
        assert effects_of(names, x[1:], values[1:], ordered) == []
        assert len(effects_of(names, x, values, ordered)) == parameters
    said = [*sentences(replace(tuned_with(None), more_runs="more --runs help"))]
    assert said[0] == "There were too few runs to say which parameters matter; more --runs help."


def test_inactive_parameters_are_a_level_of_their_own():
    x = np.array([[0.0, np.nan], [1.0, 2.0], [1.0, 3.0], [0.0, np.nan]] * 5)
    effects = effects_of(["a", "b"], x, 1 + x[:, 0], [True, True])
    assert all(np.isfinite(effect.size) for effect in effects)


def test_at_most_three_kinds_of_failures_are_shown():
    kinds = [Failed(f"reason {k}", runs) for k, runs in enumerate((4, 2, 1, 1, 1))]
    assert list(failure_sentences(kinds, 20)) == [
        "4 of 20 runs of the search failed: reason 0",
        "2 of 20 runs of the search failed: reason 1",
        "1 of 20 runs of the search failed: reason 2",
        "2 more runs of the search failed for other reasons.",
    ]


KEEP_COST = "The runs took 0:01:00 and cost 0.1. There is no gain, so further runs never save this time."


def speed_of(p):
    raise HplError(f"HPL printed -{10 + p['x']:g} GFLOPS, which is no speed")


def test_errors_of_culmen_are_one_kind_without_their_source_line(tmp_path):
    store = tmp_path / "search.db"
    with pytest.raises(culmen.CulmenError):
        culmen.minimize(speed_of, {"x": (0.0, 1.0)}, budget=3, store=store)
    (failed,) = failed_in(culmen.read(store))
    assert failed.runs == 3
    assert failed.why.startswith("HPL printed -1")
    assert failed.why.endswith(" GFLOPS, which is no speed")


def test_failed_runs_count_against_the_new_settings():
    rounds = [(2.0, 1.0)] * 7 + [(2.0, float("nan"))] * 3
    tuned = tuned_with(Compared(rounds, "evaluation 3 failed: killed"))
    assert not tuned.is_better
    assert tuned.worth.back_h is None
    assert list(sentences(tuned)) == [
        "Keep what you have: the program failed in 3 of 10 runs with the new settings: evaluation 3 failed: killed",
        KEEP_COST,
    ]
    assert tuned_with(Compared([(2.0, 1.0)] * 7 + [(float("nan"), 1.0)] * 3, "")).is_better


@pytest.mark.parametrize(
    "compared",
    [None, Compared([(2.0, 2.0)] * 5, ""), Compared([(1.0, 2.0)] * 5, "")],
)
def test_every_verdict_to_keep_says_what_was_spent(compared):
    *_, verdict, cost = sentences(tuned_with(compared))
    assert verdict.startswith("Keep what you have: ")
    assert cost == KEEP_COST


DISTURBED = [(1.0, 0.03), (1.1, 0.033), (0.02, 0.029)]


def test_a_gain_that_the_rounds_do_not_show_may_need_more_rounds():
    advice = "write rounds = {rounds} under [tune] in app.toml, and type the same command"
    _, verdict, why, more, cost = sentences(replace(tuned_with(Compared(DISTURBED, "")), more_rounds=advice))
    assert verdict.startswith("Keep what you have: the new settings are not clearly better (0.109 times the wall time")
    assert "%" not in verdict.removeprefix("Keep what you have").replace("interval of 95 %", "")
    assert why == "3 rounds are too few to show a gain, or the values vary too much between them."
    assert more == "More rounds may show it: write rounds = 10 under [tune] in app.toml, and type the same command."
    assert cost.endswith("Further runs may save this time, but no gain was shown.")


def test_a_loss_needs_no_more_rounds():
    turned = [(new, old) for old, new in DISTURBED]
    _, verdict, cost = sentences(replace(tuned_with(Compared(turned, "")), more_rounds="try"))
    assert "not clearly better (9.15 times the wall time, interval of 95 %: 0.035" in verdict
    assert cost.endswith("Further runs may save this time, but no gain was shown."), "the loss may be chance"
    _, worse, _ = sentences(tuned_with(Compared([(1.0, 3.0)] * 5, "")))
    assert "are worse (3 times the wall time, interval of 95 %: 3 to 3 times)" in worse
    _, worse, _ = sentences(tuned_with(Compared([(1.0, 1.5)] * 5, "")))
    assert "are worse (50.0 % more wall time, interval of 95 %: 50.0 to 50.0 %)" in worse


def test_a_gain_says_what_was_spent_and_when_it_pays():
    faster = tuned_with(Compared([(2.0, 1.0)] * 5, ""))
    *_, gain, cost = sentences(faster)
    assert gain.startswith("Use the new settings: 50.0 % less wall time")
    assert cost == "The runs took 0:01:00 and cost 0.1. The new settings save this time in 0:01:00 of further runs."
    *_, cost = sentences(tuned_with(Compared([(2.0, 1.0)] * 5, ""), "memory", counts_time=False))
    assert cost.endswith(
        "The time that the new settings save is not known, because memory is neither a time nor a rate."
    )


NONE_WHOLE = [(float("nan"), 1.0)] * 2 + [(1.0, float("nan"))] * 2


@pytest.mark.parametrize(
    ("compared", "expected"),
    [
        (Compared(NONE_WHOLE, "killed"), "No verdict: only 0 of 4 rounds succeeded with both settings: killed"),
        (Compared(NONE_WHOLE, "killed", lost="4 of 8 runs were stopped"), "No verdict: 4 of 8 runs were stopped."),
    ],
)
def test_too_few_whole_rounds_give_no_verdict_but_the_reason(compared, expected):
    verdict, cost = sentences(tuned_with(compared))
    assert verdict == expected
    assert cost.endswith("Further runs may save this time, but no gain was shown.")


def test_a_run_of_hpl_that_was_stopped_asks_for_more_time():
    late = "HPL ran longer than 27.4 s, so it was stopped"
    cases = [Case("present", {}, 100, [math.nan] * 3, [late] * 3), Case("best found", {}, 100, [2.0] * 3)]
    assert lost_in(cases) == "3 of 6 runs were stopped after 27.4 s; repeat with more --minutes and --overwrite"
    assert lost_in(cases[1:]) == ""


def test_a_loss_is_a_positive_number_of_the_other_word():
    *_, kept, _ = sentences(tuned_with(Compared([(1.0, 1.1), (1.0, 0.9), (1.0, 1.2)], "")))
    assert "not clearly better (5.9 % more wall time, interval of 95 %: -26.6 to 52.8 %)" in kept


@pytest.mark.parametrize(("use_h", "ending"), [(0.01, "Not worth it: "), (10.0, "Worth it: ")])
def test_whether_it_was_worth_it_is_said(use_h, ending):
    faster = tuned_with(Compared([(2.0, 1.0)] * 5, ""))
    worth = Worth.of(faster.verdict, False, 60, 2, 3, use_h=use_h)
    *_, said = sentences(replace(faster, worth=worth))
    assert said.startswith(ending)
    slower = tuned_with(Compared([(1.0, 2.0)] * 5, ""))
    *_, said = sentences(replace(slower, worth=Worth.of(None, False, 60, 2, 3, use_h=use_h)))
    assert said == "Not worth it: the new settings were not shown to save time."


def test_the_only_parameter_that_differs_matters_if_the_comparison_shows_it():
    effect = Effect("n", 1.01, 1.0, 1.1, False)
    faster = replace(tuned_with(Compared([(2.0, 1.0)] * 5, "")), effects=[effect])
    assert next(rows_of(faster))[-1] == "yes"
    assert next(rows_of(replace(faster, old={"n": 1, "m": 1}, new={"n": 2, "m": 2})))[-1] == "not seen"


def tuned_with(compared, goal="wall time", counts_time=True):
    verdict = verdict_of(compared.whole, False) if compared and compared.whole else None
    used = None if compared is None or compared.fails_more else verdict
    worth = Worth.of(used, False, 60, 2, 3, counts_time)
    return Tuned(goal, False, {"n": 1}, {"n": 2}, compared, verdict, worth, [], [2.0, 1.0], 60)
