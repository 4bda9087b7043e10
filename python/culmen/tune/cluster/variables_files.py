"""The files that ``culmen tune cluster --variables`` writes into a folder of results."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.text import plural
from ...bench.parts import write_whole
from ...launch.kernel import sysctl_line
from ...report.files import Kind, replacing
from .pairs import Gain
from .setting_gains import Memory, Row, SpotGain, Tried, TunedVariables
from .setting_launch import Spot

RESULT, ENVIRONMENT = "variables.json", "variables.env"
_ENVIRONMENT = Kind("file of variables", lambda _path, head: head.startswith(b"# Variables of"))


def write_result(found: TunedVariables, folder: Path) -> None:
    write_whole(folder / RESULT, json.dumps(asdict(found), indent=1) + "\n")


def result_in(folder: Path) -> TunedVariables | None:
    """None if there is no result, or if it is damaged."""
    try:
        known = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        return TunedVariables(
            **known
            | {
                "rows": [Row(**each | {"gain": _gain(each["gain"])}) for each in known["rows"]],
                "whole": _gain(known["whole"]),
                "spots": [
                    SpotGain(Spot(*each["spot"]), each["default_s"], each["chosen_s"], Gain(**each["gain"]))
                    for each in known["spots"]
                ],
                "tried": [Tried(**each | {"gain": _gain(each["gain"])}) for each in known["tried"]],
                "memory": [Memory(**each) for each in known["memory"]],
            }
        )
    except (OSError, ValueError, TypeError, LookupError):
        return None


def _gain(known: dict[str, Any] | None) -> Gain | None:
    return Gain(**known) if known else None


def write_environment(found: TunedVariables, file: Path, about: Sequence[str]) -> None:
    """Writes the variables as a shell reads them. ``about``: lines of comments."""
    lines = [*(f"# {line}" for line in about), *(f"{name}={shlex.quote(v)}" for name, v in found.environment.items())]
    with replacing(file, _ENVIRONMENT, force=True) as path:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def environment_in(folder: Path) -> dict[str, str]:
    """The variables of such a file in a folder; none if there is no such file. Raises InputError if it is damaged."""
    file = folder / ENVIRONMENT
    if not file.exists():
        return {}
    try:
        words = shlex.split(file.read_text(encoding="utf-8"), comments=True)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if wrong := next((word for word in words if "=" not in word), ""):
        raise InputError(f"{file}: '{wrong}' must be NAME=VALUE")
    return dict(word.split("=", 1) for word in words)


def sentences(found: TunedVariables) -> list[str]:
    changed, whole = found.changed, found.whole
    if not changed or whole is None:
        return [f"All {plural(len(found.rows), 'variable')} keep the default."]
    names = ", ".join(f"{row.variable} = {row.value}" for row in changed)
    return [
        f"Of {plural(len(found.rows), 'variable')}, {len(changed)} changed: {names}.",
        f"With this, calls are {whole.times_faster:.3g} times faster ({whole.low:.3g} – {whole.high:.3g}).",
        *about_limit(found),
    ]


def about_limit(found: TunedVariables) -> list[str]:
    """Empty if the setting needs no higher limit of the kernel."""
    if not found.limit:
        return []
    return [
        f"Buffers of {found.limit} bytes need higher limits of the kernel; culmen has restored the old limits.",
        f"To raise them permanently, type on each node as root: {sysctl_line(found.limit)}",
    ]
