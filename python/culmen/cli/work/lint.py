"""``culmen tune lint``: explains and checks a file of rules."""

from pathlib import Path

from ..._core import InputError
from ...base.exit_codes import FAILED, FINISHED
from ...base.text import enumerated, plural
from ...bench.collectives import plan
from ...launch.mpi import Launcher, LauncherError, find_launcher, load
from ...launch.mpi.collectives import DEFAULT, Collectives
from ...tune.autotune.tuned import check_no_tuning
from ...tune.rules import intel, json_file, trees
from ...tune.rules.file import RulesError, Span, read_rules
from ...tune.rules.json_lint import JsonLint
from ...tune.rules.lint import Lint, said, said_span
from ...tune.rules.reader import reader_of_rules
from ...tune.rules.texts import built_in, check_reader
from ...tune.rules.tree_lint import TreeLint
from ...tune.rules.tried import Expected, not_as_expected
from .summary import print_table

_TREE_HEADINGS = ["collective", "ranks", "message size", "algorithm"]
_PRESET_HEADINGS = ["collective", "ranks", "message size", "preset"]
_PER_RANK = "/ ranks: divide by the number of ranks, since Open MPI compares the message size times this number."
_HEADINGS = [*_TREE_HEADINGS, "line"]


def lint(file: Path, mpi: str | None, most_ranks: int) -> int:
    """Prints the rules in words and their mistakes, and returns an exit code."""
    file = _file_in(file, mpi) if file.is_dir() else file
    check_no_tuning(file)
    if mpi is None and json_file.is_json(file):
        return _lint_json(file)
    if mpi is None and intel.is_environment(file):
        return _lint_intel(file)
    launcher = _launcher(mpi, file)
    known, title = reader_of_rules(launcher), launcher.mpi.title
    if known.rules_kind == "tree":
        return _lint_tree(file, launcher, most_ranks)
    try:
        checked = Lint(read_rules(file), known, title)
    except RulesError as error:
        print(f"culmen: {error}")
        return FAILED
    print(f"For {title}, {file} means:")
    meanings = [each for each in checked.meanings() if each.algorithm != DEFAULT]
    rows = [[each.collective, *said(each), str(each.row.line)] for each in meanings]
    _show(rows, _HEADINGS, _HEADINGS[:4])
    if any("/ ranks" in row[2] for row in rows):
        print(_PER_RANK)
    print("Everything else is Open MPI's own choice.")
    print("The file has no effect unless coll_tuned_use_dynamic_rules is 1.")
    _say_routed(sorted({each.collective for each in meanings if "route" in known.of[each.collective]}), launcher)
    findings = checked.findings()
    for finding in findings:
        print(f"{file}, line {finding.line}: {finding.text}")
    wrong = _try(list(checked.expected(most_ranks)), launcher, file) if most_ranks else False
    return FAILED if findings or wrong else FINISHED


def _file_in(folder: Path, mpi: str | None) -> Path:
    """The tuning file in a folder of ``culmen tune cluster``. Raises InputError if there is none."""
    of = [each for each in load() if each.collectives and mpi in (None, each.name)]
    for each in of:
        if each.collectives and (file := folder / each.collectives.rules_name).is_file():
            return file
    raise InputError(f"{folder} has no tuning file; give a folder of `culmen tune cluster`, or a tuning file")


def _show(rows: list[list[str]], headings: list[str], texts: list[str]) -> None:
    if rows:
        print_table(headings, rows, texts)
    else:
        print("The file has no rules that choose an algorithm.")


def _lint_tree(file: Path, launcher: Launcher, most_ranks: int) -> int:
    """The same for MPICH."""
    try:
        tree = trees.read_tree(file)
    except RulesError as error:
        print(f"culmen: {error}")
        return FAILED
    checked = TreeLint(tree, built_in(launcher), reader_of_rules(launcher))
    print(f"For {launcher.mpi.title}, {file} means, for up to {checked.most_ranks} ranks:")
    _show(checked.in_words(), _TREE_HEADINGS, _TREE_HEADINGS)
    print("Everything else is as without the file.")
    _say_routed(checked.routed(), launcher)
    findings = list(checked.findings())
    for finding in findings:
        print(f"{file}: {finding}")
    if any(checked.ends_programs()):
        print("culmen does not try a file that ends programs.")
        return FAILED
    expected = list(checked.expected(most_ranks))
    if expected:
        check_reader(launcher)
    wrong = _try(expected, launcher, file)
    return FAILED if findings or wrong else FINISHED


