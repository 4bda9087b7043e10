"""Every example runs, and reaches what it says."""

import importlib.util
import json
import os
import re
import subprocess

import pytest
from harness import EXAMPLES, HANGS_S, PYTHON, ROOT, copy_example, culmen, environment


@pytest.fixture
def copy(tmp_path):
    def of(name):
        copy_example(name, tmp_path / name)
        return tmp_path / name

    return of


def status(folder, store):
    return json.loads(culmen("status", store, "--json", cwd=folder).stdout)


def evaluations_in_the_gallery(name):
    row = re.search(rf"^\| {name} \| .* \| ([\d ]+) \| ", (ROOT / "docs/gallery.md").read_text(), re.MULTILINE)
    return int(row[1].replace(" ", ""))


def is_about(told, count):
    """If a target or the agreement of searches ends a study, other random numbers change the count by a factor of up to
    two. An optimizer that has lost its way needs ten times as many."""
    return count / 3 < told < 3 * count


def test_pion_form_factor(copy):
    folder = copy("01_pion_form_factor")
    done = culmen("run", "pion_form_factor.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = status(folder, "pion_form_factor.db")
    assert is_about(found["told"], evaluations_in_the_gallery("01_pion_form_factor"))
    assert "converged after" in done.stdout
    assert found["best_value"] <= 21.7549
    assert found["at_bounds"] == {"m_rho2": "lower", "gamma_rho2": "upper"}
    assert found["best"]["m_rho"] == pytest.approx(0.77571, abs=1e-5)
    assert found["best"]["gamma_rho"] == pytest.approx(0.14790, abs=1e-5)
    assert "(29 residuals)" in done.stdout
    assert done.stdout.count("at bound (lower)") == done.stdout.count("at bound (upper)") == 1


def test_the_pion_model_is_what_its_minima_say():
    spec = importlib.util.spec_from_file_location("pion", EXAMPLES / "01_pion_form_factor" / "pion_form_factor.py")
    pion = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pion)
    names = ("m_rho", "gamma_rho", "delta", "phi", "beta", "m_rho2", "gamma_rho2")
    known = {
        24.9148: (0.77620, 0.14712, 1.650e-3, 0.1546, -0.09069, 1.7, 0.7),
        21.7549: (0.77571, 0.14790, 1.641e-3, 0.1565, -0.10361, 1.2, 0.7),
    }
    for least, parameters in known.items():
        chi2 = sum(r * r for r in pion.residuals(dict(zip(names, parameters, strict=True))))
        assert chi2 == pytest.approx(least, abs=5e-4)


def test_the_pion_fit_has_an_error_band(copy):
    folder = copy("01_pion_form_factor")
    assert culmen("run", "pion_form_factor.toml", "--evaluations", 6000, "--quiet", cwd=folder).returncode == 0
    done = subprocess.run([PYTHON, "error_band.py"], cwd=folder, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "written: error_band.html\n", "")
    page = (folder / "error_band.html").read_text()
    assert "best fit" in page
    assert 'src="http' not in page
    found = {p["name"]: p for p in status(folder, "pion_form_factor.db")["errors"]["parameters"]}
    assert found["m_rho"]["error"] == pytest.approx(4.53e-4, rel=2e-3)
    assert found["m_rho2"]["note"] == "at bound (lower), held fixed"


