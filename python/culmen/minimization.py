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
    "args": "use functools.partial(f, …) or a lambda for more arguments",
    "jac": "derivatives are not used",
    "hess": "derivatives are not used",
    "callback": "progress=True shows the progress, store='fit.db' records each evaluation",
    "maximize": 'write objectives={"value": "maximize"}',
}


@explained("culmen.minimize", _EXAMPLE, _WORDS, _ANSWERS)
def minimize(
    f: Callable[[Any], Any] | Command,
    space: Space | Mapping[str, Bounds] | Iterable[Bounds],
    *,
    # By tools/quote_settings, from the models of study_file:
    budget: int | None = None,
    target: float | None = None,
    stagnation: int | None = None,
    stagnation_tolerance: float | None = None,
    wall_time_s: float | None = None,
    seed: int = 1,
    generational: bool | None = None,
    result: str = "value",
    time_limit_s: float | None = None,
    batch: int | None = None,
    environment: Mapping[str, str] | None = None,
    modules: Sequence[str] = (),
    output: str = "failures",
    on_failure: str = "penalise",
    retries: int = 2,
    give_up_after: int = 100,
    evaluate_infeasible: bool = False,
    workers: int | None = None,
    prefetch: bool = True,
    durability: str = "process",
    # The program's own:
    optimizer: str | Sequence[str] | None = None,
    options: Mapping[str, bool | float | str] | None = None,
    constraints: Constraints | None = None,
    starts: Sequence[Mapping[str, Value] | Sequence[float]] = (),
    objectives: Mapping[str, str] | None = None,
    limits: Mapping[str, Mapping[str, float]] | None = None,
    store: str | Path | None = None,
    progress: bool | None = None,
    executor: "Executor | None" = None,
) -> Result:
    """Finds the parameters at which ``f`` is least.

    ``f`` gets a dict of the parameters by name; if ``space`` is a sequence of bounds, it gets a list of numbers.
    It returns a number, or with ``result="residuals"`` a sequence of numbers whose squares are summed. Either may come
    in a tuple with a dict of extra values. ``f`` runs in child processes and travels there by cloudpickle, so lambdas
    and functions of a notebook work. An exception, a crash, a NaN, or more than ``time_limit_s`` seconds is a failed
    evaluation, not an error of this call. ``f`` may be a ``culmen.Command`` instead: a program.

    With ``batch``, ``f`` gets a dict of vectors (NumPy's if it is installed) and returns a vector of values. Residuals
    are then an array with one row for each candidate; extra values are vectors. If a batch raises, crashes or takes
    longer than ``time_limit_s``, each of its candidates is evaluated alone.

    Keys of a study file, as arguments; give at least one of ``budget`` (``evaluations`` in a study file), ``target``,
    ``stagnation`` and ``wall_time_s``:

    - ``budget``: the study ends after this number of evaluations
    - ``target``: the study ends when it finds this value or a better value
    - ``stagnation``: the study ends after this number of evaluations without an improvement
    - ``stagnation_tolerance``: the smallest improvement that counts for ``stagnation``, as a share of the total
      improvement since the first value
    - ``wall_time_s``: the run ends after this number of seconds, and the study can be resumed
    - ``seed``: seed of the random numbers, an integer ≥ 0. The same seed gives the same candidates, except in
      asynchronous studies
    - ``generational``: true: the number and the speed of the workers do not change the candidates. false: no worker
      waits for other workers, and the candidates depend on timing
    - ``result``: ``"value"``: the evaluator returns one number. ``"residuals"``: the evaluator returns a list of
      numbers, and culmen minimizes the sum of their squares
    - ``time_limit_s``: time limit of one evaluation in seconds
    - ``batch``: the Python function receives up to this number of candidates in one call
    - ``environment``: environment variables of the evaluator
    - ``modules``: environment modules that each worker loads
    - ``output``: which output of the evaluator culmen keeps: ``"failures"``, ``"all"`` or ``"none"``
    - ``on_failure``: ``"penalise"``: a failed evaluation counts as worse than any value. ``"retry"``: culmen repeats
      the evaluation up to ``retries`` times. ``"stop"``: the run ends and can be resumed
    - ``retries``: largest number of repetitions for ``"retry"``
    - ``give_up_after``: the run ends after this number of failures if no evaluation has succeeded. 0: no such limit
    - ``evaluate_infeasible``: true: candidates that violate a constraint are evaluated, too
    - ``workers``: number of evaluations in parallel. Under MPI, every rank except the master is a worker
    - ``prefetch``: true: if evaluations are short, each worker receives its next candidate in advance
    - ``durability``: ``"process"``: stored results survive ``kill -9``. ``"power"``: stored results also survive a
      power failure

    Further arguments:

    - ``optimizer``: a name that ``culmen optimizers`` lists, also of other libraries, with its ``options``. A list of
      names is a chain: each optimizer starts at the best candidate of the previous one, with ``options`` such as
      {"cmaes": {"population": 20, "evaluations": 1000}}. Without a name, culmen chooses one by the space and the
      objectives; the result names it. "auto" (or no optimizer) is asynchronous if there are at least four workers and,
      for n real parameters, either more than 2 (n + 1) workers or a budget of at least 100 n evaluations for each
      worker; ``generational`` prevents or demands it. All others are generational unless ``generational=False``. The
      result's ``generational`` says which.
    - ``constraints``: conditions on the parameters such as "x + y <= 1". A candidate that violates one is not
      evaluated, unless ``evaluate_infeasible``.
    - ``starts``: the first candidates, each a dict of the parameters or a list in the space's order.
    - ``objectives``: names of values, each with "minimize" or "maximize"; ``f`` then returns a dict of values, or one
      number for each objective. Several objectives give a ``front``.
    - ``limits``: bounds of extra values: {"stress": {"upper": 250}}.
    - ``store``: a file that records each evaluation; if it exists, its study is resumed.
    - ``progress``: draw the progress; None: if standard output is a terminal.
    - ``executor``: a ``concurrent.futures.Executor`` that evaluates instead of culmen's processes: Dask's,
      mpi4py.futures', the standard library's, culmen.Executor. ``workers`` is then its number of evaluations in
      parallel, by default the number of its workers.

    Under mpiexec the other ranks are the workers, and every rank returns the same result: ``culmen.is_master()`` is
    true in one of them.

    The result's ``errors`` are those of the parameters; they need more evaluations.

    Ctrl-C stops the study cleanly: the result is the best so far, its ``reason`` "interrupted". A second Ctrl-C, or one
    before any success, raises KeyboardInterrupt. SIGTERM, SIGHUP and SIGUSR1 stop the study as cleanly, and then the
    program, unless it has its own handlers for them.
    Raises InputError for wrong arguments, StoreError, TransportError. Warns if every evaluation failed, and if ``f``
    has changed since ``store`` was made (functions that ``f`` calls are not compared).
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
            study.prepare_resume()
    return study.run(progress=progress)


_NO_DATA = ("f", "space", "constraints", "store", "progress", "executor")


def _study_of(f: Any, space: Space, given: Mapping[str, Any], store: str | Path | None) -> Study:
    evaluator: dict[str, Any]
    if isinstance(f, Command):
        if not f.words:
            raise InputError("culmen.minimize: Command([]): give a program and its arguments")
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
        raise InputError('culmen.minimize: output = "all" keeps the output beside the store; give store as well')
    return Study.of(file, folder, Mistakes("culmen.minimize"), str(store or ""), f)


def _named(start: Any, names: list[str]) -> Any:
    fits = isinstance(start, list) and len(start) == len(names)
    return dict(zip(names, start, strict=True)) if fits else start


def _lend(study: Study, f: Any, executor: "Executor") -> None:
    """The program's executor evaluates; culmen starts no processes."""
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
            f"culmen.minimize: {name} works only in culmen's own processes, not on a lent executor; remove one of the "
            "two"
        )
    if spec.time_limit_s:
        raise InputError(
            f"culmen.minimize: time_limit_s = {spec.time_limit_s:g} does not work on a lent executor, because culmen "
            "cannot end its tasks; remove one of the two"
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
        raise InputError(f"culmen.minimize: f must be a function, got {f!r}")
    if why := misfit(f.function, "p[0]") if isinstance(f, Positional) else misfit(f):
        raise InputError(f"culmen.minimize: {why}")
    try:
        return pickle.dumps(Travelling(cloudpickle.dumps(f)))
    except Exception as e:
        raise InputError(f"culmen.minimize: the function cannot be sent to other processes: {e}") from None
