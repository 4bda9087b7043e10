"""Each commented setting of a file that `culmen init` writes is right if it alone is uncommented."""

import re
import subprocess
from pathlib import Path

import pytest
from culmen.tune.command.recipe import read_recipe
from harness import culmen

from culmen import InputError

pytestmark = pytest.mark.no_numbers

SETTING = re.compile(r"# (\w+ *= .*)")
HEADING = re.compile(r"# (\[+\w+\]+)")


def variants(text: str) -> dict[str, str]:
    """The file with one commented setting in use, and the commented heading above it; by the setting."""
    lines, heading, found = text.splitlines(), None, {}
    for number, line in enumerate(lines):
        if HEADING.match(line):
            heading = number
        elif line.startswith("["):
            heading = None
        elif setting := SETTING.match(line):
            used = [of.removeprefix("# ") if i in (number, heading) else of for i, of in enumerate(lines)]
            found[setting[1].partition("  ")[0]] = "\n".join(used)
    return found


def init(folder: Path, kind: str) -> Path:
    done = culmen("init", "fit", "--kind", kind, cwd=folder)
    assert done.returncode == 0, done.stderr
    if compile_it := re.search(r"^ +(cc .*)$", done.stdout, re.MULTILINE):
        subprocess.run(compile_it[1], shell=True, cwd=folder, check=True)  # noqa: S602 - as it is printed
    return folder / "fit.toml"


SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("library", "command")]  # most lines are the same


@pytest.mark.parametrize("kind", ["python", *SLOW])
def test_each_commented_setting_can_be_used_alone(kind, tmp_path):
    study = init(tmp_path, kind)
    wrong = {}
    found = variants(study.read_text())
    assert len(found) > 15
    for setting, text in found.items():
        study.write_text(text)
        checked = culmen("check", "fit.toml", "--evaluate", 2, cwd=tmp_path)
        if checked.returncode != 0 or checked.stderr:
            wrong[setting] = checked.stderr
    assert wrong == {}


def test_the_template_of_a_fit_names_its_data(tmp_path):
    assert "\n# data = []  " in init(tmp_path, "python").read_text()


def test_each_commented_setting_of_a_tuning_file_can_be_used_alone(tmp_path):
    assert culmen("init", "app", "--tune", cwd=tmp_path).returncode == 0
    file, wrong = tmp_path / "app.toml", {}
    found = variants(file.read_text())
    assert len(found) >= 3
    for setting, text in found.items():
        file.write_text(text)
        try:
            read_recipe(file)
        except InputError as e:
            wrong[setting] = str(e)
    assert wrong == {}


def test_the_tuning_file_says_how_to_tune_for_a_printed_number(tmp_path):
    assert culmen("init", "app", "--tune", cwd=tmp_path).returncode == 0
    file = tmp_path / "app.toml"
    text = file.read_text()
    values, objectives = re.findall(r"(values = \{.*?\} \}) in \[evaluator\], and (rate = \S+)", text)[0]
    text = re.sub(r"\nmeasure = .*", "", text).replace("\n[stop]", f"\n[objectives]\n{objectives}\n\n[stop]")
    file.write_text(text.replace("time_limit_s = 60", f"time_limit_s = 60\n{values}"))
    assert list(read_recipe(file).evaluator.values) == ["rate"]
