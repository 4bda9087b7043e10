"""A function of a program as a study: for ``culmen.minimize`` and ``culmen.work``."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

from .._core import InputError, Pickle
from ..base.functions import values_in
from ..base.surrogates import refuse_surrogates
from ..problem.command import Command
from ..problem.options import OF_DIRECTION, OPTIONS_OF_OTHERS
from ..problem.parameter import as_table
from ..problem.space import Space
from ..slot.callables import Positional, ToSlot
from ..slot.signature import misfit
from ..study_file import Mistakes, program_study
from .pickles import pickle_of
from .pickling import pickled_by_value
from .study import Study

WORDS = {
    **dict.fromkeys(("evaluations", "n_trials", "maxiter", "maxfun", "maxfev", "maxfevals", "max_evals"), "budget"),
    **dict.fromkeys(("max_nfev", "n_calls", "iterations", "n_iter"), "budget"),
    **dict.fromkeys(("method", "algorithm", "sampler"), "optimizer"),
    **dict.fromkeys(("bounds", "dimensions", "search_space", "parameters"), "space"),
    **dict.fromkeys(("x0", "p0", "initial", "start"), "starts"),
    **dict.fromkeys(("fun", "func", "function", "objective"), "f"),
    **dict.fromkeys(("n_jobs", "n_workers", "processes"), "workers"),
    **dict.fromkeys(("fixed", "fix_parameters"), "fix"),
    **dict.fromkeys(("tol", "ftol", "patience", "tolstagnation"), "stagnation"),
    **dict.fromkeys(("ftarget", "stop_value"), "target"),
    **dict.fromkeys(("random_state", "rng", "random_seed"), "seed"),
    **dict.fromkeys(("verbose", "disp", "show_progress_bar"), "progress"),
    **{
        "timeout": "wall_time_s",
        "max_time": "wall_time_s",
        "storage": "store",
        "pool": "executor",
        "env": "environment",
    },
}
_DIRECTION = 'write objectives={"value": "maximize"}'
ANSWERS = {
    **OPTIONS_OF_OTHERS,
    **dict.fromkeys(OF_DIRECTION, _DIRECTION),
    "args": "use functools.partial(f, …) or a lambda for more arguments",
    "jac": "derivatives are not used",
    "hess": "derivatives are not used",
}


def callable_of(f: Any, space: Space) -> Any:
    return Positional(f) if space.positional and not isinstance(f, Command) else f


def study_of(
    f: Any,
    space: Space,
    given: Mapping[str, Any],
    store: str | Path | None,
    shared: bool = False,
    caller: str = "culmen.minimize",
) -> Study:
    """``shared``: programs on other machines evaluate, too."""
    called = getattr(f, "__name__", "function").replace("/", "_")
    refuse_surrogates(f"{caller}: the name of the function", called)
    for name, value in {**given, "store": str(store)}.items():
        refuse_surrogates(f"{caller}: {name}", value)
    evaluator: dict[str, Any]
    if isinstance(f, Command):
        if not f.words:
            raise InputError(f"{caller}: Command([]): give a program and its arguments")
        evaluator, folder = {"command": f.words, **f.options}, f.folder
    else:
        name = f"{getattr(f, '__module__', '?')}.{getattr(f, '__qualname__', type(f).__name__)}"
        evaluator, folder = {"function": name, "positional": space.positional or None}, Path.cwd()
    tables = {p.name: as_table(p) for p in space.core.all}
    if isinstance(given["starts"], list):
        given = {**given, "starts": [_named(start, space.names) for start in given["starts"]]}
    file = program_study(called, tables, dict(space.core.constraints), evaluator, given, caller)
    if file.evaluator.output == "all" and store is None:
        raise InputError('culmen.minimize: output = "all" keeps the output beside the store; give store as well')
    return Study.of(file, folder, Mistakes(caller), str(store or ""), f, shared)


def _named(start: Any, names: list[str]) -> Any:
    fits = isinstance(start, list) and len(start) == len(names)
    return dict(zip(names, start, strict=True)) if fits else start


def pickled(f: Callable[..., Any], in_team: bool, shares: bool, caller: str = "culmen.minimize") -> Pickle:
    """``shares``: all slots are on this machine."""
    if not callable(f):
        program = f"; for a program, write culmen.Command([{json.dumps(f)}, …])" if isinstance(f, str) else ""
        raise InputError(f"{caller}: f must be a function, got {f!r}{program}")
    if why := misfit(f.function, "p[0]", in_team) if isinstance(f, Positional) else misfit(f, in_team=in_team):
        raise InputError(f"{caller}: {why}")
    try:
        return pickle_of(f, ToSlot, shares)
    except InputError as e:
        raise InputError(f"{caller}: {e}") from None
    except Exception as e:
        raise InputError(f"{caller}: the function cannot be sent to other processes: {e}{_culprit_in(f)}") from None


def _culprit_in(f: Any) -> str:
    """The captured value that cannot be pickled, and the advice, as a part of a sentence. Empty if none is found."""
    function = f.function if isinstance(f, Positional) else f
    for name, value in values_in(function) if isinstance(function, FunctionType) else ():
        try:
            pickled_by_value(value)
        except Exception:
            return f"; the function uses {name}, so make {name} inside the function"
    return ""
