"""culmen.Executor and culmen.minimize beside multiprocessing: managers, and pools inside calls."""

import multiprocessing
import subprocess
import sys

import pytest
from harness import environment

import culmen

pytestmark = pytest.mark.no_numbers


def test_a_manager_s_proxies_are_arguments_and_are_captured():
    with culmen.Executor(2) as pool, multiprocessing.Manager() as manager:
        shared = manager.dict()
        shared["begun"] = 0
        pool.submit(shared.__setitem__, "argument", 1).result()
        list(pool.map(lambda i: shared.update({i: -i}), range(3)))
        assert dict(shared) == {"begun": 0, "argument": 1, 0: 0, 1: -1, 2: -2}


def test_a_manager_s_proxies_are_arguments_of_the_initializer():
    with multiprocessing.Manager() as manager:
        begun = manager.list()
        with culmen.Executor(1, initializer=begun.append, initargs=("begun",)) as pool:
            pool.submit(len, "").result()
        assert list(begun) == ["begun"]


def test_an_evaluated_function_uses_a_manager_s_proxies():
    with multiprocessing.Manager() as manager:
        seen = manager.list()
        culmen.minimize(lambda p: seen.append(p["x"]) or p["x"], {"x": (0, 1)}, budget=5, workers=1)
        assert len(seen) == 5


NESTED = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
import culmen

class Point:
    def __init__(self, x): self.x = x

def square(x): return x * x
def moved(p): return Point(p.x + 1)
def offset(x): return square(x) + 1

def with_pool(n):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return sum(pool.map(square, range(n)))

def with_executor(n):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        return pool.submit(moved, Point(n)).result().x + pool.submit(offset, n).result()

def main(): raise SystemExit("the slot's main is not this one")

if __name__ == "__main__":
    with culmen.Executor(1) as pool:
        print(pool.submit(with_pool, 4).result())
        print(pool.submit(with_executor, 4).result(), main.__name__)
        print(pool.submit(with_pool, 4).result())
    print(culmen.minimize(lambda p: with_pool(3) + p["x"] ** 2, {"x": (0, 1)}, budget=3).failed)
"""


def test_pools_inside_calls_take_functions_and_classes_of_the_program(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(NESTED)
    done = run(script)
    assert (done.stdout, done.stderr) == ("14\n22 main\n14\n0\n", "")


OTHER_METHODS = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
import culmen

def square(x): return x * x

def with_pool(n, method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        return sum(pool.map(square, range(n)))

def with_executor(n, method):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        return sum(pool.map(square, range(n)))

if __name__ == "__main__":
    method = sys.argv[1]
    with culmen.Executor(1, time_limit_s=60) as pool:
        print(*[pool.submit(f, 4, method).result() for f in (with_pool, with_executor)])
    f = lambda p: with_pool(3, method) + p["x"] ** 2
    print(culmen.minimize(f, {"x": (0, 1)}, budget=2, workers=1, time_limit_s=60).failed)
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_pools_inside_calls_import_the_program(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(OTHER_METHODS)
    done = run(script, method)
    assert (done.stdout, done.stderr) == ("14 14\n0\n", "")


INITIALIZED = """
import culmen

RESULT, TABLE, OFFSET, CALLS = None, {}, 100, 0

def initialize(value):
    global RESULT
    RESULT = value
    TABLE["filled"] = value

def use(k): return RESULT + TABLE["filled"] + k + OFFSET

def count():
    global CALLS
    CALLS += 1
    return CALLS

def scaled(): return OFFSET

if __name__ == "__main__":
    with culmen.Executor(1, initializer=initialize, initargs=(5,)) as pool:
        print(*pool.map(use, range(3)))
        OFFSET = 200
        print(*pool.map(use, range(3)), pool.submit(scaled).result())
        print(*pool.map(lambda k: use(k) + RESULT, range(3), chunksize=2))
        OFFSET = 100
        print(*pool.map(use, range(3)))
        print(*[pool.submit(f).result() for f in (count, scaled, count)])
"""


def test_calls_see_the_globals_that_the_initializer_sets(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(INITIALIZED)
    done = run(script)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["110 111 112", "210 211 212 200", "215 216 217", "110 111 112", "1 100 2"]


def run(script, *words):
    return subprocess.run(
        [sys.executable, script, *words],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        cwd=script.parent,
    )


def test_a_wrong_number_is_a_value_error_too():
    for kind in (culmen.CulmenError, ValueError):
        with pytest.raises(kind, match="workers must be a whole number"):
            culmen.Executor(0)
