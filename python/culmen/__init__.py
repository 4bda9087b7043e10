"""culmen finds the best parameters of anything that can be run.

Names are loaded at their first use, so that ``import culmen`` costs nothing in processes that only evaluate.
"""

# ruff: noqa: F401 - imports for type checkers are offered through _HOMES

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "minimize": "minimization",
    "work": "run.program_workers",
    "Command": "problem.command",
    "Executor": "executor.executor",
    "EvaluationError": "executor.item_pool",
    "register_joblib": "executor.joblib_backend",
    "Optimizer": "ask_tell",
    "Candidate": "ask_tell",
    "Result": "run.result",
    "AllFailedError": "run.result",
    "Evaluated": "run.callback",
    "errors": "run.errors_of_store",
    "Errors": "fit.errors",
    "is_master": "launch.ranks",
    "Space": "problem.space",
    "real": "problem.parameter",
    "integer": "problem.parameter",
    "ordinal": "problem.parameter",
    "categorical": "problem.parameter",
    "boolean": "problem.parameter",
    "fixed": "problem.parameter",
    "Study": "run.study",
    "read": "report.reading",
    "Evaluations": "report.reading",
    "CulmenError": "_core",
    "InputError": "_core",
    "StoreError": "_core",
    "TransportError": "_core",
    "__version__": "_core",
}

__all__ = [*_HOMES]

_FIT = 'write culmen.minimize(f, …, result="residuals"), where f returns a list of residuals'
_ELSEWHERE = {  # names that users look for, and what to write instead
    "maximize": 'write culmen.minimize(f, …, objectives={"value": "maximize"})',
    **dict.fromkeys(("fit", "curve_fit", "least_squares", "leastsq", "Model"), _FIT),
    **dict.fromkeys(("fmin", "optimize", "create_study", "run"), "write culmen.minimize(f, space, budget=…)"),
    **dict.fromkeys(("uniform", "Real", "Float", "suggest_float"), "write culmen.real(lower, upper)"),
    **dict.fromkeys(("Integer", "Int", "randint", "suggest_int"), "write culmen.integer(lower, upper)"),
    **dict.fromkeys(("Categorical", "choice", "suggest_categorical"), "write culmen.categorical([…])"),
    **dict.fromkeys(("loguniform", "log_uniform"), 'write culmen.real(lower, upper, scale="log")'),
    "Library": "write library = … in a study file, and run it with culmen.Study.from_file(…).run()",
    **dict.fromkeys(("Pool", "map"), "write culmen.Executor(…).map(…)"),
}

if TYPE_CHECKING:
    from ._core import CulmenError, InputError, StoreError, TransportError, __version__
    from .ask_tell import Candidate, Optimizer
    from .executor.executor import Executor
    from .executor.item_pool import EvaluationError
    from .executor.joblib_backend import register_joblib
    from .fit.errors import Errors
    from .launch.ranks import is_master
    from .minimization import minimize
    from .problem.command import Command
    from .problem.parameter import boolean, categorical, fixed, integer, ordinal, real
    from .problem.space import Space
    from .report.reading import Evaluations, read
    from .run.callback import Evaluated
    from .run.errors_of_store import errors
    from .run.program_workers import work
    from .run.result import AllFailedError, Result
    from .run.study import Study


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        instead = f"; {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
        raise AttributeError(f"module 'culmen' has no attribute {name!r}{instead}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
