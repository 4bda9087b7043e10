"""Builds HPL, or HPC Challenge, from sources that the user has: with one MPI, compiler, flags and BLAS."""

import hashlib
import json
import shutil
import time
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.digest import of_files
from ...base.machine import here
from ...bench.suites.programs import version_of
from ...bench.suites.sources import Step, unpacked
from ...launch.mpi.linked import compilers_of, is_for, module_linked_by
from .making import made_in
from .recipe import Recipe, Sources

RECORD, LOG = "culmen-build.json", "build.log"
_SOURCES = "sources"
_KEY = 12  # characters


def build(sources: Sources, recipe: Recipe, folder: Path, step: Step) -> tuple[Path, bool]:
    """The program, and whether it was built now. ``folder``: the folder of all builds. A build is not repeated if the
    sources, MPI, compiler, flags, BLAS and CPU are the same. Raises InputError with the compiler's message if it
    fails."""
    mpicc, wanted = mpicc_of(recipe), _wanted(sources, recipe)
    place = place_of(sources, recipe, folder)
    if (before := _built(place, wanted)) is not None:
        return before, False
    earlier_s, begun = seconds_in(place), time.perf_counter()  # an earlier build failed, or is of another program
    shutil.rmtree(place, ignore_errors=True)
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror}") from None
    content: dict[str, Any] = {"wanted": wanted}
    try:
        program = made_in(unpacked(sources.path, place / _SOURCES, step), recipe, mpicc, place / LOG, step)
        if not is_for(recipe.launcher.mpi, program):
            raise InputError(f"{mpicc} builds programs for {module_linked_by(program)}, not for {recipe.mpi}")
        kept = place / program.name
        shutil.copy2(program, kept)
        shutil.rmtree(place / _SOURCES)
        content |= {"program": kept.name, "sha256": of_files({"program": kept})["program"]}
    finally:
        content["seconds"] = earlier_s + time.perf_counter() - begun
        (place / RECORD).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return kept, True


def seconds_in(place: Path) -> float:
    """The time of a build in seconds, also if it failed. ``place``: its folder."""
    try:
        return float(json.loads((place / RECORD).read_text(encoding="utf-8"))["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0


def place_of(sources: Sources, recipe: Recipe, folder: Path) -> Path:
    """The folder of this build. ``folder``: the folder of all builds."""
    key = json.dumps(_wanted(sources, recipe), sort_keys=True).encode()
    return folder / hashlib.sha256(key).hexdigest()[:_KEY]


def built_before(sources: Sources, recipe: Recipe, folder: Path) -> Path | None:
    """The program; None if it was not built yet."""
    return _built(place_of(sources, recipe, folder), _wanted(sources, recipe))


def mpicc_of(recipe: Recipe) -> str:
    return str(shutil.which(compilers_of(recipe.launcher)[0]))


def _wanted(sources: Sources, recipe: Recipe) -> dict[str, Any]:
    """A build with the same values is used again."""
    return {
        "sources": sources.checksum, "mpi": version_of(recipe.launcher), "mpicc": mpicc_of(recipe),
        "compiler": [recipe.compiler.path, recipe.compiler.title], "flags": recipe.flags, "blas": list(recipe.blas),
        "cpu": here()["cpu"],
    }  # fmt: skip


def _built(place: Path, wanted: dict[str, Any]) -> Path | None:
    try:
        record = json.loads((place / RECORD).read_text(encoding="utf-8"))
        program = place / record["program"]
        whole = record["wanted"] == wanted and of_files({"program": program}) == {"program": record["sha256"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return program if whole else None
