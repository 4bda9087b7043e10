"""``culmen tune convert``: writes the rules of a tuning file in another form."""

from pathlib import Path

from ..._core import InputError
from ...base.exit_codes import FINISHED
from ...tune.autotune.tuned import check_no_tuning
from ...tune.rules import intel, json_file, trees
from ...tune.rules.file import read_rules
from ...tune.rules.file import written as in_numbers
from .lint import of_open_mpi

_FORMS = ("openmpi-json", "openmpi-rules", "intel")


def convert(file: Path, to: str, output: Path | None) -> int:
    """Prints the text, or writes it into a file, and returns an exit code."""
    if to not in _FORMS:
        raise InputError(f"--to {to}: there is no such form; the forms are {', '.join(_FORMS)}")
    text = _text(file, to)
    if output is None:
        print(text, end="")
        return FINISHED
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output} cannot be written: {error.strerror}") from None
    print(f"Wrote {output}")
    return FINISHED


def _text(file: Path, to: str) -> str:
    if not file.is_file():
        raise InputError(f"{file} cannot be read: there is no such file")
    check_no_tuning(file)
    of_intel = intel.is_environment(file)
    if of_intel != (to == "intel"):
        raise InputError(
            f"{file}: --to {to}: the numbers of algorithms in Intel MPI and in Open MPI cannot be converted"
        )
    if of_intel:
        return _of_intel(file)
    if json_file.is_json(file):
        rules = json_file.read_json(file)
    elif trees.is_tree(file):
        raise InputError(f"{file} begins like a tuning file of MPICH, which culmen cannot convert")
    else:
        rules = json_file.from_numbers(read_rules(file))
    if to == "openmpi-json":
        return json_file.written(rules)
    return in_numbers(json_file.to_numbers(rules, of_open_mpi()), [f"From {file.name}, by culmen tune convert."])


def _of_intel(file: Path) -> str:
    found = intel.read_environment(file)
    for line, text in found.mistakes:
        raise InputError(f"{file}, line {line}: {text}")
    return intel.written(found.last().values())
