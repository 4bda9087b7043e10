"""A C++ program outside this tree: find_package(culmen) against an installed one, plain and under both MPIs."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from harness import EXAMPLES, ROOT, environment

MPIS = {"openmpi": ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"], "mpich": []}


def run(*words: object, **more: str) -> str:
    done = subprocess.run(
        [str(word) for word in words], env=environment(**more), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree moved after its installation: nothing in it may know where it was put first."""
    build = os.environ.get("CULMEN_BUILD", ROOT / "build" / "release")
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", build, "--prefix", folder / "first")
    return Path(shutil.move(folder / "first", folder / "second"))


def built(example: str, prefix: Path, build: Path) -> Path:
    """The folder of its programs."""
    run("cmake", "-S", EXAMPLES / example, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    return build


@pytest.fixture(scope="module")
def program(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("03_cpp", prefix, tmp_path_factory.mktemp("himmelblau")) / "himmelblau"


def assert_found_a_minimum(output: str) -> None:
    found = re.fullmatch(r"f\((.*), (.*)\) = (.*) after \d+ evaluations\n", output)
    assert found, output
    x, y, value = map(float, found.groups())
    assert value <= 1e-8
    assert (x * x + y - 11) ** 2 + (x + y * y - 7) ** 2 < 1e-3


def test_the_example_runs_on_threads(program):
    assert_found_a_minimum(run(program))


@pytest.mark.parametrize("mpi", MPIS)
def test_the_example_runs_under_mpiexec_unchanged(program, mpi):
    assert_found_a_minimum(run(find_launcher(mpi).program, *MPIS[mpi], "-n", 4, program))


def test_lennard_jones_clusters_reach_the_known_energies(prefix, tmp_path):
    program = built("10_lennard_jones", prefix, tmp_path) / "lennard_jones"
    for words, energy in (((), -44.326801), ((19, -72.6597), -72.659782)):
        found = re.match(r"energy (\S+) after", run(program, *words))
        assert float(found[1]) == pytest.approx(energy, abs=1e-5)


@pytest.mark.slow
def test_the_truncated_octahedron_of_38_atoms_is_found_from_most_seeds(prefix, tmp_path):
    program = built("10_lennard_jones", prefix, tmp_path) / "lennard_jones"
    found = [
        subprocess.run([program, "38", "-173.92842", str(seed)], capture_output=True, timeout=900).returncode
        for seed in range(1, 11)
    ]
    assert found.count(0) >= 8, found


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_evaluator_header_stands_alone(prefix, language, tmp_path):
    source = tmp_path / "evaluator"
    source.write_text("#include <culmen/evaluator.h>\n")
    run("g++", "-x", language, "-Wall", "-Werror", "-fsyntax-only", f"-I{prefix}/include", source)


def test_the_program_for_cpp_says_that_the_commands_are_python(prefix, tmp_path):
    (tmp_path / "python3").symlink_to("/bin/false")
    variables = environment(PATH=str(tmp_path))
    done = subprocess.run([prefix / "bin" / "culmen", "--help"], env=variables, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("culmen: this program was installed for C++, and the Python package culmen,")


def test_a_broken_python_of_the_environment_is_named(prefix, tmp_path):
    (tmp_path / "culmen").write_bytes((prefix / "bin" / "culmen").read_bytes())
    (tmp_path / "culmen").chmod(0o755)
    (tmp_path / "python3").symlink_to("/no/such/python")
    done = subprocess.run([tmp_path / "culmen", "--help"], env=environment(), capture_output=True, text=True)
    assert done.returncode == 1
    begin = f"culmen: {tmp_path}/python3, the Python of this virtual environment, cannot be run: No such file"
    assert done.stderr.startswith(begin)


def test_only_documented_files_are_installed(prefix):
    top = sorted(str(path.relative_to(prefix)) for path in prefix.glob("*/*"))
    assert top == ["bin/culmen", "include/culmen", "lib/cmake", "lib/culmen", "lib/libculmen.a"]
