"""Completions for the word that is being typed. If none fits, the shell offers its files."""

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path


def study_files(incomplete: str) -> list[str]:
    return _files(incomplete, ".toml")


def stores(incomplete: str) -> list[str]:
    return _files(incomplete, ".db")


@contextmanager
def words_of_bash() -> Iterator[None]:
    """Bash splits "optuna:TPESampler" at the colon; this joins the words for the completion and splits them again."""
    line = os.environ.get("COMP_WORDS", "")
    between = "\n" if "\n" in line else " "
    typed = line.split(between)[: int(os.environ.get("COMP_CWORD") or 0) + 1]
    if ":" not in typed:
        yield
        return
    joined = re.sub(f"{between}?:{between}?", ":", between.join(typed)).split(between)
    os.environ |= {"COMP_WORDS": between.join(joined), "COMP_CWORD": str(len(joined) - 1)}
    offered = io.StringIO()
    try:
        with redirect_stdout(offered):
            yield
    finally:
        kept = joined[-1].rfind(":") + 1
        print("\n".join(word[kept:] for word in offered.getvalue().splitlines()))


def _files(incomplete: str, ending: str) -> list[str]:
    folder, slash, begin = incomplete.rpartition("/")
    try:
        names = [path.name for path in Path(folder + slash or ".").expanduser().iterdir()]
    except OSError:
        return []
    return sorted(folder + slash + name for name in names if name.startswith(begin) and name.endswith(ending))
