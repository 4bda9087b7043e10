"""A study: what is in a study file, ready to run."""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import InputError
from ..base import digest, machine
from ..launch.ranks import is_master
from ..problem.goals import set_goals, set_stop
from ..problem.options import check
from ..problem.space import Parameter, Space
from ..store.opening import another_study, function_in, open_store, working_folder
from ..store.table import read
from ..study_file import Mistakes, StudyFile, checked, examine_study_file
from .errors import Lend, errors_of_study, finder, with_errors_of_ranks
from .evaluations import CandidateEvaluator, evaluations_of_program, with_workers
from .evaluator import check_command, digest_of, evaluator_of
from .master import execute, letting_ranks_go
from .progress import best_of, make_monitor
from .result import Result, warn, warn_when_all_failed

if TYPE_CHECKING:
    import plotly.graph_objects

    from ..fit.errors import Errors


@dataclass
class Study:
    """``config`` decides what is sought, ``options`` how this start runs; both may be changed until ``run``."""

    config: _core.StudyConfig
    options: _core.RunOptions
    evaluator_digest: digest.Digest | None = None  # of the evaluator as it is now
    source: str = ""  # the file that messages name
    lend: Lend = nullcontext  # the program's own workers, where there are any

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
        store = open_store(path)
        if not store.configuration:
            raise InputError(
                f"{path} was made by a program's own minimize(); that program goes on with it (resume = true)"
            )
        data = json.loads(store.configuration)
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
        study.go_on()
        return study

    @classmethod
    def of(cls, file: StudyFile, folder: Path, mistakes: Mistakes, store: str, f: Any = None) -> "Study":
        """``folder`` is where relative paths begin; ``mistakes``: those known already; ``f``: a program's function.

        Raises InputError with all mistakes."""
        config = _config_of(file, folder, mistakes)
        if store:
            config.evaluator.working_folder = str(working_folder(Path(store)))
        file.optimizer.name = config.optimizer
        if file.evaluator.kind == "function":
            now = digest.of_function(f, file.evaluator.named)
        else:
            now = digest_of(config.evaluator, file.evaluator, folder)
        config.configuration = file.normalised(folder, now, machine.here())
        return cls(config, _options_of(file, store), now, mistakes.source)

    def go_on(self) -> None:
        """With what is in the store, which keeps where and with what it was begun.

        Raises InputError where there is no store, StoreError where it is damaged."""
        store = open_store(self.options.store)
        self.settle(store.fingerprint)
        stored = json.loads(store.configuration or "{}")
        begun = {key: stored[key] for key in (digest.KEY, machine.KEY) if key in stored}
        self.config.configuration = json.dumps({**json.loads(self.config.configuration), **begun})
        self.options.resume = True

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
                self._refuse_another()
                if note := self.change():
                    warn(f"{note}; another store begins anew")
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

    def _refuse_another(self) -> None:
        """Raises InputError where the store is that of another study."""
        found = open_store(self.options.store)
        self.settle(found.fingerprint)
        if found.fingerprint != self.config.fingerprint:
            raise InputError(
                f"{another_study(self.options.store, found, self.config)}; another store is wanted for this one"
            )

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
    ) -> "Errors":
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
        return digest.change(_core.Store.read(self.options.store).configuration, self.evaluator_digest)


def _options_of(file: StudyFile, store: str) -> _core.RunOptions:
    options = _core.RunOptions()
    options.workers = file.run.workers or 0
    options.prefetch = file.run.prefetch
    options.durability = file.run.durability
    options.store = store
    return options


def _config_of(file: StudyFile, folder: Path, mistakes: Mistakes) -> _core.StudyConfig:
    """Raises InputError with all mistakes, those that are known already among them."""
    config = _core.StudyConfig()
    config.name, config.seed = file.name, file.seed
    _set_space(config, file, mistakes)
    place = file.place("evaluator")
    if not mistakes.concern("evaluator"):
        config.evaluator = evaluator_of(file.evaluator, folder, place, mistakes)
    if not mistakes.concern("space", "evaluator"):
        with mistakes.at(place, "evaluator"):
            check_command(config.space, config.evaluator)
    set_goals(config, file, mistakes)
    set_stop(config, file, mistakes)
    config.evaluate_infeasible = file.evaluator.evaluate_infeasible
    if not mistakes.concern("space", "constraints", "evaluator", "objectives", "optimizer"):
        _try_optimizer(config, file, mistakes)
    mistakes.raise_any()
    config.on_failure, config.retries = file.evaluator.on_failure, file.evaluator.retries
    config.give_up_after = file.evaluator.give_up_after
    identify(config, [file.evaluator.kind, file.evaluator.named, *filter(None, [file.evaluator.deciding])])
    return config


def _set_space(config: _core.StudyConfig, file: StudyFile, mistakes: Mistakes) -> None:
    """As a whole; where that fails, part by part, so that each mistake is found."""
    heading = file.place("space")
    parameters = {name: Parameter(**p.model_dump()) for name, p in file.space.items()}
    plain = {name: replace(p, active_when=None) for name, p in parameters.items()}
    if mistakes.concern("space"):  # some are left out: who depends on them cannot be judged
        parameters = plain
    try:
        config.space = Space(parameters).core
    except InputError as e:
        for name, p in plain.items():
            with mistakes.at(heading, "space", name):
                Space({name: p})
        for name, p in parameters.items() if not mistakes.concern("space") else ():
            with mistakes.at(heading, "space", name):
                Space({**plain, name: p})
        if not mistakes.concern("space"):
            mistakes.add(("space",), f"{heading}{e}")
    for name, text in file.constraints.items() if not mistakes.concern("space") else ():
        with mistakes.at(file.place("constraints"), "constraints", name):
            Space(parameters, {name: text})
    if file.constraints and not mistakes.concern("space", "constraints"):
        config.space = Space(parameters, file.constraints).core


def _try_optimizer(config: _core.StudyConfig, file: StudyFile, mistakes: Mistakes) -> None:
    """As a whole; where that fails, without options and then with one at a time."""
    name, options, heading = file.optimizer.name, file.optimizer.model_extra or {}, file.place("optimizer")
    config.generational = file.optimizer.generational
    try:
        _set_optimizer(config, name, options)
    except InputError as e:
        for some in ({}, *({option: value} for option, value in options.items())):
            with mistakes.at(heading, "optimizer", *(some or ("name",))):
                _set_optimizer(config, name, some)
            if not some and mistakes.concern("optimizer"):
                return
        if not mistakes.concern("optimizer"):
            mistakes.add(("optimizer",), f"{heading}{e}")


def _set_optimizer(config: _core.StudyConfig, name: str | None, options: Mapping[str, Any]) -> None:
    """Without a name the space and the goals decide, which are there by now.

    Raises InputError for an optimizer or an option that there is not, and one that cannot work on this.
    """
    config.optimizer = name or ""
    check(options)
    config.optimizer_options = dict(options)
    _core.choose_optimizer(config)
    _core.check_optimizer(config)


def identify(config: _core.StudyConfig, evaluator: list[Any]) -> None:
    """By what the user calls the evaluator, so that a study may move to another folder."""
    config.evaluator_identity = json.dumps(evaluator)
    config.fingerprint = _core.fingerprint_of(config)
