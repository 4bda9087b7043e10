"""``culmen.minimize``: a Python function, its bounds, and the best parameters."""

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import InputError
from .base.keywords import explained
from .launch.ranks import end_launch_with_rank, is_master, letting_ranks_go
from .problem.command import Command
from .problem.space import Bounds, Constraints, Space, Value, as_table, plain
from .run.errors import with_errors_of_ranks
from .run.result import Result
from .run.study import Study
from .slot.callables import Positional, Travelling
from .slot.signature import misfit
from .study_file import Mistakes, program_study

if TYPE_CHECKING:
    from concurrent.futures import Executor

_EXAMPLE = 'culmen.minimize(f, {"x": (0, 1)}, budget=1000)'
_WORDS = {
    **dict.fromkeys(("evaluations", "n_trials", "maxiter", "maxfun", "maxfev", "maxfevals", "max_evals"), "budget"),
    **dict.fromkeys(("max_nfev", "n_calls", "iterations", "n_iter"), "budget"),
    **dict.fromkeys(("method", "algorithm", "sampler"), "optimizer"),
    **dict.fromkeys(("bounds", "dimensions", "search_space", "parameters"), "space"),
    **dict.fromkeys(("x0", "p0", "initial", "start"), "starts"),
    **dict.fromkeys(("fun", "func", "function", "objective"), "f"),
    **dict.fromkeys(("n_jobs", "n_workers", "processes"), "workers"),
    **dict.fromkeys(("tol", "ftol", "patience", "tolstagnation"), "stagnation"),
    **dict.fromkeys(("ftarget", "stop_value"), "target"),
    **dict.fromkeys(("direction", "directions"), "objectives"),
    **dict.fromkeys(("random_state", "rng"), "seed"),
    **dict.fromkeys(("verbose", "disp", "show_progress_bar"), "progress"),
    **{"timeout": "wall_time_s", "storage": "store", "pool": "executor", "env": "environment"},
}
_ANSWERS = {
    "args": "functools.partial(f, …), or a lambda, brings further arguments",
    "jac": "derivatives are not used",
    "hess": "derivatives are not used",
    "callback": "progress=True shows how far it is, store='fit.db' records each evaluation",
    "maximize": 'objectives={"value": "maximize"} maximizes',
}


