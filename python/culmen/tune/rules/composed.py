"""The text of a file with rules, for the kind of file that the MPI reads. It starts no ranks, and is loaded quickly."""

from collections.abc import Callable

from ...launch.mpi.collectives import Collectives
from . import trees
from .file import Rules, written


def composed(rules: Rules, known: Collectives, built_in: Callable[[], trees.Tree], about: list[str]) -> str:
    """``built_in``: the tree of the MPI's library. ``about``: comments for the head of the file."""
    if known.rules_kind == "table":
        return written(rules, about)
    return trees.text(trees.with_rules(built_in(), rules, known), about)
