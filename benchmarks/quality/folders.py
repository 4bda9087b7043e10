"""The current folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def inside(folder: str) -> Iterator[None]:
    """As contextlib.chdir, which Python 3.10 does not have."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
