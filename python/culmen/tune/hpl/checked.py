"""Mistakes in the options of ``culmen tune hpl`` that show on any machine. No job is submitted with them."""

from pathlib import Path

from ..._core import InputError
from ...base.text import did_you_mean
from ...launch.mpi import load
from ...problem.given import Value
from .baseline import read_present
from .compilers import flags_listed, listed
from .dat import Dat
from .options import Options
from .plan import check_memory
from .program import ITS_OWN, check_program, names_of_blas
from .recipe import check_sources
from .space import BINDINGS, MACHINE, check_names, fixed_by, settings_of

_BLAS = ("reference", "atlas", "openblas", "openblas-openmp", "openblas-serial", "blis", "blis-openmp", "blis-serial")


def check_options(given: Options, cores: int, folder: Path) -> None:
    """``cores``: the largest number of cores that the ranks can have. ``folder``: for the results. Raises
    InputError."""
    check_ranks(given.ranks, cores)
    check_verify(given)
    fixed, only = fixed_by(given.fix, cores), given.only_names
    names = [*settings_of(Dat()), "blas", *MACHINE]
    check_names([*fixed, *(only or ())], names)
    check_rest(set(only or names) - set(fixed))
    if (binding := fixed.get("binding")) not in (None, *BINDINGS):
        raise InputError(f"--fix binding={binding}: write one of {', '.join(BINDINGS)}")
    if given.memory is not None:
        check_memory(given.memory, given.size)
    check_build(given, folder)
    if given.program is not None:
        check_program(given.program)
    if given.present is not None:
        read_present(given.present, cores)
    _check_blas(str(fixed.get("blas", ITS_OWN)), given.program)
    _check_mpis(given.mpis, fixed)


def check_ranks(ranks: int | None, cores: int) -> None:
    """Raises InputError if there are more ranks than cores."""
    if (ranks or 1) > cores:
        raise InputError(f"--ranks {ranks}: there are {cores} cores; write at most {cores}")


def check_verify(given: Options) -> None:
    """Raises InputError if all rounds have N of the input file anyway."""
    if given.verify and given.size is not None:
        raise InputError("--verify runs HPL with N of the input file, and --size gives all rounds this N; remove one")


def check_rest(names: set[str]) -> None:
    """``names``: the parameters that the search may change. Raises InputError if there are none."""
    if not names:
        raise InputError("nothing is left to search; fix fewer parameters, or name more with --only")


def check_build(given: Options, folder: Path) -> None:
    """Raises InputError for options of a build that do not fit together, or without sources."""
    if given.build is None:
        for name in ("compilers", "mpis", "link", "flags"):
            if getattr(given, name):
                raise InputError(f"--{name} says how to build HPL; give its sources with --build FOLDER")
        return
    if given.program is not None:
        raise InputError("--program and --build are both given; remove one of them")
    check_sources(given.build, folder)
    flags_listed(given.flags)


def _check_blas(name: str, program: Path | None) -> None:
    known = [*_BLAS, ITS_OWN, *(names_of_blas(program) if program else [])]
    if name not in known:
        raise InputError(f"--fix blas={name}: culmen knows no such BLAS{_hint(name, known)}")


def _check_mpis(text: str | None, fixed: dict[str, Value]) -> None:
    known = [*dict.fromkeys(mpi.name for mpi in load())]
    named = {f"--mpis {name}": name for name in (listed(text, "--mpis") if text else [])}
    if "mpi" in fixed:
        named[f"--fix mpi={fixed['mpi']}"] = str(fixed["mpi"])
    for option, name in named.items():
        if name not in known and "/" not in name:
            raise InputError(f"{option}: culmen knows no such MPI{_hint(name, known)}")


def _hint(name: str, known: list[str]) -> str:
    return f"{did_you_mean(name, known) or ';'} there are {', '.join(dict.fromkeys(known))}"
