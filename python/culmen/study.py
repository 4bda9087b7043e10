"""A study: what is in a study file, ready to run."""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core, digest, machine
from ._core import InputError
from .evaluations import CandidateEvaluator, evaluations_of_program, with_workers
from .evaluator import check_command, digest_of, evaluator_of
from .fit.studies import Lend, errors_of_study, finder, with_errors_of_ranks
from .goals import naming, set_goals, set_stop
from .master import execute, letting_ranks_go
from .progress import make_monitor
from .ranks import is_master
from .report.table import read
from .result import Result, warn, warn_when_all_failed
from .space import Parameter, Space
from .stores import function_in, open_store
from .study_file import StudyFile, checked, read_study_file

if TYPE_CHECKING:
    import plotly.graph_objects

    from .fit.errors import Errors


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
        file = read_study_file(path)
        file.seed = file.seed if seed is None else seed
        file.limit(str(path), **given)
        return cls.of(file, path.resolve().parent, str(path), str(store or file.store or f"{file.name}.db"))

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
        study = cls.of(file, folder, str(path), str(path))
        study.go_on()
        return study

    @classmethod
    def of(cls, file: StudyFile, folder: Path, source: str, store: str, f: Any = None) -> "Study":
        """``folder`` is where relative paths begin; ``source`` what messages begin with; ``f`` a program's function."""
        config = _config_of(file, folder, source)
        if store:
            config.evaluator.working_folder = str(working_folder(Path(store)))
        file.optimizer.name = config.optimizer
        if file.evaluator.kind == "function":
            now = digest.of_function(f, file.evaluator.named)
        else:
            now = digest_of(config.evaluator, file.evaluator, folder)
        config.configuration = file.normalised(folder, now, machine.here())
        return cls(config, _options_of(file, store), now, source)

    def go_on(self) -> None:
        """With what is in the store, which keeps where and with what it was begun.

        Raises InputError where there is no store, StoreError where it is damaged."""
        stored = json.loads(open_store(self.options.store).configuration or "{}")
        begun = {key: stored[key] for key in (digest.KEY, machine.KEY) if key in stored}
        self.config.configuration = json.dumps({**json.loads(self.config.configuration), **begun})
        self.options.resume = True

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
                if note := self.change():
                    warn(f"{note}; another store begins anew")
        with self.lend() as self.options.lent:
            core = execute(self.config, self.options, make_monitor(progress))
        space = self.config.space
        result = Result.of(core, space, finder(self.config, self.options, self.lend) if leads else None)
        if on_ranks:
            result = with_errors_of_ranks(result, space)
        if leads:
            warn_when_all_failed(result)
        return result

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


def working_folder(store: Path) -> Path:
    """Where each evaluation of a command has a folder of its own."""
    return store.resolve().with_suffix(".work")


def _options_of(file: StudyFile, store: str) -> _core.RunOptions:
    options = _core.RunOptions()
    options.workers = file.run.workers or 0
    options.prefetch = file.run.prefetch
    options.durability = file.run.durability
    options.store = store
    return options


def _config_of(file: StudyFile, folder: Path, source: str) -> _core.StudyConfig:
    config = _core.StudyConfig()
    config.name, config.seed = file.name, file.seed
    with naming(f"{source}: {file.place('space')}"):
        parameters = {name: Parameter(**p.model_dump()) for name, p in file.space.items()}
        config.space = Space(parameters).core
    with naming(f"{source}: [constraints] "):
        config.space = Space(parameters, file.constraints).core
    config.evaluator = evaluator_of(file.evaluator, folder, f"{source}: {file.place('evaluator')}")
    check_command(config.space, config.evaluator, f"{source}: {file.place('evaluator')}")
    with naming(f"{source}: "):
        set_goals(config, file)
        set_stop(config, file)
    config.evaluate_infeasible = file.evaluator.evaluate_infeasible
    set_optimizer(config, file.optimizer.name, file.optimizer.model_extra or {}, f"{source}: {file.place('optimizer')}")
    config.on_failure, config.retries = file.evaluator.on_failure, file.evaluator.retries
    config.give_up_after = file.evaluator.give_up_after
    identify(config, [file.evaluator.kind, file.evaluator.named, *filter(None, [file.evaluator.deciding])])
    return config


def set_optimizer(config: _core.StudyConfig, name: str | None, options: Mapping[str, Any], place: str) -> None:
    """Without a name the space and the goals decide, which are there by now.

    Raises InputError for an optimizer or an option that there is not, and one that cannot work on this.
    """
    config.optimizer = name or ""
    for option, value in options.items():
        if not isinstance(value, (bool, int, float, str)):
            raise InputError(f"{place}option '{option}' is {value!r}; a number, a word, or true or false is wanted")
    config.optimizer_options = dict(options)
    _core.choose_optimizer(config)
    with naming(place):
        _core.check_optimizer(config)


def identify(config: _core.StudyConfig, evaluator: list[Any]) -> None:
    """By what the user calls the evaluator, so that a study may move to another folder."""
    config.evaluator_identity = json.dumps(evaluator)
    config.fingerprint = _core.fingerprint_of(config)
