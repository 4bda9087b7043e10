"""The rules file of one run of ``culmen tune app --direct``. It is written before each run, so it must load quickly:

python -m culmen.tune.app.writing PLAN FILE NAME=ALGORITHM…
"""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ...bench.words import shown_size
from ...launch.mpi import load
from ...launch.mpi.collectives import DEFAULT, Collectives
from ..rules import trees
from ..rules.composed import Made, composed, kinds_of, write_both
from ..rules.made import rules_of

Settings = Mapping[str, Any]


class Choice(NamedTuple):
    """``least``, ``most``: bytes of the messages, both inclusive, as ``culmen bench collectives`` counts them.
    ``algorithms``: begins with DEFAULT."""

    collective: str
    ranks: int
    least: int
    most: int
    share: float
    algorithms: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of the parameter."""
        return f"{self.collective}_{self.ranks}_ranks" + (f"_{self.least}_bytes" if self.most else "")

    def __str__(self) -> str:
        sizes = "" if not self.most else f" and {shown_size(self.least)} to {shown_size(self.most)}"
        return f"{self.collective} with {self.ranks} ranks{sizes}"


def rules_for(choices: Sequence[Choice], settings: Settings, known: Collectives) -> Made:
    """The rules that make these choices, and no others. They hold on any number of nodes."""
    chosen: dict[str, dict[int, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
    for each in sorted(choices):
        name = settings[each.name]
        chosen[each.collective][each.ranks] += [(size, name) for size in dict.fromkeys((each.least, each.most))]
    rules = rules_of(chosen, known)
    return Made(rules, dict.fromkeys(kinds_of(known), rules))


def main(plan_file: str, path: str, *settings: str) -> None:
    plan = json.loads(Path(plan_file).read_text(encoding="utf-8"))
    known = next(mpi.collectives for mpi in load() if mpi.title == plan["mpi"])
    assert known is not None
    choices = [Choice._make([*each[:5], tuple(each[5])]) for each in plan["choices"]]
    chosen = {each.name: DEFAULT for each in choices} | dict(word.split("=", 1) for word in settings)
    made = rules_for(choices, chosen, known)
    built_in = partial(trees.built_in, Path(plan["library"]))
    write_both(composed(made, known, built_in, ["a run of `culmen tune app --direct`"]), Path(path), known)


if __name__ == "__main__":
    main(*sys.argv[1:])