def _say_routed(names: list[str], launcher: Launcher) -> None:
    """Says which rules need the second file of the MPI."""
    if names:
        print(
            f"On several nodes, {launcher.mpi.title} takes other algorithms for {enumerated(names)}, unless a second "
            f"file ({reader_of_rules(launcher).routes_file}) sends these calls to the rules."
        )


def _lint_json(file: Path) -> int:
    """The same for Open MPI 6, whose rules culmen cannot try."""
    try:
        checked = JsonLint(json_file.read_json(file), of_open_mpi())
    except RulesError as error:
        print(f"culmen: {error}")
        return FAILED
    print(f"For Open MPI 6, {file} means:")
    rows = checked.in_words()
    _show(rows, _TREE_HEADINGS, _TREE_HEADINGS)
    if any("/ ranks" in row[2] for row in rows):
        print(_PER_RANK)
    print("Everything else is Open MPI's own choice.")
    print("culmen does not try these rules. Open MPI 4 and 5 cannot read this file.")
    findings = list(checked.findings())
    for finding in findings:
        print(f"{file}: {finding}")
    return FAILED if findings else FINISHED


def _lint_intel(file: Path) -> int:
    """The same for Intel MPI, whose presets culmen cannot try."""
    found = intel.read_environment(file)
    print(f"For Intel MPI, {file} means:")
    rows = [
        [name, *_ranks_and_sizes(span, each.by_ranks), str(condition.preset)]
        for name, each in found.last().items()
        for span, condition in intel.holding(each)
        if intel.has_preset(each, condition)
    ]
    _show(rows, _PRESET_HEADINGS, _PRESET_HEADINGS[:3])
    print("Everything else is Intel MPI's own choice.")
    for line, text in found.others:
        print(f"{file}, line {line}: {text}")
    findings = intel.findings(found)
    for line, text in findings:
        print(f"{file}, line {line}: {text}")
    print("culmen does not try these presets.")
    return FAILED if findings else FINISHED


def _ranks_and_sizes(span: Span, by_ranks: bool) -> tuple[str, str]:
    first, last = span
    if not by_ranks:
        return "all", said_span(first, last)
    return str(first) if first == last else f"{first} and more" if last is None else f"{first} – {last}", "all"


def of_open_mpi() -> Collectives:
    """The collectives of the newest Open MPI that culmen knows."""
    newest = max((mpi for mpi in load() if mpi.name == "openmpi"), key=lambda mpi: int(mpi.title.split()[-1]))
    assert newest.collectives is not None
    return newest.collectives


def _try(expected: list[Expected], launcher: Launcher, file: Path) -> bool:
    """Whether the MPI's behaviour differs from the rules."""
    if not expected:
        return False
    print(f"Trying {plural(len(expected), 'rule')} …", flush=True)
    found = not_as_expected(launcher, file, expected)
    for each, why in found.items():
        where = f"{each.collective} with {each.ranks} ranks and {each.size} bytes"
        print(f"{where}: the rule names {each.algorithm}, but: {why}")
    print(f"{len(expected) - len(found)} of {plural(len(expected), 'rule')} ran as they say.")
    return bool(found)


def _launcher(mpi: str | None, file: Path) -> Launcher:
    """The default is MPICH for a file with a tree, and Open MPI for another one."""
    if mpi is not None:
        return plan.launcher_of(mpi)
    if trees.is_tree(file):
        return plan.launcher_of("mpich")
    try:
        found = find_launcher(None)
        return found if found.mpi.name == "openmpi" else find_launcher("openmpi")
    except LauncherError as error:
        titles = [each.title for each in load() if each.collectives and each.collectives.rules_file]
        raise InputError(f"a rules file is for {' or '.join(titles)}: {error}") from None
