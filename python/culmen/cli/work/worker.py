"""``culmen worker``: evaluates for a run elsewhere."""

import os
import sys
import tempfile
from pathlib import Path

from ... import _core
from ...base.signals import STOP_SIGNALS, stopping_on
from ...run.joining import content_of, pin_in, token_in
from ...run.study import Study
from .codes import FAILED, FINISHED

_SLICE_S = 0.05


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
    slots = slots or _core.usable_cpus()
    token = token_in(token_file) if token_file else ""
    with tempfile.TemporaryDirectory(prefix="culmen-", ignore_cleanup_errors=True) as folder:
        study.config.evaluator.working_folder = folder
        workers = _core.NetworkWorkers(
            study.config, address, pin_in(fingerprint), token, content_of(study), slots, patience_s
        )
        with stopping_on(STOP_SIGNALS, workers.stop, lambda _number: os._exit(FAILED)) as seen:
            workers.start()
            if not quiet:
                print(f"{slots} worker{'s' if slots > 1 else ''} joined the run at {address}", flush=True)
            while not workers.wait(_SLICE_S):
                pass
    if workers.trouble and not seen:
        print(f"culmen: {workers.trouble}", file=sys.stderr)
        return FAILED
    if not quiet:
        print(f"{workers.evaluations} evaluations were done here")
    return FINISHED
