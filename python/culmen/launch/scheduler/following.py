"""Waits for jobs without asking the scheduler too often."""

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ..._core import InputError
from .job import Phase, Place, Scheduler

_FIRST_S, _GROWS, _LONGEST_S = 1.0, 1.3, 30.0


def follow(
    scheduler: Scheduler, jobs: Iterable[str], leave: threading.Event, wait: Callable[[float], object] | None = None
) -> Iterator[dict[str, Place]]:
    """Yields the states of the jobs repeatedly, until all have ended or ``leave`` is set. After a change, the next look
    comes sooner. ``wait``: replaces leave.wait in tests.

    While the scheduler does not answer, jobs keep their states, and ``why`` names the error.
    """
    places = {job: Place(Phase.PENDING) for job in jobs}
    pause_s = _FIRST_S
    while True:
        before = dict(places)
        for job, place in before.items():
            if place.phase in (Phase.PENDING, Phase.RUNNING):
                try:
                    places[job] = scheduler.place(job)
                except InputError as error:
                    places[job] = replace(place, why=str(error))
        yield dict(places)
        if all(place.phase in (Phase.ENDED, Phase.UNKNOWN) for place in places.values()):
            return
        changed = any(places[job].phase is not before[job].phase for job in places)
        pause_s = _FIRST_S if changed else min(pause_s * _GROWS, _LONGEST_S)
        (wait or leave.wait)(pause_s)
        if leave.is_set():
            return
