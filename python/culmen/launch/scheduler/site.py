"""The modules, variables and shell commands that jobs of a site need, in one file."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.text import did_you_mean
from ...base.toml import tomllib

_PARTITION = "partition"  # the table of the tables for single partitions


@dataclass(frozen=True)
class Site:
    """``scratch``: a local folder of each node; the path may contain variables such as $TMPDIR. ``options``: options of
    the scheduler, as in a script. ``partition``: the same keys for single partitions, see ``of``."""

    modules: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    scratch: str = ""
    account: str = ""
    qos: str = ""
    partition: dict[str, "Site"] = field(default_factory=dict)

    def of(self, partition: str) -> "Site":
        """The site for a job in this partition. The partition's modules replace those of the site."""
        own = self.partition.get(partition, Site())
        return Site(
            own.modules or self.modules,
            {**self.environment, **own.environment},
            [*self.lines, *own.lines],
            [*self.options, *own.options],
            own.scratch or self.scratch,
            own.account or self.account,
            own.qos or self.qos,
        )

    def shell(self) -> list[str]:
        """Lines of the script, before the command."""
        loads = [f"module load {shlex.join(self.modules)} || exit"] if self.modules else []
        return [
            *loads,
            *(f"export {name}={shlex.quote(value)}" for name, value in self.environment.items()),
            *self.lines,
        ]


def usual_file() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "culmen", "site.toml")


def read_site(path: Path | None) -> Site:
    """``path``: as a user gives it; None: the usual file, if there is one. Raises InputError for mistakes in it."""
    file = path or usual_file()
    if path is None and not file.exists():
        return Site()
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"--site {file}: the file cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is no TOML: {error}") from None
    tables = data.pop(_PARTITION, {})
    if not isinstance(tables, dict) or not all(isinstance(each, dict) for each in tables.values()):
        raise InputError(f"{file}: {_PARTITION} must be tables such as [{_PARTITION}.NAME]")
    own = {name: _site(file, f"{_PARTITION}.{name}.", table) for name, table in tables.items()}
    return _site(file, "", data, own)


def _site(file: Path, prefix: str, data: Mapping[str, Any], partition: Mapping[str, Site] | None = None) -> Site:
    kinds = {each.name: each.type for each in fields(Site) if each.name != _PARTITION}
    for key, value in data.items():
        if key not in kinds:
            near = did_you_mean(key, list(kinds)) or ";"
            raise InputError(f"{file}: there is no key {prefix}{key}{near} there are {', '.join(kinds)}")
        _check(file, prefix + key, value, getattr(kinds[key], "__name__", str(kinds[key])))
    environment = {name: str(value) for name, value in data.get("environment", {}).items()}
    return Site(**{**data, "environment": environment}, partition=dict(partition or {}))


def _check(file: Path, key: str, value: Any, kind: str) -> None:
    if kind.startswith("str"):
        right, wanted = isinstance(value, str), "a string"
    elif kind.startswith("list"):
        right = isinstance(value, list) and all(isinstance(each, str) for each in value)
        wanted = "a list of strings"
    else:
        right = isinstance(value, dict) and all(isinstance(each, (str, int)) for each in value.values())
        wanted = "a table of strings"
    if not right:
        raise InputError(f"{file}: {key} must be {wanted}, got {value!r}")
