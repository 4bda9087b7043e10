"""Every kind of value that a function captures is compared by its content; where that is impossible, culmen says so."""

import copy
import ctypes
import functools
import itertools
import operator
import os
import pickle
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from harness import HANGS_S
from values_of_kinds import VALUES, Decorated, Table, attributed, closure, decorated_partial, times, with_attribute

import culmen
from culmen import InputError
from culmen.base import captured, digest

pytestmark = pytest.mark.no_numbers

SPACE = {"x": (-5, 5)}


def captured_by(f):
    return captured.captured_by(f).digests


@pytest.mark.parametrize("kind", VALUES)
def test_another_value_of_this_kind_is_another_digest(kind):
    make = VALUES[kind]
    found = captured.captured_by(closure(make(1)))
    assert found == captured.captured_by(closure(make(1)))
    assert found.digests != captured_by(closure(make(2)))
    assert not found.unseen


def with_scale(f, scale):
    f.scale = scale
    return f


CALLABLES = {
    "frompyfunc": VALUES["frompyfunc"],
    "vectorize": VALUES["vectorize"],
    "attributes": attributed,
    "partial of a builtin": lambda scale: functools.partial(operator.mul, scale),
    "attribute of a partial": decorated_partial,
    "class decorator": lambda scale: Decorated(max, scale),
    "itemgetter": lambda scale: operator.itemgetter(scale),
    "cached": lambda scale: functools.lru_cache(times(scale)),
    "attribute of a cached function": lambda scale: with_scale(functools.lru_cache(times(1)), scale),
    "list": lambda scale: type("Callable", (list,), {"__call__": len})([scale]),
    "list with attributes": lambda scale: with_attribute(type("Callable", (list,), {"__call__": len}), scale),
}


@pytest.mark.parametrize("kind", CALLABLES)
def test_a_callable_of_this_kind_counts_with_its_values(kind):
    make = CALLABLES[kind]
    before = digest.of_function(make(1), "f")
    assert digest.of_function(make(1), "f") == before
    assert digest.change({"digest": before}, digest.of_function(make(2), "f"))


