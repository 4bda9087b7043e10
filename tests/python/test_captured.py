"""Values that a function captures are in its digest: another value is another digest, in every process the same."""

import dataclasses
import functools
import os
import random
import subprocess
import sys
import threading

import numpy as np
import pytest

import culmen
from culmen import InputError
from culmen.base import captured, digest

pytestmark = pytest.mark.no_numbers

SPACE = {"x": (-5, 5)}


def captured_by(f):
    return captured.captured_by(f).digests


@dataclasses.dataclass
class Model:
    scale: float
    table: dict

    def __call__(self, p):
        return self.scale * p["x"]

    def other(self, p):
        return self(p)


def closure(scale):
    return lambda p: p["x"] * scale


def default(scale):
    def f(p, factor=scale):
        return p["x"] * factor

    return f


def helper(scale):
    def inner(x):
        return x * scale

    return lambda p: inner(p["x"])


def of_globals(scale):
    names = {"__name__": "model", "scale": scale, "unused": object()}
    exec("def f(p):\n    return [scale * x for x in p.values()]", names)  # noqa: S102
    return names["f"]


FUNCTIONS = {
    "closure": closure,
    "default": default,
    "helper": helper,
    "global": of_globals,
    "partial": lambda scale: functools.partial(lambda p, factor: p["x"] * factor, factor=scale),
    "object": lambda scale: Model(scale, {}),
    "method": lambda scale: Model(scale, {}).other,
    "class": lambda scale: closure(type("Own", (), {"scale": scale})),
    "cached": lambda scale: functools.lru_cache(closure(scale)),
}


@pytest.mark.parametrize("way", FUNCTIONS)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2),
        (1.0, 1),
        ("a", "b"),
        ([1, 2], [2, 1]),
        ({"a": [1]}, {"a": [2]}),
        ({1, 2}, {1, 3}),
        (Model(1, {"a": 1}), Model(1, {"a": 2})),
        (np.arange(3), np.arange(3.0)),
        (np.arange(4), np.arange(4).reshape(2, 2)),
        (np.array(["a", None], dtype=object), np.array(["b", None], dtype=object)),
    ],
)
def test_another_value_is_another_digest(way, one, other):
    make = FUNCTIONS[way]
    assert captured_by(make(one)) == captured_by(make(one))
    assert captured_by(make(one)) != captured_by(make(other))


CLASSES = """
import functools
class Base:
    CONSTANT = 1
    def shifted(self, x): return x - SHIFT
    @property
    def factor(self): return 1
    @functools.cached_property
    def power(self): return 1
    def __call__(self, p): return self.f(p)
    @classmethod
    def by_class(cls, p): return cls.CONSTANT * p["x"]
class Model(Base):
    def f(self, p): return self.factor * self.shifted(p["x"]) ** self.power + self.CONSTANT
class Slots:
    __slots__ = ()
    def shifted(self, x): return x - SHIFT
    def f(self, p): return self.shifted(p["x"])
"""


@pytest.mark.parametrize("way", ["Model().f", "Model()", "Model.by_class", "functools.partial(Model().f)", "Slots().f"])
@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("SHIFT = 1", "SHIFT = 2", "shifted"),
        ("x - SHIFT", "x + SHIFT", "shifted"),
        ("CONSTANT = 1", "CONSTANT = 2", "CONSTANT"),
        ("def factor(self): return 1", "def factor(self): return 2", "factor"),
        ("def power(self): return 1", "def power(self): return 2", "power"),
    ],
)
def test_the_class_of_a_method_and_of_a_callable_object_counts(way, before, after, name):
    def captured(text):
        names = {"__name__": "__main__"}
        exec(text, names)  # noqa: S102
        return captured_by(eval(way, names))  # noqa: S307

    text = "SHIFT = 1\n" + CLASSES
    was, now = captured(text), captured(text.replace(before, after))
    assert captured(text) == was
    changed = {key for key in was if was[key] != now[key]}
    if way == "Slots().f" and name != "shifted":
        assert not changed
    else:
        assert any(key.endswith(f".{name}") for key in changed), changed


def test_two_classes_of_one_name_both_count():
    def captured(shift):
        class Model:
            SHIFT = shift

        class Other(Model):
            def f(self, p):
                return p["x"] - super().SHIFT

        Other.__name__, Other.SHIFT = "Model", 0
        return captured_by(Other().f)

    assert captured(1) == captured(1)
    assert captured(1) != captured(2)


class Moved:
    SHIFT = 1.0

    def f(self, p):
        return (p["x"] - self.SHIFT) ** 2


