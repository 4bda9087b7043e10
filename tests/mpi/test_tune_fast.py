"""``culmen tune cluster --fast`` under both MPIs: the tuner of ``culmen autotune`` searches in the benchmark."""

import csv
import shutil
import subprocess
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT
from culmen.tune.cluster.learning import measure
from culmen.tune.cluster.learnt import about_searches, learnt_file, read_learnt
from culmen.tune.cluster.measured import RACE, file_of
from culmen.tune.cluster.pairs import LAUNCHES
from culmen.tune.rules.tried import Expected, not_as_expected
from harness import HANGS_S, culmen

_LIBRARY = {"openmpi": "libmpi.so.broken", "mpich": "libmpich.so.broken"}  # as the tuner finds the MPI
_FORCED = {
    "openmpi": ("OMPI_MCA_coll_tuned_bcast_algorithm", "1"),
    "mpich": ("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "binomial"),
}


def asked(mpi: str, collectives: str, sizes: str) -> dict[str, object]:
    return {"collective": collectives, "ranks": 2, "launch": RACE, "mpi": mpi, "interval": 0.1, "budget_s": 0.02,
            "timeout_s": HANGS_S, "same_types": False, "commutative": False, "sizes": sizes}  # fmt: skip


@pytest.fixture(autouse=True)
def has_rules(mpi):
    found = find_launcher(mpi).mpi
    if not found.collectives.rules_file:
        pytest.skip(f"culmen writes no rules for {found.title}")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CULMEN_BENCH_FOLDER", str(tmp_path))
    return tmp_path


@pytest.fixture
def broken(mpi, tmp_path, monkeypatch):
    """Broadcasts are broken if the tuner is there."""
    compiler = shutil.which(f"mpicc.{mpi}") or pytest.skip(f"there is no mpicc.{mpi}")
    source, library = Path(__file__).with_name("broken_collective.c"), tmp_path / _LIBRARY[mpi]
    subprocess.run([compiler, "-c", "-fPIC", source, "-o", tmp_path / "broken.o"], check=True)
    # Without the MPI: the library is loaded into culmen's own processes, too.
    subprocess.run(["cc", "-shared", tmp_path / "broken.o", "-o", library, "-ldl"], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))


def compared(file: Path) -> set[tuple[int, str]]:
    if not file.exists():
        return set()
    with file.open(newline="") as table:
        return {(int(row["size"]), row["algorithm"]) for row in csv.DictReader(table)}


def test_what_the_tuner_learnt_is_compared_with_the_default(mpi, tmp_path):
    words = ("tune", "cluster", "--fast", "--collectives", "bcast,allreduce", "--ranks", 2, "--sizes", "8,12,1K")
    words = (*words, "--seconds", 0.05, "--mpi", mpi)
    first = culmen(*words, "--at-most", 1, cwd=tmp_path)
    assert first.returncode == 0, first.stdout + first.stderr
    folder = tmp_path / "tune-cluster"
    learnt = {name: read_learnt(learnt_file(name, 2, folder)) for name in ("bcast", "allreduce")}
    for found in learnt.values():  # 8 and 12 bytes are one point of the tuner, so they have launches of their own
        launches = {size: {each.launch for each in found.choices if each.size == size} for size in (8, 12, 1024)}
        assert 1 in launches[8] == launches[1024] <= {1, 2} and 3 in launches[12] <= {3, 4}
    whole = culmen(*words, cwd=tmp_path)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    assert "21 launches, 1 of them before" in whole.stdout, "one search for both collectives, and ten comparisons each"
    assert {name: read_learnt(learnt_file(name, 2, folder)) for name in learnt} == learnt
    assert not any(file_of(name, 2, RACE, folder).exists() for name in learnt)
    with (folder / "choices.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    proposals = {name: found.proposals(2) for name, found in learnt.items()}
    assert all(float(row["default_s"]) > 0 for row in rows)
    for name, there in proposals.items():
        rivals = {(size, algorithm) for size, names in there.items() for algorithm in (DEFAULT, *names)}
        for launch in range(1, LAUNCHES + 1):
            assert compared(file_of(name, 2, launch, folder)) == rivals
    said = f"proposed another algorithm for {sum(map(len, proposals.values()))} of 6 points."
    assert said in whole.stdout
    assert said in (folder / "tuning.html").read_text()
    launcher = find_launcher(mpi)
    rules = folder / launcher.mpi.collectives.rules_name
    changed = [row for row in rows if row["algorithm"] != DEFAULT]
    expected = [Expected(r["collective"], int(r["ranks"]), int(r["size"]), r["algorithm"]) for r in changed]
    assert not_as_expected(launcher, rules, expected) == {}
    other = culmen(*(word for word in words if word != "--fast"), cwd=tmp_path)
    assert other.returncode == 2, "the same folder does not hold measurements of two kinds"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("ends", "with 8 bytes: the ranks ended"),
        ("wrong", "with 8 bytes: a result is wrong"),
        pytest.param("hangs", "with 8 bytes: no answer within 20 s", marks=pytest.mark.slow),
    ],
)
def test_trouble_under_the_tuner_is_told_and_costs_one_collective(mpi, folder, broken, monkeypatch, how, said):
    monkeypatch.setenv("BROKEN", how)
    unmeasured, _ = measure({**asked(mpi, "allreduce,bcast", "8"), "timeout_s": 20.0})
    assert unmeasured == (mpi == "mpich"), "MPICH refuses smp on one node"
    allreduce, bcast = (read_learnt(learnt_file(name, 2)) for name in ("allreduce", "bcast"))
    assert {each.size for each in allreduce.choices} == {8}
    assert bcast.choices == [] and said in bcast.why_not
    assert file_of("bcast", 2, RACE).exists() and not file_of("allreduce", 2, RACE).exists()
    sentences = about_searches([("allreduce", 2), ("bcast", 2)], folder)
    assert sentences[0].endswith(" of 1 point.")
    assert sentences[1].startswith("culmen measured all algorithms of bcast with 2 ranks without this tuner: ")


def test_a_collective_without_a_choice_is_raced(mpi, folder, monkeypatch):
    monkeypatch.setenv(*_FORCED[mpi])
    measure(asked(mpi, "bcast", "8"))
    said = f"its algorithm is fixed by {_FORCED[mpi][0]} in the environment"
    assert read_learnt(learnt_file("bcast", 2)).why_not == said
    assert file_of("bcast", 2, RACE).exists()
