"""``culmen.minimize``: a Python function, its bounds, and the best parameters."""

import json
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from . import _core, digest, machine
from ._core import InputError
from .callables import Positional, Travelling
from .command import Command
from .evaluator import check_command, digest_of, set_command, set_options
from .fit.studies import find_later, with_errors
from .goals import naming, set_goals, set_stop
from .master import execute, letting_ranks_go
from .progress import make_monitor
from .ranks import end_launch_with_rank, is_master
from .result import Result, warn_when_all_failed
from .slot.signature import misfit
from .space import Bounds, Constraints, Space, Value, as_table, plain
from .stores import working_folder
from .study import identify, set_optimizer
from .study_file import CommandOptions, Count, EvaluatorOptions, Finite, LimitTable, Seconds, Table, checked

if TYPE_CHECKING:
    from concurrent.futures import Executor


def minimize(
    f: Callable[[Any], Any] | Command,
    space: Space | Mapping[str, Bounds] | Iterable[Bounds],
    *,
    budget: int | None = None,
    workers: int | None = None,
    optimizer: str | None = None,
    options: Mapping[str, bool | float | str] | None = None,
    seed: int = 1,
    target: float | None = None,
    wall_time_s: float | None = None,
    stagnation: int | None = None,
    constraints: Constraints | None = None,
    starts: Sequence[Mapping[str, Value]] = (),
    objectives: Mapping[str, str] | None = None,
    limits: Mapping[str, Mapping[str, float]] | None = None,
    result: str = "value",
    batch: int | None = None,
    environment: Mapping[str, str] | None = None,
    modules: Sequence[str] = (),
    output: str = "failures",
    time_limit_s: float | None = None,
    on_failure: str = "penalise",
    retries: int = 2,
    give_up_after: int = 100,
    store: str | Path | None = None,
    progress: bool | None = None,
    executor: "Executor | None" = None,
) -> Result:
    """The parameters at which ``f`` is least.

    ``f`` gets a dict of the parameters by name; where ``space`` is a sequence of bounds it gets a list of numbers.
    It returns a number, or with ``result="residuals"`` a sequence of numbers whose squares are summed; either may come
    in a tuple with a dict of further figures. It runs in processes of its own and travels there by cloudpickle, so
    lambdas and functions of a notebook are fine. An exception, a crash, a NaN, or more than ``time_limit_s`` seconds is
    a failed evaluation, not an error of this call; ``on_failure`` says what follows: "penalise" (worse than any value),
    "retry" (at most ``retries`` times), or "stop". Where the first ``give_up_after`` evaluations all fail it ends
    (0: it does not).

    ``f`` may be a ``culmen.Command`` instead: a program.
    ``batch``: ``f`` gets up to so many candidates at once, a dict of vectors (NumPy's where it is installed), and
    returns a vector of values; residuals are an array with a row for each, further figures are vectors. Where a batch
    raises, crashes or takes longer than ``time_limit_s``, each of its candidates is tried alone.
    ``environment``: variables of the processes of ``f``; ``modules``: environment modules that are loaded first.
    ``output``: what ``f`` prints comes with the message of a crash ("failures"), is kept beside the store as well
    ("all"), or is dropped ("none").

    At least one of ``budget`` (evaluations), ``target`` (a value that is good enough), ``stagnation`` (evaluations
    without an improvement) and ``wall_time_s`` ends it.
    ``constraints``: conditions on the parameters such as "x + y <= 1"; what violates them is never evaluated.
    ``starts``: what is evaluated first, a dict of the parameters each.
    ``objectives``: names of figures and "minimize" or "maximize"; ``f`` then returns a dict of figures, or as many
    numbers. Several of them give a ``front``. ``limits``: bounds of further figures: {"stress": {"upper": 250}}.
    ``workers``: evaluations at a time, by default one per CPU; under mpiexec the other ranks are the workers, and every
    rank returns the same result: ``culmen.is_master()`` is true in one of them. The same ``seed`` gives the same
    candidates, whatever the number of workers.
    ``store``: a file that records each evaluation; when it is there already, the study in it goes on from where it was.
    ``optimizer``: as ``culmen optimizers`` lists them, with ``options`` of its own; without it the space and the
    objectives decide, and the result says what was chosen.
    ``progress``: draw it; None: where standard output is a terminal.
    ``executor``: a ``concurrent.futures.Executor`` that evaluates instead of processes of culmen's own: Dask's,
    mpi4py.futures', the standard library's, culmen.Executor; ``workers`` is then how many evaluations it is given at a
    time, by default as many as it has workers.

    The result's ``errors`` are those of the parameters, by further evaluations.

    Raises InputError for arguments that are not allowed, StoreError, TransportError. Ctrl-C ends the study cleanly and
    raises KeyboardInterrupt. Warns when every evaluation failed, and when ``f`` is no longer the function that
    ``store`` began with (what ``f`` calls is not looked at).
    """
    if executor is None:
        end_launch_with_rank()
        if not is_master():
            found = Result.of(_core.serve_rank(), Space(space).core)
            return with_errors(found, Space(space).core, None, None)
    with letting_ranks_go() if executor is None else nullcontext():
        rules = {"evaluations": budget, "target": target, "wall_time_s": wall_time_s, "stagnation": stagnation}
        given = {
            "workers": workers,
            "seed": seed,
            "result": result,
            "batch": batch,
            "environment": dict(environment or {}),
            "modules": list(modules),
            "output": output,
            "time_limit_s": time_limit_s,
            "on_failure": on_failure,
            "retries": retries,
            "give_up_after": give_up_after,
            "budget": budget,
            "target": target,
            "wall_time_s": wall_time_s,
            "stagnation": stagnation,
            "objectives": objectives or {},
            "limits": limits or {},
            "starts": starts,
        }
        given = {name: plain(value) for name, value in given.items() if value is not None}
        arguments = _checked(f, given, store)
        if not any(limit is not None for limit in rules.values()):
            raise InputError(
                "culmen.minimize: at least one of budget, target, stagnation and wall_time_s is wanted, or it would "
                "never end"
            )
        checked_space = Space(space, constraints)
        config = _config_of(f, checked_space, arguments, optimizer, options or {})
        function: Any = Positional(f) if checked_space.positional and not isinstance(f, Command) else f
        if executor is not None:
            _lend(config, f)
        elif not isinstance(f, Command):
            config.evaluator.pickle = _pickled(function)
        run_options = _core.RunOptions()
        run_options.workers = arguments.workers or 0
        run_options.store = str(store or "")
        run_options.resume = store is not None and Path(store).exists()
        if run_options.resume:
            _warn_of_change(str(store), config)
    with _folder_of_evaluations(store) as folder:
        config.evaluator.working_folder = str(folder)
        if executor is None:
            core = execute(config, run_options, make_monitor(progress))
            found = with_errors(Result.of(core, config.space), config.space, config, run_options)
        else:
            lend = partial(_lent, executor, function, config, run_options)
            with lend() as run_options.lent:
                core = execute(config, run_options, make_monitor(progress))
            found = Result.of(core, config.space)
            find_later(found, config, run_options, lend)
    warn_when_all_failed(found, stacklevel=3)
    return found


