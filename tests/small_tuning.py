"""A small tuning of a program ``app``, which prints its rate."""

from pathlib import Path

RECIPE = """
[space]
n = { type = "integer", lower = 1, upper = 9, initial = 8 }
[evaluator]
command = ["./app", "{n}"]
values = { rate = { regex = 'rate = (\\S+)' } }
[objectives]
rate = "maximize"
[stop]
evaluations = 8
[tune]
rounds = 3
"""
LINE = ("--figure", r"rate = (\S+)", "--maximize", "--runs", "3", "--rounds", "3")


def write_tuning(folder: Path, app: str, recipe: str = RECIPE) -> Path:
    """Writes the program and app.toml, with these texts. Returns the folder."""
    (folder / "app").write_text(app)
    (folder / "app").chmod(0o755)
    (folder / "app.toml").write_text(recipe)
    return folder
