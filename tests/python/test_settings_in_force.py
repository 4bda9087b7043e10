"""Settings of the user that fix the algorithms of collectives are named."""

from io import StringIO

import pytest
from culmen.cli.work import autotune
from culmen.launch.mpi import Launcher, load
from culmen.tune.autotune.page import page
from culmen.tune.autotune.tuned import Tuning
from culmen.tune.cluster import in_force, learning
from rich.console import Console

pytestmark = pytest.mark.no_numbers

MPIS = {each.title: Launcher("no-mpiexec", each) for each in load()}
ADVICE = "remove this setting, or use `culmen tune app --direct`, which keeps it."
BCAST = "coll_tuned_bcast_algorithm"


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The folders of the user's and the site's file of Open MPI."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(in_force, "site_folder", lambda _launcher: tmp_path / "etc")
    for folder in ("etc", ".openmpi"):
        (tmp_path / folder).mkdir()
    return tmp_path / ".openmpi/mca-params.conf", tmp_path / "etc/openmpi-mca-params.conf"


def test_the_first_place_that_sets_a_variable_counts(folders, monkeypatch):
    user, site = folders
    site.write_text(f"{BCAST} = 2\ncoll_tuned_reduce_algorithm=1 # mine\n# coll_tuned_barrier_algorithm = 1\n")
    found = in_force.fixed_in(MPIS["Open MPI 4"])
    assert found == {"bcast": f"{BCAST} in {site}", "reduce": f"coll_tuned_reduce_algorithm in {site}"}
    user.write_text(f"{BCAST} = 3\ncoll_tuned_reduce_algorithm = 0\n")
    assert in_force.fixed_in(MPIS["Open MPI 4"]) == {"bcast": f"{BCAST} in {user}"}
    monkeypatch.setenv(f"OMPI_MCA_{BCAST}", "4")
    assert in_force.sentences(MPIS["Open MPI 4"], ["barrier", "bcast", "bcast"]) == [
        f"bcast is fixed to an algorithm by OMPI_MCA_{BCAST} in the environment; {ADVICE}"
    ]


def test_variables_of_mpich_are_in_the_environment(folders, monkeypatch):
    folders[0].write_text(f"{BCAST} = 3\n")
    monkeypatch.setenv("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "auto")
    assert in_force.fixed_in(MPIS["MPICH 4"]) == {}
    monkeypatch.setenv("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "binomial")
    said = "bcast is fixed to an algorithm by MPIR_CVAR_BCAST_INTRA_ALGORITHM in the environment; remove this setting."
    assert in_force.sentences(MPIS["MPICH 4"]) == [said]


def test_autotune_names_the_setting(folders, monkeypatch):
    monkeypatch.setattr(autotune, "find_launcher", lambda name: {"openmpi": MPIS["Open MPI 4"]}[name])
    folders[0].write_text(f"{BCAST} = 3\n")
    tuning = Tuning("Open MPI 4.1.4", 2, "x", "", [])
    said = f"bcast is fixed to an algorithm by {BCAST} in {folders[0]}; {ADVICE}"
    assert autotune._fixed(tuning, "") == autotune._fixed(tuning, "bcast,reduce") == [said]
    assert autotune._fixed(tuning, "reduce") == []
    console = Console(file=StringIO(), width=1000)
    console.print(page(tuning, [said]))
    assert said in console.file.getvalue() and "too few calls of the other collectives" in console.file.getvalue()


def test_the_fast_search_names_the_setting(folders, monkeypatch):
    monkeypatch.setenv(f"OMPI_MCA_{BCAST}", "3")
    cell = learning._Cell(MPIS["Open MPI 4"], ("bcast",), 4, (8,), "", {}, 0.1, 60.0, (False, False))
    assert learning._learn(cell) == (
        0,
        {"bcast": f"its algorithm is fixed by OMPI_MCA_{BCAST} in the environment"},
    )