def _lend(config: _core.StudyConfig, f: Any) -> None:
    """The program's executor evaluates, in this process as far as culmen knows."""
    given = {
        "a Command": isinstance(f, Command),
        "batch": config.evaluator.batch,
        "environment": config.evaluator.environment,
        "modules": config.evaluator.modules,
        "output": config.evaluator.output != "failures",
    }
    for name in (name for name, is_given in given.items() if is_given):
        raise InputError(
            f"culmen.minimize: {name} is for processes of culmen's own, not for an executor of the program; leave one "
            "of the two out"
        )
    if config.evaluator.time_limit_s:
        raise InputError(
            f"culmen.minimize: time_limit_s = {config.evaluator.time_limit_s:g} cannot be kept on an executor of the "
            "program: what runs there is that executor's to end; leave one of the two out"
        )
    config.evaluator.kind, config.evaluator.isolation = "function", "none"


def _lent(
    executor: "Executor", function: Callable[[Any], Any], config: _core.StudyConfig, options: _core.RunOptions
) -> AbstractContextManager[_core.LentWorkers]:
    from .lent import LentFunction, lending, width

    lent_function = LentFunction(function, config.evaluator.result, [name for name, _ in config.objectives])
    return lending(executor, lent_function, config.space, width(executor, options.workers or None))


