"""``culmen tune placement``: where the ranks and threads of a program should run."""

from pathlib import Path

from ..._core import InputError
from ...base.exit_codes import FINISHED, RESUMABLE
from ...base.text import shown
from ...bench.kept import folder_for
from ...tune.command.line import Wanted, numbers_of, recipe_for, settings_of, typed_line, write_plan
from ...tune.command.tuner import Tuner
from ...tune.command.worth import Use
from ...tune.placement import placed
from ...tune.placement.line import Line, read_line
from ...tune.placement.space import Space, plan_of, space_of
from ...tune.placement.topology import read_topology
from .tune_command import tune

__all__ = ["Use", "Wanted", "tune_placement"]

_NAME = "placement"


def tune_placement(
    words: list[str],
    wanted: Wanted,
    ranks: str | None,
    threads: str | None,
    topology: str | None,
    dry_run: bool,
    output: Path | None,
    overwrite: bool,
    quiet: bool,
) -> int:
    """Returns an exit code. Raises InputError if the command is wrong, or if the program fails as it was typed."""
    if topology is not None and not dry_run:
        raise InputError("--topology describes another machine, so nothing can run there; add --dry-run")
    line, machine = read_line(words), read_topology(topology)
    given = (numbers_of(ranks, "--ranks"), numbers_of(threads, "--threads"))
    space = space_of(line, machine, *given, by_figure=wanted.figure is not None)
    plan = plan_of(line, machine, Path.cwd())
    if not quiet:
        _explain(str(machine), line, space)
    if not space.parameters:
        print("There is nothing to tune.")
        return FINISHED
    if dry_run:
        return FINISHED
    folder = folder_for(output or Path(f"tune-{_NAME}"))
    path = write_plan(folder, plan, overwrite)
    cores = machine.cores * line.nodes
    recipe = recipe_for(_NAME, wanted, space.parameters, space.constraints, space.runs, placed.__file__, path, cores)
    tuned = tune(Tuner(recipe, path, folder, quiet, limits=True), overwrite)
    if tuned is None:
        return RESUMABLE
    old, new = (typed_line(*placed.command_of(plan, settings_of(each))) for each in (tuned.old, tuned.new))
    print("Use this line:" if tuned.is_better else "Keep this line:")
    print(f"  {new if tuned.is_better else old}")
    return FINISHED


def _explain(machine: str, line: Line, space: Space) -> None:
    print(machine)
    for name, table in space.parameters.items():
        choices = table.get("choices", ("no", "yes"))
        print(f"  {name}: {', '.join(shown(choice) for choice in choices)}")
    for sentence in space.left_out:
        print(f"Left out: {sentence}")
