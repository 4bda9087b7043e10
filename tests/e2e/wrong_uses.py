"""A correct study, and how the tests of wrong uses change it.

These tests give each mistake as a user types it, and the one sentence that says what to write instead:
test_wrong_words.py (commands and options), test_wrong_study_files.py, test_wrong_calls.py (Python),
test_wrong_models.py, test_wrong_evaluators.py (programs and libraries). Single keys of study files are in
tests/python/test_study_file_mistakes.py, stores in test_stores.py.
"""

import re

MODEL = "def f(p):\n    return (p['x'] - 1) ** 2 + p['y'] ** 2\n"
STUDY = """[space]
x = { lower = -5, upper = 5 }
y = { lower = -5, upper = 5 }
[evaluator]
python = "model.py:f"
[stop]
evaluations = 20
"""
X = "x = { lower = -5, upper = 5 }"
MODEL_KEY = 'python = "model.py:f"'


def edited(*changes: tuple[str, str]) -> str:
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def without_line(said: str) -> str:
    """Where a sentence on a study file has its line, at its end."""
    return re.sub(r" \(line \d+\)(?=\n?\Z)", "", said)
