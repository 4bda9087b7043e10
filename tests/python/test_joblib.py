"""joblib, and scikit-learn through it, on culmen's workers."""

import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest
from harness import wait_for

import culmen

pytestmark = pytest.mark.no_numbers

joblib = pytest.importorskip("joblib")


@pytest.fixture(scope="module", autouse=True)
def _registered():
    culmen.register_joblib()


def test_calls_run_in_the_children_of_culmen():
    with joblib.parallel_backend("culmen", n_jobs=2):
        numbers = joblib.Parallel()(joblib.delayed(os.getpid)() for _ in range(20))
        squares = joblib.Parallel()(joblib.delayed(lambda x: x * x)(i) for i in range(50))
    assert squares == [i * i for i in range(50)]
    assert os.getpid() not in numbers
    assert len(set(numbers)) <= 2


def test_an_executor_of_the_program_is_taken_and_stays():
    with culmen.Executor(2) as executor:
        for _ in range(2):
            with joblib.parallel_config(backend="culmen", executor=executor):
                assert joblib.Parallel()(joblib.delayed(pow)(i, 2) for i in range(5)) == [0, 1, 4, 9, 16]
        assert executor.submit(len, "abc").result() == 3


def test_an_exception_reaches_the_caller_and_the_next_call_works():
    with joblib.parallel_config(backend="culmen", n_jobs=2):
        with pytest.raises(ZeroDivisionError):
            joblib.Parallel()(joblib.delayed(divmod)(1, i % 3) for i in range(100))
        assert joblib.Parallel()(joblib.delayed(len)("ab") for _ in range(3)) == [2, 2, 2]


class EndsTheProgram:
    def __reduce__(self):
        raise SystemExit("no licence")


@pytest.mark.parametrize(
    ("argument", "error"),
    [(threading.Lock(), culmen.InputError("the arguments cannot be pickled")), (EndsTheProgram(), SystemExit("no"))],
)
@pytest.mark.parametrize("before", [0, 12])
def test_a_task_that_cannot_be_sent_is_raised_also_when_it_comes_late(argument, error, before):
    tasks = [*range(before), argument, *range(5)]
    with joblib.parallel_config(backend="culmen", n_jobs=2):
        with pytest.raises(type(error), match=str(error)):
            joblib.Parallel()(joblib.delayed(callable)(task) for task in tasks)
        assert joblib.Parallel()(joblib.delayed(len)("ab") for _ in range(3)) == [2, 2, 2]


@pytest.mark.slow
def test_scikit_learn_gives_the_same_forest_as_alone():
    ensemble = pytest.importorskip("sklearn.ensemble")
    datasets = pytest.importorskip("sklearn.datasets")
    x, y = datasets.make_classification(200, random_state=1)

    def scores():
        model = pytest.importorskip("sklearn.model_selection")
        forest = ensemble.RandomForestClassifier(5, random_state=1)
        return model.cross_val_score(forest, x, y, cv=4, n_jobs=2).tolist()

    alone = scores()
    with joblib.parallel_config(backend="culmen", n_jobs=2):
        assert scores() == alone


@pytest.mark.slow
def test_a_grid_search_finds_the_same_as_alone_and_says_which_backend_works(capfd):
    selection = pytest.importorskip("sklearn.model_selection")
    svm, datasets = pytest.importorskip("sklearn.svm"), pytest.importorskip("sklearn.datasets")
    x, y = datasets.load_iris(return_X_y=True)

    def found():
        inner = selection.GridSearchCV(svm.SVC(), {"C": [1, 10]}, cv=2, n_jobs=2)
        search = selection.GridSearchCV(svm.SVC(), {"C": [0.1, 1, 10], "gamma": [0.1, 1]}, cv=3, n_jobs=2, verbose=1)
        nested = selection.cross_val_score(inner, x, y, cv=2).tolist()
        return search.fit(x, y).best_params_, search.cv_results_["mean_test_score"].tolist(), nested

    alone = found()
    with joblib.parallel_config(backend="culmen", n_jobs=2):
        assert found() == alone
        joblib.Parallel(verbose=10)(joblib.delayed(len)("ab") for _ in range(3))
    assert "Using backend CulmenBackend with 2 concurrent workers" in "".join(capfd.readouterr())


def test_after_an_exception_or_a_timeout_nothing_goes_on(tmp_path):
    def late(fails):
        if fails:
            wait_for(lambda: any(tmp_path.iterdir()), "another call")
            raise ValueError("no such level")
        (tmp_path / str(os.getpid())).touch()
        time.sleep(1000)

    def lives(path):
        return Path("/proc", path.name).exists()

    with joblib.parallel_config(backend="culmen", n_jobs=2):
        with pytest.raises(ValueError, match="no such level"):
            joblib.Parallel()(joblib.delayed(late)(i == 1) for i in range(9))
        wait_for(lambda: not any(map(lives, tmp_path.iterdir())), "the end of what ran")
        with pytest.raises(multiprocessing.TimeoutError):
            joblib.Parallel(timeout=0.2)(joblib.delayed(late)(False) for _ in range(3))
        wait_for(lambda: not any(map(lives, tmp_path.iterdir())), "the end of what ran")
        assert joblib.Parallel()(joblib.delayed(len)("ab") for _ in range(3)) == [2, 2, 2]


def threads_of_blas():
    return os.environ["OPENBLAS_NUM_THREADS"], os.environ.get("MARK")


def test_libraries_in_the_children_get_their_share_of_the_cpus():
    with joblib.parallel_config(backend="culmen", n_jobs=2, inner_max_num_threads=3):
        assert joblib.Parallel()(joblib.delayed(threads_of_blas)() for _ in range(2)) == [("3", None)] * 2
    share = os.environ.get("OPENBLAS_NUM_THREADS", str(max(1, joblib.cpu_count() // 3)))
    initializer = {"initializer": lambda mark: os.environ.update(MARK=mark), "initargs": ("here",)}
    with joblib.parallel_backend("culmen", n_jobs=3, transport="threads", **initializer):
        assert joblib.Parallel()(joblib.delayed(threads_of_blas)() for _ in range(2)) == [(share, "here")] * 2


WRONG = {
    "no executor": ({"executor": 3}, "executor must be a culmen.Executor, got 3"),
    "no jobs": ({"n_jobs": 0}, "n_jobs must be at least 1"),
    "transport": ({"n_jobs": 2, "transport": "pigeon"}, "transport must be one of"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_backend_is_one_sentence(mistake):
    arguments, sentence = WRONG[mistake]
    with pytest.raises(culmen.InputError, match=sentence), joblib.parallel_config(backend="culmen", **arguments):
        joblib.Parallel()(joblib.delayed(len)("ab") for _ in range(3))


def test_what_an_executor_that_is_there_cannot_take_is_refused():
    with culmen.Executor(1) as executor, pytest.raises(culmen.InputError, match="transport cannot be set here"):
        joblib.parallel_config(backend="culmen", executor=executor, transport="processes")
