"""Functions of a script with functools.lru_cache, functools.cache and functools.partial travel to children."""

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.no_numbers

SCRIPT = """
import functools
import culmen

def own(f):
    @functools.wraps(f)
    def inner(*arguments):
        return f(*arguments)
    return inner

@functools.lru_cache(maxsize=7, typed=True)
def double(x):
    return 2 * x

double.about = "twice"

@functools.cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

@own
@functools.lru_cache
def triple(x):
    return 3 * x

@functools.lru_cache
@own
def quadruple(x):
    return 4 * x

power = functools.partial(functools.lru_cache(pow), 2)

def uses_all(p):
    assert double.cache_parameters() == {"maxsize": 7, "typed": True} and double.about == "twice"
    return (p["x"] - double(1)) ** 2 + fib(10) + triple(1) + quadruple(1) + power(3) - 70

if __name__ == "__main__":
"""
USES = {
    "executor": """
        with culmen.Executor(max_workers=1) as executor:
            functions = (double, fib, triple, quadruple, power, functools.partial(double, 5))
            arguments = (5, 30, 5, 5, 5)
            print([executor.submit(f, *rest).result() for f, *rest in zip(functions, arguments)])
            print(list(executor.map(fib, [10, 11])), executor.submit(functools.partial(double, 5)).result())
            print(executor.submit(lambda f: f(4), double).result())
        """,
    "minimize": """
        print(culmen.minimize(uses_all, {"x": (0, 4)}, budget=40, workers=1, optimizer="de").value >= 0)
        cached = functools.lru_cache(lambda *p: 1.0)
        print(culmen.minimize(functools.partial(lambda f, p: f(p["x"]), cached), {"x": (0, 4)}, budget=4).value)
        """,
}
PRINTED = {
    "executor": "[10, 832040, 15, 20, 32]\n[55, 89] 10\n8\n",
    "minimize": "True\n1.0\n",
}


@pytest.mark.parametrize("use", USES)
def test_cached_functions_of_a_script_travel(tmp_path, use):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + textwrap.indent(textwrap.dedent(USES[use]), "    "))
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert (run.stdout, run.returncode) == (PRINTED[use], 0), run.stderr
