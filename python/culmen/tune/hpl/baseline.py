"""The present settings: from the user's input file, from the one that comes with the program, or the usual ones."""

from dataclasses import dataclass
from pathlib import Path

from ..._core import InputError
from .dat import Dat, read_dat
from .program import Program, input_name
from .space import Settings, calculator, ranks_of, settings_of, shipped

_TEST_NS = (29, 30, 34, 35)  # of the HPL.dat that comes with HPL: it tests all variants, and nobody runs it for speed


@dataclass(frozen=True)
class Baseline:
    """``dat``: the input file, for values that are no settings. ``source``: a clause that says where the settings come
    from."""

    settings: Settings
    dat: Dat
    source: str


def baseline_for(program: Program, given: Path | None, ranks: int, cores: int) -> Baseline:
    """``given``: the user's input file. None for a file in the current folder or next to the program, if it fits this
    machine. ``ranks``: number of ranks if there is no file. Raises InputError if the file is wrong or needs too many
    ranks."""
    if given is not None:
        return _of_file(program, read_present(given, cores), f"as in {given}")
    name = input_name(program.is_hpcc)
    for folder in dict.fromkeys((Path.cwd(), Path(program.path).parent)):
        if (folder / name).is_file():
            dat = read_dat(folder / name)
            if dat.n != _TEST_NS and ranks_of(settings_of(dat)) <= cores:
                return _of_file(program, dat, f"as in {folder / name}")
    if program.is_hpcc:
        return Baseline(shipped(ranks, program.present_blas), Dat(), "as in the file that comes with hpcc")
    usual = calculator(ranks, program.present_blas)
    return Baseline(usual, Dat(), f"as web calculators choose them, because there is no {name} here")


def read_present(given: Path, cores: int) -> Dat:
    """``given``: as for baseline_for(). Raises InputError as it does."""
    dat = read_dat(given)
    if (needed := ranks_of(settings_of(dat))) > cores:
        raise InputError(f"{given} needs {needed} ranks, but there are {cores} cores")
    return dat


def _of_file(program: Program, dat: Dat, source: str) -> Baseline:
    return Baseline({**settings_of(dat), "blas": program.present_blas}, dat, source)