@contextmanager
def _folder_of_evaluations(store: str | Path | None) -> Iterator[Path]:
    """Beside the store; without one a folder that goes in the end."""
    if store is not None:
        yield working_folder(Path(store))
        return
    with tempfile.TemporaryDirectory(prefix="culmen-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


class _Limits(Table):
    budget: Count | None = None
    workers: Count | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    target: Finite | None = None
    wall_time_s: Seconds | None = None
    stagnation: Count | None = None
    objectives: dict[str, Literal["minimize", "maximize"]] = Field(default_factory=dict)
    limits: dict[str, LimitTable] = Field(default_factory=dict)
    starts: list[dict[str, Any]] = Field(default_factory=list)


class _Arguments(_Limits, EvaluatorOptions):
    """Of a function."""


class _CommandArguments(_Limits, CommandOptions):
    """Of a command."""


def _checked(f: Any, given: dict[str, Any], store: str | Path | None) -> _Arguments | _CommandArguments:
    arguments: _Arguments | _CommandArguments
    if isinstance(f, Command):
        if "batch" in given:
            raise InputError("culmen.minimize: batch is for functions; a command is given one candidate at a time")
        arguments = checked(_CommandArguments, {**given, **f.options}, "culmen.minimize")
    else:
        arguments = checked(_Arguments, given, "culmen.minimize")
    if arguments.output == "all" and store is None:
        raise InputError('culmen.minimize: output = "all" keeps what is printed beside the store; give store as well')
    return arguments


def _config_of(
    f: Callable[[Any], Any] | Command,
    space: Space,
    arguments: _Arguments | _CommandArguments,
    optimizer: str | None,
    options: Mapping[str, Any],
) -> _core.StudyConfig:
    config = _core.StudyConfig()
    config.name, config.space, config.seed = getattr(f, "__name__", "function"), space.core, arguments.seed
    set_options(config.evaluator, arguments)
    if isinstance(f, Command):
        assert isinstance(arguments, _CommandArguments)
        function, identity, now = _set_command(config, f, arguments)
    else:
        function = f"{getattr(f, '__module__', '?')}.{getattr(f, '__qualname__', type(f).__name__)}"
        identity, now = ["function", function], digest.of_function(f, function)
        config.evaluator.kind, config.evaluator.base_folder = "python", str(Path.cwd())
    with naming("culmen.minimize: "):
        set_goals(config, arguments.objectives, arguments.limits, arguments.starts)
        given = {"evaluations": arguments.budget} | {n: getattr(arguments, n) for n in _RULES}
        rules = {name: rule for name, rule in given.items() if rule is not None}
        set_stop(config, rules)
    set_optimizer(config, optimizer, options, "culmen.minimize: ")
    config.on_failure, config.retries = arguments.on_failure, arguments.retries
    config.give_up_after = arguments.give_up_after
    about = {"function": function, digest.KEY: now, machine.KEY: machine.here()}
    chosen = {"seed": arguments.seed, "optimizer": {"name": config.optimizer, **options}, "stop": rules}
    config.configuration = json.dumps({**about, **chosen, **_described(space, arguments)})
    identify(config, identity)
    return config


def _set_command(
    config: _core.StudyConfig, command: Command, options: CommandOptions
) -> tuple[str, list[Any], digest.Digest | None]:
    """What it is called, what identifies it, and its digest."""
    config.evaluator.kind, config.evaluator.base_folder = "command", str(command.folder)
    if not command.words:
        raise InputError("culmen.minimize: Command([]): a program and its arguments are wanted")
    set_command(config.evaluator, command.words, options, command.folder, "culmen.minimize: Command ")
    with naming("culmen.minimize: Command "):
        check_command(config.space, config.evaluator)
    identity = ["command", command.words, *filter(None, [options.deciding])]
    return repr(command), identity, digest_of(config.evaluator, options, command.folder)


_RULES = ("target", "wall_time_s", "stagnation")


def _described(space: Space, arguments: _Limits) -> dict[str, Any]:
    """The tables of a study file that say the same; those that are empty are left out."""
    tables = {
        "space": {p.name: as_table(p) for p in space.core.parameters},
        "constraints": dict(space.core.constraints),
        **arguments.model_dump(include={"objectives", "limits", "starts"}, exclude_none=True),
    }
    return {name: table for name, table in tables.items() if table}


def _warn_of_change(store: str, config: _core.StudyConfig) -> None:
    stored = _core.Store.read(store).configuration
    note = digest.change(stored, digest.begun_with(config.configuration))
    config.configuration = stored
    if note:
        warnings.warn(f"{note}; another store begins anew", stacklevel=3)


def _pickled(f: Callable[[Any], Any]) -> bytes:
    import cloudpickle

    if not callable(f):
        raise InputError(f"culmen.minimize: f = {f!r}: a function is wanted")
    if why := misfit(f.function, "p[0]") if isinstance(f, Positional) else misfit(f):
        raise InputError(f"culmen.minimize: {why}")
    try:
        return pickle.dumps(Travelling(cloudpickle.dumps(f)))
    except Exception as e:
        raise InputError(f"culmen.minimize: the function cannot be sent to other processes: {e}") from None
