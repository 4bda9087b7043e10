"""``culmen status``."""

import json
from pathlib import Path

from .summary import print_state, state_of


def show_status(store: Path, as_json: bool) -> None:
    if as_json:
        print(json.dumps(state_of(store), indent=2))
    else:
        print_state(store)
