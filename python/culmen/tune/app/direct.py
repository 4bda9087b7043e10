"""The runs of ``culmen tune app --direct``: their plan, and the rules file with the best choices."""

import datetime
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ... import _core
from ...base.machine import here
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import DEFAULT
from ...launch.preloading import forwarding
from ..cluster.origin import UNKNOWN_CPU
from ..rules.composed import remove_both, write_both
from ..rules.reader import environment_for, reader_of_rules
from ..rules.texts import library_of, texts_of
from ..rules.tried import not_as_expected
from . import writing
from .choosing import expected_calls
from .writing import Choice, Settings, rules_for


def plan_of(words: list[str], choices: Sequence[Choice], launcher: Launcher, folder: Path) -> dict[str, Any]:
    """For ruled.py. ``folder``: in which the program runs."""
    known = reader_of_rules(launcher)
    files = {known.prefix + known.rules_file: known.rules_name}
    if known.routes_file:
        files[known.prefix + known.routes_file] = known.routes_name
    with_rules = {name: value for name, value in environment_for(known, Path()).items() if name not in files}
    with_rules |= known.routes_environment
    return {
        "with_rules": {"command": forwarding(words, [*files, *with_rules]), "variables": with_rules},
        "without_rules": {"command": forwarding(words, [*known.without_rules]), "variables": known.without_rules},
        "folder": str(folder),
        "mpi": launcher.mpi.title,
        "library": str(library_of(launcher)) if known.rules_kind == "tree" else "",
        "python": sys.executable,
        "writer": writing.__name__,
        "rules_name": known.rules_name,
        "files": files,
        "choices": choices,
    }


def write_rules(
    choices: Sequence[Choice], settings: Settings, launcher: Launcher, about: list[str], path: Path
) -> None:
    """Replaces the file with rules, and the second file, each as a whole."""
    known = reader_of_rules(launcher)
    write_both(texts_of(rules_for(choices, settings, known), launcher, about), path, known)


def about_rules(library: str) -> list[str]:
    """The head of a rules file, as ``culmen tune install`` reads it. ``library``: as in profiles."""
    machine = here()
    return [
        f"Rules for the collectives of {library.replace(' v', ' ')}, from `culmen tune app --direct` ({_core.build})",
        f"{datetime.date.today()}, {machine['host']}, {machine['cpu'] or UNKNOWN_CPU}",
    ]


def as_they_run(
    choices: Sequence[Choice], settings: Settings, launcher: Launcher, rules: Path
) -> tuple[dict[str, Any], list[str]]:
    """The settings, with the default where culmen's own calls do not run the algorithm that the file names; and a
    sentence for each of these. ``rules``: a file for the trial, which is removed with the second file."""
    kept, said = dict(settings), []
    try:
        while expected := expected_calls(choices, kept):
            write_rules(choices, kept, launcher, ["a trial"], rules)
            wrong = not_as_expected(launcher, rules, list(expected))
            if not wrong:
                break
            for call, why in wrong.items():
                kept[expected[call].name] = DEFAULT
                said.append(f"Not used: {call.algorithm} of {expected[call]}: tried, but {why}.")
    finally:
        remove_both(rules, reader_of_rules(launcher))
    return kept, said
