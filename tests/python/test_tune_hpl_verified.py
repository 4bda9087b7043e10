"""`culmen tune hpl --verify`: the sentences about the runs with N of the input file."""

import math

import pytest
from culmen.tune.hpl.report import Case
from culmen.tune.hpl.verified import Verified, sentences

pytestmark = pytest.mark.no_numbers


@pytest.mark.parametrize(
    ("gflops", "said"),
    [
        ((80.0, 90.0), ["reached 90 GFLOPS; the model expected 95.", "present settings and this N reached 80 GFLOPS."]),
        (
            (91.0, 90.0),
            ["reached 90 GFLOPS", "reached 91 GFLOPS.", "the present settings were faster; --size 5000 compares both"],
        ),
        ((math.nan, 90.0), ["reached 90 GFLOPS", "present settings and this N failed."]),
        ((80.0, math.nan), ["The run with N = 5000 of the input file failed: no memory; --memory gives a smaller N."]),
        ((90.0,), ["With N = 5000 of the input file, one run took"]),
    ],
)
def test_runs_with_the_n_of_the_input_file_are_told(gflops, said):
    names = ["present", "best found"][-len(gflops) :]
    cases = [Case(name, {}, 5000, [value]) for name, value in zip(names, gflops, strict=True)]
    found = [*sentences(Verified(cases, 95.0, "no memory"))]
    assert len(found) == len(said)
    assert all(part in sentence for part, sentence in zip(said, found, strict=True))
