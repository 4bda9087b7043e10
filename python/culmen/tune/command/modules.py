"""The environment modules of a recipe."""

from pathlib import Path

from ..._core import InputError
from .tables import RecipeFile


def check_modules(recipe: RecipeFile, path: Path) -> None:
    """Raises InputError if a module depends on a parameter: a worker loads its modules once for all runs."""
    for module in recipe.evaluator.modules:
        if "{" in module or "}" in module:
            raise InputError(
                f'{path}: [evaluator] modules: "{module}" cannot contain a parameter, because modules are the same in '
                "all runs; load this module in the command"
            )
