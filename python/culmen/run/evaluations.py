"""A study's own evaluator for any candidates: in parallel, with failures as values."""

import atexit
import contextlib
import copy
import itertools
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from .. import _core
from .._core import CulmenError, InputError
from ..launch.ranks import is_master, serve_until_dismissed
from ..problem.goals import as_given, oriented
from ..problem.outcome import Outcome
from ..problem.space import Value
from ..slot.result import number_of
from ..study_file import RunTable, StopTable
from .master import raise_error

Candidate: TypeAlias = Mapping[str, Value] | Sequence[float]
_SLICE_S = 0.05  # how late a signal may be heard
_FOR_EVER_S = 1e6
_LISTED = ("categorical", "ordinal", "boolean")
_NUMBERS = itertools.count()


class CandidateEvaluator:
    """Evaluates lists of candidates, on workers that start with ``with`` and leave at its end::

        with study.evaluations(workers=4) as evaluate:
            outcomes = evaluate([{"x": 1.0, "y": 2.0}, [3.0, 4.0]])

    A candidate is a dict of the parameters, or a vector of finite numbers in the space's order, which need not lie
    within the bounds as a dict has to; of what has choices, its place among them from 0. The outcomes come in the
    candidates' order. Nothing of it is kept in a store, and no rule of the study ends it. Ctrl-C ends the workers and
    what they evaluate, and raises KeyboardInterrupt.

    Raises InputError where the evaluator cannot be set up, TransportError where workers cannot be started, CulmenError
    where none is left.
    """

    def __init__(self, config: _core.StudyConfig, options: _core.RunOptions) -> None:
        self._config = _without_rules(config)
        self._run = _core.PointsRun(self._config, _without_store(options))
        self.count = 0  # evaluations so far
        self.note = ""  # what the ranks of a launch get to know at the end
        self.watch: Callable[[int, int], None] | None = None  # is told now and then how many are done, and of how many

    def __enter__(self) -> "CandidateEvaluator":
        if folder := self._config.evaluator.working_folder:
            shutil.rmtree(folder, ignore_errors=True)
        self._run.start()
        return self

    def __call__(self, candidates: Iterable[Candidate]) -> list[Outcome]:
        if isinstance(candidates, Mapping):
            raise InputError("one candidate is given; a list of candidates is wanted, such as [{…}]")
        vectors = [_vector_of(c, self._config.space, f"candidate {i}: ") for i, c in enumerate(candidates)]
        self._run.submit(vectors)
        first, self.count = self.count, self.count + len(vectors)
        found: dict[int, Outcome] = {}
        while len(found) < len(vectors):
            rows = self._run.take(_SLICE_S)
            if not rows and self._run.ended:
                self._raise_end()
            # Of a former call, which was interrupted, nobody waits for the rest.
            found.update((row["number"], self._outcome(row)) for row in rows if row["number"] >= first)
            if self.watch:
                self.watch(first + len(found), self.count)
        return [found[first + i] for i in range(len(vectors))]

    def stop(self) -> None:
        """Ends the evaluations at once, whose call then raises KeyboardInterrupt. Any thread, and a signal handler."""
        self._run.stop()

    def __exit__(self, kind: type[BaseException] | None, _error: object, _traceback: TracebackType | None) -> None:
        if kind is None:
            self._run.close()
        else:
            self._run.stop()
        while not self._run.wait(_FOR_EVER_S):  # a signal came, whose handler has run by now
            pass
        self._run.result(self.note)
        if folder := self._config.evaluator.working_folder:
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # others have something there
                Path(folder).parent.rmdir()

    def _raise_end(self) -> None:
        while not self._run.wait(_FOR_EVER_S):
            pass
        result = self._run.result(self.note)
        raise_error(result)
        if result.reason == "interrupted":
            raise KeyboardInterrupt
        raise CulmenError(result.message)

    def _outcome(self, row: dict[str, Any]) -> Outcome:
        ok = row["status"] == "ok"
        objectives = self._config.objectives
        values = {name: oriented(v, direction) for (name, direction), v in zip(objectives, row["values"], strict=False)}
        return Outcome(
            status=row["status"],
            value=as_given(row["value"], objectives) if ok else None,
            values=values,
            violation=row["violation"],
            residuals=list(row["residuals"]),
            extras=row["extras"],
            message=row["message"],
            duration_s=row["duration_s"],
            cost=row["value"] if ok else math.inf,
        )


