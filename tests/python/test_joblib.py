"""joblib, and scikit-learn through it, on culmen's workers."""

import os

import pytest

import culmen

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
