"""From a set-up to the function: ``module:function``, ``/folder/file.py:function`` or a pickle.

Every failure is one sentence. Paths are handled by ``os``: pathlib takes too long to import.
"""

# ruff: noqa: PTH100, PTH113, PTH119, PTH120, PTH122

import importlib
import importlib.util
import os
import sys
from contextlib import contextmanager

from culmen.slot.failure import describe, sentence
from culmen.slot.signature import misfit

imported = []  # names that are being imported or unpickled now, the innermost last


@contextmanager
def importing(what):
    imported.append(what)
    try:
        yield
    finally:
        imported.pop()


class TargetError(Exception):
    """The reason why the function cannot be loaded."""


def load(set_up, in_team=False):
    """``in_team``: the function takes a communicator, too."""
    if set_up.base_folder:
        sys.path.insert(0, set_up.base_folder)
    if set_up.pickle:
        return _unpickle(set_up.pickle)
    place, colon, name = set_up.target.rpartition(":")
    if not (colon and place and name):
        raise TargetError(f'\'{set_up.target}\' must be "module:function" or "/folder/file.py:function"')
    is_file = place.endswith(".py") or os.sep in place
    module = _load_file(place) if is_file else _import_module(place, set_up.base_folder)
    return _find(module, place, name, in_team)


def _unpickle(pickled):
    import pickle

    try:
        with importing("the function's module"):
            function = pickle.loads(pickled)
    except BaseException as error:
        raise TargetError(f"cannot unpickle the function: {sentence(error)}") from error
    if not callable(function):
        raise TargetError(f"the pickled object must be a function, got one of type {type(function).__name__}")
    return function


def _import_module(name, base_folder):
    try:
        with importing(f"the module {name}"):
            return importlib.import_module(name)
    except BaseException as error:
        where = f" (from {base_folder})" if base_folder else ""
        raise TargetError(f"cannot import module '{name}'{where}: {_why(error, name)}") from error


def _load_file(path):
    if not os.path.isfile(path):
        raise TargetError(f"{path} is not a file")
    folder, stem = os.path.dirname(os.path.abspath(path)), os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, folder)  # as for a script: modules beside it can be imported
    name = stem if stem not in sys.modules else f"culmen_target_{stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise TargetError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pickle and dataclasses look the module up
    try:
        with importing(path):
            spec.loader.exec_module(module)
    except BaseException as error:
        raise TargetError(f"cannot import {path}: {_why(error)}") from error
    return module


def _why(error, target=""):
    """A module that is not found needs no traceback; other exceptions come from user code. ``pip install`` is not
    advised for the target itself."""
    if not isinstance(error, ModuleNotFoundError):
        return describe(error)
    if not error.name or "." in error.name or error.name == target.partition(".")[0]:
        return str(error)
    from shlex import quote

    python = quote(sys.executable)
    return f"{error}; culmen runs in {python}, so write `{python} -m pip install {error.name}`"


def _is_offered(module, name):
    value = getattr(module, name)
    return callable(value) and getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")


def _find(module, place, name, in_team):
    function = getattr(module, name, None)
    if function is None:
        there = ", ".join(sorted(key for key in vars(module) if _is_offered(module, key))) or "none"
        raise TargetError(f"{place} has no function '{name}' (it has: {there})")
    if not callable(function):
        raise TargetError(f"'{name}' in {place} must be a function, but is of type {type(function).__name__}")
    if why := misfit(function, in_team=in_team):
        raise TargetError(f"{place}: {why}")
    return function
