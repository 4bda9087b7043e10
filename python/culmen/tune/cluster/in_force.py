"""Settings of the user that fix the algorithm of a collective, so that tuners do not choose it."""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from ..._core import InputError
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import Collectives
from .installed import files_in, lines_of, site_folder, user_folder

_FREE = ("", "0", "ignore", "auto")  # values with which the MPI chooses
_REMOVE = "remove this setting"
_DIRECT = f"{_REMOVE}, or use `culmen tune app --direct`, which keeps it"  # MPICH does not ask its rules then


def fixed_in(launcher: Launcher) -> dict[str, str]:
    """For each collective with a fixed algorithm: the variable, and the place that sets it. An environment variable
    comes before the user's file, and this file before that of the site."""
    known = launcher.mpi.collectives
    return dict(_fixed(known, launcher)) if known else {}


def sentences(launcher: Launcher, collectives: Collection[str] = ()) -> list[str]:
    """About these collectives, or about all of them."""
    fixed, known = fixed_in(launcher), launcher.mpi.collectives
    advice = _DIRECT if known and known.rules_file and known.rules_kind == "table" else _REMOVE
    names = dict.fromkeys(collectives or fixed)
    return [f"{name} is fixed to an algorithm by {fixed[name]}; {advice}." for name in names if name in fixed]


def _fixed(known: Collectives, launcher: Launcher) -> Iterator[tuple[str, str]]:
    files = [_settings_in(file) for file in _files(launcher)] if known.rules_kind == "table" else []
    for name, table in known.of.items():
        variable = table["number_in"]
        own = known.prefix + variable
        for place, (found, settings) in {
            f"{own} in the environment": (own, os.environ),
            **{f"{variable} in {file}": (variable, there) for file, there in files},
        }.items():
            if found in settings:
                if settings[found] not in _FREE:
                    yield name, place
                break


def _files(launcher: Launcher) -> Iterator[Path]:
    yield files_in(user_folder(), site=False)[0]
    with suppress(InputError):
        yield files_in(site_folder(launcher), site=True)[0]


def _settings_in(file: Path) -> tuple[Path, dict[str, str]]:
    """The names and values in a file of Open MPI; none if it cannot be read."""
    with suppress(InputError):
        lines = (line.partition("#")[0].partition("=") for line in lines_of(file))
        return file, {name.strip(): value.strip() for name, sign, value in lines if sign}
    return file, {}
