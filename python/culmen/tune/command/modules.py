"""The environment modules of a recipe."""

import re
from pathlib import Path

from ..._core import InputError
from .tables import RecipeFile

_PLACE = re.compile(r"\{(\w+)\}")


def are_chosen(recipe: RecipeFile) -> bool:
    """Whether a parameter chooses a module. Each run then loads its modules. Otherwise a worker loads them once."""
    return any("{" in module or "}" in module for module in recipe.evaluator.modules)


def check_modules(recipe: RecipeFile, path: Path) -> None:
    """Raises InputError if braces in a module do not contain the name of a parameter."""
    for module in recipe.evaluator.modules:
        rest = _PLACE.sub(lambda place: "" if place[1] in recipe.space else place[0], module)
        if "{" in rest or "}" in rest:
            raise InputError(
                f'{path}: [evaluator] modules: "{module}" may contain only parameters of [space] in braces; these are '
                f"{', '.join(recipe.space)}"
            )
