"""`culmen tune app`: the comparison at the end continues after the rounds that are done."""

from types import SimpleNamespace

import pytest
from culmen._core import InputError
from culmen.cli.work.tune_app import show_verdict
from culmen.launch.watched import RunStoppedError
from culmen.tune.app import program
from culmen.tune.cluster.results import TABLE

WORDS = ["mpiexec", "-n", "2", "./app"]


@pytest.fixture
def compare(tmp_path, monkeypatch):
    """compare(rounds, most): the runs that this start makes, and its messages. It is stopped after ``most`` runs."""
    (tmp_path / TABLE).write_text("collective,algorithm\nbcast,chain\n")
    monkeypatch.setattr(program, "environment_for", lambda *_: {"RULES": "yes"})

    def run(rounds, most=100, words=WORDS):
        made, said = [], []

        def watched(_words, _library, variables, _limit_s):
            if len(made) == most:
                raise RunStoppedError
            made.append("RULES" in variables)
            return 0

        monkeypatch.setattr(program, "run_watched", watched)
        known = SimpleNamespace(without_rules={})
        try:
            program.compare(words, tmp_path / "rules.conf", known, rounds, said.append, 60.0)
        except RunStoppedError:
            assert len(made) == most
        return made, said

    return run


def test_whole_rounds_are_not_repeated_after_an_interruption(compare):
    made, _ = compare(4, most=5)
    assert len(made) == 5, "two rounds, and a run of the third"
    made, said = compare(4)
    assert len(made) == 4 and sum(made) == 2, "the rounds 3 and 4"
    assert said[0] == "2 rounds of 4 are done already"
    assert [text.partition(":")[0] for text in said[2:]] == ["round 3 of 4"] * 2 + ["round 4 of 4"] * 2
    made, said = compare(6)
    assert len(made) == 4 and said[0] == "4 rounds of 6 are done already"


def test_rounds_of_other_choices_or_another_program_do_not_count(compare, tmp_path):
    assert len(compare(3)[0]) == 6
    assert compare(3)[0] == []
    (tmp_path / TABLE).write_text("collective,algorithm\nbcast,binomial\n")
    assert len(compare(3)[0]) == 6
    assert len(compare(3, words=["mpiexec", "-n", "4", "./app"])[0]) == 6


def test_a_damaged_file_of_rounds_is_replaced(compare, tmp_path):
    compare(3)
    (tmp_path / "rounds.json").write_text("{")
    assert len(compare(3)[0]) == 6


@pytest.mark.parametrize(
    ("gain", "is_clear", "said"),
    [
        (0.032, True, "With the rules, the program is 3.2% ± 0.8% faster"),
        (-0.032, True, "With the rules, the program is 3.2% ± 0.8% slower"),
        (0.004, False, "The program is not clearly faster or slower with the rules: 0.4% ± 0.8%"),
    ],
)
def test_the_verdict_has_its_interval_and_the_points_that_keep_the_default(capsys, gain, is_clear, said):
    assert show_verdict(gain, 0.008, is_clear, 2, 16) == (gain > 0 and is_clear)
    assert capsys.readouterr().out.splitlines()[0] == f"{said}; 14 of 16 points keep the default."


def test_a_profile_of_another_command_is_refused_with_both_ways_out(tmp_path):
    (tmp_path / "command").write_text("mpiexec -n 4 ./other\n")
    with pytest.raises(InputError, match=r"./other; give another folder with --output, or write --overwrite$"):
        program.has_profile(WORDS, tmp_path)
