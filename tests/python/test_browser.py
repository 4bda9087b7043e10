"""Tests open pages in any Chromium on PATH, without a window."""

import os
import shutil
from pathlib import Path

import browser
import pytest
from browser import NAMES

pytestmark = pytest.mark.no_numbers

PAGE = """<p id=said>nothing</p><script>
document.getElementById("said").textContent = "written by a script"
console.log("and to the console")
</script>"""
# Like a full Chromium it fails without a display unless it is headless. It prints its arguments.
FAKE = """#!/bin/sh
case "$*" in *--headless=new*) ;; *) echo 'Missing X server or $DISPLAY' >&2; exit 1 ;; esac
echo '[1:1:0101/000000.1:INFO:CONSOLE:1] "hello"' >&2
echo "$*"
"""


@pytest.fixture
def only(tmp_path, monkeypatch):
    """only(name, …): fakes of these names are all that is on PATH."""

    def there(*names):
        folder = tmp_path / "bin"
        folder.mkdir()
        for name in names:
            (folder / name).write_text(FAKE)
            (folder / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))

    return there


@pytest.mark.parametrize("name", NAMES)
def test_each_of_them_shows_a_page(name, tmp_path):
    if not shutil.which(name):
        pytest.skip(f"there is no {name}")
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    shown = browser.show(page, name)
    assert ">written by a script</p>" in shown.page
    assert len(shown.console) == 1
    assert "and to the console" in shown.console[0]


@pytest.mark.parametrize("name", NAMES)
def test_each_of_them_is_found_and_started_without_a_window_a_profile_or_the_network(name, only, tmp_path):
    only(name)
    assert browser.find() == name
    shown = browser.show(tmp_path / "page.html", name)
    words = shown.page.split()
    assert words[-2:] == ["--dump-dom", (tmp_path / "page.html").as_uri()]
    assert {"--headless=new", "--no-first-run", "--disable-background-networking", "--disable-sync"} < set(words)
    assert ("--no-sandbox" in words) == (os.geteuid() == 0)
    (profile,) = (word.partition("=")[2] for word in words if word.startswith("--user-data-dir="))
    assert not Path(profile).exists()
    assert len(shown.console) == 1


def test_the_smallest_of_them_is_taken(only):
    only(*NAMES)
    assert browser.find() == "chromium-headless-shell"


def test_there_may_be_none(only):
    only()
    assert browser.find() is None
