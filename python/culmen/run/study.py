"""A study: the content of a study file, ready to run."""

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._core import InputError
from ..base import digest, machine
from ..base.arguments import check_truth, path_in
from ..base.warning import warn
from ..fit.errors import Errors
from ..launch.ranks import is_master, letting_ranks_go
from ..problem.given import Value
from ..report.reading import read
from ..store.differences import another_study
from ..store.opening import Begun, Opened, function_in, open_store, working_folder
from ..store.remembered import Remembered
from ..study_file import Mistakes, StudyFile, checked, examine_study_file
from ..study_file.listening import ListeningTable
from .callback import Callback, Evaluated
from .configuration import config_of, options_of
from .errors import Lend, errors_of_study, finder, with_errors_of_ranks
from .evaluations import CandidateEvaluator, evaluations_of_program, with_workers
from .evaluator import digest_of
from .joining import Door, as_argument, content_of
from .master import execute
from .progress.monitor import Monitor, make_monitor, words_of
from .result import Result
from .result import checked as checked_result
from .working import work_in_program

if TYPE_CHECKING:
    import plotly.graph_objects


_HISTORY_BYTES = 256_000_000
_ACCEPT = "to continue nevertheless, pass accept_changes=True"


def _agrees_never(file: StudyFile) -> bool:
    """Whether neither the local searches nor a limit can end this fit."""
    options = file.optimizer.model_dump()
    return options.get("agreement") == 0 and not options.get("searches") and not file.stop.ends


class Met(NamedTuple):
    """The result of Study.meet: two parts of sentences, each of which may be empty."""

    another: str  # the store holds another study
    change: str  # the evaluator or its data have changed since the store was made


