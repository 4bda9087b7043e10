"""``culmen.minimize``: a Python function, its bounds, and the best parameters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import InputError
from .base.arguments import path_in
from .base.keywords import explained
from .launch.ranks import end_launch_with_rank, is_master, letting_ranks_go
from .problem.command import Command
from .problem.given import Value, as_argument
from .problem.options import as_option
from .problem.parameter import Bounds
from .problem.space import Constraints, Space
from .run.callback import Evaluated
from .run.errors import with_errors_of_ranks
from .run.program import ANSWERS, WORDS, callable_of, pickled, study_of
from .run.result import Result, checked
from .run.study import Study
from .study_file.listening import ListeningTable

if TYPE_CHECKING:
    from concurrent.futures import Executor

_EXAMPLE = 'culmen.minimize(f, {"x": (0, 1)}, budget=1000)'


@explained("culmen.minimize", _EXAMPLE, WORDS, ANSWERS, as_option)
def minimize(
    f: Callable[..., Any] | Command,
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
    loss: str = "linear",
    f_scale: float = 1.0,
    time_limit_s: float | None = None,
    batch: int | None = None,
    environment: Mapping[str, str | None] | None = None,
    modules: Sequence[str] = (),
    data: Sequence[str] = (),
    output: str = "failures",
    on_failure: str = "penalise",
    retries: int = 2,
    give_up_after: int = 100,
    evaluate_infeasible: bool = False,
    workers: int | None = None,
    team_size: int | None = None,
    team_placement: str = "node",
    prefetch: bool = True,
    durability: str = "process",
    # The program's own:
    optimizer: str | Sequence[str] | None = None,
    options: Mapping[str, bool | float | str] | None = None,
    constraints: Constraints | None = None,
    fix: Mapping[str, Value] | None = None,
    starts: Sequence[Mapping[str, Value] | Sequence[float]] = (),
    objectives: Mapping[str, str] | None = None,
    limits: Mapping[str, Mapping[str, float] | str] | None = None,
    derived: Mapping[str, str] | None = None,
    residuals: Mapping[str, str] | None = None,
    store: str | Path | None = None,
    progress: bool | None = None,
    callback: Callable[[Evaluated], Any] | None = None,
    executor: "Executor | None" = None,
    accept_changes: bool = False,
    # By tools/quote_settings, from ListeningTable:
    listen: str | None = None,
    token_file: str | Path | None = None,
    certificate: str | Path | None = None,
    insecure: bool = False,
    io_threads: int = 1,
    largest_message_mib: int = 1024,
) -> Result:
    """Finds the parameters for which ``f`` is smallest. Example::

        result = culmen.minimize(lambda p: (p["x"] - 1) ** 2, {"x": (-5, 5)}, budget=100)
        print(result.best, result.value)

    - ``f``: the evaluator. It receives a dict of the parameters by name and returns a number. ``f`` may also be a
      program (``culmen.Command``).
    - ``space``: the parameters and their bounds: a dict such as ``{"x": (0, 1)}``, or a ``culmen.Space``. If ``space``
      is a list of bounds, ``f`` receives a list of numbers.

    The search is a *study*. It calls ``f`` for many *candidates*. A candidate is one set of values of the parameters.
    Each call is an *evaluation*.

    ``f`` runs in child processes. ``f`` may also be a lambda or a function of a notebook. ``f`` may return a tuple of
    its result and a dict of further numbers (extra values), which the store keeps. If ``f`` raises an exception,
    crashes, returns NaN or exceeds ``time_limit_s``, the evaluation fails. The study then continues.

    With ``batch``, ``f`` receives several candidates in one call (a batch). The dict then contains a vector of values
    for each parameter, with one value per candidate. ``f`` returns a vector of values or, for residuals, an array with
    one row per candidate. If a batch fails, culmen evaluates the candidates of this batch one by one.

    With ``team_size`` under MPI, several ranks call ``f`` together. The second argument of ``f`` is then the
    communicator of these ranks, an object of mpi4py. culmen uses the result of the first of these ranks. ``f`` runs in
    the ranks themselves, not in child processes.

    These arguments are also keys of a study file. In a study file, the name of ``budget`` is ``evaluations``. At least
    one of ``budget``, ``target``, ``stagnation`` and ``wall_time_s`` is necessary, except for a fit with the optimizer
    ``lm``. The arguments are:

    - ``budget``: the study ends after this number of evaluations
    - ``target``: the study ends when it finds this value or a better value
    - ``stagnation``: the study ends after this number of evaluations without an improvement
    - ``stagnation_tolerance``: ``stagnation`` ignores improvements below this share of the total improvement. With 0,
      every improvement counts
    - ``wall_time_s``: the run ends after this number of seconds (0 means no limit), and you can resume the study
    - ``seed``: seed of the random numbers, an integer ≥ 0. The same seed gives the same candidates, except in
      asynchronous studies
    - ``generational``: if false, no worker waits for other workers, and the candidates depend on timing (asynchronous)
    - ``result``: form of the result: ``"value"`` is one number, and ``"residuals"`` is a list of numbers. culmen
      minimizes the sum of the squared residuals, or a robust ``loss``
    - ``loss``: loss of residuals: ``"linear"`` is the sum of squares. ``"soft_l1"``, ``"huber"``, ``"cauchy"`` and
      ``"arctan"`` reduce the effect of outliers
    - ``f_scale``: residuals above about this size count as outliers; only for a ``loss`` other than ``"linear"``
    - ``time_limit_s``: time limit of one evaluation in seconds
    - ``batch``: the Python function receives up to this number of candidates in one call
    - ``environment``: environment variables of the evaluator
    - ``modules``: environment modules that each worker loads
    - ``data``: files and folders that the evaluator reads. If their content changes, culmen refuses to resume the study
    - ``output``: decides which output of the evaluator is kept: ``"none"``, ``"failures"`` or ``"all"``
    - ``on_failure``: what happens after a failed evaluation. With ``"penalise"``, the evaluation counts as worse than
      all successful evaluations. With ``"retry"``, culmen repeats the evaluation. With ``"stop"``, the run ends
    - ``retries``: largest number of repetitions with ``on_failure = "retry"``
    - ``give_up_after``: if no evaluation has succeeded, the run ends after this number of failures; 0 means no limit
    - ``evaluate_infeasible``: if true, culmen also evaluates candidates that violate a constraint
    - ``workers``: number of evaluations in parallel; no effect under MPI
    - ``team_size``: under MPI, this number of ranks (a team) evaluates each candidate together. Each team has a
      communicator
    - ``team_placement``: with ``"node"``, all ranks of a team are on one node. With ``"any"``, they can be on several
      nodes
    - ``prefetch``: if true, a worker with short evaluations receives candidates in advance
    - ``durability``: with ``"process"``, stored results survive ``kill -9``. With ``"power"``, they also survive a
      power failure

    Further arguments:

    - ``optimizer``: name of an optimizer; ``culmen optimizers`` lists them. A list of names is a chain: each optimizer
      starts at the best candidate of the previous optimizers. Without a name, culmen chooses the optimizer.
    - ``options``: options of the optimizer, such as ``{"population": 20}``. In a chain, name the optimizer:
      ``{"cmaes": {"population": 20}}``.
    - ``constraints``: expressions that every candidate must satisfy, such as ``["x + y <= 1"]``. Without
      ``evaluate_infeasible``, culmen does not evaluate a candidate that violates a constraint.
    - ``fix``: parameters that are fixed, with their values: ``{"n": 5}``. The optimizer does not vary these parameters,
      and ``f`` receives their values.
    - ``starts``: starting points, which culmen evaluates first. Each point is a dict of the parameters, or a list of
      numbers.
    - ``objectives``: names of values, each with a direction: ``{"cost": "minimize", "range": "maximize"}``. ``f`` then
      returns a dict of these values. With several objectives, the result is a Pareto front, ``result.front``. Instead
      of a direction, you can give an expression. culmen minimizes the expression in
      ``{"misfit": "(mass - 3)**2"}``, and maximizes the expression in ``{"gain": {"maximize": "a / b"}}``.
    - ``limits``: bounds on objectives or extra values, such as ``{"stress": {"upper": 250}}``, or conditions such as
      ``{"stress": "force / area <= 250"}``.
    - ``derived``: expressions of parameters and results, such as ``{"area": "width * height"}``. culmen stores their
      values as extra values.
    - ``residuals``: expressions for the residuals, such as ``{"mass": "(mass - 3) / 0.1"}``. ``f`` then returns
      a dict of numbers.
    - ``store``: path of a file that records each evaluation. If the file exists, culmen resumes the study in this file.
    - ``progress``: True shows the progress. False shows no progress. None shows the progress only on a terminal or in a
      notebook.
    - ``callback``: a function of your program. culmen calls this function after each evaluation, when the optimizer has
      received the result. The call runs in the thread that has called ``minimize``. The argument is an
      object of the class ``culmen.Evaluated``, with attributes such as ``params``, ``value``, ``best`` and
      ``best_value``. If the function returns True or raises StopIteration, the study stops. ``minimize`` then returns
      the best result so far, and ``result.reason`` is "callback". If the function raises another exception, the study
      also stops, and ``minimize`` raises this exception. Evaluations continue while the function runs. Therefore a
      short study can end before the function stops the study. ``result.message`` then says that the study had
      already ended.
    - ``executor``: a ``concurrent.futures.Executor``, for example of Dask. This executor runs the evaluations instead
      of the processes of culmen. ``workers`` is then the number of evaluations in parallel.
    - ``accept_changes``: True resumes the study in ``store`` even if ``f``, a value that ``f`` uses or a file in
      ``data`` has changed.

    Workers of other machines:

    - ``listen``: an address such as ``wss://0.0.0.0:7443``, at which workers of other machines can join the run. On
      standard error, the run prints the address and other information that the workers need. Without MPI, by default no
      worker runs on this machine. To start workers on this machine, give ``workers``. ``wss`` is encrypted, but ``ws``
      and ``tcp`` are not encrypted. Therefore ``ws`` and ``tcp`` require ``insecure``, except at the address
      ``127.0.0.1``
    - ``token_file``: with ``listen``, a file that contains the token. The token is a password that each worker must
      know. If the file does not exist, culmen creates it with a random token. At ``127.0.0.1``, no token is necessary
    - ``certificate``: with ``wss``, a file with the certificate of the run and the private key, in PEM format. If the
      file does not exist, culmen creates it. Default: ``~/.local/share/culmen/certificate.pem``
    - ``insecure``: with ``listen``, allow unencrypted connections from other machines
    - ``io_threads``: with ``listen``, number of threads that encrypt, send and receive messages. Hundreds of workers
      with short evaluations may need more than one thread. From 1 to 256
    - ``largest_message_mib``: with ``listen``, the largest message that a worker may send, in MiB. culmen refuses a
      worker that sends a larger message. From 1 to 4095

    If ``generational`` is None, culmen decides. The study can be asynchronous if there are at least four workers, and
    if you name no optimizer or only ``auto``. ``result.generational`` shows the decision.

    Under MPI, every rank must make this call, and every rank gets the same result. ``culmen.is_master()`` is True only
    in rank 0.

    Ctrl-C stops the study. The call then returns the best result so far, and ``result.reason`` is "interrupted". A
    second Ctrl-C, or Ctrl-C before the first success, raises KeyboardInterrupt. SIGTERM, SIGHUP and SIGUSR1 stop the
    study and then the program, unless the program handles these signals.

    ``result.read()`` returns the evaluations as arrays. Without a store, it returns only the latest evaluations, up to
    256 MB.

    Raises InputError for wrong arguments, StoreError if the store cannot be read or written, and TransportError if
    workers cannot be started. Raises AllFailedError if every evaluation failed.
    """
    if store is not None:
        path_in(store, "culmen.minimize: store", "fit.db")
    given = {name: as_argument(value) for name, value in locals().items() if name not in _NO_DATA}
    listening = {name: value for name, value in locals().items() if name in ListeningTable.model_fields}
    if executor is None:
        end_launch_with_rank()
        if not is_master():
            served = _core.serve_rank()  # first of all: rank 0 tells every rank what is wrong with the arguments
            core = Space(space).fixing(fix).core
            return checked(with_errors_of_ranks(Result.of(served, core), core))
    with letting_ranks_go() if executor is None else nullcontext():
        checked_space = Space(space, constraints).fixing(fix)
        study = study_of(f, checked_space, given, store, shared=listen is not None)
        function = callable_of(f, checked_space)
        if executor is not None:
            _lend(study, function, executor)
        elif not isinstance(f, Command):
            study.config.evaluator.pickle = pickled(function, bool(team_size), not _core.uses_ranks(study.options))
        if store is not None and Path(store).exists():
            study.prepare_resume()
    return study.run(progress=progress, accept_changes=accept_changes, callback=callback, **listening)


_NO_DATA = (
    *("f", "space", "constraints", "fix", "store", "progress", "callback", "executor", "accept_changes"),
    *ListeningTable.model_fields,
)


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
        raise InputError(f"culmen.minimize: {name} cannot be combined with executor; remove one of the two")
    if spec.time_limit_s:
        raise InputError(
            "culmen.minimize: time_limit_s cannot be combined with executor, because culmen cannot end the tasks of an "
            "executor; remove one of the two"
        )
    spec.kind, spec.isolation = "function", "none"
    study.lend = partial(_lent, executor, f, study)


def _lent(executor: "Executor", f: Any, study: Study) -> AbstractContextManager[_core.LentWorkers]:
    from .executor.lent import LentFunction, lending, width  # concurrent.futures, which other calls do not need

    config = study.config
    function = LentFunction(f, config.evaluator.result, _returned(config))
    return lending(executor, function, config.space, width(executor, study.options.workers or None))


def _returned(config: _core.StudyConfig) -> list[str]:
    """The names of the objectives that the function must return."""
    derived = dict(config.derived)
    return [name for name, _ in config.objectives if name not in derived]
