"""Loads environment modules (Tcl's or Lmod) for one run. measured.py loads this file by its path. The file uses only
the standard library."""

import os
import subprocess
from collections.abc import Iterable

_LIMIT_S = 60
_NO_COMMAND = 66
_BEFORE, _AFTER = b"\0culmen:before\0", b"\0culmen:after\0"
# As in src/culmen/worker/process/modules.cpp. Older module commands report a failure only on standard error.
_SCRIPT = r"""
PATH=$CULMEN_PATH; export PATH
if [ -n "$CULMEN_LIBRARIES" ]; then LD_LIBRARY_PATH=$CULMEN_LIBRARIES; export LD_LIBRARY_PATH; fi
type module >/dev/null 2>&1 || exit 66
printf '\0culmen:before\0'; env -0
for m in "$@"; do
  module load "$m" || { echo "module load $m ended with exit code $?" >&2; exit 67; }
done
printf '\0culmen:after\0'; env -0
"""
_OF_THE_SHELL = ("_", "SHLVL", "PWD", "OLDPWD")
_OF_THE_SHELL_TOO = ("BASH_FUNC_", "CULMEN_")  # how their names begin


def load(texts: Iterable[str], kept: Iterable[str]) -> str:
    """Changes the environment as `module load` does in a login shell. ``texts``: names of modules, with spaces between
    them. ``kept``: variables that do not change. Returns why this failed, as a clause; empty if it succeeded."""
    modules = [name for text in texts for name in text.split()]
    if not modules:
        return ""
    names = ", ".join(modules)
    given = {"CULMEN_PATH": os.environ.get("PATH", ""), "CULMEN_LIBRARIES": os.environ.get("LD_LIBRARY_PATH", "")}
    try:
        ran = subprocess.run(
            ["bash", "-lc", _SCRIPT, "culmen", *modules], env=os.environ | given, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=_LIMIT_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as e:
        return f"the modules {names} cannot be loaded: {e}"
    if ran.returncode == _NO_COMMAND:
        return f"the modules {names} are needed, but a login shell (bash -l) has no command 'module'"
    if ran.returncode or b"ERROR:" in ran.stderr or _AFTER not in ran.stdout:
        lines = ran.stderr.decode(errors="replace").strip().splitlines()
        return f"the modules {names} cannot be loaded{f': {lines[-1].strip()}' if lines else ''}"
    _change(ran.stdout, {*kept})
    return ""


def _change(printed: bytes, kept: set[str]) -> None:
    before, _, after = printed.partition(_BEFORE)[2].partition(_AFTER)
    old, new = _variables(before), _variables(after)
    for name in old.keys() | new.keys():
        if old.get(name) == new.get(name) or name in kept:
            continue
        if name in _OF_THE_SHELL or name.startswith(_OF_THE_SHELL_TOO):
            continue
        if name in new:
            os.environ[name] = new[name]
        else:
            os.environ.pop(name, None)


def _variables(text: bytes) -> dict[str, str]:
    entries = (os.fsdecode(entry).partition("=") for entry in text.split(b"\0"))
    return {name: value for name, equals, value in entries if equals}
