"""Chains of optimizers, as programs and study files say them."""

import json

import pytest

import culmen
from culmen import InputError, Study

FILE = """
name = "chain"
optimizer = ["evolution", "cmaes"]
[space]
x = { lower = -5, upper = 5 }
y = { lower = -5, upper = 5 }
[evaluator]
command = ["true"]
[stop]
evaluations = 300
"""


def quadratic(p):
    return (p["x"] - 1) ** 2 + 3 * (p["y"] + 2) ** 2


def test_a_program_names_a_chain_by_a_list():
    result = culmen.minimize(
        quadratic, {"x": (-5, 5), "y": (-5, 5)}, budget=400, optimizer=["evolution", "slsqp"], workers=2
    )
    assert result.optimizer == "evolution,slsqp"
    assert "reached slsqp, optimizer 2 of 2" in result.remark
    assert result.value < 1e-10


def test_a_link_has_options_of_its_own():
    options = {"evolution": {"evaluations": 50}, "cmaes.population": 7}
    optimizer = culmen.Optimizer(
        {"x": (-5, 5), "y": (-5, 5)}, ["evolution", "cmaes"], options={"evolution.evaluations": 50}, seed=3
    )
    asked = optimizer.ask(1000)
    assert len(asked) == 42, "a first generation of evolution"
    near = {"random": {"evaluations": 1}, "cmaes": {"sigma": 1e-6, "population": 6}}
    optimizer = culmen.Optimizer({"x": (-5, 5), "y": (-5, 5)}, ["random", "cmaes"], options=near)
    first = optimizer.ask()[0]
    optimizer.tell(first, 1.0)
    others = optimizer.ask(9)
    assert len(others) == 6
    assert all(abs(c.params["x"] - first.params["x"]) < 1e-3 for c in others)
    with pytest.raises(
        InputError, match=r"'evolution,cmaes': option 'population' must begin with the name of its optimizer"
    ):
        culmen.minimize(
            quadratic,
            {"x": (-5, 5), "y": (-5, 5)},
            budget=9,
            optimizer=["evolution", "cmaes"],
            options={"population": 7},
        )
    result = culmen.minimize(
        quadratic, {"x": (-5, 5), "y": (-5, 5)}, budget=90, optimizer="evolution,cmaes", options=options
    )
    assert "reached cmaes" in result.remark


def test_a_study_file_names_a_chain_by_a_list(tmp_path):
    (tmp_path / "study.toml").write_text(FILE)
    config = Study.from_file(tmp_path / "study.toml").config
    assert config.optimizer == "evolution,cmaes"
    table = FILE.replace('optimizer = ["evolution", "cmaes"]\n', "") + (
        '[optimizer]\nname = ["evolution", "cmaes"]\n[optimizer.cmaes]\npopulation = 12\n'
    )
    (tmp_path / "study.toml").write_text(table)
    config = Study.from_file(tmp_path / "study.toml").config
    assert config.optimizer_options == {"cmaes.population": 12}
    assert json.loads(config.configuration)["optimizer"]["cmaes.population"] == 12


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ('["evolution", "cmase"]', r"there is no optimizer 'cmase' \(did you mean 'cmaes'\?\)"),
        ("[]", "must be a string in quotes or a list of them"),
        ('["evolution", 3]', "must be a string in quotes or a list of them"),
    ],
)
def test_a_wrong_chain_is_one_sentence(tmp_path, names, message):
    (tmp_path / "study.toml").write_text(FILE.replace('["evolution", "cmaes"]', names))
    with pytest.raises(InputError, match=message) as info:
        Study.from_file(tmp_path / "study.toml")
    assert "\n" not in str(info.value)
