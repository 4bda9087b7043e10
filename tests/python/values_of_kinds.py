"""Values of many kinds that a function may capture: `VALUES[kind](scale)`."""

import collections
import contextlib
import functools
import io
import operator
import re
import types
import weakref

import numpy as np


def closure(value):
    return lambda p: (p, value)


class Numbers(list):
    pass


class Table(dict):
    pass


class Point(tuple):
    pass


class Real(float):
    pass


class Signal(np.ndarray):
    pass


def with_attribute(kind, scale):
    value = kind([(1, 2)]) if kind is not Real else Real(1)
    value.scale = scale
    return value


def signal(scale):
    value = np.zeros(3).view(Signal)
    value.scale = scale
    return value


def times(scale):
    return lambda x: x * scale


def attributed(scale):
    def f(p):
        return f.scale * p["x"]

    f.scale = scale
    return f


def dynamic_module(scale):
    module = types.ModuleType("made")
    module.scale = scale
    return module


class Decorated:
    """As users write class decorators."""

    def __init__(self, f, scale):
        functools.update_wrapper(self, f)
        self.scale = scale

    def __call__(self, p):
        return self.scale * self.__wrapped__(p)


def decorated_partial(scale):
    made = functools.partial(max, 1)
    made.scale = scale
    return made


def node(scale, length=1):
    """A ring in which one value differs."""
    first = node = Table(value=0)
    for _ in range(length):
        node["next"] = Table(value=0)
        node["next"]["back"] = node
        node = node["next"]
    node["value"] = scale
    return first


def deep(scale):
    value = [scale]
    for _ in range(100_000):
        value = [value]
    return value


def longdouble(scale):
    return np.full(3, scale, np.longdouble)


def weak_set(scale):
    held = [Real(scale)]
    return held, weakref.WeakSet(held)


VALUES = {
    "frompyfunc": lambda scale: np.frompyfunc(times(scale), 1, 1),
    "vectorize": lambda scale: np.vectorize(times(scale)),
    "pattern": lambda scale: re.compile(f"a{{{scale}}}"),
    "flags of a pattern": lambda scale: re.compile("a", re.VERBOSE if scale == 1 else re.DOTALL),
    "mappingproxy": lambda scale: types.MappingProxyType({"scale": scale}),
    "keys": lambda scale: {scale: 1}.keys(),
    "values": lambda scale: {1: scale}.values(),
    "cell": lambda scale: types.CellType(scale),
    "memoryview": lambda scale: memoryview(bytes([scale])),
    "code": lambda scale: compile(f"x * {scale}", "", "eval"),
    "staticmethod": lambda scale: staticmethod(times(scale)),
    "list": lambda scale: with_attribute(Numbers, scale),
    "dict": lambda scale: with_attribute(Table, scale),
    "tuple": lambda scale: with_attribute(Point, scale),
    "float": lambda scale: with_attribute(Real, scale),
    "array": signal,
    "function": attributed,
    "partial": decorated_partial,
    "module": dynamic_module,
    "class": lambda scale: types.new_class("Made", exec_body=lambda names: names.update(scale=scale)),
    "enum": lambda scale: __import__("enum").Enum("Kind", {"one": scale}),
    "decorated": lambda scale: Decorated(max, scale),
    "singledispatch": lambda scale: functools.singledispatch(times(scale)),
    "partialmethod": lambda scale: functools.partialmethod(max, scale),
    "itemgetter": lambda scale: operator.itemgetter(scale),
    "context manager": lambda scale: contextlib.contextmanager(times(scale)),
    "cycle": node,
    "far in a cycle": lambda scale: node(scale, 200),
    "deep": deep,
    "long integer": lambda scale: 10**5000 + scale,
    "long integers": lambda scale: [10**5000 + scale],
    "longdouble": longdouble,
    "counter": lambda scale: collections.Counter("a" * scale),
    "weak": weak_set,
    "stream": lambda scale: io.StringIO(str(scale)),
    "bound": lambda scale: [scale].__getitem__,
}
