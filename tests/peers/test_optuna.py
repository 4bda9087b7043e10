"""Optuna's own tests of samplers, on CulmenSampler."""

from collections.abc import Callable

import pytest
from culmen.optuna_sampler import CulmenSampler
from optuna.samplers import BaseSampler

theirs = pytest.importorskip("optuna.testing.pytest_samplers", reason="this version of Optuna has no such tests")


class TestDefault(theirs.BasicSamplerTestCase, theirs.MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return CulmenSampler


class TestAsynchronous(theirs.BasicSamplerTestCase, theirs.RelativeSamplerTestCase):
    """These tests need a suggestion from each call. A generational optimizer sometimes waits for results."""

    @pytest.fixture(params=[None, "evolution", "bayes"])
    def sampler(self, request: pytest.FixtureRequest) -> Callable[[], BaseSampler]:
        return lambda: CulmenSampler(request.param, generational=False)
