"""A browser without a window, for tests of pages."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Without --headless a full Chromium opens a window; chromium-headless-shell ignores the flag. The other flags keep the
# browser off the network and skip its first-run questions.
_FLAGS = (
    *("--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--disable-quic", "--enable-logging=stderr", "--virtual-time-budget=20000"),
)


@dataclass(frozen=True)
class Shown:
    """``page``: the HTML after the scripts have run; ``console``: their messages."""

    page: str
    console: list[str]


def find() -> str | None:
    """The first of NAMES on PATH."""
    return next(filter(shutil.which, NAMES), None)


def show(page: Path, browser: str) -> Shown:
    """Opens the page with an empty profile. Chromium refuses its sandbox to root."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile:
        done = subprocess.run(
            [browser, *_FLAGS, *sandbox, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()],
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert done.returncode == 0, done.stderr
    return Shown(done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line])
