"""The studies of the example 21_dns: they run, and their results are drawn."""

import json
import os
import re
import runpy
import shutil
import subprocess

import pytest
from culmen.base.toml import tomllib
from culmen.launch.mpi import find_launcher
from culmen.tune.iobuf.report import read_reports
from culmen.tune.placement.topology import read_topology
from harness import EXAMPLES, HANGS_S, PYTHON, copy_example, culmen, environment
from profiles import AS_ROOT, flags_of

from culmen import read

pytestmark = pytest.mark.either("mpi")
TECHNIQUES = ("vectorisation", "placement", "hints", "buffering")


@pytest.fixture
def example(tmp_path):
    copy_example("21_dns", tmp_path)
    for file in tmp_path.glob("*.toml"):
        text = re.sub("^evaluations = .*", "evaluations = 2", file.read_text(), flags=re.MULTILINE)
        file.write_text(text.replace("rounds = 20", "rounds = 3").replace('"20000"', '"500"'))
    return tmp_path


@pytest.fixture
def variables(mpi, tmp_path):
    """With them, mpiexec and build.sh are of this MPI."""
    folder = tmp_path / "bin"
    folder.mkdir()
    flags = " ".join(flags_of(mpi))
    for words in ("--bind-to none", "--map-by :OVERSUBSCRIBE"):  # Open MPI 5 takes no option twice
        flags = flags.replace(words, "")
    (folder / "mpiexec").write_text(f'#!/bin/sh\nexec {find_launcher(mpi).program} {flags} "$@"\n')
    (folder / "mpiexec").chmod(0o755)
    more = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    return {**AS_ROOT, **more, "PATH": f"{folder}:{os.environ['PATH']}", "MPICC": shutil.which(f"mpicc.{mpi}")}


def tune(folder, study, variables):
    done = culmen("tune", "command", f"{study}.toml", cwd=folder, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / f"tune-{study}" / "result.json").read_text())


def python(folder, *words):
    return subprocess.run(
        [PYTHON, *words], cwd=folder, env=environment(), capture_output=True, text=True, timeout=HANGS_S, check=False
    )


@pytest.mark.parametrize("study", TECHNIQUES)
def test_each_study_runs(example, variables, study):
    result = tune(example, study, variables)
    given = tomllib.loads((example / f"{study}.toml").read_text())["space"]
    assert result["objective"] == "total_s"
    assert all(given[name]["initial"] == value for name, value in result["present"].items())
    assert result["use"] in ("present", "best_found")


# As the lfs of Lustre answers; it keeps the words of each setstripe.
LFS = """#!/bin/sh
case $1 in
getstripe) exit ${NO_LUSTRE:-0} ;;
setstripe)
  test "$3" -le 16 || { echo "error: setstripe: No space left on device" >&2; exit 28; }
  echo "$*" >>"$LFS_LOG" ;;
esac
"""
SET = """
[[starts]]
striping = "as it is"
io = "ompio"
fcoll = "^none"
[[starts]]
striping = "set"
stripes = 4
stripe_size = "16M"
io = "ompio"
fcoll = "^none"
"""


@pytest.fixture
def lustre(example, variables):
    """Variables, among them those of something that stands for lfs."""
    (example / "bin" / "lfs").write_text(LFS)
    (example / "bin" / "lfs").chmod(0o755)
    return variables | {"LFS_LOG": str(example / "lfs.log")}


@pytest.mark.parametrize("has_it", [True, False])
def test_striping_is_set_where_the_file_system_has_it(example, lustre, has_it):
    with (example / "hints.toml").open("a") as file:
        file.write(SET)
    done = culmen("tune", "command", "hints.toml", cwd=example, **lustre, NO_LUSTRE="" if has_it else "1")
    assert done.returncode == 0, done.stderr
    runs = read(example / "tune-hints" / "search.db").columns
    assert dict(zip(runs["striping"], runs["status"], strict=True)) == {
        "as it is": "ok",
        "set": "ok" if has_it else "failed",
    }
    assert (example / "lfs.log").exists() == has_it
    if has_it:
        assert (example / "lfs.log").read_text().splitlines()[0] == "setstripe -c 4 -S 16M ."
    else:
        assert (
            "1 of 2 runs of the search failed: the command ended with exit code 1: the folder of the run is on a "
            in done.stdout
        )
        assert "file system without striping (" in done.stdout