PACKAGE = """
import functools, threading
def compose(*functions):
    def composed(x):
        for f in functions: x = f(x)
        return x
    return composed
def scaled(scale):
    def decorator(f):
        @functools.wraps(f)
        def wrapper(p): return scale * f(p)
        return wrapper
    return decorator
class Compose:
    def __init__(self, *functions): self.functions = functions
    def __call__(self, x): return compose(*self.functions)(x)
class Slots:
    __slots__ = ("__wrapped__", "more")
    def __init__(self, more, f): self.__wrapped__, self.more = f, more
    def __call__(self, x): return self.__wrapped__(self.more(x))
def plain(x): return x
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "of_somebody.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(folder)
    import of_somebody

    yield of_somebody
    del sys.modules["of_somebody"]


@pytest.mark.parametrize("way", ["compose", "Compose", "Slots", "scaled", "scaling"])
def test_what_a_function_of_a_package_made_counts_with_the_values_inside(package, way):
    def made(scale):
        if way == "scaled":
            return package.scaled(scale)(package.plain)
        return package.scaled(1)(times(scale)) if way == "scaling" else getattr(package, way)(times(scale), abs)

    for wrap in (closure, lambda f: f):
        before = digest.of_function(wrap(made(1)), "f")
        assert digest.of_function(wrap(made(1)), "f") == before
        assert digest.change({"digest": before}, digest.of_function(wrap(made(2)), "f"))


def test_data_of_a_module_of_the_user_counts(tmp_path, monkeypatch):
    (tmp_path / "own_settings.py").write_text("SCALE = 1\nOTHER = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import own_settings

    def f(p):
        return own_settings.SCALE * p["x"]

    before = digest.of_function(f, "f")
    own_settings.OTHER = 2
    assert digest.of_function(f, "f") == before
    own_settings.SCALE = 2
    assert digest.change({"digest": before}, digest.of_function(f, "f")) == (
        "'own_settings.SCALE' has changed since this study was started"
    )
    del sys.modules["own_settings"]


def test_modules_that_the_function_imports_when_it_runs_count(tmp_path, monkeypatch):
    def f(p):
        import own_model.inner

        return own_model.inner.g(p["x"])

    (tmp_path / "own_model").mkdir()
    (tmp_path / "own_model" / "__init__.py").write_text("")
    (tmp_path / "own_model" / "inner.py").write_text("def g(x):\n    return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = digest.of_function(f, "f")
    assert "own_model.inner" not in sys.modules
    assert f({"x": 1}) == 1
    assert digest.of_function(f, "f") == before
    (tmp_path / "own_model" / "inner.py").write_text("def g(x):\n    return -x\n")
    assert digest.change({"digest": before}, digest.of_function(f, "f")) == (
        "'own_model.inner' has changed since this study was started"
    )
    for name in ("own_model", "own_model.inner"):
        del sys.modules[name]


def test_modules_of_the_user_with_a_name_like_a_library_s_count():
    def made(scale):
        kind = type(
            "Model", (), {"__module__": "queue_of_mine", "__init__": lambda self: setattr(self, "scale", scale)}
        )
        return kind()

    assert captured_by(closure(made(1))) != captured_by(closure(made(2)))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (
            lambda: Path(os.devnull).open(),  # noqa: SIM115
            "_io.TextIOWrapper",
        ),
        (socket.socket, "socket.socket"),
        (threading.Lock, "_thread.lock"),
        (lambda: (x for x in ()), "builtins.generator"),
        (lambda: functools.cmp_to_key(max)(1), "functools.KeyWrapper"),
        (lambda: {"in": [threading.Event()]}, "threading.Event"),
    ],
)
def test_what_cannot_be_compared_is_named(make, name):
    one, other = make(), make()
    found = captured.captured_by(closure(one))
    assert found == captured.captured_by(closure(other))
    assert found.unseen == {"value": name}
    for value in (one, other):
        getattr(value, "close", lambda: None)()


def test_every_kind_has_the_same_digest_in_every_process():
    program = "import values_of_kinds as v\nfrom culmen.base.captured import captured_by\n"
    program += "print({kind: captured_by(v.closure(make(1))) for kind, make in v.VALUES.items()})"

    def printed(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)}
        command = [sys.executable, "-c", program]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=HANGS_S
        ).stdout

    assert len({printed(seed) for seed in "12"}) == 1


def test_a_resume_says_what_it_could_not_compare(tmp_path):
    (tmp_path / "d.txt").write_text("1")
    with (tmp_path / "d.txt").open() as data:

        def fit(budget):
            return culmen.minimize(
                lambda p: (data, p["x"])[1], SPACE, budget=budget, store=tmp_path / "s.db", workers=1
            )

        fit(10)
        with pytest.warns(UserWarning, match=r"cannot check whether 'data' \(_io\.TextIOWrapper\) has changed since"):
            fit(11)


def test_logs_are_compared_by_their_names():
    import logging

    found = captured.captured_by(closure(logging.getLogger("one")))
    assert found == captured.captured_by(closure(logging.getLogger("one")))
    assert not found.unseen


def test_c_libraries_are_the_same_in_every_process():
    one, other = ctypes.CDLL(None), ctypes.CDLL(None)
    assert captured_by(closure(one.abs)) == captured_by(closure(other.abs))
    assert captured_by(closure(one.abs)) != captured_by(closure(one.labs))


def test_a_copy_of_a_fitted_tree_has_the_same_digest():
    ensemble = pytest.importorskip("sklearn.ensemble")
    x = np.random.default_rng(1).normal(size=(60, 3))
    forest = ensemble.RandomForestRegressor(4, random_state=1).fit(x, x[:, 0])
    assert captured_by(closure(forest)) == captured_by(closure(copy.deepcopy(forest)))
    assert captured_by(forest.predict) == captured_by(copy.deepcopy(forest).predict)
    other = ensemble.RandomForestRegressor(4, random_state=1).fit(x, x[:, 1])
    assert captured_by(closure(forest)) != captured_by(closure(other))


def test_a_copy_of_a_masked_array_and_of_a_search_tree_has_the_same_digest():
    spatial = pytest.importorskip("scipy.spatial")
    points = np.random.default_rng(1).normal(size=(60, 3))
    for make in (spatial.cKDTree, spatial.KDTree, lambda data: np.ma.masked_greater(data, 1)):
        value = make(points)
        assert captured_by(closure(value)) == captured_by(closure(pickle.loads(pickle.dumps(value))))
        assert captured_by(closure(value)) != captured_by(closure(make(points[::-1])))


def test_bytes_between_fields_do_not_count():
    kind = np.dtype([("a", "u1"), ("b", "f8")], align=True)
    one, other = np.zeros(5, kind), np.frombuffer(b"\xff" * 5 * kind.itemsize, kind).copy()
    other["a"], other["b"] = 0, 0
    assert one.tobytes() != other.tobytes()
    assert captured_by(closure(one)) == captured_by(closure(other))
    other["b"][3] = 1
    assert captured_by(closure(one)) != captured_by(closure(other))


ORDERS = """
import collections, enum
from culmen.base.captured import captured_by
class Node:
    def __init__(self, name): self.name, self.near = name, set()
    def call(self, p): return p
nodes = [Node(c) for c in "abcdefgh"]
for i, one in enumerate(nodes): one.near |= {nodes[i - 1], nodes[(3 * i + 1) % 8]}
class Kind(enum.Enum): A = 1; B = 2
table = collections.Counter({"alpha", "beta", "gamma", "delta"})
words = {frozenset({"u", "v"}): {Kind.A, Kind.B}, Kind.A: {"x", "y", "z"}.union("pq")}
pool = set(nodes)
def f(p): return nodes, table, words, pool, Kind
print(sorted(captured_by(f).digests.items()), captured_by(nodes[3].call).digests)
"""


def test_orders_of_sets_do_not_count_in_cycles_either():
    def printed(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", ORDERS]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=HANGS_S
        ).stdout

    assert len({printed(seed) for seed in "12345"}) == 1


def test_minimize_refuses_another_attribute_of_the_function(tmp_path):
    def fit(scale, budget):
        return culmen.minimize(attributed(scale), SPACE, budget=budget, store=tmp_path / "s.db", workers=1)

    fit(1, 10)
    assert fit(1, 11).evaluations == 11
    with pytest.raises(InputError, match=r"'f\.scale' has changed since"):
        fit(2, 12)


def test_large_cyclic_values_take_little_time():
    nodes = [Table(value=n) for n in range(4_000)]
    for one, other in itertools.pairwise(nodes):
        one["next"], other["back"] = other, one
    assert captured_by(closure(nodes)) == captured_by(closure(copy.copy(nodes)))
