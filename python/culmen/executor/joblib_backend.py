"""joblib on culmen's workers: ``culmen.register_joblib()``, then ``joblib.parallel_config(backend="culmen")``."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any
from weakref import WeakSet

from .._core import InputError
from ..slot.callables import begin_with, call
from .executor import Executor, places, uses_ranks


def register_joblib() -> None:
    """Makes "culmen" a backend of joblib, and so of scikit-learn: ``joblib.parallel_config(backend="culmen")`` or
    ``joblib.parallel_backend("culmen", n_jobs=4)``.

    ``executor=EX`` among its arguments takes an Executor that is there already; else one of ``n_jobs`` workers is made
    at the first use and kept as long as the backend, with what else is given (transport, initializer, …) as its
    arguments. Its children tell BLAS and OpenMP how many threads each may have: ``inner_max_num_threads``, by default
    its share of the CPUs. Raises InputError where joblib is not installed.
    """
    try:
        import joblib
        from joblib._parallel_backends import AutoBatchingMixin
    except ImportError:
        raise InputError("culmen.register_joblib: joblib is not installed; pip install joblib") from None

    class CulmenBackend(AutoBatchingMixin, _Backend, joblib.parallel.ParallelBackendBase):
        """Under this name joblib shows it."""

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
            raise InputError(f"joblib's backend culmen: executor = {executor!r:.80}: a culmen.Executor is wanted")
        if executor is not None and arguments:
            raise InputError(
                f"joblib's backend culmen: {', '.join(arguments)} is for an executor that is not there yet"
            )
        threads = {"inner_max_num_threads": arguments.pop("inner_max_num_threads", None)}
        super().__init__(nesting_level=nesting_level, **threads)  # type: ignore[call-arg]
        self._executor = executor
        self._made_for = 0  # jobs
        self._transport = arguments.get("transport", "auto")
        self._is_ours = executor is None
        self._arguments = arguments

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        if n_jobs == 0:
            raise InputError("n_jobs = 0: a number not below 1 is wanted, or -1 for one per CPU")
        if not self._is_ours and self._executor is not None:
            return self._executor.workers
        if n_jobs is None:
            return 1
        return n_jobs if n_jobs > 0 else max(1, places(self._transport) + 1 + n_jobs)

    def configure(self, n_jobs: int | None = 1, parallel: Any = None, **_: Any) -> int:
        """Called for each Parallel; the workers stay."""
        workers = self.effective_n_jobs(n_jobs)
        if self._is_ours and (self._executor is None or self._made_for != workers):
            self._leave()
            if uses_ranks(self._transport):
                for other in list(_BACKENDS):  # there is one executor at a time; who needs one makes it again
                    other._leave()
            self._executor, self._made_for = self._made(workers), workers
            _BACKENDS.add(self)
        self.parallel = parallel
        return workers

    def _made(self, workers: int) -> Executor:
        arguments = dict(self._arguments)
        begin = self._prepare_worker_env(workers), arguments.pop("initializer", None), arguments.pop("initargs", ())  # type: ignore[attr-defined]
        return Executor(workers, initializer=begin_with, initargs=begin, **arguments)

    def submit(self, func: Callable[[], Any], callback: Callable[[Future], object] | None = None) -> Future:
        if self._executor is None:
            raise InputError("joblib's backend culmen was not configured")
        try:
            future = self._executor.submit(call, func)
        except BaseException as error:  # joblib calls this in callbacks too, where nobody hears of what is raised
            future = Future()
            future.set_exception(error)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    apply_async = submit  # as older versions of joblib call it

    def retrieve_result_callback(self, future: Future) -> Any:
        return future.result()

    def terminate(self) -> None:
        self.reset_batch_stats()  # type: ignore[attr-defined]

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """After an exception: what waits is not evaluated, and what runs ends at once, unless others may use it too."""
        if self._is_ours and self._executor is not None:
            self._executor.stop()
            self._leave()
        if ensure_ready:
            self.configure(n_jobs=self.parallel.n_jobs, parallel=self.parallel)

    def _leave(self) -> None:
        if self._is_ours and self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