@dataclass
class Study:
    """A study from a study file or from a store. Make it with ``from_file`` or ``from_store``."""

    config: _core.StudyConfig
    options: _core.RunOptions
    evaluator_digest: digest.Digest | None = None  # of the evaluator as it is now
    source: str = ""  # the file that messages name
    lend: Lend = nullcontext  # the program's own workers, if there are any
    begun: Begun | None = None  # facts from the store, once they are known

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        store: str | Path | None = None,
        seed: int | None = None,
        fix: Mapping[str, Value] | None = None,
        **given: Any,
    ) -> "Study":
        """Reads a study file. ``fix`` contains parameters that are fixed, with their values, such as ``{"n": 5}``.

        These arguments replace the values in the file: ``store``, ``seed``, ``evaluations``, ``target``,
        ``stagnation``, ``wall_time_s``, ``workers``, and the options ``agreement`` and ``searches`` of ``lm``.

        Raises InputError if the file has mistakes. The message names each mistake.
        """
        path = path_in(path, "the study file", "study.toml")
        if store is not None:
            path_in(store, "store", "fit.db")
        file, mistakes = examine_study_file(path)
        if file is None:
            mistakes.raise_any()
        assert file is not None
        if seed is not None:
            file.take_seed(str(path), seed)
        if fix is not None:
            file.fix(str(path), fix)
        file.limit(str(path), **given)
        return cls.of(file, path.resolve().parent, mistakes, str(store or file.store or f"{file.name}.db"))

    @classmethod
    def from_store(cls, path: str | Path, **given: Any) -> "Study":
        """Reads the study in a store. ``run`` then resumes the study.

        These arguments replace the values in the store: ``evaluations``, ``target``, ``stagnation``, ``wall_time_s``,
        ``workers``, ``agreement`` and ``searches``.

        Raises InputError if the file is not a store or its study cannot be resumed, and StoreError if the store is
        damaged.
        """
        study = cls.of_store(open_store(path), **given)
        study.options.store = str(path)
        return study

    @classmethod
    def of_store(cls, opened: Opened, **given: Any) -> "Study":
        """``from_store`` for an open store."""
        path, data = opened.path, opened.begun.configuration
        if not data:
            raise InputError(
                f"{path} was made by minimize() of a C++ program; to resume, run that program with resume = true"
            )
        if function := function_in(data):
            raise InputError(
                f"{path} was made by culmen.minimize with {function}; to resume, make the same call with store='{path}'"
            )
        folder = Path(data["folder"])
        if not folder.is_dir():  # it was moved, or is on another machine
            folder = Path(path).resolve().parent
        file = checked(StudyFile, {key: data[key] for key in data if key in StudyFile.model_fields}, str(path))
        file.limit(str(path), **given)
        if _agrees_never(file):
            raise InputError(
                f"{path}: with agreement = 0, this study may never end; give a limit, for example "
                f"`--evaluations {max(2 * opened.summary['told'], 1000)}`"
            )
        study = cls.of(file, folder, Mistakes(str(path)), str(path))
        study.begun = opened.begun
        study.config.generational = None  # the fingerprint decides, so that the reason is the store and not the user
        study.prepare_resume()
        ends = [name for name in ("agreement", "searches") if given.get(name) is not None]
        if ends and study.config.fingerprint != opened.begun.fingerprint:
            raise InputError(
                f"{path} was made by an earlier version of culmen, with which {ends[0]} cannot change; resume the "
                f"study without a new {ends[0]}"
            )
        return study

    @classmethod
    def of(
        cls, file: StudyFile, folder: Path, mistakes: Mistakes, store: str, f: Any = None, shared: bool = False
    ) -> "Study":
        """``folder``: relative paths start there. ``mistakes``: the mistakes that are already known. ``f``: a program's
        function. ``shared``: other programs evaluate, too, and must know the digest of the evaluator.

        Raises InputError with all mistakes."""
        config = config_of(file, folder, mistakes)
        if store:
            config.evaluator.working_folder = str(working_folder(Path(store)))
        file.optimizer.name = config.optimizer
        now = digest_of(config.evaluator, file.evaluator, folder, f) if store or shared else None
        config.configuration = file.normalised(folder, now, machine.here())
        return cls(config, options_of(file, store), now, mistakes.source)

    def prepare_resume(self) -> None:
        """Prepares to resume the study in the store. The store keeps the folder and the digest of its first start.

        Raises InputError if there is no store, StoreError if it is damaged."""
        begun = self.in_store()
        self.settle(begun.fingerprint)
        kept = {key: begun.configuration[key] for key in (digest.KEY, machine.KEY) if key in begun.configuration}
        self._describe(**kept)
        self.options.resume = True

    def in_store(self) -> Begun:
        """Facts of the study in its store, which is opened once.

        Raises InputError if there is no store, StoreError if it is damaged."""
        if self.begun is None or self.begun.path != Path(self.options.store):
            self.begun = open_store(self.options.store).begun
        return self.begun

    def settle(self, begun: str = "") -> None:
        """Decides whether the study is generational, if the user has not set this. If ``begun``, the store's
        fingerprint, belongs to this study, it decides; otherwise the number of workers decides. The study keeps the
        decision. The fingerprint also decides the edition of the optimizer."""
        is_given = self.config.generational is not None
        _core.settle_mode(self.config, self.options, begun)
        if is_given:
            return
        optimizer = json.loads(self.config.configuration)["optimizer"]
        self._describe(optimizer={**optimizer, "generational": self.config.generational})

    def _describe(self, **changed: Any) -> None:
        """Changes the description of the study in the store."""
        self.config.configuration = json.dumps({**json.loads(self.config.configuration), **changed})

    def run(
        self,
        *,
        progress: bool | None = None,
        accept_changes: bool = False,
        callback: Callable[[Evaluated], Any] | None = None,
        # By tools/quote_settings, from ListeningTable:
        listen: str | None = None,
        token_file: str | Path | None = None,
        certificate: str | Path | None = None,
        insecure: bool = False,
        io_threads: int = 1,
        largest_message_mib: int = 1024,
    ) -> Result:
        """Runs the study to its end. The arguments are the same as for ``culmen.minimize``. With ``listen``, workers of
        other machines join with ``Study.work``, or with the command ``culmen worker``.

        Ctrl-C stops the study. The call then returns the best result so far, and its ``reason`` is "interrupted".
        Before the first success, Ctrl-C raises KeyboardInterrupt.

        Under MPI, every rank must make this call, and every rank gets the same result.

        Raises InputError, StoreError, TransportError and AllFailedError as ``culmen.minimize`` does.
        """
        listening = {name: value for name, value in locals().items() if name in ListeningTable.model_fields}
        check_truth("progress", progress, or_none=True)
        check_truth("accept_changes", accept_changes)
        door = Door.of(listening, as_argument)
        on_ranks = self.lend is nullcontext and _core.uses_ranks(self.options)
        leads = is_master() or not on_ranks
        with letting_ranks_go() if on_ranks and leads else nullcontext():
            watch = None if callback is None else Callback(callback, self.config)
            if leads and door:
                door.open(self)
            if leads and self.options.resume:
                self._join_store(accept_changes, watch)
        if leads and (watch or not self.options.store):
            self.options.history_bytes = _HISTORY_BYTES

        def begin(run: _core.Run) -> Monitor:
            if door and progress is not False:
                how = door.how_to_join(run.address, run.fingerprint, self)
                print(f"Workers join with: {how}", file=sys.stderr, flush=True)
            return make_monitor(progress, words_of(self.config.objectives))

        try:
            with self.lend() as self.options.lent:
                self.settle()
                core = execute(self.config, self.options, begin, watch)
        finally:
            self.options.listen = ""  # the workers have left
        space = self.config.space
        result = Result.of(core, space, finder(self.config, self.options, self.lend) if leads else None)
        if leads and core.history is not None:
            result = result.with_evaluations(Remembered(core.history, self.config))
        if on_ranks:
            result = with_errors_of_ranks(result, space)
        elif watch:
            result = watch.ended(result)
        return checked_result(result)

    def work(
        self,
        address: str,
        *,
        token_file: str | Path | None = None,
        fingerprint: str | None = None,
        slots: int | None = None,
        patience_s: float = 60.0,
        progress: bool | None = None,
    ) -> int:
        """Evaluates candidates for a run of this study on another machine, until that run ends. The arguments, the
        result and the exceptions are the same as for ``culmen.work``."""
        return work_in_program(
            self.config, content_of(self), address, token_file, fingerprint, slots, patience_s, progress
        )

    def _join_store(self, accept_changes: bool, watch: Callback | None) -> None:
        """Called before a resume. Raises InputError if the store contains another study."""
        met = self.meet(self.in_store())
        if met.another:
            raise InputError(f"{met.another}; give this study another store")
        if self.in_store().without_log:
            warn(self.in_store().without_log)
        if note := self.take_up(accept_changes, f"{_ACCEPT}; to restart, give another store"):
            warn(note)
        if watch is not None:
            watch.resume(Opened(self.options.store))

    def meet(self, begun: Begun) -> Met:
        """Compares this study with the one in its store, and takes over the mode of that one."""
        self.begun = begun
        self.settle(begun.fingerprint)
        same = begun.fingerprint == self.config.fingerprint
        return Met("" if same else another_study(begun, self.config), self.change())

    def plot(self) -> "plotly.graph_objects.Figure":
        """Returns the convergence so far as a plotly figure. The study must have a store. The study may run in another
        process.
        """
        return read(self.options.store, "run").plot()

    def errors(
        self,
        *,
        profile: bool = False,
        confidence: float | None = None,
        up: float = 1.0,
        workers: int | None = None,
        again: bool = False,
        fix: Mapping[str, Value] | None = None,
        accept_changes: bool = False,
    ) -> Errors:
        """Errors (uncertainties) of the best parameters in the store. The arguments are the same as for
        ``culmen.errors``."""
        return errors_of_study(
            self.config,
            self.options,
            lambda: self.admit_change(accept_changes, _ACCEPT),
            profile=profile,
            confidence=confidence,
            up=up,
            workers=workers,
            again=again,
            fix=fix,
        )

    def evaluations(self, workers: int | None = None) -> CandidateEvaluator:
        """Evaluates candidates of your choice in parallel. The store does not change. Example::

            with study.evaluations(workers=4) as evaluate:
                outcomes = evaluate([{"x": 1.0}, {"x": 2.0}])

        Each outcome has ``ok``, ``value``, ``residuals``, ``extras``, ``violation`` and ``duration_s``. With several
        objectives, each outcome also has ``values``. If ``ok`` is False, ``status`` and ``message`` give the reason.

        Under MPI, only rank 0 continues after this call. The other ranks run evaluations for rank 0, and exit
        when rank 0 ends.
        """
        return evaluations_of_program(self.config, with_workers(self.options, workers))

    def change(self) -> str:
        """A sentence if the evaluator or its data have changed since the store was made; else empty."""
        return digest.change(self.in_store().configuration, self.evaluator_digest)

    def admit_change(self, accept: bool, advice: str) -> str:
        """A sentence for a note if the evaluator has changed, or if that is unknown; else empty.

        Raises InputError, which ends with ``advice``, if it has changed. It does not if ``accept`` is true, or if no
        evaluation in the store has succeeded: then there are no results of the former evaluator."""
        change = self.change()
        if change and not accept and self._has_values():
            raise InputError(f"{self.options.store}: {change}; earlier and new values do not fit together; {advice}")
        if change:
            return f"{change}; earlier values are kept unchanged"
        return digest.unknown(self.in_store().configuration, self.evaluator_digest)

    def _has_values(self) -> bool:
        summary = open_store(self.options.store).summary
        return summary["outcomes"] > summary["failed"]

    def take_up(self, accept: bool, advice: str) -> str:
        """``admit_change`` before a resume. The store then keeps the present digest of the evaluator."""
        note = self.admit_change(accept, advice)
        now = digest.merged(self.in_store().configuration.get(digest.KEY), self.evaluator_digest)
        self._describe(**{digest.KEY: now})
        return note
