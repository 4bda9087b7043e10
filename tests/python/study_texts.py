"""The text of a correct study file, and changes of one line."""

STUDY = """
[space]
x = { lower = -5, upper = 5 }
tau = { lower = 1e-6, upper = 1.0, scale = "log" }
n = { type = "integer", lower = 1, upper = 10 }

[evaluator]
python = "model.py:chi2"

[stop]
evaluations = 100
"""
EVALUATOR = 'python = "model.py:chi2"'
X = "x = { lower = -5, upper = 5 }"


def with_(old: str, new: str) -> str:
    assert old in STUDY
    return STUDY.replace(old, new)