@contextlib.contextmanager
def _naming(place: str) -> Iterator[None]:
    """Puts a place in front of what an InputError says."""
    try:
        yield
    except InputError as e:
        raise InputError(f"{place}{e}") from None


def _vector_of(candidate: Candidate, space: _core.Space, place: str) -> list[float]:
    with _naming(place):
        if isinstance(candidate, Mapping):
            _check_bounds(candidate, space)
            return space.vector_of(dict(candidate))
        vector = [number_of(value) for value in candidate] if isinstance(candidate, Iterable) else [None]
        numbers = [value for value in vector if value is not None]
        if len(numbers) < len(vector):
            raise InputError(f"{candidate!r:.80} is given; a dict of the parameters or a list of numbers is wanted")
        if len(numbers) == len(space):  # else the engine says so
            _check_numbers(numbers, space)
        return numbers


def _check_numbers(vector: list[float], space: _core.Space) -> None:
    """Beside what is inactive, which may be NaN."""
    for p, value, active in zip(space.parameters, vector, space.activity(vector), strict=True):
        if active and not math.isfinite(value):
            raise InputError(f"parameter '{p.name}': {value:g} is given; a finite number is wanted")
        if active and p.kind in _LISTED and not (value.is_integer() and p.lower <= value <= p.upper):
            raise InputError(
                f"parameter '{p.name}': {value:g} is given; in a list of numbers a whole number from 0 to {p.upper:g} "
                "is wanted, which says which of its values it has"
            )


def _check_bounds(candidate: Mapping[str, Value], space: _core.Space) -> None:
    for p in space.parameters:
        value = candidate.get(p.name)
        if p.kind == "real" and isinstance(value, (int, float)) and not p.lower <= value <= p.upper:
            raise InputError(
                f"parameter '{p.name}': {value:g} is outside its bounds [{p.lower:g}, {p.upper:g}]; wider bounds make "
                "it a candidate, and a list of numbers in the space's order may lie outside of them"
            )


def evaluations_of_program(config: _core.StudyConfig, options: _core.RunOptions) -> CandidateEvaluator:
    """For programs: under MPI the ranks other than 0 serve here, and leave the program when rank 0 ends."""
    if not is_master():
        serve_until_dismissed()
    if _core.detect_launch().is_rank:
        atexit.register(_core.dismiss_ranks)
    return CandidateEvaluator(config, options)


def with_workers(options: _core.RunOptions, workers: int | None) -> _core.RunOptions:
    """The same place with another number of workers; None: as many."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers = {workers!r}: a whole number not below 1 is wanted, or None")
    out = _without_store(options)
    out.workers = workers or options.workers
    return out


def _without_store(options: _core.RunOptions) -> _core.RunOptions:
    out = _core.RunOptions()
    for name in RunTable.settings():
        setattr(out, name, getattr(options, name))
    out.place, out.lent = options.place, options.lent
    if _core.detect_launch().is_rank:
        out.place = "mpi"
    return out


def _without_rules(config: _core.StudyConfig) -> _core.StudyConfig:
    out = copy.copy(config)
    free = _core.StudyConfig()
    for rule in StopTable.settings():
        setattr(out, rule, getattr(free, rule))
    out.give_up_after = 0
    out.on_failure = "retry" if config.on_failure == "retry" else "penalise"
    if config.evaluator.working_folder:
        own = f"further-{os.getpid()}-{next(_NUMBERS)}"  # another may evaluate for the same store
        out.evaluator.working_folder = str(Path(config.evaluator.working_folder) / own)
    return out
