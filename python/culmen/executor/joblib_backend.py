"""joblib on culmen's workers: ``culmen.register_joblib()``, then ``joblib.parallel_config(backend="culmen")``."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any
from weakref import WeakSet

from .. import _core
from .._core import InputError
from ..slot.callables import begin_with, call
from .executor import Executor, options_of


def register_joblib() -> None:
    """Makes "culmen" a backend of joblib, and therefore of scikit-learn::

        culmen.register_joblib()
        with joblib.parallel_config(backend="culmen", n_jobs=4):
            results = joblib.Parallel()(joblib.delayed(f)(x) for x in xs)

    ``parallel_config`` also takes the arguments of ``culmen.Executor``, for example ``transport``.
    ``executor=EXECUTOR`` uses an existing Executor. ``inner_max_num_threads`` is the number of threads of BLAS and
    OpenMP in each child process. By default, the child processes share the CPUs.

    Raises InputError if joblib is not installed.
    """
    try:
        import joblib
        from joblib._parallel_backends import AutoBatchingMixin
    except ImportError:
        raise InputError("culmen.register_joblib: joblib is not installed; pip install joblib") from None

    class CulmenBackend(AutoBatchingMixin, _Backend, joblib.parallel.ParallelBackendBase):
        """joblib shows this class by its name."""

    joblib.register_parallel_backend("culmen", CulmenBackend)


_BACKENDS: "WeakSet[_Backend]" = WeakSet()


class _Backend:
    supports_retrieve_callback = True
    supports_inner_max_num_threads = True
    default_n_jobs = -1
    parallel: Any
    nesting_level: int | None

    def __init__(self, nesting_level: int | None = None, executor: Executor | None = None, **arguments: Any) -> None:
        if executor is not None and not isinstance(executor, Executor):
            raise InputError(f"joblib's backend culmen: executor must be a culmen.Executor, got {executor!r:.80}")
        if executor is not None and arguments:
            raise InputError(
                f"joblib's backend culmen: {', '.join(arguments)} cannot be set here: the executor exists already"
            )
        threads = {"inner_max_num_threads": arguments.pop("inner_max_num_threads", None)}
        super().__init__(nesting_level=nesting_level, **threads)  # type: ignore[call-arg]
        self._executor = executor
        self._made_for = 0  # n_jobs that it was made for
        self._transport = arguments.get("transport", "auto")
        self._is_ours = executor is None
        self._arguments = arguments

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        if n_jobs == 0:
            raise InputError("n_jobs must be at least 1, or -1 for one per CPU, got 0")
        if not self._is_ours and self._executor is not None:
            return self._executor.workers
        if n_jobs is None:
            return 1
        return n_jobs if n_jobs > 0 else max(1, _core.workers_of(self._options()) + 1 + n_jobs)

    def configure(self, n_jobs: int | None = 1, parallel: Any = None, **_: Any) -> int:
        """Called for each Parallel; the workers are kept."""
        workers = self.effective_n_jobs(n_jobs)
        if self._is_ours and (self._executor is None or self._made_for != workers):
            self._leave()
            if _core.uses_ranks(self._options()):
                for other in list(_BACKENDS):  # ranks serve one executor at a time; others make theirs again
                    other._leave()
            self._executor, self._made_for = self._made(workers), workers
            _BACKENDS.add(self)
        self.parallel = parallel
        return workers

    def _options(self) -> _core.RunOptions:
        return options_of(None, self._transport)

    def _made(self, workers: int) -> Executor:
        arguments = dict(self._arguments)
        begin = self._prepare_worker_env(workers), arguments.pop("initializer", None), arguments.pop("initargs", ())  # type: ignore[attr-defined]
        return Executor(workers, initializer=begin_with, initargs=begin, **arguments)

    def submit(self, func: Callable[[], Any], callback: Callable[[Future], object] | None = None) -> Future:
        if self._executor is None:
            raise InputError("joblib's backend culmen was not configured")
        try:
            future = self._executor.submit(call, func)
        except BaseException as error:  # joblib calls this in callbacks too, where exceptions are lost
            future = Future()
            future.set_exception(error)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    apply_async = submit  # older versions of joblib use this name

    def retrieve_result_callback(self, future: Future) -> Any:
        return future.result()

    def terminate(self) -> None:
        self.reset_batch_stats()  # type: ignore[attr-defined]

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """After an exception: waiting calls are dropped, running ones end at once, unless others use the executor."""
        if self._is_ours and self._executor is not None:
            self._executor.stop()
            self._leave()
        if ensure_ready:
            self.configure(n_jobs=self.parallel.n_jobs, parallel=self.parallel)

    def _leave(self) -> None:
        if self._is_ours and self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