def test_errors_from_python():
    done = subprocess.run([PYTHON, EXAMPLES / "04_python" / "errors.py"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("rate = 0.6086 ± 0.0168, times S: ± 0.0117\n")


def test_candidates_of_ones_own():
    done = subprocess.run([PYTHON, EXAMPLES / "04_python" / "evaluations.py"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    values = [float(line.split()[1]) for line in done.stdout.splitlines()]
    assert len(values) == 8
    assert values[3] == min(values)


def test_external_program(copy):
    folder = copy("02_external_program")
    done = culmen("run", "misra.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = status(folder, "misra.db")
    assert is_about(found["told"], evaluations_in_the_gallery("02_external_program"))
    assert found["best_value"] <= 0.12455139
    assert found["best"]["b1"] == pytest.approx(2.3894212918e02, rel=1e-4)
    assert found["best"]["b2"] == pytest.approx(5.5015643181e-04, rel=1e-4)


def test_library(copy):
    folder = copy("05_library")
    subprocess.run(["make"], cwd=folder, check=True, env=environment(), capture_output=True)
    done = culmen("run", "rosenbrock.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = status(folder, "rosenbrock.db")
    assert found["best_value"] <= 1e-10
    assert found["best"]["x"] == pytest.approx(1, abs=1e-3)


def test_fortran(copy):
    folder = copy("06_fortran")
    subprocess.run(["make"], cwd=folder, check=True, env=environment(), capture_output=True)
    done = culmen("run", "gauss.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = status(folder, "gauss.db")
    assert found["best_value"] <= 1e-12
    assert found["best"]["width"] == pytest.approx(0.9, abs=1e-4)
    assert "area" in done.stdout


def test_ngspice(copy):
    folder = copy("07_ngspice")
    done = culmen("run", "filter.toml", "--workers", "2", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = status(folder, "filter.db")
    assert found["best_value"] <= 1e-8
    assert is_about(found["told"], evaluations_in_the_gallery("07_ngspice"))
    from_the_table = {"c1": 5.430e-9, "l1": 9.785e-6, "c2": 8.088e-9, "l2": 9.785e-6, "c3": 5.430e-9}
    assert found["best"] == pytest.approx(from_the_table, rel=0.01)
    assert "gain_at_1_MHz" in done.stdout


def test_mixed_space(copy):
    folder = copy("11_mixed_space")
    done = culmen("run", "regression.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = status(folder, "regression.db")
    assert found["told"] <= evaluations_in_the_gallery("11_mixed_space"), "it may stagnate earlier"
    assert found["best_value"] <= 15.1
    assert set(found["best"]) == {"model", "shape", "bandwidth", "ridge"}


def test_two_objectives(copy):
    folder = copy("12_two_objectives")
    done = culmen("run", "beam.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    front = int(re.search(r"Pareto front: (\d+) candidates", done.stdout)[1])
    assert front >= 50
    written = culmen("export", "beam.db", "--json", cwd=folder)
    rows = json.loads(written.stdout)
    assert len(rows) == evaluations_in_the_gallery("12_two_objectives")


def test_a_callback_stops_a_study():
    done = subprocess.run([PYTHON, EXAMPLES / "04_python" / "callback.py"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    *seen, message, kept = done.stdout.splitlines()
    assert float(seen[-1].split()[-1]) < 1e-3 <= float(seen[-2].split()[-1])
    evaluations = int(re.fullmatch(r"stopped by the callback after (\d+) evaluations", message)[1])
    assert kept == f"{evaluations} evaluations in memory"


@pytest.mark.parametrize("script", ["minimize.py", "ask_tell.py", "read_store.py", "batch.py"])
def test_python(script, tmp_path):
    path = EXAMPLES / "04_python" / script
    done = subprocess.run(
        [PYTHON, path], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=HANGS_S
    )
    assert done.returncode == 0, done.stderr
    assert "value" in done.stdout


EXECUTOR_SAYS = {
    "calls.py": "9.8636\n332833500\n",
    "differential_evolution.py": "value ",
    "nsga2.py": "40 values on the front, x from 0.00 to 2.00\n",
    "scikit_learn.py": "value 0.8",
    "own_executor.py": "value ",
}


@pytest.mark.parametrize("script", EXECUTOR_SAYS)
def test_executor(script):
    path = EXAMPLES / "09_executor" / script
    done = subprocess.run([PYTHON, path], env=environment(), capture_output=True, text=True, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(EXECUTOR_SAYS[script])


def answers_of(script):
    path = EXAMPLES / "13_coming_from" / script
    done = subprocess.run([PYTHON, path], env=environment(), capture_output=True, text=True, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr
    return float(done.stdout.split()[0])


@pytest.mark.slow
def test_other_tools_come_to_what_culmen_comes_to():
    least = answers_of("with_culmen.py")
    assert least == pytest.approx(3.7550528545, abs=1e-8)
    assert answers_of("ask_tell.py") == pytest.approx(least, abs=1e-6)
    assert answers_of("with_pycma.py") == pytest.approx(least, abs=1e-6)
    assert least <= answers_of("with_optuna.py") <= 2 * least
    assert least <= answers_of("with_both.py")


def test_decay(copy):
    folder = copy("08_decay")
    done = culmen("run", "decay.toml", "--quiet", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = status(folder, "decay.db")
    assert found["best_value"] == pytest.approx(3.7550528545, abs=1e-8)
    assert found["best"]["rate"] == pytest.approx(0.0457473, abs=1e-6)
    assert is_about(found["told"], evaluations_in_the_gallery("08_decay"))
    assert found["finished"] == "converged"


def test_hello_worlds_are_short_and_in_the_documents():
    for name, most, document in (
        ("04_python/minimize.py", 10, "docs/index.md"),
        ("03_cpp/himmelblau.cpp", 35, "README.md"),
    ):
        assert len((EXAMPLES / name).read_text().splitlines()) <= most
        assert f"<!-- examples/{name} -->" in (ROOT / document).read_text()
    assert len((EXAMPLES / "00_loop" / "loop.cpp").read_text().splitlines()) <= 100


def test_nothing_in_examples_depends_on_this_machine():
    for path in EXAMPLES.rglob("*"):
        if path.is_file() and os.fspath(path).endswith((".py", ".toml", ".md", ".sh", ".cpp", ".c")):
            assert str(ROOT) not in path.read_text()
