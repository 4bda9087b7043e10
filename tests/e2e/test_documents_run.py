"""What documents show being typed is typed here: `console` blocks, in order, in one folder a document.

A line that begins with `$ ` is a command; the lines below it are what it prints, where `…` stands for anything. A file
of examples/ that the document quotes lies in the folder.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT, environment

BLOCKS = re.compile(r"^<!-- (?P<file>examples/\S+) -->$|^```console\n(?P<session>.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(?P<kind>\S*)[^\n]*\n.*?^```$", re.MULTILINE | re.DOTALL)
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
WITH_SESSIONS = [path for path in DOCUMENTS if "```console" in path.read_text()]


def name_of(path):
    return str(path.relative_to(ROOT))


def commands_in(session):
    """(command, what is expected of it) for each."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def pattern_of(expected):
    """Blanks are as many as they like; `…` alone on a line is any lines."""
    lines = [r"\s+".join(map(re.escape, line.split())).replace("…", ".*") for line in expected.splitlines()]
    return r"\s*".join(lines)


def words_of(text):
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


@pytest.mark.parametrize("document", WITH_SESSIONS, ids=name_of)
def test_what_is_typed_prints_what_is_shown(document, tmp_path):
    variables = environment(PATH=f"{Path(sys.executable).parent}:{environment()['PATH']}")
    for block in BLOCKS.finditer(document.read_text()):
        if block["file"]:
            source = ROOT / block["file"]
            (tmp_path / source.name).write_text(source.read_text())
            (tmp_path / source.name).chmod(source.stat().st_mode)
            continue
        for command, expected in commands_in(block["session"]):
            done = subprocess.run(  # noqa: S602 - as it stands in the document
                command, shell=True, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=60
            )
            printed = words_of(done.stdout + done.stderr)
            assert re.search(pattern_of(expected), printed, re.DOTALL), f"$ {command}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_no_snippet_stands_in_a_document_that_nothing_runs(document):
    """Blocks are quoted files, sessions that are run, or directives of the site."""
    text = document.read_text()
    for block in FENCE.finditer(text):
        quoted = re.search(r"^<!-- examples/\S+ -->\n\Z", text[: block.start()], re.MULTILINE)
        assert quoted or block["kind"] == "console" or block["kind"].startswith("{"), block[0]
