"""``culmen worker``: evaluates for a run elsewhere."""

import os
import sys
from pathlib import Path

from ... import _core
from ..._core import TransportError
from ...base.errors import sentence
from ...base.exit_codes import FAILED, FINISHED
from ...base.signals import STOP_SIGNALS
from ...run.joining import check_pin, content_of, pin_in, token_in
from ...run.study import Study
from ...run.working import Place, say_joined, work


def work_for(
    address: str,
    path: Path,
    fix: dict[str, str],
    token_file: Path | None,
    fingerprint: str | None,
    slots: int | None,
    patience_s: float,
    quiet: bool,
) -> int:
    """Joins, works until the study ends, and returns an exit code. Raises InputError if the run refuses this worker."""
    study = Study.from_file(path, fix=fix)
    token = token_in(token_file) if token_file else ""
    place = Place(address, token, pin_in(fingerprint), slots or _core.usable_cpus(), patience_s)
    check_pin(address, fingerprint)

    def joined() -> None:
        if not quiet:
            say_joined(place)

    try:
        worked = work(
            study.config, content_of(study), place, joined, STOP_SIGNALS, lambda _number: os._exit(FAILED), not quiet
        )
    except TransportError as error:
        print(f"culmen: {sentence(error)}", file=sys.stderr)
        return FAILED
    if worked.trouble and not worked.signals:
        print(f"culmen: {worked.trouble}", file=sys.stderr)
        return FAILED
    if not quiet:
        print(f"{worked.evaluations} evaluations were done here")
    return FINISHED
