"""joblib on culmen's workers: ``culmen.register_joblib()``, then ``joblib.parallel_config(backend="culmen")``."""

import os
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from ._core import InputError
from .callables import call
from .executor import Executor


def register_joblib() -> None:
    """Makes "culmen" a backend of joblib, and so of scikit-learn: ``joblib.parallel_config(backend="culmen")`` or
    ``joblib.parallel_backend("culmen", n_jobs=4)``.

    ``executor=EX`` among its arguments takes an Executor that is there already; else one of ``n_jobs`` workers is made
    at the first use and kept as long as the backend, with what else is given (transport, initializer, …) as its
    arguments. Raises InputError where joblib is not installed.
    """
    try:
        import joblib
        from joblib._parallel_backends import AutoBatchingMixin
    except ImportError:
        raise InputError("culmen.register_joblib: joblib is not installed; pip install joblib") from None

    class Backend(AutoBatchingMixin, _Backend, joblib.parallel.ParallelBackendBase):
        pass

    joblib.register_parallel_backend("culmen", Backend)


class _Backend:
    supports_retrieve_callback = True
    default_n_jobs = -1
    parallel: Any
    nesting_level: int | None

    def __init__(self, nesting_level: int | None = None, executor: Executor | None = None, **arguments: Any) -> None:
        threads = {"inner_max_num_threads": arguments.pop("inner_max_num_threads", None)}
        super().__init__(nesting_level=nesting_level, **threads)  # type: ignore[call-arg]
        self._executor = executor
        self._is_ours = executor is None
        self._arguments = arguments

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        if n_jobs == 0:
            raise InputError("n_jobs = 0: a number not below 1 is wanted, or -1 for one per CPU")
        if not self._is_ours and self._executor is not None:
            return self._executor.workers
        if n_jobs is None:
            return 1
        return n_jobs if n_jobs > 0 else max(1, len(os.sched_getaffinity(0)) + 1 + n_jobs)

    def configure(self, n_jobs: int | None = 1, parallel: Any = None, **_: Any) -> int:
        """Called for each Parallel; the workers stay."""
        workers = self.effective_n_jobs(n_jobs)
        if self._is_ours and (self._executor is None or self._executor.workers != workers):
            self._leave()
            self._executor = Executor(workers, **self._arguments)
        self.parallel = parallel
        return workers

    def submit(self, func: Callable[[], Any], callback: Callable[[Future], object] | None = None) -> Future:
        if self._executor is None:
            raise InputError("joblib's backend culmen was not configured")
        future = self._executor.submit(call, func)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    apply_async = submit  # as older versions of joblib call it

    def retrieve_result_callback(self, future: Future) -> Any:
        return future.result()

    def terminate(self) -> None:
        self.reset_batch_stats()  # type: ignore[attr-defined]

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """After an exception: what waits is not evaluated."""
        if self._is_ours:
            self._leave()
        if ensure_ready:
            self.configure(n_jobs=self.parallel.n_jobs, parallel=self.parallel)

    def _leave(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
