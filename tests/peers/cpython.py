"""CPython's tests of executors, for culmen.Executor. Debian's package of CPython's tests has them."""

import importlib
import sys
import tempfile
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import culmen

NAME = "cpython_test_concurrent_futures"  # the processes of an executor import it by this name
_FOLDER = tempfile.TemporaryDirectory(prefix="culmen-peers-")  # removed when this program ends


def source() -> Path:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return Path(f"/usr/lib/{version}/test/test_concurrent_futures.py")


def load() -> Any:
    """The module. Skips if it is not there: from 3.12 on, it is a package of several modules."""
    if not source().is_file():
        pytest.skip(f"{source()} does not exist; CPython's tests are run with Debian's Python 3.11", True)
    Path(_FOLDER.name, f"{NAME}.py").symlink_to(source())
    sys.path.append(_FOLDER.name)
    return importlib.import_module(NAME)


def make_executor(max_workers: int, mp_context: object = None, **arguments: Any) -> culmen.Executor:
    """``mp_context``: some tests give it to each executor of processes."""
    return culmen.Executor(max_workers, **arguments)


def on_culmen(
    tests: Any, mixin: type, expected: Mapping[str, str], context: str = "", unsure: Mapping[str, str] | None = None
) -> type:
    """The test class of ``mixin`` for culmen.Executor. ``expected``: names of tests that must fail, and the reasons.
    ``unsure``: names of those that may fail."""
    members: dict[str, Any] = {"executor_type": staticmethod(make_executor)}
    if context:
        members["ctx"] = context
    for strict, named in ((True, expected), (False, unsure or {})):
        for name, reason in named.items():
            members[name] = pytest.mark.xfail(reason=reason, strict=strict)(_copy(getattr(mixin, name)))
    return type(f"{mixin.__name__}OnCulmen", (mixin, tests.ExecutorMixin, tests.BaseTestCase), members)


def _copy(function: Any) -> Any:
    """A mark belongs to one function, and several classes share it."""
    return types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
