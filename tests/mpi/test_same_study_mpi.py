"""Whole studies under both MPIs: the same candidates, outcomes and end as on local workers, whatever the ranks."""

import pytest
from harness import copy_example, culmen, outcomes, sequence, summary, write_study

pytestmark = pytest.mark.either("mpi")

BUDGET = 80
PION_TARGET = 24.9149  # the lesser of the two minima that 29 points below 1 GeV allow


def of_store(store):
    return sequence(store), outcomes(store), summary(store)["best"]


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    write_study(folder, BUDGET)
    assert culmen("run", "study.toml", "--workers", 3, "--quiet", cwd=folder).returncode == 0
    return of_store(folder / "study.db")


@pytest.mark.parametrize("ranks", [2, 4, 7])
def test_the_study_is_the_same_on_any_number_of_ranks(mpi, ranks, local, tmp_path):
    write_study(tmp_path, BUDGET)
    done = culmen("launch", "-n", ranks, "--mpi", mpi, "run", "study.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"with {ranks - 1} worker" in done.stdout
    assert of_store(tmp_path / "study.db") == local


def write_pion_fit(folder):
    """The example's files, with the end at the target."""
    copy_example("01_pion_form_factor", folder)
    study = folder / "pion_form_factor.toml"
    text = study.read_text()
    assert "[stop]\n" in text
    study.write_text(text.replace("[stop]\n", f"[stop]\ntarget = {PION_TARGET}\n"))


@pytest.fixture(scope="module")
def local_pion(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pion")
    write_pion_fit(folder)
    assert culmen("run", "pion_form_factor.toml", "--workers", 2, "--quiet", cwd=folder).returncode == 0
    return of_store(folder / "pion_form_factor.db")


def test_the_pion_fit_reaches_its_minimum(mpi, local_pion, tmp_path):
    write_pion_fit(tmp_path)
    done = culmen("launch", "-n", 9, "--mpi", mpi, "run", "pion_form_factor.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "target reached after" in done.stdout
    found = of_store(tmp_path / "pion_form_factor.db")
    assert min(value for _, value, _ in found[1].values()) <= PION_TARGET
    assert found == local_pion
