"""The programs of a study: the one that the user has, or those that culmen built with several MPIs, compilers and
flags."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...problem.given import Value
from .program import Program, find_program, with_blas

NAMES = ("mpi", "compiler", "flags")
Choice = tuple[str, ...]


@dataclass(frozen=True)
class Programs:
    """``by_choice``: programs by their values of ``mpi``, ``compiler`` and ``flags``. A program that culmen did not
    build has the key (). The first program is the present one."""

    by_choice: dict[Choice, Program]

    @classmethod
    def one(cls, program: Program) -> "Programs":
        return cls({(): program})

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that choose a program."""
        return NAMES if self.choice else ()

    @property
    def choice(self) -> Choice:
        return next(iter(self.by_choice))

    @property
    def present(self) -> Program:
        return self.by_choice[self.choice]

    def present_settings(self) -> dict[str, str]:
        return self._settings(self.choice)

    def each(self) -> list[dict[str, str]]:
        """The settings that choose each of the programs."""
        return [self._settings(choice) for choice in self.by_choice]

    def _settings(self, choice: Choice) -> dict[str, str]:
        return dict(zip(self.names, choice, strict=True))

    def of(self, settings: Mapping[str, Value]) -> Program:
        return self.by_choice[tuple(str(settings[name]) for name in self.names)]

    def values(self, name: str) -> list[str]:
        return list(dict.fromkeys(each[name] for each in self.each()))

    def constraints(self, names: set[str]) -> dict[str, str]:
        """Expressions that exclude combinations that were not built. ``names``: the parameters that the search may
        change."""
        out: dict[str, str] = {}
        searched = [name for name in self.names if name in names]
        fixed = {name: value for name, value in self.present_settings().items() if name not in names}
        for values in product(*(self.values(name) for name in searched)):
            chosen = {**fixed, **dict(zip(searched, values, strict=True))}
            if searched and tuple(chosen[name] for name in self.names) not in self.by_choice:
                words = [f"{name} != '{value}'" for name, value in zip(searched, values, strict=True)]
                out[f"not_built_{len(out) + 1}"] = " or ".join(words)
        return out

    # -- fewer of them

    def with_values(self, fixed: Mapping[str, Value]) -> "Programs":
        """The programs with these values. Raises InputError if there are none."""
        kept = self.by_choice
        for at, name in enumerate(self.names):
            if name in fixed:
                there = self.values(name)
                kept = {choice: each for choice, each in kept.items() if choice[at] == fixed[name]}
                if not kept:
                    raise InputError(
                        f"--fix {name}={fixed[name]}: there is no such build; there are {', '.join(there)}"
                    )
        found = Programs(kept)
        return found.with_blas([str(fixed["blas"])]) if "blas" in fixed else found

    def with_blas(self, names: list[str]) -> "Programs":
        return self._changed(lambda program: with_blas(program, names))

    def without(self, choices: set[Choice]) -> "Programs":
        return Programs({choice: each for choice, each in self.by_choice.items() if choice not in choices})

    def choice_of(self, settings: Mapping[str, Value]) -> Choice:
        return tuple(str(settings[name]) for name in self.names)

    def _changed(self, change: Callable[[Program], Program]) -> "Programs":
        return Programs({choice: change(each) for choice, each in self.by_choice.items()})

    # -- as JSON

    def content(self) -> list[dict[str, Any]]:
        return list(map(_content, self.by_choice.items()))


def _content(item: tuple[Choice, Program]) -> dict[str, Any]:
    choice, program = item
    bound = {key: list(words) for key, words in program.bound.items()}
    return {"choice": list(choice), "path": program.path, "words": list(program.words), "bound": bound}


def program_of(content: list[dict[str, Any]], settings: Mapping[str, Value]) -> dict[str, Any]:
    """The part of content() for these settings."""
    chosen = [str(settings[name]) for name in NAMES if name in settings]
    return next(each for each in content if each["choice"] in ([], chosen))


def program_from(part: Mapping[str, Any]) -> Program:
    """Raises InputError if the program is no longer there."""
    launcher = part["choice"][0] if part["choice"] else None
    return replace(find_program(Path(part["path"]), part["words"], launcher), bound=part["bound"])