def test_a_run_whose_striping_is_refused_fails(example, lustre):
    words = ["./with_stripes.sh", "set", "32", "1M", "touch", "ran"]
    done = subprocess.run(words, cwd=example, env=environment(**lustre), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: setstripe: No space left on device\n")
    assert not (example / "ran").exists()


def test_a_bound_rank_has_a_core_for_each_thread(example, variables, monkeypatch):
    for name, value in environment(**variables).items():
        monkeypatch.setenv(name, value)
    expanded = runpy.run_path(str(example / "place.py"))["expanded"]
    if read_topology().cores < 2:
        pytest.skip("this machine has one core")

    def cpus(binding, threads):
        words = expanded(["mpiexec", "-n", "1", "--bind-to", binding, "sh", "-c", WITHOUT_OPENMP, "--threads", threads])
        return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    assert cpus("core", "2") == 2 * cpus("core", "1")
    assert cpus("none", "1") == len(os.sched_getaffinity(0))


WITHOUT_OPENMP = "env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc"  # nproc follows them

BUFFERED = """
[[starts]]
buffered = false
[[starts]]
buffered = true
buffer_size = "64K"
read_ahead = 2
"""


def test_a_run_with_buffers_succeeds_and_makes_fewer_calls(example, variables):
    with (example / "buffering.toml").open("a") as file:
        file.write(BUFFERED)
    reports = example / "reports"
    reports.mkdir()
    tune(example, "buffering", variables | {"CULMEN_IOBUF_REPORT": str(reports)})
    runs = read(example / "tune-buffering" / "search.db").columns
    assert dict(zip(runs["buffered"], runs["status"], strict=True)) == {False: "ok", True: "ok"}
    sums = read_reports(reports)
    assert sums["writes"] >= 2 * 500, "each droplet is one write, two times"
    assert sums["reads"] >= 2 * 500
    assert 10 * sums["system_writes"] < sums["writes"]
    assert 10 * sums["system_reads"] < sums["reads"]


def test_an_illegal_instruction_is_a_sentence(example, variables):
    text = (example / "main.c").read_text()
    (example / "main.c").write_text(text.replace("  check_options();", "  __builtin_trap();\n  check_options();"))
    done = culmen("tune", "command", "vectorisation.toml", cwd=example, **variables)
    assert done.returncode == 2
    assert "illegal instruction: this processor lacks the vector units for which dns was built" in done.stderr


def test_a_wrong_result_is_no_result(example, variables):
    """One time step too many: the program is content, but the limits of the study are not."""
    text = (example / "vectorisation.toml").read_text()
    (example / "vectorisation.toml").write_text(text.replace('"--steps", "10"', '"--steps", "11"'))
    done = culmen("tune", "command", "vectorisation.toml", cwd=example, **variables)
    assert done.returncode == 2
    assert "it violates [limits]" in done.stderr


@pytest.mark.slow
def test_all_techniques_together_are_compared_and_drawn(example, variables):
    text = (example / "together.py").read_text()
    (example / "together.py").write_text(text.replace("RANKS, REPEATS = (1, 2, 4), 5", "RANKS, REPEATS = (1, 2, 4), 1"))
    for study in TECHNIQUES:
        tune(example, study, variables)
    result = example / "tune-vectorisation" / "result.json"  # as if it had found this: few runs may find nothing
    found = json.loads(result.read_text())
    better = {"best_found": {**found["present"], "level": "-O3"}, "use": "best_found"}
    result.write_text(json.dumps(found | better))
    done = python(example, "together.py")
    assert done.stdout == "written: together.toml\nwritten: scaling.toml\n", done.stderr
    together, _ = [tune(example, study, variables) for study in ("together", "scaling")]
    wanted = tomllib.loads((example / "together.toml").read_text())["starts"]
    assert together["present"] == wanted[0]
    assert together["best_found"] in wanted
    assert python(example, "plots.py").stdout == "written: techniques.html\n"
    page = (example / "techniques.html").read_text()
    assert all(f'"{name}"' in page for name in ("ideal", "compute, before", "write, after", "together"))


def test_the_file_of_all_techniques_begins_like_each_of_them():
    def settings_in(name):
        space = tomllib.loads((EXAMPLES / "21_dns" / f"{name}.toml").read_text())["space"]
        return {name: table["initial"] for name, table in space.items()}

    assert settings_in("all") == {k: v for name in TECHNIQUES for k, v in settings_in(name).items()}


def test_results_are_put_together_and_drawn(example):
    """With results of known numbers."""
    assert "first run: culmen tune command vectorisation.toml" in python(example, "together.py").stderr
    for k, study in enumerate(TECHNIQUES):
        name = "abcd"[k]
        verdict = None if k == 3 else {"gain": 0.125 * k, "low": 0.125 * k - 0.0625, "high": 0.125 * k + 0.0625}
        use = "best_found" if k in (1, 2) else "present"
        result = {"present": {name: 1}, "best_found": {name: 2}, "use": use, "comparison": verdict}
        (example / f"tune-{study}").mkdir()
        (example / f"tune-{study}" / "result.json").write_text(json.dumps(result))
    assert python(example, "together.py").returncode == 0
    starts = tomllib.loads((example / "together.toml").read_text())["starts"]
    assert starts[:2] == [{"run": 0, "a": 1, "b": 1, "c": 1, "d": 1}, {"run": 1, "a": 1, "b": 2, "c": 2, "d": 1}]
    ranks = [start["ranks"] for start in tomllib.loads((example / "scaling.toml").read_text())["starts"]]
    assert ranks[:6] == [1, 1, 2, 2, 4, 4]
    done = python(example, "plots.py", "page.html")
    assert done.returncode == 0, done.stderr
    page = (example / "page.html").read_text()
    assert "12.5 % less" in page
    assert "(18.8 to 31.2)" in page
    assert "better found" in page
    assert 'src="http' not in page


def test_without_better_settings_there_is_nothing_to_put_together(example):
    for study in TECHNIQUES:
        result = {"present": {study: 1}, "best_found": {study: 2}, "use": "present"}
        (example / f"tune-{study}").mkdir()
        (example / f"tune-{study}" / "result.json").write_text(json.dumps(result))
    assert python(example, "together.py").stderr.startswith("no technique found better settings")
    assert not (example / "together.toml").exists()


def test_the_flow_is_drawn(example, variables):
    missing = python(example, "render.py")
    assert "there is no dns.json; run dns with --writes first" in missing.stderr
    subprocess.run(["./build.sh"], cwd=example, env=environment(**variables), check=True)
    words = ["./dns", "--n", "16", "--steps", "6", "--writes", "3"]
    subprocess.run(["mpiexec", "-n", "2", *words], cwd=example, env=environment(**variables), check=True)
    for kind in ("vapour", "vorticity"):
        done = python(example, "render.py", kind, f"{kind}.html")
        assert done.stdout == f"written: {kind}.html\n", done.stderr
        page = (example / f"{kind}.html").read_text()
        assert '"volume"' in page
        assert '"t = "' in page
        assert 'src="http' not in page
    assert "smoke must be one of vapour, vorticity" in python(example, "render.py", "smoke").stderr
