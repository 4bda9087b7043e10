"""The example 21_dns: its physics, on any number of ranks."""

import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest
from harness import HANGS_S, copy_example, environment
from numpy.polynomial.polynomial import polyval
from profiles import AS_ROOT, started
from taylor_green import energy_series, enstrophy_series, published

pytestmark = pytest.mark.either("mpi")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """programs(mpi, words…): the example, built once for each MPI and these words of build.sh."""
    built = {}

    def of(mpi, *words):
        key = (mpi, *words)
        if key not in built:
            folder = built[key] = tmp_path_factory.mktemp(mpi)
            copy_example("21_dns", folder)
            compiler = shutil.which(f"mpicc.{mpi}")
            subprocess.run(["./build.sh", *words], cwd=folder, check=True, env=environment(MPICC=compiler))
        return built[key] / "dns"

    return of


@pytest.fixture
def launch(mpi, programs, tmp_path):
    """launch(ranks, words…, build=words of build.sh): the process, after its end."""

    def of(ranks, *words, build=()):
        launcher = [str(ranks) if word == "RANKS" else word for word in started(mpi)]
        command = [*launcher, str(programs(mpi, *build)), *map(str, words)]
        variables = environment(**AS_ROOT)
        return subprocess.run(
            command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=HANGS_S, check=False
        )

    return of


@pytest.fixture
def run(launch):
    """run(ranks, words…): the numbers that it prints."""

    def of(ranks, *words):
        done = launch(ranks, *words)
        assert done.returncode == 0, done.stderr
        return {name: float(number) for name, number in re.findall(r"^(\w+) = (\S+)$", done.stdout, re.MULTILINE)}

    return of


