"""The pages of the reference about optimizers agree with the code, and their examples run."""

import re
import subprocess
import sys
import textwrap

import pytest
from harness import ROOT, culmen

import culmen as culmen_package

OPTIMIZERS = ROOT / "docs/reference/optimizers"


def test_tables_of_options_are_those_of_the_optimizers():
    done = subprocess.run([sys.executable, ROOT / "tools" / "quote_options", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def needs_in_words(entry):
    """The cells of the table "Requirements"."""
    parameters = "numeric" if entry["needs_order"] else "any"
    objectives = "one" if entry["one_objective"] else "one or two" if entry["two_objectives"] else "any number"
    return ("real, not conditional" if entry["needs_reals"] else parameters, objectives)


def test_the_reference_says_what_each_optimizer_requires():
    section = (ROOT / "docs/reference/optimizers.md").read_text().split("\n## Requirements\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in re.findall(r"^\| `.*$", section, re.MULTILINE)]
    told = {name: tuple(cells) for names, *cells in rows for name in re.findall(r"`(\w+)`", names)}
    catalogue = culmen_package._core.optimizer_catalogue()
    assert told == {entry["name"]: needs_in_words(entry) for entry in catalogue}
    residuals = [e["name"] for e in catalogue if e["needs_residuals"]]
    bounds = [e["name"] for e in catalogue if e["needs_bounds"]]
    assert bounds == re.findall(r"`(\w+)`", re.findall(r"^(.*) need both bounds", section, re.MULTILINE)[0])
    assert residuals == re.findall(r"^`(\w+)` needs residuals", section, re.MULTILINE)


@pytest.mark.parametrize("page", sorted(OPTIMIZERS.glob("*.md")), ids=lambda path: path.stem)
def test_the_example_of_an_optimizer_runs(page, tmp_path):
    """Each page has one, which may leave out the rest of its study."""
    blocks = re.findall(r"^## Example\n\n((?:    .*\n|\n)+)", page.read_text(), re.MULTILINE)
    assert len(blocks) == 1
    example = textwrap.dedent(blocks[0])
    returned = "p['x'] ** 2 + p['y'] ** 2"
    if "[objectives]" in example:
        returned = "{'cost': p['x'], 'range': p['y']}"
    if "residuals" in example:
        returned = "[p['x'], p['y']]"
    (tmp_path / "decay.py").write_text(f"def residuals(p):\n    return {returned}\n")
    evaluator = "" if "[evaluator]" in example else '[evaluator]\npython = "decay.py:residuals"\n'
    rest = "[space]\nx = { lower = -1, upper = 2 }\ny = { lower = -1, upper = 2 }\n[stop]\nevaluations = 40\n"
    (tmp_path / "study.toml").write_text(example + evaluator + rest)
    done = culmen("run", "study.toml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
