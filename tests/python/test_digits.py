"""Values in tables are rounded to their errors; --digits shows more."""

import pytest
from culmen.base.text import ALL, rounded, shown_error
from culmen.cli.arguments import digits_of
from culmen.fit.errors import Errors, Interval, ParameterError
from culmen.problem.recommended import Recommended
from hypothesis import example, given
from hypothesis import strategies as st

from culmen import InputError


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (8.1234567, 0.1123, "8.12 ± 0.11"),
        (8.1, 0.0996, "8.10 ± 0.10"),
        (99.96, 9.96, "100 ± 10"),
        (12345.6, 234.5, "12350 ± 230"),
        (123456789.0, 1234.0, "123456800 ± 1200"),
        (1.234567e-9, 5.8e-11, "1.235e-09 ± 5.8e-11"),
        (-3.98305, 0.6512, "-3.98 ± 0.65"),
        (-0.001, 0.11, "-0.0010 ± 0.11"),
        (0.0, 0.01, "0.000 ± 0.010"),
        (1e-7, 1e5, "1.0e-07 ± 100000"),
        (5.4321e-9, 1.2e-7, "5.4e-09 ± 1.2e-07"),
        (0.0123456, 0.3, "0.012 ± 0.30"),
        (0.000543, 0.00012, "0.00054 ± 0.00012"),
        (2.0, 3.46e-15, "2 ± 3.5e-15"),
        (2 / 3, 0.0, "0.6666666667 ± 0"),
        (-9e10, 9.99e11, "-9.0e+10 ± 1.0e+12"),
        (4e10, 9.99e11, "4.0e+10 ± 1.0e+12"),
        (5, 0.1, "5 ± 0.10"),
        ("ring", 0.1, "ring ± 0.10"),
    ],
)
def test_a_value_ends_at_the_second_digit_of_its_error_but_has_two_digits(value, error, text):
    assert f"{rounded(value, [error])} ± {shown_error(error)}" == text


@pytest.mark.parametrize(
    ("digits", "text"), [(3, "0.667 ± 0.01"), (8, "0.66666667 ± 0.01"), (ALL, f"{2 / 3!r} ± 0.01")]
)
def test_digits_replace_the_rounding(digits, text):
    assert f"{rounded(2 / 3, [0.01], digits)} ± {shown_error(0.01, digits)}" == text


def test_the_least_error_decides_and_none_leaves_ten_digits():
    assert rounded(2 / 3, [0.1, 0.001, None]) == "0.6667"
    assert rounded(2 / 3, [None, float("nan")]) == "0.6666666667"


@example(50745000051.0, 995000000000.0)
@example(9e10, 999000000000.0)
@given(st.floats(-1e12, 1e12), st.floats(1e-12, 1e12))
def test_rounding_is_small_against_the_error(value, error):
    assert abs(float(rounded(value, [error])) - value) <= 0.051 * error + 1e-9 * abs(value)
    assert float(shown_error(error)) == pytest.approx(error, rel=0.051)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(1e-300, 1e300))
def test_all_digits_read_back_equal(value, error):
    assert float(rounded(value, [error], ALL)) == value
    assert float(rounded(value, [error])) == float(rounded(value, [error]))  # any size can be written


def test_a_table_of_errors_is_rounded():
    row = ParameterError("a", 8.1234567, 0.1123, 0.2246, Interval(8.02, None, "", "at bound"))
    errors = Errors([row], ["a"], [[0.1123**2]], [[1.0]], 20.0, 1.0, 6, 5, 0.0, 2, confidence=0.683)
    assert errors.as_rows()[0] == [["a", "8.12", "0.11", "0.22", "-0.10 / at bound"]]
    assert errors.as_rows(ALL)[0][0][:4] == ["a", "8.1234567", "0.1123", "0.2246"]
    assert "│ 8.12 " in str(errors)


@pytest.mark.parametrize("text", ["0", "18", "-1", "some", "1.5", "", "²"])
def test_wrong_digits_are_refused(text):
    with pytest.raises(InputError, match="it must be a whole number from 1 to 17, or all"):
        digits_of(text)


def test_right_digits():
    assert [digits_of(text) for text in (None, "1", "17", "all")] == [None, 1, 17, 17]


def test_the_sentences_below_a_table_have_the_digits_too():
    errors = Errors([ParameterError("a", 2 / 3, 0.1, 0.2)], ["a"], [[0.01]], [[1.0]], 10 / 3, 1.0, 4, 3, 0.0, 2)
    for digits, value, ratio in ((None, "3.33333", "1.111"), (2, "3.3", "1.1"), (ALL, repr(10 / 3), repr(10 / 9))):
        said = " ".join(errors.sentences(digits))
        assert f"χ² = {value}," in said
        assert f"χ²/dof = {ratio}." in said


def test_the_recommended_candidate_has_the_digits():
    found = Recommended({"x": 2 / 3, "m": None}, 1 / 3, 1 / 7, 5)
    assert str(found) == "x=0.666667, m=None: 0.333333 ± 0.14 of 5 evaluations"
    assert found.shown(2) == "x=0.67, m=None: 0.33 ± 0.14 of 5 evaluations"
