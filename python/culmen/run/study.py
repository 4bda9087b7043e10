"""A study: what is in a study file, ready to run."""

import json
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._core import InputError
from ..base import digest, machine
from ..base.warning import warn
from ..fit.errors import Errors
from ..launch.ranks import is_master, letting_ranks_go
from ..report.reading import read
from ..store.differences import another_study
from ..store.opening import Begun, Opened, function_in, open_store, working_folder
from ..study_file import Mistakes, StudyFile, checked, examine_study_file
from .configuration import config_of, options_of
from .errors import Lend, errors_of_study, finder, with_errors_of_ranks
from .evaluations import CandidateEvaluator, evaluations_of_program, with_workers
from .evaluator import digest_of
from .master import execute
from .progress.monitor import best_of, make_monitor
from .result import Result, warn_when_all_failed

if TYPE_CHECKING:
    import plotly.graph_objects


class Met(NamedTuple):
    """The result of Study.meet: two parts of sentences, each of which may be empty."""

    another: str  # the store holds another study
    change: str  # the evaluator's file is not the one that the store began with


@dataclass
class Study:
    """``config`` decides what is sought, ``options`` how this start runs; both may be changed until ``run``."""

    config: _core.StudyConfig
    options: _core.RunOptions
    evaluator_digest: digest.Digest | None = None  # of the evaluator as it is now
    source: str = ""  # the file that messages name
    lend: Lend = nullcontext  # the program's own workers, where there are any
    begun: Begun | None = None  # what its store says, when that is known

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        store: str | Path | None = None,
        seed: int | None = None,
        **given: Any,
    ) -> "Study":
        """What is given wins over the file's, and is kept in the store as if the file said so.

        ``given``: evaluations, target, wall_time_s, workers.
        Raises InputError with a sentence for each mistake in the file.
        """
        path = Path(path)
        file, mistakes = examine_study_file(path)
        if file is None:
            mistakes.raise_any()
        assert file is not None
        file.seed = file.seed if seed is None else seed
        file.limit(str(path), **given)
        return cls.of(file, path.resolve().parent, mistakes, str(store or file.store or f"{file.name}.db"))

    @classmethod
    def from_store(cls, path: str | Path, **given: Any) -> "Study":
        """The study that is kept in a store, to go on with. What is given (as to from_file) holds from now on.

        Raises InputError where it is none or cannot go on, StoreError where it is damaged.
        """
        study = cls.of_store(open_store(path), **given)
        study.options.store = str(path)
        return study

    @classmethod
    def of_store(cls, opened: Opened, **given: Any) -> "Study":
        """``from_store`` of a store that is open already."""
        path, data = opened.path, opened.begun.configuration
        if not data:
            raise InputError(
                f"{path} was made by a program's own minimize(); that program goes on with it (resume = true)"
            )
        if function := function_in(data):
            raise InputError(
                f"{path} was made by culmen.minimize with {function}; the same call with store='{path}' goes on"
            )
        folder = Path(data["folder"])
        if not folder.is_dir():  # it was moved, or is on another machine
            folder = Path(path).resolve().parent
        file = checked(StudyFile, {key: data[key] for key in data if key in StudyFile.model_fields}, str(path))
        file.limit(str(path), **given)
        study = cls.of(file, folder, Mistakes(str(path)), str(path))
        study.begun = opened.begun
        study.go_on()
        return study

    @classmethod
    def of(cls, file: StudyFile, folder: Path, mistakes: Mistakes, store: str, f: Any = None) -> "Study":
        """``folder`` is where relative paths begin; ``mistakes``: those known already; ``f``: a program's function.

        Raises InputError with all mistakes."""
        config = config_of(file, folder, mistakes)
        if store:
            config.evaluator.working_folder = str(working_folder(Path(store)))
        file.optimizer.name = config.optimizer
        if file.evaluator.kind == "function":
            now = digest.of_function(f, file.evaluator.named)
        else:
            now = digest_of(config.evaluator, file.evaluator, folder)
        config.configuration = file.normalised(folder, now, machine.here())
        return cls(config, options_of(file, store), now, mistakes.source)

    def go_on(self) -> None:
        """With what is in the store, which keeps where and with what it was begun.

        Raises InputError where there is no store, StoreError where it is damaged."""
        begun = self.in_store()
        self.settle(begun.fingerprint)
        kept = {key: begun.configuration[key] for key in (digest.KEY, machine.KEY) if key in begun.configuration}
        self.config.configuration = json.dumps({**json.loads(self.config.configuration), **kept})
        self.options.resume = True

    def in_store(self) -> Begun:
        """What its store says of the study that was begun there; it is opened once.

        Raises InputError where there is no store, StoreError where it is damaged."""
        if self.begun is None or self.begun.path != Path(self.options.store):
            self.begun = open_store(self.options.store).begun
        return self.begun

    def settle(self, begun: str = "") -> None:
        """Whether it is generational, where that is not said: as the store with the fingerprint ``begun`` where that is
        this study's, else ("auto") by the workers. From here on it is as if the study said so."""
        if self.config.generational is not None:
            return
        _core.settle_mode(self.config, self.options, begun)
        kept = json.loads(self.config.configuration)
        kept["optimizer"] = {**kept["optimizer"], "generational": self.config.generational}
        self.config.configuration = json.dumps(kept)

    def run(self, *, progress: bool | None = None) -> Result:
        """Runs to the end, or until Ctrl-C: then the result is the best so far (``reason`` is "interrupted", and
        standard error says so), or KeyboardInterrupt is raised where nothing has succeeded yet.

        In a rank other than 0 it works for rank 0 and returns the same result.
        ``progress``: draw it; None: where standard output is a terminal.
        Raises InputError before anything has started, StoreError, TransportError. Warns where the evaluator's file has
        changed since the store was made, and where every evaluation failed.
        """
        on_ranks = _core.detect_launch().is_rank and self.lend is nullcontext
        leads = is_master() or not on_ranks
        if self.options.resume and leads:
            with letting_ranks_go() if on_ranks else nullcontext():
                met = self.meet(self.in_store())
                if met.another:
                    raise InputError(f"{met.another}; another store is wanted for this one")
                if met.change:
                    warn(f"{met.change}; another store begins anew")
        with self.lend() as self.options.lent:
            self.settle()
            core = execute(self.config, self.options, make_monitor(progress, best_of(self.config.objectives)))
        space = self.config.space
        result = Result.of(core, space, finder(self.config, self.options, self.lend) if leads else None)
        if on_ranks:
            result = with_errors_of_ranks(result, space)
        if leads:
            warn_when_all_failed(result)
        return result

    def meet(self, begun: Begun) -> Met:
        """Compares this study with the one in its store, and settles this one as that one was."""
        self.begun = begun
        self.settle(begun.fingerprint)
        same = begun.fingerprint == self.config.fingerprint
        return Met("" if same else another_study(begun, self.config), self.change())

    def plot(self) -> "plotly.graph_objects.Figure":
        """Convergence so far, from its store, as a figure that a notebook shows; also while it runs elsewhere."""
        return read(self.options.store, "run").plot()

    def errors(
        self,
        *,
        profile: bool = False,
        confidence: float | None = None,
        up: float = 1.0,
        workers: int | None = None,
        again: bool = False,
    ) -> Errors:
        """Those of the parameters at the best candidate of the study's store; see culmen.errors."""
        return errors_of_study(
            self.config,
            self.options,
            self.change,
            profile=profile,
            confidence=confidence,
            up=up,
            workers=workers,
            again=again,
        )

    def evaluations(self, workers: int | None = None) -> CandidateEvaluator:
        """``with study.evaluations(workers=4) as evaluate: outcomes = evaluate(candidates)``: any candidates, by the
        study's own evaluator, in parallel and outside of its store. Under MPI the ranks other than 0 serve in this call
        and leave the program when rank 0 ends."""
        return evaluations_of_program(self.config, with_workers(self.options, workers))

    def change(self) -> str:
        """A sentence where the evaluator's file is not the one that the store began with; else empty."""
        return digest.change(self.in_store().configuration, self.evaluator_digest)
