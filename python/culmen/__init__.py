"""culmen finds the best parameters of anything that can be run.

Names are loaded when they are first used, so that ``import culmen`` costs nothing in the processes that only evaluate.
"""

# ruff: noqa: F401 - what is imported for type checkers is offered through _HOMES

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "minimize": "minimization",
    "Command": "command",
    "Executor": "executor",
    "EvaluationError": "item_pool",
    "register_joblib": "joblib_backend",
    "Optimizer": "ask_tell",
    "Candidate": "ask_tell",
    "Result": "result",
    "errors": "fit.of_store",
    "Errors": "fit.errors",
    "is_master": "ranks",
    "Space": "space",
    "real": "space",
    "integer": "space",
    "ordinal": "space",
    "categorical": "space",
    "boolean": "space",
    "Study": "study",
    "read": "report",
    "Evaluations": "report",
    "CulmenError": "_core",
    "InputError": "_core",
    "StoreError": "_core",
    "TransportError": "_core",
    "__version__": "_core",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from ._core import CulmenError, InputError, StoreError, TransportError, __version__
    from .ask_tell import Candidate, Optimizer
    from .command import Command
    from .executor import Executor
    from .fit.errors import Errors
    from .fit.of_store import errors
    from .item_pool import EvaluationError
    from .joblib_backend import register_joblib
    from .minimization import minimize
    from .ranks import is_master
    from .report import Evaluations, read
    from .result import Result
    from .space import Space, boolean, categorical, integer, ordinal, real
    from .study import Study


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'culmen' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
