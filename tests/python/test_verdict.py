"""The interval of a comparison in pairs."""

import numpy as np
import pytest
from culmen.bench.verdict import verdict_of
from scipy import stats


@pytest.mark.parametrize("rounds", [3, 5, 12])
def test_the_interval_is_students_of_the_logarithms(rounds):
    ratios = np.random.default_rng(1).uniform(0.7, 0.9, rounds)
    verdict = verdict_of([(2.0, 2.0 * float(ratio)) for ratio in ratios], maximize=False)
    ends = stats.ttest_1samp(np.log(ratios), 0).confidence_interval(0.95)
    assert (verdict.low, verdict.high) == pytest.approx((1 - np.exp(ends.high), 1 - np.exp(ends.low)))
    assert verdict.gain == pytest.approx(1 - stats.gmean(ratios))