def test_the_reference_has_the_published_coefficients():
    for reynolds in (3, 100, 1e9):
        found = enstrophy_series(1 / reynolds, 6) / 0.375
        assert found == pytest.approx(published(reynolds), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_energy_and_enstrophy_follow_the_series_in_time(run, ranks):
    """Bounds: at t = 0.4 the first power that is left out and the time steps change less than 1e-10. The errors of the
    two balances are those of the time steps, 2e-12 and 4e-11. The divergence has only roundings, below 1e-16: wave
    numbers are at most 10, and amplitudes 1 / 8. Each bound leaves a factor of at least 10."""
    found = run(ranks, "--steps", 20, "--step", 0.02, "--reynolds", 100)
    assert found["energy"] == pytest.approx(polyval(0.4, energy_series(0.01, 13)), rel=1e-9)
    assert found["enstrophy"] == pytest.approx(polyval(0.4, enstrophy_series(0.01, 13)), rel=1e-9)
    assert found["energy_error"] < 1e-9
    assert found["vapour_error"] < 1e-8
    assert found["divergence"] < 1e-14


def test_the_whole_curve_follows_the_series(run, tmp_path):
    """The enstrophy falls at first, and then rises. Bounds: at t = 0.8 the first power that is left out changes 1e-10.
    The waves that the grid does not have, and the time steps, change 7e-10. The bounds leave a factor of 10."""
    run(2, "--steps", 40, "--step", 0.02, "--reynolds", 100, "--droplets", 0, "--every", 2, "--curve", "curve")
    times, energy, enstrophy = np.loadtxt(tmp_path / "curve").T
    assert times == pytest.approx(np.linspace(0, 0.8, 21), abs=1e-12)
    assert energy == pytest.approx(polyval(times, energy_series(0.01, 21)), rel=1e-8)
    assert enstrophy == pytest.approx(polyval(times, enstrophy_series(0.01, 21)), rel=1e-8)
    assert 0 < np.argmin(enstrophy) < len(enstrophy) - 1


def test_ranks_change_nothing_but_roundings_and_ways_of_writing_nothing(run, tmp_path):
    """Bounds: numbers are of the order of 1 and the steps few, so that roundings stay below 1e-14. A compiler may sum
    in another order for another number of planes, so bytes are compared only for the same number of ranks."""
    words = ("--n", 16, "--steps", 4, "--writes", 2, "--reads", 2, "--droplets", 500, "--io")
    files = [tmp_path / "fields-0002.bin", tmp_path / "droplets-0002.bin"]
    wanted = run(1, *words, "mpi")
    fields, droplets = map(np.fromfile, files)
    assert len(fields) == 4 * 16**3
    assert len(droplets) == 4 * 500
    for ranks in (1, 2, 4):
        found = run(ranks, *words, "mpi")
        for name in ("energy", "enstrophy", "radius", "radius_deviation"):
            assert found[name] == pytest.approx(wanted[name], rel=1e-12)
        assert np.fromfile(files[0]) == pytest.approx(fields, abs=1e-13)
        assert np.fromfile(files[1]) == pytest.approx(droplets, abs=1e-12)
        by_mpi = [file.read_bytes() for file in files]
        run(ranks, *words, "posix")
        assert [file.read_bytes() for file in files] == by_mpi
    assert json.loads((tmp_path / "dns.json").read_text())["times"] == [0.08, 0.16]


def test_the_fields_are_those_of_the_vortex_and_the_cloud(run, tmp_path):
    """After one short step: nearly the initial fields, in the documented order."""
    run(2, "--n", 16, "--steps", 1, "--step", 1e-6, "--writes", 1)
    u, v, w, q = np.fromfile(tmp_path / "fields-0001.bin").reshape(16, 4, 16, 16).transpose(1, 0, 2, 3)
    z, y, x = np.meshgrid(*[2 * np.pi * np.arange(16) / 16] * 3, indexing="ij")
    assert u == pytest.approx(np.sin(x) * np.cos(y) * np.cos(z), abs=1e-5)
    assert v == pytest.approx(-np.cos(x) * np.sin(y) * np.cos(z), abs=1e-5)
    assert w == pytest.approx(np.zeros_like(w), abs=1e-5)
    assert q == pytest.approx(np.exp(-4 * (1 + np.cos(x))), abs=0.02), "waves above n / 3 are left out"


def test_a_finer_grid_is_closer_to_the_truth(run):
    """Bound: errors of Fourier series fall faster than any power of the distance of points; here the ratio is 0.07. It
    is one of truncation, not of roundings."""
    words = ("--steps", 40, "--step", 0.05, "--reynolds", 100, "--droplets", 0)
    coarse, middle, fine = (run(1, "--n", n, *words)["enstrophy"] for n in (12, 20, 32))
    assert abs(middle - fine) < 0.2 * abs(coarse - fine)


def test_droplets_grow_in_the_cloud_and_shrink_outside(run, tmp_path):
    run(2, "--n", 16, "--steps", 5, "--writes", 1, "--droplets", 1000)
    x, _, _, radius = np.fromfile(tmp_path / "droplets-0001.bin").reshape(-1, 4).T
    assert radius[abs(x - np.pi) < 0.3].min() > 1
    assert radius[abs(x - np.pi) > 2].max() < 1


@pytest.mark.parametrize(
    ("ranks", "words", "sentence"),
    [
        (4, "--n 30", "--n 30: the grid must have an even number of points from 8 to 1024 that 4 ranks can share"),
        (1, "--m 30", "there is no option --m; dns --help lists them"),
        (1, "--n many", "--n many: this must be a number"),
        (1, "--n", "--n: a value must follow"),
        (2, "--n 8 --steps 40 --step 1 --reynolds 10000", "the result is wrong: relative errors are"),
    ],
)
def test_mistakes_are_sentences(launch, ranks, words, sentence):
    done = launch(ranks, *words.split())
    assert done.returncode != 0
    assert done.stderr.count(f"dns: {sentence}") == 1, done.stderr


@pytest.mark.parametrize("fast_math", ["false", "true"])
def test_nan_is_a_wrong_result(launch, fast_math):
    done = launch(1, "--n", 16, "--steps", 200, "--step", 5, "--reynolds", 1e9, build=("-O2", "native", fast_math))
    assert "energy_error = nan" in done.stdout
    assert done.returncode != 0
    assert "the result is wrong: relative errors are nan" in done.stderr


def test_a_processor_without_these_vectors_is_a_sentence(tmp_path):
    copy_example("21_dns", tmp_path)
    (tmp_path / "uname").write_text("#!/bin/sh\necho aarch64\n")
    (tmp_path / "uname").chmod(0o755)
    variables = environment(PATH=f"{tmp_path}:{os.environ['PATH']}", MPICC="echo")

    def build(*words):
        return subprocess.run(
            ["./build.sh", *words], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
        )

    assert "-march=native" in build().stdout
    refused = build("-O2", "sse2")
    assert refused.returncode == 1
    assert "sse2 is of x86-64 processors, and this one is aarch64" in refused.stderr
