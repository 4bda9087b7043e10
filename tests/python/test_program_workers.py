"""The arguments of ``culmen.work``. Its behaviour is tested in tests/e2e/test_programs_join.py."""

import inspect
import pickle

import pytest
from culmen.run.program_workers import known_arguments

import culmen

pytestmark = pytest.mark.no_numbers

OF_BOTH = {"f", "space", "token_file", "progress"}
OF_RUNS = {"listen", "executor"}


def test_work_takes_the_arguments_of_minimize():
    given = set(inspect.signature(culmen.minimize).parameters)
    assert set(inspect.signature(culmen.work).parameters) > OF_BOTH
    assert set(known_arguments()) == given - OF_BOTH - OF_RUNS


def test_work_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(culmen.work)) is culmen.work