@explained("culmen.minimize", _EXAMPLE, _WORDS, _ANSWERS)
def minimize(
    f: Callable[[Any], Any] | Command,
    space: Space | Mapping[str, Bounds] | Iterable[Bounds],
    *,
    budget: int | None = None,
    workers: int | None = None,
    optimizer: str | Sequence[str] | None = None,
    options: Mapping[str, bool | float | str] | None = None,
    generational: bool | None = None,
    seed: int = 1,
    target: float | None = None,
    wall_time_s: float | None = None,
    stagnation: int | None = None,
    stagnation_tolerance: float | None = None,
    constraints: Constraints | None = None,
    starts: Sequence[Mapping[str, Value] | Sequence[float]] = (),
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
    evaluate_infeasible: bool = False,
    store: str | Path | None = None,
    durability: str = "process",
    prefetch: bool = True,
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
    without an improvement; ``stagnation_tolerance`` says what counts as one, as in a study file) and ``wall_time_s``
    ends it.
    ``constraints``: conditions on the parameters such as "x + y <= 1"; what violates them is never evaluated, unless
    ``evaluate_infeasible``.
    ``starts``: what is evaluated first, each a dict of the parameters or a list in the space's order.
    ``objectives``: names of figures and "minimize" or "maximize"; ``f`` then returns a dict of figures, or as many
    numbers. Several of them give a ``front``. ``limits``: bounds of further figures: {"stress": {"upper": 250}}.
    ``workers``: evaluations at a time, by default one per CPU; under mpiexec the other ranks are the workers, and every
    rank returns the same result: ``culmen.is_master()`` is true in one of them.
    ``store``: a file that records each evaluation; when it is there already, the study in it goes on from where it was.
    ``durability``: "process" (it survives any end of this process) or "power" (also that of the machine).
    ``prefetch``: a worker has its next candidate before it has answered.
    ``optimizer``: as ``culmen optimizers`` lists them, also of other libraries, with ``options`` of its own; a list of
    them is a chain, of which each begins at the best of the one before, with ``options`` such as {"cmaes":
    {"population": 20, "evaluations": 1000}}. Without it the space and the objectives decide, and the result says what
    was chosen.
    ``generational=True``: the same ``seed`` gives the same candidates, whatever the number and speed of
    workers; False: no worker waits for others, and timing decides too. Where it is not given, "auto" (or no
    optimizer) is asynchronous where workers are many: four or more and, of n real parameters, more than 2 (n + 1) or
    with a budget of 100 n evaluations for each. All others are generational; the result's ``generational`` says which.
    ``progress``: draw it; None: where standard output is a terminal.
    ``executor``: a ``concurrent.futures.Executor`` that evaluates instead of processes of culmen's own: Dask's,
    mpi4py.futures', the standard library's, culmen.Executor; ``workers`` is then how many evaluations it is given at a
    time, by default as many as it has workers.

    The result's ``errors`` are those of the parameters, by further evaluations.

    Ctrl-C ends the study cleanly: the result is the best so far, its ``reason`` "interrupted"; a second one, or one
    before anything has succeeded, raises KeyboardInterrupt. SIGTERM, SIGHUP and SIGUSR1 end it as cleanly, and then the
    program, which may have handlers of its own for them.
    Raises InputError for arguments that are not allowed, StoreError, TransportError. Warns when every evaluation
    failed, and when ``f`` is no longer the function that ``store`` began with (what ``f`` calls is not looked at).
    """
    given = {name: plain(value) for name, value in locals().items() if name not in _NO_DATA}
    if executor is None:
        end_launch_with_rank()
        if not is_master():
            core = Space(space).core
            return with_errors_of_ranks(Result.of(_core.serve_rank(), core), core)
    with letting_ranks_go() if executor is None else nullcontext():
        checked_space = Space(space, constraints)
        study = _study_of(f, checked_space, given, store)
        function: Any = Positional(f) if checked_space.positional and not isinstance(f, Command) else f
        if executor is not None:
            _lend(study, function, executor)
        elif not isinstance(f, Command):
            study.config.evaluator.pickle = _pickled(function)
        if store is not None and Path(store).exists():
            study.go_on()
    return study.run(progress=progress)


_NO_DATA = ("f", "space", "constraints", "store", "progress", "executor")


def _study_of(f: Any, space: Space, given: Mapping[str, Any], store: str | Path | None) -> Study:
    evaluator: dict[str, Any]
    if isinstance(f, Command):
        if not f.words:
            raise InputError("culmen.minimize: Command([]): a program and its arguments are wanted")
        evaluator, folder = {"command": f.words, **f.options}, f.folder
    else:
        name = f"{getattr(f, '__module__', '?')}.{getattr(f, '__qualname__', type(f).__name__)}"
        evaluator, folder = {"function": name, "positional": space.positional or None}, Path.cwd()
    tables = {p.name: as_table(p) for p in space.core.parameters}
    if isinstance(given["starts"], list):
        given = {**given, "starts": [_named(start, space.names) for start in given["starts"]]}
    called = getattr(f, "__name__", "function").replace("/", "_")
    file = program_study(called, tables, dict(space.core.constraints), evaluator, given)
    if file.evaluator.output == "all" and store is None:
        raise InputError('culmen.minimize: output = "all" keeps what is printed beside the store; give store as well')
    return Study.of(file, folder, Mistakes("culmen.minimize"), str(store or ""), f)


def _named(start: Any, names: list[str]) -> Any:
    fits = isinstance(start, list) and len(start) == len(names)
    return dict(zip(names, start, strict=True)) if fits else start


def _lend(study: Study, f: Any, executor: "Executor") -> None:
    """The program's executor evaluates, in this process as far as culmen knows."""
    spec = study.config.evaluator
    given = {
        "a Command": isinstance(f, Command),
        "batch": spec.kind == "python" and spec.batch,
        "environment": spec.environment,
        "modules": spec.modules,
        "output": spec.output != "failures",
    }
    for name in (name for name, is_given in given.items() if is_given):
        raise InputError(
            f"culmen.minimize: {name} is for processes of culmen's own, not for an executor of the program; leave one "
            "of the two out"
        )
    if spec.time_limit_s:
        raise InputError(
            f"culmen.minimize: time_limit_s = {spec.time_limit_s:g} cannot be kept on an executor of the program: what "
            "runs there is that executor's to end; leave one of the two out"
        )
    spec.kind, spec.isolation = "function", "none"
    study.lend = partial(_lent, executor, f, study)


def _lent(executor: "Executor", f: Any, study: Study) -> AbstractContextManager[_core.LentWorkers]:
    from .executor.lent import LentFunction, lending, width  # concurrent.futures, which other calls do not need

    config = study.config
    function = LentFunction(f, config.evaluator.result, [name for name, _ in config.objectives])
    return lending(executor, function, config.space, width(executor, study.options.workers or None))


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
