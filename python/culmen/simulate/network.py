"""The model of messages and of the store: measured on this machine, or read from a file."""

from pathlib import Path

from .. import _core
from .._core import InputError
from ..base.text import did_you_mean
from ..base.toml import tomllib

MEANINGS = {
    "latency_s": "latency of a message between nodes",
    "bandwidth_bytes_s": "bandwidth of the line of the master or of a relay, in bytes per second",
    "message_s": "CPU time for one message between nodes, at either end",
    "wake_s": "latency of a message inside a node",
    "frame_s": "CPU time for one message inside a node, at either end, or to pass it on",
    "row_s": "time to write one row of the store",
    "commit_s": "time to commit rows of the store",
}


FILE = "network.toml"
HEADING = "# Costs of messages and of the store, measured by `culmen bench transport`"


def measured_text(when: str) -> str:
    """The text of a file with the model, which is measured now. ``when``: the place and the time of the measurement."""
    model = _core.measured_network()
    lines = [
        f"{HEADING},",
        f"# {when}.",
        "# For messages between nodes: TCP over the loopback interface. A real network is usually slower.",
        "",
    ]
    lines += [f"{name} = {getattr(model, name):.4g} # {meaning}" for name, meaning in MEANINGS.items()]
    return "\n".join(lines) + "\n"


def network_from(path: Path | None) -> tuple[_core.NetworkModel, str]:
    """The model, and its origin in words. ``path`` may be a folder of `culmen bench transport`. Keys that are missing
    in the file are measured on this machine.

    Raises InputError for a file that cannot be read, an unknown key, or a number that is not allowed."""
    path = path / FILE if path is not None and path.is_dir() else path
    given = {} if path is None else _read(path)
    model = _core.NetworkModel() if len(given) == len(MEANINGS) else _core.measured_network()
    for name, value in given.items():
        setattr(model, name, value)
    if not given:
        return model, "measured on this machine"
    return model, f"from {path}" + ("" if len(given) == len(MEANINGS) else ", the rest measured on this machine")


def as_table(model: _core.NetworkModel) -> dict[str, float]:
    return {name: getattr(model, name) for name in MEANINGS}


def _read(path: Path) -> dict[str, float]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        writes = "; `culmen bench transport` writes this file" if path.name == FILE else ""
        raise InputError(f"--network {path}: there is no such file{writes}") from None
    except OSError as e:
        raise InputError(f"--network {path}: {e.strerror or e}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise InputError(f"--network {path}: it is not TOML: {e}") from None
    for name, value in data.items():
        if name not in MEANINGS:
            near = did_you_mean(name, list(MEANINGS)) or f"; the keys are {', '.join(MEANINGS)}"
            raise InputError(f"--network {path}: there is no key '{name}'{near}")
        least = "above 0" if name == "bandwidth_bytes_s" else "at least 0"
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value < float("inf") or (value == 0 and name == "bandwidth_bytes_s"):
            raise InputError(f"--network {path}: {name} must be a number, {least} and finite, got {value!r}")
    return {name: float(value) for name, value in data.items()}
