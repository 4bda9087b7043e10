"""The tuner of ``culmen autotune`` without some algorithms, as ``culmen tune cluster --fast`` uses it."""

from culmen.bench.session import Session
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT
from culmen.launch.preloading import preloaded
from culmen.launch.programs import own_library
from culmen.tune.autotune.tuned import read_tuning
from harness import HANGS_S


def test_the_tuner_does_not_try_algorithms_that_are_left_out(mpi, tmp_path):
    launcher, dump = find_launcher(mpi), tmp_path / "learnt.tuning"
    names = [one.name for one in launcher.mpi.collectives.algorithms("bcast") if one.name != DEFAULT]
    settings = {"DUMP": str(dump), "WITHOUT": ",".join(f"bcast/{name}" for name in names)}
    library = own_library(f"autotune_{launcher.mpi.module}")
    environment = preloaded(library, {f"CULMEN_TUNING_{name}": value for name, value in settings.items()})
    with Session(launcher, 2, HANGS_S, environment) as session:
        for name in ("bcast", "allreduce"):
            session.repeat(name, 0, 8, 0, 100)
    assert {each.collective for each in read_tuning(dump).choices} == {"allreduce"}


def test_an_algorithm_that_the_user_has_chosen_stays(mpi, tmp_path):
    launcher, dump = find_launcher(mpi), tmp_path / "learnt.tuning"
    known = launcher.mpi.collectives
    chosen = known.variables_for("bcast", known.algorithms("bcast")[1])
    environment = preloaded(own_library(f"autotune_{launcher.mpi.module}"), {"CULMEN_TUNING_DUMP": str(dump)})
    with Session(launcher, 2, HANGS_S, {**chosen, **environment}) as session:
        for name in ("bcast", "allreduce"):
            session.repeat(name, 0, 8, 0, 100)
    assert {each.collective for each in read_tuning(dump).choices} == {"allreduce"}
