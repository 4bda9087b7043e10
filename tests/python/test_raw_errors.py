"""Wrong arguments of other types end with a sentence, and never with a TypeError or a wait without end."""

from concurrent.futures import Executor

import numpy as np
import pytest
from harness import write_fit

import culmen
from culmen import InputError, Study

pytestmark = pytest.mark.no_numbers


def f(p):
    return p["x"] ** 2


WRONG = {
    "store=True": ({"store": True}, "store must be the path of a file, such as 'fit.db', got True"),
    "seed=int": ({"seed": int}, "seed"),
    "seed=np.int64": ({"seed": np.int64}, "seed"),
    "budget=float": ({"budget": float}, "budget"),
    "starts of no dimension": ({"starts": np.array(1.0)}, "starts"),
    "space of no dimension": ({"space": np.array(1.0)}, "the space must be a dict such as"),
    "choices of no dimension": ({"space": {"x": culmen.ordinal(np.array(1.0))}}, "choices must be a list of strings"),
    "a class as a choice": (
        {"space": {"x": culmen.ordinal([1, float])}},
        "each choice must be a string, a number, True, False or None",
    ),
    "a null character in a name": ({"space": {"x\0a": (0, 1), "x\0b": (0, 1)}}, "its name contains a null character"),
    "a null character in a choice": ({"space": {"x": culmen.categorical(["a", "b\0"])}}, "contains a null character"),
    "a null character in the store": ({"store": "a\0b"}, r"store: the path 'a\\x00b' contains a null character"),
    "a null character in an environment variable": (
        {"environment": {"A": "12\0 34"}},
        "environment.A: the value contains a null character; remove it",
    ),
    "a store with a long name": ({"store": "a" * 300}, "store: the path 'aaa.*…' is too long"),
    "progress as an array": ({"progress": np.ones((1, 2))}, "progress must be True or False, or None, got array"),
    "insecure as an array": ({"insecure": np.ones((1, 2))}, "insecure must be True or False, got array"),
    "a wrong token file": ({"listen": "tcp://127.0.0.1:0", "token_file": 5}, "token_file must be the path of a file"),
    "a wrong certificate": ({"listen": "wss://127.0.0.1:0", "certificate": [1]}, "certificate must be the path of"),
    "message sizes": ({"largest_message_mib": np.ones((1, 2))}, "largest_message_mib must be a whole number from 1"),
    "a null character in an objective": ({"objectives": {"a\0": "minimize", "b": "minimize"}}, "null character"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_argument_is_a_sentence(mistake):
    given, sentence = WRONG[mistake]
    with pytest.raises(InputError, match=sentence):
        culmen.minimize(f, **{"space": {"x": (-1, 1)}, "budget": 5, **given})


def test_many_choices_are_checked_once_each():
    choices = [f"choice {i}" for i in range(300_000)]  # each against each other would take minutes
    space = culmen.Space({"x": culmen.categorical(choices)})
    assert len(space.core.parameters[0].choices) == 300_000
    with pytest.raises(InputError, match="the choice choice 5 is given twice"):
        culmen.Space({"x": culmen.categorical([*choices, "choice 5"])})


@pytest.mark.parametrize("answer", [None, 7, "later"])
def test_an_executor_that_returns_no_future_ends_the_run(answer):
    class Wrong(Executor):
        def submit(self, _function, /, *_arguments, **_more):
            return answer

    with pytest.raises(culmen.CulmenError, match=r"executor.submit\(\) must return a concurrent.futures.Future"):
        culmen.minimize(f, {"x": (-1, 1)}, budget=5, executor=Wrong())


CALLS = {
    "read": (lambda: culmen.read(5), "the store must be the path of a file, such as 'fit.db', got 5"),
    "errors": (lambda: culmen.errors(None), "the store must be the path of a file, such as 'fit.db', got None"),
    "a long store": (lambda: culmen.read("a" * 300), "the store: the path 'aaa.*…' is too long"),
    "from_file": (lambda: Study.from_file(None), "the study file must be the path of a file, such as 'study.toml'"),
    "from_store": (lambda: Study.from_store("a\0"), "the store: the path .* contains a null character"),
    "Command(5)": (lambda: culmen.Command(5), "Command: words must be a list of strings such as .*, got 5"),
    "Command of a text": (lambda: culmen.Command("echo 1"), r"got 'echo 1'; write \['echo', '1'\]"),
    "Command with a null character": (
        lambda: culmen.Command(["echo", "1\0 2"]),
        "the word .* contains a null character",
    ),
    "many workers": (
        lambda: culmen.Executor(2**70),
        "workers must be at most 65536, or None, got 1180",
    ),
    "workers in an array": (lambda: culmen.Executor(np.array([1, 2])), "workers must be a whole number, at least 1"),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_is_a_sentence(call):
    wrong, sentence = CALLS[call]
    with pytest.raises(InputError, match=sentence):
        wrong()


@pytest.mark.parametrize("seed", [int, -1, "a", 2**70, True, 1.5, [1]])
def test_a_seed_that_no_file_may_have_is_a_sentence(tmp_path, seed):
    write_fit(tmp_path, "def f(p): return [1.0]\n", "x = { lower = 0, upper = 1 }", 9)
    with pytest.raises(InputError, match=r"study\.toml: seed must be "):
        Study.from_file(tmp_path / "study.toml", seed=seed)


def test_arrays_of_one_number_are_settings_too():
    found = culmen.minimize(f, {"x": (-1, 1)}, budget=np.array([5]), target=np.array([-1.0]), f_scale=np.array([1.0]))
    assert found.evaluations == 5
    with culmen.Executor(np.array([1])) as executor:
        assert executor.workers == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('store = "a\\u0000b"', "store: the path .* contains a null character"),
        (
            'evaluator = { command = ["echo", "1\\u0000"] }',
            r"\[evaluator\] command: the word .* contains a null",
        ),
        (
            'evaluator = { python = "f.py:f", environment = { A = "1\\u0000" } }',
            r"\[evaluator\]:? environment.A: the value contains a null character",
        ),
    ],
)
def test_null_characters_in_a_study_file_are_sentences(tmp_path, line, words):
    (tmp_path / "f.py").write_text("def f(p): return 1.0\n")
    evaluator = "" if "evaluator" in line else 'evaluator = { python = "f.py:f" }\n'
    (tmp_path / "s.toml").write_text(
        f"{line}\n{evaluator}space = {{ x = {{ lower = 0, upper = 1 }} }}\nstop = {{ evaluations = 3 }}\n"
    )
    with pytest.raises(InputError, match=words):
        Study.from_file(tmp_path / "s.toml")


def test_an_extra_value_with_a_null_character_in_its_name_fails_the_evaluation():
    with pytest.raises(culmen.AllFailedError, match="its name contains a null character; remove it"):
        culmen.minimize(lambda p: (1.0, {"a\0b": 1}), {"x": (0, 1)}, budget=2)


def test_a_sentence_does_not_end_at_a_null_character():
    with pytest.raises(InputError, match=r"a\\0b < 1.*is not allowed in an expression"):
        culmen.minimize(lambda p: 1.0, {"x": (0, 1)}, budget=2, constraints={"c": "x + a\0b < 1"})


def test_a_constraint_with_a_null_character_in_its_name_is_refused():
    with pytest.raises(InputError, match="its name contains a null character; remove it"):
        culmen.minimize(lambda p: 1.0, {"x": (0, 1)}, budget=2, constraints={"a\0b": "x < 1"})


def test_no_sign_is_shown_of_a_value_that_is_no_number():
    with pytest.raises(culmen.AllFailedError, match="the value is nan"):
        culmen.minimize(lambda p: float("-nan"), {"x": (0, 1)}, budget=2)
