"""Large results of an Executor: their arrays are sent from where they are, and made without a copy."""

import subprocess
import sys

import numpy as np
import pytest
from harness import HANGS_S

pytestmark = pytest.mark.no_numbers

BIG = 300_000  # numbers, more than 1 MiB


def same(a, b):
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b) and a.flags.writeable == b.flags.writeable
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def read_only():
    array = np.arange(BIG)
    array.flags.writeable = False
    return array


RESULTS = {
    "array": lambda: np.arange(BIG),
    "of columns": lambda: np.asfortranarray(np.arange(BIG).reshape(1000, -1)),
    "every second": lambda: np.arange(2 * BIG)[::2],
    "read-only": read_only,
    "several": lambda: (np.arange(BIG), "text", np.zeros(BIG, dtype="u1"), [np.ones(3), np.full(2 * BIG, 7)]),
    "bytes": lambda: b"x" * (8 * BIG),
    "bytearray": lambda: bytearray(8 * BIG + 1),
    "list": lambda: list(range(BIG)),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_results_are_the_same_and_aligned(executor, kind):
    wanted, got = RESULTS[kind](), executor.submit(RESULTS[kind]).result()
    assert same(wanted, got)
    for array in got if isinstance(got, tuple) else (got,):
        assert not isinstance(array, np.ndarray) or array.flags.aligned


class Holder:
    """Only cloudpickle can pickle the function in it."""

    def __init__(self, array):
        self.array, self.times = array, lambda x: 2 * x


def test_results_that_only_cloudpickle_can_send(executor):
    held = executor.submit(lambda: Holder(np.arange(BIG))).result()
    assert np.array_equal(held.times(held.array), 2 * np.arange(BIG))


def test_an_exception_with_a_large_array(executor):
    def fail():
        raise ValueError("too large", np.arange(BIG))

    error = executor.submit(fail).exception()
    assert type(error) is ValueError
    assert np.array_equal(error.args[1], np.arange(BIG))


def test_results_belong_to_the_program(executor):
    """It may change them; they stay when others have come."""
    found = [executor.submit(np.full, BIG, number).result() for number in range(20)]
    for number, array in enumerate(found):
        array += 1
        assert (array == number + 1).all()


def test_results_that_are_too_large_are_said(executor):
    error = executor.submit(lambda: np.zeros(1 << 30, dtype="u1")).exception()
    assert "bytes when pickled, but at most 1073737728 can be sent back; write it to a file" in str(error)


KEPT = """
import numpy as np
import culmen

def memory():
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmRSS"))

with culmen.Executor(2) as pool:
    assert pool.submit(len, "ab").result() == 2
    before = memory()
    arrays = [call.result() for call in [pool.submit(np.ones, 5_000_000) for _ in range(6)]]
    print((memory() - before) / sum(array.nbytes for array in arrays))
"""


def test_the_program_keeps_the_results_and_nothing_else():
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, timeout=HANGS_S, check=True)
    assert float(done.stdout) < 1.4
