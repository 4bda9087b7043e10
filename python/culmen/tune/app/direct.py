"""The runs of ``culmen tune app --direct``: their plan, and their rules files.

``python -m culmen.tune.app.direct PLAN FILE NAME=ALGORITHM…`` writes the rules file of one run.
"""

import datetime
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ... import _core
from ...base.machine import here
from ...launch.mpi import Launcher, find_launcher
from ...launch.mpi.collectives import DEFAULT
from ...launch.preloading import forwarding
from ..cluster.origin import UNKNOWN_CPU
from ..rules.texts import texts_of
from ..rules.tried import environment_for, not_as_expected, reader_of_rules
from .choosing import Choice, Settings, expected_calls, rules_for


def plan_of(words: list[str], choices: Sequence[Choice], launcher: Launcher, folder: Path) -> dict[str, Any]:
    """For ruled.py. ``folder``: in which the program runs."""
    known = reader_of_rules(launcher)
    variable = known.prefix + known.rules_file
    with_rules = environment_for(known, Path())
    del with_rules[variable]
    return {
        "with_rules": {"command": forwarding(words, [variable, *with_rules]), "variables": with_rules},
        "without_rules": {"command": forwarding(words, [*known.without_rules]), "variables": known.without_rules},
        "folder": str(folder),
        "mpi": launcher.mpi.name,
        "python": sys.executable,
        "writer": __name__,
        "rules_name": known.rules_name,
        "rules_variable": variable,
        "choices": choices,
    }


def write_rules(choices: Sequence[Choice], settings: Settings, launcher: Launcher, about: list[str], path: Path) -> None:
    """Replaces the file as a whole."""
    new = path.with_name(f".{os.getpid()}.{path.name}")
    rules = rules_for(choices, settings, reader_of_rules(launcher))
    new.write_text(texts_of(rules, launcher, about), encoding="utf-8")
    new.replace(path)


def about_rules(library: str) -> list[str]:
    """The head of a rules file, as ``culmen tune install`` reads it. ``library``: as in profiles."""
    machine = here()
    return [
        f"Rules for the collectives of {library.replace(' v', ' ')}, from `culmen tune app --direct` ({_core.build})",
        f"{datetime.date.today()}, {machine['host']}, {machine['cpu'] or UNKNOWN_CPU}",
    ]


def as_they_run(choices: Sequence[Choice], settings: Settings, launcher: Launcher, rules: Path) -> tuple[dict[str, Any], list[str]]:
    """The settings, with the default where culmen's own calls do not run the algorithm that the file names; and a
    sentence for each of these. ``rules``: a file for the trial, which is removed."""
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
        rules.unlink(missing_ok=True)
    return kept, said


def main(plan_file: str, path: str, *settings: str) -> None:
    plan = json.loads(Path(plan_file).read_text(encoding="utf-8"))
    choices = [Choice(*each[:5], tuple(each[5])) for each in plan["choices"]]
    chosen = {each.name: DEFAULT for each in choices} | dict(word.split("=", 1) for word in settings)
    write_rules(choices, chosen, find_launcher(plan["mpi"]), ["a run of `culmen tune app --direct`"], Path(path))


if __name__ == "__main__":
    main(*sys.argv[1:])
