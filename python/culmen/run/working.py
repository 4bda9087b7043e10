"""Workers that evaluate for a run on another machine: from their start until the study ends."""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .. import _core
from .._core import InputError, TransportError
from ..base.keywords import check_whole
from ..base.signals import interrupt, raise_again, signals_of_program, stopping_on
from ..base.terminal import in_notebook, on_terminal
from .joining import as_argument, check_pin, pin_in, token_in
from .master import refuse_while_imported
from .progress.connecting import Connecting

_SLICE_S = 0.05
_MOST_SLOTS = 65_536
_LONGEST_PATIENCE_S = 1e6


@dataclass(frozen=True)
class Place:
    """The run that the workers join, and the number of workers."""

    address: str
    token: str
    fingerprint: str  # empty: an authority must have signed the certificate
    slots: int
    patience_s: float


@dataclass(frozen=True)
class Worked:
    evaluations: int  # that ended here
    trouble: str  # why the workers left before the end of the study; otherwise empty
    signals: list[int]  # signals meanwhile


def work(
    config: _core.StudyConfig,
    content: str,
    place: Place,
    joined: Callable[[], None],
    signals: tuple[int, ...],
    second: Callable[[int], None],
    shown: bool,
) -> Worked:
    """Joins, calls ``joined``, and works until the study ends. The first of the signals ends the work; a later SIGINT
    calls ``second``. ``shown``: prints that the workers try to connect. Raises InputError if the run refuses these
    workers, TransportError if it is not reached."""
    with tempfile.TemporaryDirectory(prefix="culmen-", ignore_cleanup_errors=True) as folder:
        config.evaluator.working_folder = folder
        workers = _core.NetworkWorkers(
            config, place.address, place.fingerprint, place.token, content, place.slots, place.patience_s
        )
        with stopping_on(signals, workers.stop, second) as seen:
            workers.start()
            connecting = Connecting(place.address, place.patience_s, shown)
            try:
                while not workers.wait_joined(_SLICE_S):
                    connecting.look()
                connecting.close()
                if not seen:
                    joined()
                while not workers.wait(_SLICE_S):
                    pass
            except BaseException:
                workers.stop()
                raise
            finally:
                connecting.close()
    return Worked(workers.evaluations, workers.trouble, seen)


def say_joined(place: Place) -> None:
    print(f"{place.slots} worker{'s' if place.slots > 1 else ''} joined the run at {place.address}", flush=True)


def work_in_program(
    config: _core.StudyConfig,
    content: str,
    address: str,
    token_file: str | Path | None,
    fingerprint: str | None,
    slots: int | None,
    patience_s: float,
    progress: bool | None,
) -> int:
    """The common part of ``culmen.work`` and ``Study.work``, with their arguments."""
    refuse_while_imported()
    _check(address, slots, patience_s)
    token = token_in(Path(token_file), as_argument) if token_file is not None else ""
    place = Place(address, token, pin_in(fingerprint, as_argument), slots or _core.usable_cpus(), patience_s)
    check_pin(address, fingerprint, as_argument)

    shown = progress or (progress is None and (on_terminal() or in_notebook()))

    def joined() -> None:
        if shown:
            with suppress(OSError):
                say_joined(place)

    worked = work(config, content, place, joined, signals_of_program(), interrupt, bool(shown))
    raise_again(worked.signals)
    if worked.trouble and not worked.signals:
        raise TransportError(worked.trouble)
    return worked.evaluations


def _check(address: str, slots: int | None, patience_s: float) -> None:
    if not isinstance(address, str):
        raise InputError(f"address must be that of a run, such as 'wss://host:7443', got {address!r}")
    if slots is not None:
        check_whole("slots", slots, 1, _MOST_SLOTS)
    if not isinstance(patience_s, int | float) or not 0 <= patience_s <= _LONGEST_PATIENCE_S:
        raise InputError(
            f"patience_s must be a number of seconds from 0 to {_LONGEST_PATIENCE_S:g}, got {patience_s!r}"
        )
