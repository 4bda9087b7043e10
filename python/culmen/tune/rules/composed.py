"""The files with rules, of the kind that the MPI reads. This module starts no ranks, and is loaded quickly."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from ...launch.mpi.collectives import Collectives
from ...report.files import Kind, replacing
from . import trees
from .file import Rules, written
from .han import han_file

_RULES = Kind("rules file", lambda _path, head: head.startswith((b"#", b"/*")))
_SEVERAL = "several"
# Kinds of communicators on several nodes that a file can tell apart. For each of them, those of trees.kind_of().
_KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "tree": {trees.PARENT: (trees.PARENT,), trees.FLAT: (trees.FLAT,)},
    "table": {_SEVERAL: (trees.PARENT, trees.FLAT)},
}


class Made(NamedTuple):
    """``rules``: for communicators within one node; in a table also for those on several nodes. ``between``: for those
    on several nodes, by their kind; see kinds_of()."""

    rules: Rules
    between: Mapping[str, Rules] = {}


class Texts(NamedTuple):
    """``routes``: of the second file; empty: it is not needed."""

    rules: str
    routes: str = ""


def kinds_of(known: Collectives) -> dict[str, tuple[str, ...]]:
    """For each kind of communicators on several nodes, the kinds that trees.kind_of() tells."""
    return _KINDS[known.rules_kind]


def composed(made: Made, known: Collectives, built_in: Callable[[str], trees.Tree], about: list[str]) -> Texts:
    """``built_in``: the tree of the MPI's library with such leaves. ``about``: comments for the heads of the files."""
    if known.rules_kind == "table":
        several = made.between.get(_SEVERAL, Rules())
        routed = any("route" in known.of[table.name] for table in several.tables)
        routes = han_file(several, known, about) if routed else ""  # Open MPI rejects a file without collectives
        return Texts(written(made.rules, about), routes)
    rules = trees.text(trees.with_rules(built_in(trees.ALGORITHM), made.rules, known, made.between), about)
    if not any(table.ranks for each in made.between.values() for table in each.tables):
        return Texts(rules)
    usual = built_in(trees.COMPOSITION)
    return Texts(rules, trees.text(trees.with_routes(usual, made.between, known), about))


def routes_beside(rules: Path, known: Collectives) -> Path | None:
    """The path of the second file. None: the MPI needs none, or the name of the first file does not tell it."""
    if not known.routes_name or known.rules_name not in rules.name:
        return None
    return rules.with_name(rules.name.replace(known.rules_name, known.routes_name))


def write_both(texts: Texts, rules: Path, known: Collectives) -> None:
    """Replaces the file with rules and the second file, each as a whole. An empty text removes a file."""
    routes = routes_beside(rules, known)
    for file, content in ((routes, texts.routes), (rules, texts.rules)):
        if file is not None and content:
            with replacing(file, _RULES, force=True) as path:
                path.write_text(content, encoding="utf-8")
        elif file is not None:
            file.unlink(missing_ok=True)


def remove_both(rules: Path, known: Collectives) -> None:
    write_both(Texts(""), rules, known)
