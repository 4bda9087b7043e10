"""Documents say what is true: quoted examples, links, exit codes, keys."""

import re
import subprocess
import sys

import pytest
from harness import ROOT

from culmen import cli, study_file

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


def test_quoted_examples_are_the_examples():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "quote_examples", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_readme_quotes_hello_worlds_and_the_fit():
    quoted = set(re.findall(r"^<!-- (examples/\S+) -->$", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert {path.split("/")[1] for path in quoted} == {"01_pion_form_factor", "03_cpp", "04_python"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    prose = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", prose):
        assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", ["README.md", "docs/reference/study-file.md"])
def test_exit_codes(document):
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", (ROOT / document).read_text(), re.MULTILINE)}
    assert codes == {cli.FINISHED, cli.FAILED, cli.BAD_INPUT, cli.RESUMABLE}


def test_the_reference_names_every_key_of_the_study_file():
    sections = (ROOT / "docs/reference/study-file.md").read_text().split("\n## ")
    tables = {"Top level": study_file.StudyFile, **{f"`[{name}]`": table for name, table in study_file._TABLES.items()}}
    for title, model in tables.items():
        section = next(s for s in sections if s.startswith(title + "\n"))
        keys = {
            key for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)
        }
        assert keys == set(model.model_fields) - set(study_file._TABLES), title


def test_architecture_names_files_that_are_there():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    bases = (ROOT / "src/culmen", ROOT / "python/culmen", ROOT)
    for name in re.findall(r"`([\w/]+\.(?:hpp|cpp|h|c|py|md))`", text):
        folders = [*bases, *(base for base in (ROOT / "src/culmen").iterdir() if base.is_dir())]
        assert any((folder / name).exists() for folder in folders), name
