"""Documents say what is true: quoted examples, links, exit codes, keys."""

import json
import re
import subprocess
import sys

import pytest
from culmen.cli.commands import COMMANDS, load
from harness import ROOT, culmen, write_study

import culmen as culmen_package
from culmen import study_file
from culmen.base import exit_codes

pytestmark = pytest.mark.no_numbers

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
    prose = re.sub(r"^ *```.*?^ *```$", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", prose):
        assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", ["README.md", "docs/reference/command-line.md"])
def test_exit_codes(document):
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", (ROOT / document).read_text(), re.MULTILINE)}
    assert codes == {exit_codes.FINISHED, exit_codes.FAILED, exit_codes.BAD_INPUT, exit_codes.RESUMABLE}


def test_the_reference_names_every_key_of_the_study_file():
    sections = (ROOT / "docs/reference/study-file.md").read_text().split("\n## ")
    found = study_file.tables_in(study_file.StudyFile)
    tables = {"Top level": study_file.StudyFile, **{f"`[{name}]`": table for name, table in found.items()}}
    for title, model in tables.items():
        section = next(s for s in sections if s.startswith(title + "\n")).split("\n### ")[0]
        keys = {
            key for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)
        }
        assert keys == set(model.model_fields) - set(found), title


def test_the_reference_says_what_auto_is_in_every_case():
    text = (ROOT / "docs/reference/optimizers/auto.md").read_text()
    table = text.split("| the study has | optimizer |")[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    said = [(re.sub(r"\[(.*?)\]\(.*?\)", r"\1", why), name.split("`")[1]) for why, name in rows]
    assert said == [(why, name) for name, why in culmen_package._core.optimizer_choices()]


WORDS = [(name, member) if member else (name,) for name, of in COMMANDS.items() for member in of.members or [""]]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_the_reference_names_every_option(words):
    command, loaded = " ".join(words), load(words[0])
    text = (ROOT / "docs/reference/command-line.md").read_text()
    assert f"`culmen {command}" in text
    section = next((s for s in text.split("\n## ") if re.match(f"`culmen {command}[ `]", s)), "")
    told = set(re.findall(r"`(--?[a-z][a-z-]*)", "".join(re.findall(r"^\| (`-.*?) \|", section, re.MULTILINE))))
    options = loaded.params if len(words) == 1 else loaded.commands[words[1]].params
    assert told == {name for option in options for name in option.opts if name.startswith("-")}


def test_the_reference_names_every_key_of_a_status(tmp_path):
    write_study(tmp_path, 3)
    assert culmen("run", "study.toml", "--quiet", cwd=tmp_path).returncode == 0
    section = (ROOT / "docs/reference/command-line.md").read_text().split("| key | meaning |")[1].split("\n\n")[0]
    told = {key for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}
    assert told == set(json.loads(culmen("status", "study.db", "--json", cwd=tmp_path).stdout))


def test_architecture_names_files_that_are_there():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    bases = (ROOT / "src/culmen", ROOT / "python/culmen", ROOT)
    for name in re.findall(r"`([\w/]+\.(?:hpp|cpp|h|c|py|md))`", text):
        folders = [*bases, *(base for base in (ROOT / "src/culmen").iterdir() if base.is_dir())]
        assert any((folder / name).exists() for folder in folders), name


@pytest.mark.parametrize("folder", ["src/mpiprobe", "src/mpiprobe/autotune"])
def test_architecture_names_every_source_file_of_the_preloaded_libraries(folder):
    text = (ROOT / "ARCHITECTURE.md").read_text()
    assert not [path.name for path in (ROOT / folder).glob("*.c") if f"| `{folder}/{path.name}`" not in text]


def test_the_reference_of_python_has_every_public_name():
    text = (ROOT / "docs/reference/python.md").read_text()
    told = set(re.findall(r"^\.\. auto\w+:: culmen\.(\w+)$", text, re.MULTILINE))
    assert told == set(culmen_package.__all__) - {"__version__"}


@pytest.mark.parametrize("folder", ["howto", "reference", "coming_from"])
def test_the_site_takes_every_page(folder):
    assert "```{toctree}\n:glob:" in (ROOT / "docs" / folder / "index.md").read_text()


def test_the_gallery_shows_pictures_that_are_small_and_says_what_each_run_took():
    text = (ROOT / "docs/gallery.md").read_text()
    pictures = sorted((ROOT / "docs/gallery").iterdir())
    assert {f"gallery/{path.name}" for path in pictures} == set(re.findall(r"\((gallery/.*?)\)", text))
    for path in pictures:
        assert path.stat().st_size <= 60_000, path
        assert f"`examples/{path.stem}`" in " ".join(text.split())
        assert re.search(rf"^\| {path.stem} \| .* s \|$", text, re.MULTILINE)


def test_the_site_is_built_without_warnings_and_needs_no_other_host(tmp_path):
    words = ["--quiet", "--fail-on-warning", "--keep-going", "--doctree-dir", tmp_path / "trees"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words, ROOT / "docs", tmp_path / "site"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    pages = sorted((tmp_path / "site").glob("**/*.html"))
    assert {"index.html", "tutorial.html", "gallery.html", "search.html"} <= {page.name for page in pages}
    loaded = r"<(?:script|img|iframe)[^>]* src=\"(https?:[^\"]*)|<link[^>]* href=\"(https?:[^\"]*)"
    assert not [found for page in pages for found in re.findall(loaded, page.read_text())]
    optimizers = "".join(path.read_text() for path in (tmp_path / "site/reference/optimizers").glob("*.html"))
    for name in culmen_package._core.optimizer_names():
        assert f">{name}</span>" in optimizers
