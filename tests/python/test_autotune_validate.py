"""``culmen autotune --validate``: the kinds of runs, and the verdict. No program is run."""

import pytest
from culmen._core import InputError
from culmen.cli.work import autotune
from culmen.tune.autotune.tuned import Choice, Tuning
from culmen.tune.autotune.validated import Compared, validate

pytestmark = pytest.mark.no_numbers


class Command:
    """Counts the runs. The first one writes the file."""

    def __init__(self):
        self.runs = []

    def run(self, _limit_s):
        self.runs.append("without")
        return 0

    def tune_watched(self, dump, load, _limit_s):
        self.runs.append("first" if dump else "loaded" if load else "tuned")
        if dump:
            dump.touch()
        return 0


@pytest.mark.parametrize("algorithm", ["default", "chain"])
def test_a_file_without_another_algorithm_is_not_compared(tmp_path, algorithm):
    choice = Choice("world", 2, "bcast", 1024, algorithm, 1e-6, 1e-6, 10)
    command, said = Command(), []
    found = validate(
        command, tmp_path / "a.tuning", 3, said.append, 60.0, lambda _file: Tuning("any", 2, "", "", [choice])
    )
    runs = 3 if algorithm == "chain" else 0
    assert len(found.loaded_s) == command.runs.count("loaded") == runs
    assert command.runs.count("without") == command.runs.count("tuned") == 3
    skipped = "the first run chose no other algorithm, so there are no runs with its tuning file"
    assert (skipped in said) == (runs == 0)


def test_a_difference_within_the_noise_is_no_gain(capsys):
    autotune._show_gains(Compared([1.0, 3.0, 1.0, 3.0], [2.0, 1.0, 2.0, 1.0], []))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("The program tuned while it runs: no difference that can be told from noise (")
    autotune._show_gains(Compared([2.0, 2.01, 2.0], [1.0, 1.01, 1.0], [1.0, 1.01, 1.0]))
    clear = capsys.readouterr().out.splitlines()
    assert [line.partition(" is ")[0] for line in clear] == [
        "The program tuned while it runs",
        "The program tuned from the file",
    ]


def test_bounds_that_leave_no_size_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="--min-bytes 1M is more than --max-bytes 1K"):
        autotune.run(["./app"], {"MIN_BYTES": "1M", "MAX_BYTES": "1K"}, None, None, None)
