"""Evaluates any candidates with a study's evaluator, in parallel. Failures are outcomes, not exceptions."""

import atexit
import contextlib
import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from .. import _core
from .._core import CulmenError, InputError
from ..launch.ranks import is_master, serve_until_dismissed
from ..problem.given import Value
from ..problem.outcome import Outcome
from ..slot.result import number_of
from .master import FOR_EVER_S, raise_error

Candidate: TypeAlias = Mapping[str, Value] | Sequence[float]
_SLICE_S = 0.05  # the longest delay of a signal
_LISTED = ("categorical", "ordinal", "boolean")


class CandidateEvaluator:
    """Evaluates lists of candidates, on workers that start with ``with`` and stop at its end::

        with study.evaluations(workers=4) as evaluate:
            outcomes = evaluate([{"x": 1.0, "y": 2.0}, [3.0, 4.0]])

    A candidate is a dict of the parameters within their bounds, or a vector of finite numbers in the space's order. A
    vector may lie outside the bounds; its number for a categorical parameter is the zero-based index of the choice. The
    outcomes are in the candidates' order. They are not stored, and the study's stopping rules are ignored. Ctrl-C ends
    the workers and their evaluations, and raises KeyboardInterrupt.

    Raises InputError if the evaluator cannot be set up, TransportError if workers cannot be started, CulmenError if
    none is left.
    """

    def __init__(self, config: _core.StudyConfig, options: _core.RunOptions) -> None:
        self._config = _core.further_config(config)
        self._run = _core.PointsRun(self._config, _core.further_options(options))
        self.count = 0  # evaluations so far
        self.note = ""  # sent to the ranks of a launch at the end
        self.watch: Callable[[int, int], None] | None = None  # called from time to time: (done, all)

    def __enter__(self) -> "CandidateEvaluator":
        if folder := self._config.evaluator.working_folder:
            shutil.rmtree(folder, ignore_errors=True)
        self._run.start()
        return self

    def __call__(self, candidates: Iterable[Candidate]) -> list[Outcome]:
        if isinstance(candidates, Mapping):
            raise InputError("give a list of candidates, such as [{…}], not one candidate")
        vectors = [_vector_of(c, self._config.space, f"candidate {i}: ") for i, c in enumerate(candidates)]
        self._run.submit(vectors)
        first, self.count = self.count, self.count + len(vectors)
        found: dict[int, Outcome] = {}
        objectives = self._config.objectives
        while len(found) < len(vectors):
            rows = self._run.take(_SLICE_S)
            if not rows and self._run.ended:
                self._raise_end()
            # Ignore outcomes of a former call that was interrupted.
            found.update((row["number"], Outcome.of(row, objectives)) for row in rows if row["number"] >= first)
            if self.watch:
                self.watch(first + len(found), self.count)
        return [found[first + i] for i in range(len(vectors))]

    @property
    def address(self) -> str:
        """The address at which workers of other machines can join; empty if there is none."""
        return self._run.address

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the certificate at the address; empty without TLS."""
        return self._run.fingerprint

    def stop(self) -> None:
        """Ends the evaluations; their call raises KeyboardInterrupt. For any thread, and for signal handlers."""
        self._run.stop()

    def __exit__(self, kind: type[BaseException] | None, _error: object, _traceback: TracebackType | None) -> None:
        if kind is None:
            self._run.close()
        else:
            self._run.stop()
        while not self._run.wait(FOR_EVER_S):  # a signal came; its handler has run by now
            pass
        self._run.result(self.note)
        if folder := self._config.evaluator.working_folder:
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # the folder may still be in use by others
                Path(folder).parent.rmdir()

    def _raise_end(self) -> None:
        while not self._run.wait(FOR_EVER_S):
            pass
        result = self._run.result(self.note)
        raise_error(result)
        if result.reason == "interrupted":
            raise KeyboardInterrupt
        raise CulmenError(result.message)


@contextlib.contextmanager
def _naming(place: str) -> Iterator[None]:
    """Adds a place at the start of an InputError's message."""
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
            raise InputError(f"it must be a dict of the parameters or a list of numbers, got {candidate!r:.80}")
        if len(numbers) == len(space.all) > len(space):
            numbers = space.searched(numbers)
        if len(numbers) == len(space):  # else the engine reports it
            _check_numbers(numbers, space)
        return numbers


def _check_numbers(vector: list[float], space: _core.Space) -> None:
    """Checks the numbers of the active parameters. Inactive ones may be NaN."""
    for p, value, active in zip(space.parameters, vector, space.activity(vector), strict=True):
        if active and not math.isfinite(value):
            raise InputError(f"parameter '{p.name}': it must be a finite number, got {value:g}")
        if active and p.kind in _LISTED and not (value.is_integer() and p.lower <= value <= p.upper):
            raise InputError(
                f"parameter '{p.name}': in a list of numbers it must be a whole number from 0 to {p.upper:g}, the "
                f"index of its value, got {value:g}"
            )


def _check_bounds(candidate: Mapping[str, Value], space: _core.Space) -> None:
    for p in space.parameters:
        value = candidate.get(p.name)
        if p.kind == "real" and isinstance(value, (int, float)) and not p.lower <= value <= p.upper:
            raise InputError(
                f"parameter '{p.name}': {value:g} is outside its bounds [{p.lower:g}, {p.upper:g}]; widen them, or "
                "give a list of numbers in the space's order, which may lie outside"
            )


def evaluations_of_program(config: _core.StudyConfig, options: _core.RunOptions) -> CandidateEvaluator:
    """For programs: under MPI the ranks other than 0 serve here, and exit when rank 0 ends."""
    if _core.uses_ranks(options):
        if not is_master():
            serve_until_dismissed()
        atexit.register(_core.dismiss_ranks)
    return CandidateEvaluator(config, options)


def with_workers(options: _core.RunOptions, workers: int | None) -> _core.RunOptions:
    """The same options with another number of workers; None: the same number."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers must be a whole number, at least 1, or None, got {workers!r}")
    out = _core.further_options(options)
    out.workers = workers or options.workers
    return out
