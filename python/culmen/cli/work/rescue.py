"""``culmen rescue``."""

import shlex
from pathlib import Path

from ... import _core
from ...store.opening import how_to_resume, open_store, refuse_no_store


def rescue_store(store: Path, output: Path | None) -> bool:
    """Whether everything could be read."""
    refuse_no_store(store, "rescue")
    new = output or store.with_suffix(".rescued.db")
    found, lost, behind, finished = _core.Store.rescue(str(store), str(new))
    unread = "an unknown number of" if lost is None else lost
    print(f"Wrote {found} evaluations to {new}; {unread} evaluations could not be read.")
    if behind:
        are = "is" if behind == 1 else "are"
        print(
            f"{behind} of the saved evaluations {are} later than the damaged part. A resume uses each of them whose "
            f"candidate the optimizer proposes again, and removes the others. To keep all of them as a table, first "
            f"run `culmen export {shlex.quote(str(new))} -o {shlex.quote(str(new.with_suffix('.csv')))}`."
        )
    if not finished:
        print(f"To resume: {how_to_resume(new, open_store(new).begun.configuration)}")
    print(f"{shlex.quote(str(store))} is unchanged.")
    return lost == 0
