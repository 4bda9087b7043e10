"""``culmen tune placement``: where the ranks and threads of a program should run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.exit_codes import FINISHED
from ...base.text import shown
from ...bench.held import folder_to_tune
from ...tune.command.line import Wanted, numbers_of, recipe_for, settings_of, typed_line, usual_runs, write_plan
from ...tune.command.results import Tuned
from ...tune.command.submitted import typed_words
from ...tune.command.tuner import Tuner, stores_in
from ...tune.command.worth import Use
from ...tune.placement import placed
from ...tune.placement.line import EXAMPLE, Line, read_line
from ...tune.placement.space import Space, keeps_ranks, plan_of, space_of
from ...tune.placement.spread import with_nodes_used
from ...tune.placement.topology import Topology, read_topology
from .stopped import continues
from .tune_command import tune

__all__ = ["Use", "Wanted", "tune_placement"]

_NAME = "placement"


@continues
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
    scratch: Path | None = None,
    typed: Sequence[str] = (),
) -> int:
    """``scratch``: see KeptStore. ``typed``: options of the command, for the result. Returns an exit code. Raises
    InputError if the command is wrong, or if the program fails as it was typed."""
    if topology is not None and not dry_run:
        raise InputError("--topology describes another machine, so nothing can run there; add --dry-run")
    line, machine = read_line(words), read_topology(topology)
    given = (numbers_of(ranks, "--ranks"), numbers_of(threads, "--threads"))
    line, space = _space(line, machine, given, wanted.figure is not None, dry_run)
    plan = plan_of(line, machine, Path.cwd())
    if not quiet:
        _explain(str(machine), line, space)
    if not space.parameters:
        print("There is nothing to tune.")
        return FINISHED
    if dry_run:
        return FINISHED
    cores = machine.cores * line.most_nodes
    command = typed_words(_NAME, [*typed], words)

    def more(tuned: Tuned) -> dict[str, Any]:
        return {"command": command, "ending": _ending(plan, tuned)}

    with folder_to_tune(output or Path(f"tune-{_NAME}"), stores_in) as folder:
        path = write_plan(folder, plan, overwrite)
        recipe = recipe_for(
            _NAME, wanted, space.parameters, space.constraints, usual_runs(space.runs), placed.__file__, path, cores
        )
        tune(Tuner(recipe, path, folder, quiet, limits=True, scratch=scratch, more=more), overwrite)
    return FINISHED


def _space(
    line: Line, machine: Topology, given: tuple[list[int] | None, list[int] | None], by_figure: bool, dry_run: bool
) -> tuple[Line, Space]:
    """The line with the nodes on which its ranks start, and the space. A dry run starts nothing."""
    keeps = keeps_ranks(line, given[0], by_figure)
    if not keeps or line.most_nodes == 1:
        return line, space_of(line, machine, *given, by_figure=by_figure)
    found = line if dry_run else with_nodes_used(line)
    space = space_of(found, machine, given[0] and [found.ranks], given[1])
    if found.most_nodes < line.most_nodes:
        space.left_out.append("Nodes: the command that you typed starts different numbers of ranks on them.")
    return replace(found, most_nodes=line.most_nodes), space


def check_job(words: list[str], topology: str | None) -> None:
    """As far as it does not depend on the machine. Raises InputError."""
    if topology is not None:
        raise InputError("--topology describes another machine, and the job measures its own; leave out one of them")
    if not words:
        raise InputError(f"a command after -- is missing; {EXAMPLE}")


def _ending(plan: dict[str, Any], tuned: Tuned) -> list[str]:
    """The line that the user types."""
    used = tuned.new if tuned.is_better else tuned.old
    line = typed_line(*placed.command_of(plan, settings_of(used)))
    return ["Use this line:" if tuned.is_better else "Keep this line:", f"  {line}"]


def _explain(machine: str, line: Line, space: Space) -> None:
    print(machine)
    for name, table in space.parameters.items():
        choices = table.get("choices", ("no", "yes"))
        print(f"  {name}: {', '.join(shown(choice) for choice in choices)}")
    for sentence in space.left_out:
        print(f"Left out: {sentence}")
