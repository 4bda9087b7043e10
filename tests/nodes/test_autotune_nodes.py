"""``culmen autotune`` on several nodes, where Open MPI's component han takes the calls before tuned."""

import re
import subprocess
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from culmen.launch.programs import own_library
from culmen.tune.autotune.tuned import read_tuning

RANKS = 4
PROGRAMS = Path(__file__).parent.parent / "mpi"
HAN = {"OMPI_MCA_coll_han_priority": "40"}  # as that of Open MPI 5, higher than the one of tuned


def program(folder: Path, source: str, *flags: str) -> str:
    path = folder / Path(source).stem
    subprocess.run(["mpicc.openmpi", "-O1", "-w", *flags, PROGRAMS / source, "-o", path], check=True)
    return str(path)


def run_on_two(nodes, folder: Path, path: str, *words: object, **variables: str) -> subprocess.CompletedProcess:
    library = str(own_library(f"autotune_{find_launcher('openmpi').mpi.module}"))
    places = ("-n", RANKS, "--hosts", ",".join(nodes.addresses[:2]))
    own = {"CULMEN_EXECUTABLE": path, "LD_PRELOAD": library}
    done = nodes.launch("openmpi", *places, *words, cwd=folder, **own, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def order(said: str) -> str:
    found = re.search(r"order (\d+) \d+", said)
    assert found, said
    return found[1]


def test_algorithms_run_although_han_comes_first(nodes, tmp_path):
    """The result of an operator that does not commute shows the algorithm."""
    path = program(tmp_path, "order_program.c")
    made = tmp_path / "made.tuning"
    run_on_two(nodes, tmp_path, path, 1, "blocking", CULMEN_TUNING_DUMP=str(made), **HAN)
    tuning, file, results = read_tuning(made), tmp_path / "one.tuning", {}
    for number, name in ((0, "default"), (1, "basic_linear"), (4, "ring")):
        lines = ["culmen-tuning\t1", f"mpi\t{tuning.mpi}", f"communicator\tworld\t{RANKS}"]
        file.write_text("\n".join([*lines, f"allreduce\t256\t{name}\t1\t1\t1"]) + "\n")
        loaded = run_on_two(nodes, tmp_path, path, 1, "blocking", CULMEN_TUNING_LOAD=str(file), **HAN)
        results[name] = order(loaded.stdout)
        chosen = {"OMPI_MCA_coll": "^han", "OMPI_MCA_coll_tuned_allreduce_algorithm": str(number)}
        if number:
            alone = run_on_two(nodes, tmp_path, path, 1, "blocking", CULMEN_TUNING_REPRODUCIBLE="1", **chosen)
            assert results[name] == order(alone.stdout), name
    assert len(set(results.values())) == len(results), results


@pytest.mark.parametrize("way", ["han", "without"])
def test_threads_are_tuned_only_without_han(nodes, tmp_path, way):
    path, file = program(tmp_path, "threads_program.c", "-pthread"), tmp_path / "threads.tuning"
    variables = HAN if way == "han" else {"OMPI_MCA_coll": "^han"}
    done = run_on_two(nodes, tmp_path, path, 60, CULMEN_TUNING_DUMP=str(file), **variables)
    assert "0 wrong" in done.stdout, done.stdout
    tuning = read_tuning(file)
    assert ("OMPI_MCA_coll=^han" in tuning.off) == (way == "han")
    assert bool(tuning.choices) == (way == "without")
