"""The MPI that reads a file of rules, and the variables that name the file."""

from pathlib import Path

from ..._core import InputError
from ...bench.collectives.plan import known_collectives
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import Collectives
from .composed import routes_beside


def reader_of_rules(launcher: Launcher) -> Collectives:
    """The known collectives of the launcher's MPI. Raises InputError if culmen cannot write its files of rules."""
    known = known_collectives(launcher)
    if not known.rules_file:
        raise InputError(
            f"culmen cannot write tuning files for {launcher.mpi.title} yet; `culmen autotune` tunes a program with "
            "this MPI, or give another --mpi"
        )
    return known


def environment_for(known: Collectives, rules: Path) -> dict[str, str]:
    """The variables with which programs use a file of rules, and the second file if it is there. Unlike measurements,
    they disable no component of the MPI."""
    needed = {name: value for name, value in known.environment.items() if name not in known.only_measuring}
    routes = routes_beside(rules, known)
    if routes is not None and routes.exists():
        needed |= variables_for_routes(known, routes)
    return needed | {known.prefix + known.rules_file: str(rules.resolve())}


def variables_for_routes(known: Collectives, routes: Path) -> dict[str, str]:
    """The variables with which programs use the second file."""
    return {known.prefix + known.routes_file: str(routes.resolve()), **known.routes_environment}
