"""Turns settings into a command and its environment. measured.py loads this file by its path. The file uses only the
standard library.

A plan is a dict that JSON can hold; ``space.py`` makes it. Settings are strings, as in the words of a command.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TYPED = "as typed"  # value of a setting: as without culmen
FOLDER = "{folder}"  # in words: the folder for the program's files
BASE = "CULMEN_TUNE_IO_FOLDER"  # the variable with the folder in which each run has its own folder
COUNT, SIZE = "stripe_count", "stripe_size"
LIBRARY, _HINTS = "library", "ROMIO_HINTS"
BUFFERING, ON = "buffering", "on"
REPORTS = "iobuf-reports"  # a folder in BASE; it exists if a run used the buffers
BUFFERS = {  # of `culmen iobuf`: the variable and the option of a setting
    "buffer_size": ("CULMEN_IOBUF_SIZE", "--size"),
    "buffers": ("CULMEN_IOBUF_BUFFERS", "--buffers"),
    "large": ("CULMEN_IOBUF_LARGE", "--large"),
    "read_ahead": ("CULMEN_IOBUF_READ_AHEAD", "--read-ahead"),
    "write_behind": ("CULMEN_IOBUF_WRITE_BEHIND", "--write-behind"),
}
_FORWARDED = "OMPI_MCA_"
_FILE = "romio-hints"


def run_of(plan: dict[str, Any], settings: dict[str, str], _path: Path) -> tuple[dict[str, str], list[str]]:
    """The variables and the words of one run, for measured.py. The folder for files is new and empty."""
    base = Path(os.environ[BASE])
    for old in base.iterdir():  # of the run before: the system need not write removed files to disk
        if old.name != REPORTS:
            shutil.rmtree(old, ignore_errors=True)  # NFS may keep some files
    run = Path(tempfile.mkdtemp(prefix="run-", dir=base))
    hints = run / _FILE  # ranks on other nodes read it, too
    hints.write_text(hints_of(plan, settings), encoding="utf-8")
    variables = variables_of(plan, settings, str(hints)) | buffering_of(plan, settings)
    if chosen(settings).get(BUFFERING) == ON:
        variables |= _reporting(base / REPORTS)
    return variables, _in_folder(forwarding(plan, variables), settings, run / "files")


def _reporting(folder: Path) -> dict[str, str]:
    """Variables with which the library writes its reports. One run with reports is enough."""
    folder.mkdir(exist_ok=True)
    return {} if any(folder.iterdir()) else {"CULMEN_IOBUF_REPORT": str(folder)}


def forwarding(plan: dict[str, Any], variables: Iterable[str]) -> list[str]:
    """The words of the plan, with options that send the variables to other nodes. Open MPI always sends its own
    variables."""
    words, at = plan["words"], plan["forward_at"]
    names = [name for name in variables if not name.startswith(_FORWARDED) and name not in words]
    return words if at is None else [*words[:at], *(word for name in names for word in ("-x", name)), *words[at:]]


def _in_folder(words: list[str], settings: dict[str, str], folder: Path) -> list[str]:
    if not any(FOLDER in word for word in words):
        return words
    folder.mkdir()
    if command := striping_of(settings, str(folder)):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"culmen: {' '.join(command)} failed: {(done.stderr or done.stdout).strip()}")
    return [word.replace(FOLDER, str(folder)) for word in words]


def chosen(settings: dict[str, str]) -> dict[str, str]:
    """The settings without those that are as typed."""
    return {name: value for name, value in settings.items() if value not in ("", TYPED)}


def _uses_romio(plan: dict[str, Any], own: dict[str, str]) -> bool:
    return not plan["romio"] or own.get(LIBRARY, plan["library"]) == plan["romio"]


def hints_of(plan: dict[str, Any], settings: dict[str, str]) -> str:
    """The text of a file with hints for ROMIO: those of the user, unless a chosen one replaces them, and the chosen
    ones."""
    own = chosen(settings)
    new = {name: own[name] for name in plan["hints"] if name in own and _uses_romio(plan, own)}
    typed = [line for line in plan["typed_hints"] if line.split()[:1] and line.split()[0] not in new]
    return "".join(f"{line}\n" for line in [*typed, *(f"{name} {value}" for name, value in new.items())])


def variables_of(plan: dict[str, Any], settings: dict[str, str], hints: str) -> dict[str, str]:
    """The variables of a run. ``hints``: the path of the file with hints."""
    own = chosen(settings)
    romio = _uses_romio(plan, own)
    found = {}
    if LIBRARY in own and (own[LIBRARY] != plan["library"] or own.keys() & {*plan["variables"], *plan["hints"]}):
        found[plan["chosen_by"]] = own[LIBRARY]
    if not romio or not plan["romio"]:
        found |= {variable: own[name] for name, variable in plan["variables"].items() if name in own}
    if romio and any(name in own for name in plan["hints"]):
        found[_HINTS] = hints
    return found


def buffering_of(plan: dict[str, Any], settings: dict[str, str]) -> dict[str, str]:
    """Variables that preload libculmen-iobuf with these buffers."""
    own = chosen(settings)
    if own.get(BUFFERING) != ON:
        return {}
    found = {variable: own[name] for name, (variable, _) in BUFFERS.items() if name in own}
    return {**found, "LD_PRELOAD": plan["preload"]}


def buffered(settings: dict[str, str], words: list[str]) -> list[str]:
    """The command with these buffers, as a user types it."""
    own = chosen(settings)
    if own.get(BUFFERING) != ON:
        return words
    options = [word for name, (_, option) in BUFFERS.items() if name in own for word in (option, own[name])]
    return ["culmen", "iobuf", *options, "--", *words]


def striping_of(settings: dict[str, str], folder: str) -> list[str]:
    """The command that sets the striping of new files in a folder on Lustre; empty if the striping stays."""
    own, words = chosen(settings), []
    if COUNT in own:
        words += ["-c", own[COUNT]]
    if SIZE in own:
        words += ["-S", own[SIZE]]
    return ["lfs", "setstripe", *words, folder] if words else []
