"""CPython's own tests of concurrent.futures, on culmen.Executor."""

import cpython
import pytest

import culmen

tests = cpython.load()
tests.BrokenProcessPool = culmen.EvaluationError  # a call whose process dies fails alone; other calls continue

FROM_LIBRARY = "the test's script imports the executor from concurrent.futures by its name"
PRIVATE = "the test reads private attributes of the standard library's pool"
OTHER_WORDS = "culmen's message has other words"
NO_SUCH_ARGUMENT = "culmen.Executor has no max_tasks_per_child"
AT_ONCE = "submit raises InputError at once; the standard library's future raises it later"
OWN_ERROR = "the future raises the error of unpickling itself; the standard library's pool breaks"

TestExecutor = cpython.on_culmen(tests, tests.ExecutorTest, {"test_max_workers_negative": OTHER_WORDS})
TestWait = cpython.on_culmen(tests, tests.WaitTests, {})
TestAsCompleted = cpython.on_culmen(tests, tests.AsCompletedTests, {})
TestInitializer = cpython.on_culmen(tests, tests.InitializerMixin, {})
TestFailingInitializer = cpython.on_culmen(tests, tests.FailingInitializerMixin, {"test_initializer": PRIVATE})
TestShutdown = cpython.on_culmen(
    tests,
    tests.ExecutorShutdownTest,
    {
        "test_hang_gh83386": FROM_LIBRARY,
        "test_interpreter_shutdown": FROM_LIBRARY,
        "test_submit_after_interpreter_shutdown": FROM_LIBRARY,
    },
    unsure={"test_cancel_futures": "no call has been sent yet if the children start slowly; then all are cancelled"},
)
TestPool = cpython.on_culmen(
    tests,
    tests.ProcessPoolExecutorTest,
    {
        "test_killed_child": PRIVATE,
        "test_max_tasks_per_child": NO_SUCH_ARGUMENT,
        "test_max_tasks_per_child_defaults_to_spawn_context": NO_SUCH_ARGUMENT,
        "test_max_workers_negative": OTHER_WORDS,
        "test_saturation": "a semaphore of multiprocessing can only be inherited, not pickled",
        "test_traceback": "the cause is culmen's RemoteTraceback, not the standard library's private class",
    },
    "fork",
)
TestDeadlocks = cpython.on_culmen(
    tests,
    tests.ExecutorDeadlockTest,
    {
        "test_error_at_task_pickle": AT_ONCE,
        "test_shutdown_deadlock_pickle": AT_ONCE,
        "test_error_at_task_unpickle": OWN_ERROR,
        "test_exit_at_task_unpickle": OWN_ERROR,
        "test_error_during_result_pickle_on_worker": "the error is UnsendableError, whose message names the cause",
    },
    "fork",
)


def test_a_test_that_must_fail_is_one_of_theirs() -> None:
    with pytest.raises(AttributeError):
        cpython.on_culmen(tests, tests.WaitTests, {"test_that_was_renamed": ""})
