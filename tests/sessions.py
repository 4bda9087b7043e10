"""Types what a document shows being typed, and compares what is printed."""

import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness import HANGS_S, ROOT, copy_example
from suite_sources import pack_sources

BLOCKS = re.compile(
    r"^<!-- (?P<file>examples/\S+) -->$|^ *```console\n(?P<session>.*?)^ *```$", re.MULTILINE | re.DOTALL
)


def needs_slurm(document: Path) -> bool:
    return re.search(r"^ *\$ .* --submit slurm", document.read_text(), re.MULTILINE) is not None


def type_sessions(document: Path, folder: Path, variables: Mapping[str, str]) -> None:
    """All commands of the document, in order. ``variables``: the whole environment."""
    for block in BLOCKS.finditer(document.read_text()):
        if block["file"]:
            shutil.copy(ROOT / block["file"], folder)
            continue
        for command, expected in _commands_in(textwrap.dedent(block["session"])):
            for name in re.findall(r"\w+\.toml", command):
                for example in () if (folder / name).exists() else ROOT.glob(f"examples/*/{name}"):
                    copy_example(example.parent.name, folder)
            for name in re.findall(r"\S+\.tar\.gz", command):
                pack_sources(folder / name)
            done = subprocess.run(  # noqa: S602 - as it stands in the document
                command, shell=True, cwd=folder, env=variables, capture_output=True, text=True, timeout=HANGS_S
            )
            printed = _words_of(done.stdout + done.stderr)
            assert re.search(_pattern_of(expected), printed, re.DOTALL), f"$ {command}\n{done.stdout}{done.stderr}"


def _commands_in(session: str) -> Iterator[tuple[str, str]]:
    """(command, what is expected of it) for each."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def _pattern_of(expected: str) -> str:
    """Blanks are as many as they like; `…` alone on a line is any lines."""
    lines = [r"\s+".join(map(re.escape, line.split())).replace("…", ".*") for line in expected.splitlines()]
    return r"\s*".join(lines)


def _words_of(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.splitlines())
