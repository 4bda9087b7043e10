"""``culmen tune install``: makes a tuning file the default of an MPI, or writes an environment module."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.exit_codes import FINISHED
from ...base.machine import here
from ...base.text import plural
from ...launch.allocation import tasks_on_nodes
from ...launch.mpi import Launcher, LauncherError, find_launcher, load
from ...launch.programs import said_by
from ...report.files import Kind, replacing
from ...tune.autotune.tuned import check_no_tuning
from ...tune.cluster.installed import (
    BEGIN,
    END,
    files_in,
    lines_of,
    make_folder,
    module_text,
    replace_file,
    routes_copy,
    settings_of,
    site_folder,
    user_folder,
    without_block,
)
from ...tune.cluster.origin import UNKNOWN_CPU
from ...tune.cluster.results import facts_of_tuning
from ...tune.cluster.variables_files import ENVIRONMENT, environment_in
from ...tune.rules import trees
from ...tune.rules.composed import routes_beside
from ...tune.rules.file import read_rules
from ...tune.rules.lint import Lint
from ...tune.rules.reader import environment_for, reader_of_rules, variables_for_routes
from ...tune.rules.texts import built_in
from ...tune.rules.tree_lint import TreeLint

_MODULE = Kind("environment module", lambda _path, head: b"from culmen tune cluster" in head)
_HEAD = 2000  # characters


def install(tuned: Path, site: bool, module: Path | None, remove: bool, mpi: str | None) -> int:
    if module is not None and (site or remove):
        raise InputError("--module writes a file and installs nothing; leave out --site and --remove")
    if remove:
        return _remove(*files_in(_settings_folder(site, mpi), site))
    check_no_tuning(tuned)
    launcher = _launcher(mpi, tuned)
    known = reader_of_rules(launcher)
    if module is None and known.rules_kind == "tree":
        raise InputError(_no_settings(launcher.mpi.title))
    rules = _rules_in(tuned, launcher)
    variables = environment_in(tuned) if tuned.is_dir() else {}
    if not variables and not _has_rules(rules, launcher):
        raise InputError(f"{rules} has no rules: it leaves all choices to the MPI, so there is nothing to install")
    for each in (rules, tuned / ENVIRONMENT) if variables else (rules,):
        _check_version(each, launcher)
    if module is not None:
        _write_module(rules, module, launcher, variables)
        return _warn_of_machine(rules, tuned)
    folder = site_folder(launcher) if site else user_folder()
    file, copy = files_in(folder, site)
    routes, routes_there = routes_beside(rules, known), routes_copy(copy)
    has_routes = routes is not None and routes.exists()
    settings = settings_of(known, copy, variables | (variables_for_routes(known, routes_there) if has_routes else {}))
    kept = without_block(lines_of(file))
    for line in kept:
        name = line.partition("=")[0].strip()
        if name in settings:
            raise InputError(
                f"{file} already sets {name} ('{line.strip()}'); remove this line first, then install again"
            )
    block = [BEGIN, *(f"{name} = {value}" for name, value in settings.items()), END]
    try:
        make_folder(folder, site)
        if routes is not None and has_routes:
            replace_file(routes_there, routes.read_text(encoding="utf-8"), site)
        if rules.resolve() != copy.resolve():
            replace_file(copy, rules.read_text(encoding="utf-8", errors="replace"), site)
        replace_file(file, "\n".join([*kept, *block]) + "\n", site)
    except OSError as error:
        who = "you may need to be root" if site else "check its permissions"
        raise InputError(f"{file} cannot be written: {error.strerror}; {who}") from None
    print(f"Wrote {copy}{f', {routes_there}' if has_routes else ''} and {file}")
    who = "all users of this Open MPI" if site else "all your programs with Open MPI"
    whom = f"{who} use these rules{' and variables' if variables else ''}"
    print(f"From now on, {whom}, and also every other Open MPI that reads this file.")
    print(
        f"Every node must have these files: otherwise the ranks of a program choose different algorithms, and can "
        f"hang. If the nodes do not share {folder}, type this command on each node while no program runs."
    )
    print(f"To undo it: culmen tune install --remove{' --site' if site else ''}")
    return _warn_of_machine(rules, tuned)


def _settings_folder(site: bool, mpi: str | None) -> Path:
    """The folder with the settings to remove. Only for the folder of a site, an MPI must be found."""
    for each in load():
        if each.name == mpi and each.collectives and each.collectives.rules_kind == "tree":
            raise InputError(_no_settings(each.title))
    return site_folder(_launcher(mpi or "openmpi", Path())) if site else user_folder()


def _no_settings(title: str) -> str:
    return (
        f"{title} has no file for settings; write an environment module with --module FILE, or set the variables that "
        "the page tuning.html names"
    )


def _warn_of_machine(rules: Path, tuned: Path) -> int:
    """``tuned``: the folder or the file that the user gave. Only a folder has all facts."""
    if not _warn_of_cpu(rules) and (why := _elsewhere(facts_of_tuning(tuned)) if tuned.is_dir() else ""):
        print(f"culmen: warning: the rules were measured {why}; they may be slower")
    return FINISHED


def _elsewhere(facts: Mapping[str, Any]) -> str:
    """A clause about another kernel, or a job with a number of nodes that was not measured; empty if there is none."""
    made, now = facts.get("machine", {}).get("system"), here().get("system")
    if made and now and made != now:
        return f"with {made}, but here is {now}"
    measured, nodes = sorted({shape["nodes"] for shape in facts.get("shapes", [])}), len(tasks_on_nodes())
    if measured and nodes and nodes not in measured:
        numbers = [*map(str, measured[:-1]), plural(measured[-1], "node")]
        return f"on {' or '.join(numbers)}, but this job has {nodes}"
    return ""


def _warn_of_cpu(rules: Path) -> bool:
    """Says so if the CPU is another one. Other machines with this MPI may be as slow with the rules as this one was
    without them."""
    head = rules.read_text(encoding="utf-8", errors="replace")[:_HEAD]
    made = re.search(r"^(?:#|  ) +\d{4}-\d\d-\d\d, [^,\n]+, ([^\n]+?)(?: \*/)?$", head, re.MULTILINE)
    now = here()["cpu"]
    is_other = bool(made and now and made[1] not in (now, UNKNOWN_CPU))
    if made and is_other:
        print(f"culmen: warning: the rules were measured on {made[1]}, but this machine has {now}; they may be slower")
    return is_other


def _launcher(mpi: str | None, tuned: Path) -> Launcher:
    """The launcher. Without a name, it belongs to the MPI whose rules are in the folder, or else to Open MPI."""
    names = {each.collectives.rules_name: each.name for each in load() if each.collectives}
    found = next((names[name] for name in names if name and (tuned / name).exists()), names.get(tuned.name))
    found = found or ("mpich" if trees.is_tree(tuned) else None)
    try:
        return find_launcher(mpi or found or "openmpi")
    except LauncherError as error:
        raise InputError(f"there is no MPI to install rules for: {error}") from None


def _rules_in(tuned: Path, launcher: Launcher) -> Path:
    known = reader_of_rules(launcher)
    rules = tuned / known.rules_name if tuned.is_dir() else tuned
    if not rules.exists():
        raise InputError(
            f"{rules} does not exist; give a folder of `culmen tune cluster`, or a rules file"
        )  # fmt: skip
    if known.rules_kind == "table":
        for finding in Lint(read_rules(rules), known, launcher.mpi.title).findings():
            if finding.ends_programs:
                raise InputError(f"{rules}, line {finding.line}: {finding.text} See `culmen tune lint {rules}`")
        return rules
    version = _version_of(launcher)
    if version and not f"MPICH {version}".startswith(f"{known.rules_version}."):
        raise InputError(
            f"{launcher.program} is MPICH {version}, but culmen knows such rules for {known.rules_version} only"
        )
    for why in TreeLint(trees.read_tree(rules), built_in(launcher), known).ends_programs():
        raise InputError(f"{rules} would end programs: {why}")
    return rules


def _has_rules(rules: Path, launcher: Launcher) -> bool:
    """Whether the file chooses an algorithm. Even without one, it would switch off ``culmen autotune``."""
    if reader_of_rules(launcher).rules_kind == "table":
        return read_rules(rules).has_algorithms
    return not trees.is_same(trees.read_tree(rules), built_in(launcher))


def _check_version(rules: Path, launcher: Launcher) -> None:
    """Checks the MPI version in the head of a file of culmen, with which the rules were measured."""
    made = re.search(
        r"^(?:#|/\*) (?:Rules for the collectives|Variables) of (?:Open MPI|MPICH) ([\d.]+\w*)",
        rules.read_text(encoding="utf-8", errors="replace"),
    )
    now = _version_of(launcher)
    if made and now and made[1].rstrip(",") != now:
        name = launcher.mpi.title.rpartition(" ")[0]
        raise InputError(
            f"{rules} was measured with {name} {made[1]}, but {launcher.program} is {name} {now}, whose algorithms "
            "can differ; run `culmen tune cluster` again"
        )


def _version_of(launcher: Launcher) -> str:
    """The version of the MPI; empty if it is not known."""
    said = said_by(shutil.which(launcher.program) or "", "--version")
    found = re.search(r"(?:Open MPI\)?|OpenRTE\)?|Version:)\s+([\d.]+\w*)", said)
    return found[1] if found else ""


def _remove(file: Path, rules: Path) -> int:
    lines = lines_of(file)
    kept = without_block(lines)
    if kept == lines:
        raise InputError(f"{file} has nothing from `culmen tune install`")
    try:
        if kept or file.is_symlink():
            replace_file(file, "\n".join(kept) + "\n" if kept else "", site=False)
        else:
            file.unlink()
        for each in (rules, routes_copy(rules)):
            each.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}") from None
    print(f"Removed the rules from {file}")
    return FINISHED


def _write_module(rules: Path, module: Path, launcher: Launcher, beside: Mapping[str, str]) -> None:
    """``beside``: further variables."""
    variables = {**environment_for(reader_of_rules(launcher), rules), **beside}
    with replacing(module, _MODULE, force=None, option="--module") as path:
        path.write_text(module_text(launcher, rules, variables), encoding="utf-8")
    print(f"Wrote {module}. To use it: module load {module.resolve()}")
    routes = routes_beside(rules, reader_of_rules(launcher))
    both = routes is not None and routes.exists()
    print(f"Keep {rules} and {routes}: programs read them." if both else f"Keep {rules}: programs read it.")
