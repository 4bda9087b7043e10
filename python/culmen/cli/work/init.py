"""``culmen init``: writes a first study file with comments, and a model."""

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from ... import _core
from ..._core import InputError
from .optimizers import shown

_WIDTH = 90
_TEMPLATES = Path(__file__).parent.parent / "templates"
_TWO = "x = { lower = -5.0, upper = 5.0 }\ny = { lower = -5.0, upper = 5.0 }"
_VALUE = """\
# The goal. By default the value is minimized.
# [objectives]
# value = "maximize"       # or "minimize"; several objectives give a Pareto front"""
_FIT = """\
# The goal: the sum of the squared residuals is minimized. A loss in [evaluator] reduces the effect of outliers."""


@dataclass(frozen=True)
class Kind:
    model: str  # the ending of the model, which is written beside the study file
    evaluator: str
    space: str = _TWO
    constraint: str = 'disc = "x**2 + y**2 <= 20"'
    start: str = "x = 1.0, y = 0.5"
    goal: str = _VALUE
    budget: int = 3000
    optimizer: str = "auto"  # the one that culmen chooses for it
    first: str = ""  # a command to run before `culmen check`


KINDS = {
    "python": Kind(
        ".py",
        'python = "NAME.py:residuals"   # "file.py:function" or "module:function"; it gets a dict of the parameters\n'
        'result = "residuals"          # or "value": the function returns one number\n'
        '# loss = "soft_l1"            # reduces the effect of outliers\n'
        "# f_scale = 1.0              # with such a loss: the size of residuals that count as outliers",
        "amplitude = { lower = 0.0, upper = 10.0 }\nrate = { lower = 0.0, upper = 5.0 }\n"
        "offset = { lower = -1.0, upper = 1.0 }",
        'decay = "rate * 8 >= 1"',
        "amplitude = 4.0, rate = 0.5, offset = 0.5",
        _FIT,
        optimizer="lm",
    ),
    "library": Kind(
        ".c",
        'library = "./NAME.so:value"     # "library.so:function", of the type in <culmen/evaluator.h>',
        budget=20000,
        first='cc -O2 -shared -fPIC -I"$(culmen include)" -o NAME.so NAME.c -lm',
    ),
    "command": Kind(".sh", 'command = ["./NAME.sh"]         # a program and its arguments', budget=500),
}


def init_study(path: Path, kind: str) -> None:
    """Writes NAME.toml and its model. Raises InputError if one of them exists or cannot be written."""
    chosen = KINDS[kind]
    texts = {".toml": _study(chosen), chosen.model: _text(f"model{chosen.model}")}
    name = _write_files(path, texts)
    _print_steps(filter(None, [chosen.first.replace("NAME", name), f"culmen check {path.parent / name}.toml"]))


def init_tuning(path: Path) -> None:
    """Writes NAME.toml for ``culmen tune command``, and a program. Raises InputError as init_study."""
    name = _write_files(path, {".toml": _text("tune.toml"), ".sh": _text("tune.sh")})
    _print_steps([f"culmen tune command {path.parent / name}.toml"])


def _write_files(path: Path, texts: dict[str, str]) -> str:
    """``texts``: by the endings of the files. Returns the name of the study."""
    name, folder = path.name.removesuffix(".toml"), path.parent
    if not name.isidentifier():
        raise InputError(f"{path}: the name must consist of letters, digits and _, such as fit, got '{name}'")
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}; make it with `mkdir -p {shlex.quote(str(folder))}`")
    files = {folder / f"{name}{ending}": text for ending, text in texts.items()}
    for file in files:
        if file.exists():
            raise InputError(f"{file} exists already, and `culmen init` replaces no file; give another name")
    for file, text in files.items():
        _write(file, text.replace("NAME", name))
        if file.suffix == ".sh":
            file.chmod(0o755)
    print(f"Created {' and '.join(map(str, files))}. Next:")
    return name


def _print_steps(steps: Iterable[str]) -> None:
    for step in steps:
        print(f"  {step}")


def _study(kind: Kind) -> str:
    text = _text("study.toml")
    parts = {
        "SPACE": kind.space,
        "CONSTRAINT": kind.constraint,
        "START": kind.start,
        "GOAL": kind.goal,
        "EVALUATOR": kind.evaluator,
    }
    parts |= {"BUDGET": str(kind.budget), "CHOSEN": kind.optimizer, "OPTIMIZER": _optimizer(kind.optimizer)}
    for place, part in parts.items():
        text = text.replace(place, part)
    return text


def _optimizer(name: str) -> str:
    """Comments with the name and the options of an optimizer."""
    entry = next(entry for entry in _core.optimizer_catalogue() if entry["name"] == name)
    lines = _comment(f'name = "{name}"', entry["about"])
    for option in entry["options"]:
        default = option["default"]
        rule = f"; default: {default}" if isinstance(default, str) and option["type"] != "word" else ""
        lines += _comment(f"{option['name']} = {_literal(option)}", option["about"] + rule)
    return "\n".join(lines)


def _comment(setting: str, about: str) -> list[str]:
    first, *more = wrap(about, _WIDTH)
    return [f"# {setting:<24} # {first}", *(f"# {'':<24} # {line}" for line in more)]


def _literal(option: dict[str, Any]) -> str:
    """The default value. If the default is a sentence, the number in this sentence."""
    default = option["default"]
    if option["type"] == "word":
        return json.dumps(default)
    return shown(default.partition(",")[0] if isinstance(default, str) else default)


def _text(template: str) -> str:
    return (_TEMPLATES / template).read_text()


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text)
    except OSError as e:
        raise InputError(f"{file} cannot be written: {e.strerror}") from None
