"""Types the commands that the documents show: `console` blocks, in order, in one folder for each document.

A line that begins with `$ ` is a command. The lines below it are its output, in which `…` stands for anything. The
folder has the files of examples/ that the document quotes, and the example whose study file a command names. Documents
about Slurm are typed in tests/slurm.

In blocks that are marked by four blanks alone, lines that begin with `culmen` are typed too, and must succeed. The
folder has small studies and programs with the names in these lines.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import EXAMPLES, HANGS_S, ROOT, culmen, environment
from sessions import needs_slurm, type_sessions

FENCE = re.compile(r"^ *```(?P<kind>\S*)[^\n]*\n.*?^ *```$", re.MULTILINE | re.DOTALL)
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
WITH_SESSIONS = [path for path in DOCUMENTS if "```console" in path.read_text() and not needs_slurm(path)]


def name_of(path):
    return str(path.relative_to(ROOT))


LONG = ROOT / "docs/howto/untuned-to-tuned.md"


@pytest.mark.parametrize(
    "document",
    [pytest.param(each, marks=[pytest.mark.slow] * (each == LONG)) for each in WITH_SESSIONS],
    ids=name_of,
)
def test_what_is_typed_prints_what_is_shown(document, tmp_path):
    path = f"{Path(sys.executable).parent}:{environment()['PATH']}"
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # A program that waits for a CPU for longer than the usual delay has more writes of the system than it shows.
    variables = {"XDG_DATA_HOME": str(tmp_path / ".data"), "CULMEN_IOBUF_DELAY_MS": "3600000", **root}
    type_sessions(document, tmp_path, environment(PATH=path, **variables))


STUDY = """[space]
amplitude = { lower = 0, upper = 10 }
rate = { lower = 0.1, upper = 2 }
[evaluator]
python = "decay.py:residuals"
result = "residuals"
[stop]
evaluations = 120
"""
DECAY = """from math import exp
DATA = [(0, 5.1), (1, 3.2), (2, 2.1), (3, 1.5)]
def residuals(p):
    return [p["amplitude"] * exp(-p["rate"] * t) - n for t, n in DATA]
"""


def lines_of_indented_blocks(document):
    """Those that call culmen; of a launch with two ranks, which is less to start, and without a browser."""
    plain = FENCE.sub("", document.read_text())
    lines = re.findall(r"^ {4,}(culmen .*)$", plain, re.MULTILINE)
    return [re.sub("-n [0-9]+", "-n 2", line.replace(" --open", "")) for line in lines]


INDENTED = [path for path in DOCUMENTS if lines_of_indented_blocks(path)]


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """A folder with studies that have ended, by all names that stand in the lines."""
    folder = tmp_path_factory.mktemp("studies")
    (folder / "decay.py").write_text(DECAY)
    (folder / "STUDY.toml").write_text(STUDY)
    done = culmen("run", "STUDY.toml", "--quiet", cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = [line for document in INDENTED for line in lines_of_indented_blocks(document)]
    read = re.sub(r"-o \S+", "", " ".join(lines))
    for name in set(re.findall(r"(\w+)\.(?:toml|db)", read)) - {"STUDY", "fit"}:
        (folder / f"{name}.toml").write_text(STUDY)
        shutil.copy(folder / "STUDY.db", folder / f"{name}.db")
    for program in set(re.findall(r"launch .* (build/\w+)", "\n".join(lines))):
        (folder / program).parent.mkdir(exist_ok=True)
        (folder / program).write_text("#!/bin/sh\n")
        (folder / program).chmod(0o755)
    for script in set(re.findall(r"launch .* python (\w+\.py)", "\n".join(lines))):
        quoted = EXAMPLES.glob(f"*/{script}")
        shutil.copy(next(quoted), folder / script)
    return folder


@pytest.mark.parametrize("document", INDENTED, ids=name_of)
def test_what_stands_in_indented_blocks_works(document, studies, tmp_path):
    shutil.copytree(studies, tmp_path, dirs_exist_ok=True)
    path = f"{Path(sys.executable).parent}:{environment()['PATH']}"
    variables = environment(PATH=path, HOME=str(tmp_path), SHELL="/bin/bash", CULMEN_MPI="mpich")
    for line in lines_of_indented_blocks(document):
        done = subprocess.run(  # noqa: S602 - as it stands in the document
            f"{line}\nexit $?",
            shell=True,
            executable="/bin/bash",
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=HANGS_S,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_no_snippet_stands_in_a_document_that_nothing_runs(document):
    """Blocks are quoted files, sessions that are run, or directives of the site."""
    text = document.read_text()
    for block in FENCE.finditer(text):
        quoted = re.search(r"^<!-- examples/\S+ -->\n\Z", text[: block.start()], re.MULTILINE)
        assert quoted or block["kind"] == "console" or block["kind"].startswith("{"), block[0]