class Called(Moved):
    __call__ = Moved.f


class Inherits(Called):
    pass


@pytest.mark.parametrize("make", [lambda: Moved().f, Called, Inherits])
def test_minimize_refuses_another_class_attribute(make, tmp_path, monkeypatch):
    store = tmp_path / "s.db"
    culmen.minimize(make(), SPACE, budget=20, store=store, workers=1)
    assert culmen.minimize(make(), SPACE, budget=21, store=store, workers=1).evaluations == 21
    monkeypatch.setattr(Moved, "SHIFT", 2.0)
    with pytest.raises(InputError, match=r"'Moved\.SHIFT' has changed since"):
        culmen.minimize(make(), SPACE, budget=22, store=store, workers=1)


def test_a_library_s_class_does_not_count():
    assert not [name for name in captured_by(np.poly1d([1, 2])) if name.startswith("poly1d.")]


@pytest.mark.parametrize("make", [random.Random, np.random.default_rng, threading.Lock, object])
def test_generators_of_random_numbers_and_locks_count_by_their_types(make):
    assert captured_by(closure(make())) == captured_by(closure(make()))


def test_events_count_by_their_types():
    one, other = threading.Event(), threading.Event()
    other.set()
    assert captured_by(closure(one)) == captured_by(closure(other))


def test_equal_values_have_equal_digests_whatever_they_share():
    shared = ["word" * 2, 1.5]
    assert captured_by(closure([shared, shared])) == captured_by(closure([list(shared), ["wordword", 1.5]]))
    assert captured_by(closure({"a": 1, "b": 2})) == captured_by(closure({"b": 2, "a": 1}))


def test_cycles_and_deep_values_end():
    cycle = [1]
    cycle.append(cycle)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert len(captured_by(closure(cycle))["scale"]) == len(captured_by(closure(deep))["scale"]) == 64


def test_a_recursive_function_captures_itself():
    def f(p, n=3):
        return p["x"] if n == 0 else f(p, n - 1)

    assert captured_by(f) == captured_by(f)


def test_names_of_attributes_are_no_globals():
    names = {"__name__": "model", "real": 1}
    exec("def f(p):\n    return p['x'].real", names)  # noqa: S102
    assert captured_by(names["f"]) == {}


PROGRAM = """
import numpy as np
from culmen.base.captured import captured_by
class Own:
    def __init__(self): self.words = {"a", "b", "c", "dd"}; self.table = {(1, "x"): np.eye(2), None: {3.5, "q"}}
    def half(self, x): return x / 2
own, names = Own(), frozenset({"u", "v", "w"})
def g(x): return own.half(x) + len(names)
def f(p): return g(p["x"]) + np.sin(p["x"])
print(captured_by(f))
"""


def test_digests_are_the_same_in_every_process():
    def printed(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PROGRAM]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    found = [printed(seed) for seed in "1234"]
    assert len(set(found)) == 1
    assert all(name in found[0] for name in ("'g'", "'np'"))


def test_code_of_the_user_that_a_function_calls_counts(tmp_path, monkeypatch):
    (tmp_path / "helpers.py").write_text("def g(x):\n    return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    import helpers

    def by_module(p):
        return helpers.g(p["x"])

    before = digest.of_function(by_module, "f")
    (tmp_path / "helpers.py").write_text("# why\ndef g(x):\n    return x\n")
    assert digest.of_function(by_module, "f") == before
    (tmp_path / "helpers.py").write_text("def g(x):\n    return -x\n")
    assert digest.change({"digest": before}, digest.of_function(by_module, "f")) == (
        "'helpers' has changed since this study was started"
    )
    monkeypatch.delitem(sys.modules, "helpers")


def test_minimize_refuses_another_captured_value_and_another_data_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.txt").write_text("1")

    def fit(shift, budget, **more):
        return culmen.minimize(
            lambda p: (p["x"] - shift) ** 2, SPACE, budget=budget, store="fit.db", workers=1, data=["d.txt"], **more
        )

    fit(1.0, 20)
    assert fit(1.0, 30).evaluations == 30
    with pytest.raises(InputError, match=r"fit\.db: 'shift' has changed since .* pass accept_changes=True; to restart"):
        fit(2.0, 40)
    (tmp_path / "d.txt").write_text("2")
    with pytest.raises(InputError, match=r"fit\.db: 'shift' and d\.txt have changed since"):
        fit(2.0, 40)
    with pytest.warns(UserWarning, match="have changed since this study was started; earlier values are kept"):
        assert fit(2.0, 40, accept_changes=True).evaluations == 40
    assert fit(2.0, 41).evaluations == 41
