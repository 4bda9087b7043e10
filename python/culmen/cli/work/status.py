"""``culmen status``."""

import json
from pathlib import Path

from ..._core import InputError
from ...store.opening import Opened
from .summary import print_state, state_of
from .watch import watch_status


def show_status(store: Path, as_json: bool, watch: bool, every_s: float | None) -> int:
    """The exit code, which tells something where it is watched only."""
    if watch:
        if as_json:
            raise InputError("--watch and --json are given; one of them is wanted")
        return watch_status(store, every_s or 2.0)
    if every_s is not None:
        raise InputError(f"--every {every_s:g} is for --watch, which is not given")
    opened = Opened(store, "status")
    if as_json:
        print(json.dumps(state_of(opened), indent=2))
    else:
        print_state(opened)
    return 0
