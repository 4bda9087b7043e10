"""``culmen status``."""

import json
from pathlib import Path

from ..._core import InputError
from ...store.opening import Opened
from .notes import note
from .summary import print_state, state_of
from .watch import watch_status


def show_status(store: Path, as_json: bool, watch: bool, every_s: float | None, digits: int | None = None) -> int:
    """Returns the exit code, which depends on the study's state only with --watch."""
    if watch:
        if as_json:
            raise InputError("--watch and --json are given; give only one of them")
        return watch_status(store, every_s or 2.0, digits)
    if every_s is not None:
        raise InputError(f"--every {every_s:g} needs --watch")
    opened = Opened(store, "status")
    note(opened.without_log)
    if as_json:
        print(json.dumps(state_of(opened), indent=2))
    else:
        print_state(opened, digits)
    return 0
