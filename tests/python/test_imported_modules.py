"""Modules that the file of a study imports: which ones count, and a store that does not know them yet."""

import json
import sys

import pytest
from culmen.base.imported import modules_of
from culmen.store.opening import open_store
from store_builder import replace_configuration

from culmen import InputError, Study

pytestmark = pytest.mark.no_numbers

STUDY = """
[space]
x = { lower = -5, upper = 5 }
[evaluator]
python = "model.py:f"
[stop]
evaluations = 9
[run]
workers = 1
"""


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def found(folder, text, name="model"):
    write(folder, {"model.py": text})
    return modules_of(folder / "model.py", name, [str(folder)])


FILES = {
    "near.py": "import numpy\nfrom pack import part\n",
    "pack/__init__.py": "",
    "pack/part.py": "from . import sister\nfrom .deep.inner import g\nimport near\n",
    "pack/sister.py": "",
    "pack/unused.py": "",
    "pack/deep/inner.py": "from ..cousin import h\n",
    "pack/cousin.py": "raise SystemExit('was run')",
}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import math, json.decoder, numpy, culmen, missing", []),
        ("def f(p):\n    import pack.sister\n", ["pack", "pack.sister"]),
        ("from pack import *", ["pack"]),
        ("from pack.cousin import h", ["pack", "pack.cousin"]),
        ("import near", ["near", "pack", "pack.cousin", "pack.deep.inner", "pack.part", "pack.sister"]),
        ("this is no Python", []),
        ("import model", []),
    ],
)
def test_modules_of_the_user_are_found_and_what_they_import(tmp_path, text, names):
    write(tmp_path, FILES)
    assert list(found(tmp_path, text)) == names


def test_modules_of_the_project_count_wherever_they_are(tmp_path, monkeypatch):
    write(tmp_path / "lib", {"tools.py": ""})
    write(tmp_path / "site-packages", {"bought.py": ""})
    for place in ("lib", "site-packages"):
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / place)])
    assert found(tmp_path, "import tools, bought") == {"tools": tmp_path / "lib" / "tools.py"}


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"fit.toml": STUDY, "model.py": "import scale\ndef f(p):\n    return scale.by * p['x'] ** 2\n"})
    write(tmp_path, {"scale.py": "from pack.part import by\n", "pack/part.py": "by = 2\n"})
    Study.from_file("fit.toml", store="fit.db").run(progress=False)
    return tmp_path


def test_comments_and_files_that_are_not_imported_are_no_change(study):
    write(study, {"pack/part.py": "# Twice.\nby = 2\n", "other.py": "x = 1\n"})
    assert Study.from_store("fit.db").change() == ""
    write(study, {"scale.py": "from pack.part import by\nby += 0\n", "pack/part.py": "by = 3\n"})
    assert Study.from_store("fit.db").change() == (
        "the module 'pack.part' and the module 'scale' have changed since this study was started"
    )


def test_a_study_that_was_moved_has_not_changed(study, tmp_path_factory):
    there = tmp_path_factory.mktemp("moved") / "study"
    study.rename(there)
    assert Study.from_store(there / "fit.db").change() == ""
    write(there, {"pack/part.py": "by = 3\n"})
    assert "'pack.part' has changed" in Study.from_store(there / "fit.db").change()


def test_a_store_of_an_older_build_is_resumed_with_a_note(study):
    configuration = open_store("fit.db").begun.configuration
    del configuration["digest"]["modules"]
    replace_configuration("fit.db", json.dumps(configuration))
    write(study, {"pack/part.py": "by = 3\n"})
    with pytest.warns(UserWarning, match="no checksum of the modules that model.py imports; culmen adds it now, but"):
        Study.from_store("fit.db", evaluations=10).run(progress=False)
    write(study, {"pack/part.py": "by = 4\n"})
    with pytest.raises(InputError, match=r"the module 'pack.part' has changed since this study was started"):
        Study.from_store("fit.db", evaluations=11).run(progress=False)
