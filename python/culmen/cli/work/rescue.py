"""``culmen rescue``."""

import shlex
from pathlib import Path

from ... import _core
from ...store.opening import how_to_resume, open_store, refuse_no_store


def rescue_store(store: Path, output: Path | None) -> None:
    refuse_no_store(store, "rescue")
    new = output or store.with_suffix(".rescued.db")
    found, lost, finished = _core.Store.rescue(str(store), str(new))
    print(f"Wrote {found} evaluations to {new}; {lost} evaluations could not be read.")
    if not finished:
        print(f"To resume: {how_to_resume(new, open_store(new).begun.configuration)}")
    print(f"{shlex.quote(str(store))} is unchanged.")
