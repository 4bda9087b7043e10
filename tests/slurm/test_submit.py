"""Jobs of ``culmen bench`` and ``culmen tune`` on a real Slurm: submitted, followed, collected, continued."""

import csv
import json
import os
import re
import signal

import pytest
from culmen.tune.cluster.pairs import LAUNCHES
from harness import HANGS_S, Running, wait_for

MEASURE = ("bench", "collectives", "--collectives", "bcast", "--sizes", "8,1K", "--seconds", "0.02", "--mpi", "openmpi")
FEW = ("--algorithms", "default,chain")
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}  # the nodes have more CPUs than this machine


def rows_in(folder, name="bench-collectives/collectives.csv"):
    with (folder / name).open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def type_in(slurm, tmp_path, monkeypatch):
    """Runs culmen to its end, in a folder of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name, value in YIELD.items():
        monkeypatch.setenv(name, value)
    return lambda *words, cluster=slurm: cluster.run("culmen", *words, cwd=tmp_path, timeout=HANGS_S)


def test_a_job_measures_and_its_results_are_collected(type_in, tmp_path):
    words = (*MEASURE, *FEW, "--ranks", "2,3", "--submit", "slurm")
    done = type_in(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    job = re.search(r"^Submitted job (\d+) on main \(1 × 3 tasks, at most ", done.stdout, re.MULTILINE)[1]
    assert f"culmen: job {job} on main: completed, 2 of 2 launches" in done.stdout
    assert "Wrote bench-collectives/collectives.csv" in done.stdout
    rows = rows_in(tmp_path)
    assert {(row["ranks"], row["nodes"], row["ppn"], row["partition"]) for row in rows} == {
        ("2", "1", "2", "main"),
        ("3", "1", "3", "main"),
    }
    assert {row["mpi"] for row in rows} == {"openmpi"}
    about = json.loads((tmp_path / "bench-collectives/environment.json").read_text())
    assert about["partitions"]["main"]["host"] == about["host"]
    again = type_in(*words)
    assert again.returncode == 0
    assert "Submitted" not in again.stdout
    assert "All 2 launches are in " in again.stdout
    assert rows_in(tmp_path) == rows


def test_partitions_are_measured_by_a_job_each(type_in, tmp_path):
    done = type_in(*MEASURE, *FEW, "--ranks", "2", "--submit", "slurm", "--partition", "main,short")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall("^Submitted job ", done.stdout, re.MULTILINE)) == 2
    rows = rows_in(tmp_path)
    assert {row["partition"] for row in rows} == {"main", "short"}
    assert {row["mpi"] for row in rows} == {"openmpi"}
    assert "openmpi/main" in done.stdout
    assert "openmpi/short" in done.stdout


def test_after_the_time_limit_the_same_command_submits_the_rest(type_in, slurm, tmp_path):
    words = (*MEASURE, "--ranks", "2,3,4", "--submit", "slurm", "--partition", "short", "--seconds", "0.9")
    first = type_in(*words)
    assert first.returncode == 75, first.stdout + first.stderr
    assert (
        "The estimated time is longer than the partition allows; to measure the rest, type the same command again."
        in first.stdout
    )
    done = int(re.search(r"near its time limit after (\d) of 3 launches; to measure the rest", first.stdout)[1])
    assert done < 3, "on a busy machine, it may be none"
    launches = {row["ranks"] for row in rows_in(tmp_path)} if done else set()
    assert len(launches) == done
    with Running(*words, cwd=tmp_path, SLURM_CONF=str(slurm.configuration), **YIELD) as second:
        said = wait_for(second.process.stdout.readline, "the second job")
        before = f", {done} of 3 launches before" if done else ""
        assert f"{before}): bench-collectives/short/job.sh" in said
        job = re.match(r"Submitted job (\d+) ", said)[1]
        wait_for(lambda: ": running, " in second.process.stdout.readline(), "the job to run")
        assert slurm.run("scancel", job).returncode == 0
        code, out, err = second.end()
    assert code == 75, out + err
    assert not done or launches <= {row["ranks"] for row in rows_in(tmp_path)}


def test_an_interrupted_follower_leaves_the_job_and_the_same_command_finds_it(type_in, slurm, tmp_path):
    words = (*MEASURE, "--ranks", "2,3,4", "--seconds", "20", "--interval", "0.001", "--submit", "slurm")
    with Running(*words, cwd=tmp_path, SLURM_CONF=str(slurm.configuration), **YIELD) as follower:
        wait_for((tmp_path / "bench-collectives/main/job.json").exists, "a job")
        job = json.loads((tmp_path / "bench-collectives/main/job.json").read_text())["job"]
        wait_for(lambda: "RUNNING" in slurm.run("squeue", "-h", "-o", "%T", "-j", job).stdout, "the job to run")
        os.kill(follower.process.pid, signal.SIGINT)
        code, out, err = follower.end()
        # The job has the mark of its follower, so the end of this block would kill it.
        assert code == 75, out + err
        assert (
            f"Job {job} on main continues. To follow it again, type the same command.\nTo cancel it: scancel {job}\n"
            in out
        )
        other = type_in(*words, "--root", "1")
        assert other.returncode == 2
        assert f"job {job} on main measures something else for " in other.stderr
        overwritten = type_in(*words, "--overwrite")
        assert overwritten.returncode == 2
        assert f"first cancel it with `scancel {job}`" in overwritten.stderr
        with Running(*words, cwd=tmp_path, SLURM_CONF=str(slurm.configuration), **YIELD) as again:
            wait_for(lambda: f"job {job} on main: running" in again.process.stdout.readline(), "the follower")
            assert slurm.run("scancel", job).returncode == 0
            code, out, err = again.end()
        assert code == 75, out + err
        assert (
            f"culmen: job {job} on main was cancelled after 0 of 3 launches; to measure the rest, type the same command"
            in out
        )


def test_a_job_that_slurm_starts_again_continues(type_in, slurm, tmp_path):
    words = (*MEASURE, *FEW, "--collectives", "bcast,reduce", "--ranks", "2", "--seconds", "1", "--interval", "0.001")
    with Running(*words, "--submit", "slurm", cwd=tmp_path, SLURM_CONF=str(slurm.configuration), **YIELD) as follower:
        line = wait_for(follower.process.stdout.readline, "a job")
        wait_for((tmp_path / "bench-collectives/main/samples/bcast-2.csv").exists, "the first launch")
        assert slurm.run("scontrol", "requeue", re.search(r"job (\d+)", line)[1]).returncode == 0
        code, out, err = follower.end()
    assert code == 0, out + err
    assert ": pending (" in out
    assert ": completed, 2 of 2 launches" in out
    assert re.search(
        "2 launches, [12] of them before|All 2 launches are in",
        (tmp_path / "bench-collectives/main/job.out").read_text(),
    )


def test_a_job_that_fails_shows_its_last_lines(type_in, tmp_path):
    (tmp_path / "site.toml").write_text('lines = ["echo no such module: openmpi/9 >&2; exit 3"]\n')
    done = type_in(*MEASURE, "--ranks", "2", "--submit", "slurm", "--site", "site.toml")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "ended as FAILED with exit code 3 after " in done.stdout
    assert "the last lines of bench-collectives/main/job.out:\nculmen:   no such module: openmpi/9\n" in done.stdout
    assert "culmen: nothing was measured" in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--partition", "shrt"],
            "--partition: there is no partition 'shrt' here; did you mean 'short'? there are main",
        ),
        (["--partition", "closed"], "--partition: the partition closed is not up"),
        (["--nodes", "3"], "--nodes 3, but the partition main has 1"),
        (["--tasks-per-node", "9"], "--tasks-per-node 9: the nodes of the partition main have 8 CPUs"),
        (["--tasks-per-node", "2", "--nodes", "1"], "4 ranks need more room than --nodes 1 with 2 tasks on each node"),
        (["--partition", "short", "--time", "2:00"], "--time 00:02:00: the partition short allows at most 00:01:00"),
        (["--time", "soon"], "--time soon: it must be minutes or hours:minutes:seconds"),
        (["--account", "no such"], "sbatch failed: "),
    ],
)
def test_what_the_cluster_does_not_have_is_one_sentence(type_in, tmp_path, words, says):
    if words[0] == "--account":
        (tmp_path / "site.toml").write_text('options = ["--constraint=fast"]\n')
        words = ["--site", "site.toml"]
    done = type_in(*MEASURE, "--ranks", "2,4", "--submit", "slurm", *words)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith(f"culmen: {says}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.glob("bench-collectives/*/job.json"))


def test_a_dry_run_prints_the_script_alone(type_in, tmp_path):
    (tmp_path / "config/culmen").mkdir(parents=True)
    (tmp_path / "config/culmen/site.toml").write_text(
        'modules = ["openmpi/4.1"]\nscratch = "$LOCAL"\naccount = "physics"\n[environment]\nUCX_TLS = "rc,sm"\n'
        '[partition.short]\nmodules = ["openmpi/4.1-short"]\n'
    )
    words = ("--ranks", "2-8", "--submit", "slurm", "--dry-run", "--exclusive", "--qos", "high", "--time", "1:30:00")
    done = type_in(*MEASURE, *words, "--tasks-per-node", "8")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "#!/bin/bash"
    for option in ("partition=main", "nodes=1", "ntasks-per-node=8", "time=01:30:00", "exclusive", "qos=high"):
        assert f"#SBATCH --{option}" in lines
    assert "#SBATCH --account=physics" in lines
    assert lines.index("module load openmpi/4.1 || exit") < lines.index("export UCX_TLS=rc,sm")
    assert lines[-1] == '  --scratch "$LOCAL"'
    assert "--ranks 2,3,4,6,8 " in lines[-3]
    assert (
        "module load openmpi/4.1-short || exit"
        in type_in(*MEASURE, "--ranks", "2", "--submit", "slurm", "--dry-run", "--partition", "short").stdout
    )
    assert [path.name for path in tmp_path.iterdir()] == ["config"]


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_ranks_on_two_nodes_are_counted(type_in, slurm_of_four, tmp_path, mpi):
    (tmp_path / "site.toml").write_text('[environment]\nHYDRA_IFACE = "lo"\n')  # these host names have no address
    words = (*MEASURE, *FEW[:1], "default", "--mpi", mpi, "--ranks", "2,3", "--submit", "slurm", "--nodes", "2")
    done = type_in(*words, "--site", "site.toml", cluster=slurm_of_four)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(2 × 2 tasks, " in done.stdout
    assert {(row["ranks"], row["nodes"], row["ppn"]) for row in rows_in(tmp_path)} == {("2", "1", "2"), ("3", "2", "2")}


def test_messages_between_two_nodes(type_in, slurm_of_four, tmp_path):
    words = ("bench", "pingpong", "--routes", "raw,openmpi", "--sizes", "8", "--seconds", "0.02", "--submit", "slurm")
    done = type_in(*words, "--nodes", "2", cluster=slurm_of_four)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(2 × 1 tasks, " in done.stdout
    found = {(row["route"], row["nodes"], row["ppn"]) for row in rows_in(tmp_path, "bench-pingpong/pingpong.csv")}
    assert {("raw/tcp", "1", "2"), ("openmpi", "2", "1"), ("openmpi/shared-memory", "", "")} <= found


def test_a_mapping_puts_processes_on_one_node_or_two(type_in, slurm_of_four, tmp_path):
    words = ("--mapping", "core,node", "--nodes", "2", "--tasks-per-node", "2", "--submit", "slurm")
    pingpong = ("bench", "pingpong", "--routes", "openmpi/tcp", "--sizes", "8", "--seconds", "0.02")
    done = type_in(*pingpong, *words, cluster=slurm_of_four)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {(row["route"], row["nodes"]) for row in rows_in(tmp_path, "bench-pingpong/pingpong.csv")}
    assert found == {("openmpi/tcp+core", "1"), ("openmpi/tcp+node", "2")}


TUNE = ("tune", "cluster", "--collectives", "bcast", "--sizes", "8,1K", "--seconds", "0.02", "--submit", "slurm")


@pytest.mark.parametrize(("mpi", "file"), [("openmpi", "openmpi-rules.conf"), ("mpich", "mpich-rules.json")])
def test_a_job_tunes_and_the_rules_are_written_here(type_in, slurm_of_four, tmp_path, mpi, file):
    (tmp_path / "site.toml").write_text('[environment]\nHYDRA_IFACE = "lo"\n')  # these host names have no address
    words = (*TUNE, "--mpi", mpi, "--ranks", "2,3", "--nodes", "2", "--site", "site.toml")
    done = type_in(*words, cluster=slurm_of_four)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "culmen: job " in done.stdout
    launches = 2 * (LAUNCHES + 1)
    assert f"completed, {launches} of {launches} launches" in done.stdout
    rows = rows_in(tmp_path, "tune-cluster/choices.csv")
    assert {(row["ranks"], row["nodes"], row["size"]) for row in rows} >= {("3", "2", "8"), ("3", "2", "1024")}
    assert (tmp_path / "tune-cluster" / file).read_text().lstrip("#/* ").startswith("Rules for the collectives of")
    again = type_in(*words, cluster=slurm_of_four)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "Submitted" not in again.stdout
    assert rows_in(tmp_path, "tune-cluster/choices.csv") == rows


APP = """#!/bin/sh
echo run >> $CULMEN_STUDY_FOLDER/runs
{more}
echo "rate = $(( 100 - ($1 - 3) * ($1 - 3) ))"
"""
RECIPE = """
[space]
n = {{ type = "integer", lower = 1, upper = 9, initial = 8 }}
[evaluator]
command = ["./app.sh", "{{n}}"]
values = {{ rate = {{ regex = 'rate = (\\S+)' }} }}
{limit}
[objectives]
rate = "maximize"
[stop]
evaluations = 12
[tune]
rounds = 3
[job]
tasks_per_node = {tasks}
"""
TUNE_APP = ("tune", "command", "app.toml", "--submit", "slurm")


def write_app(folder, more="", limit="time_limit_s = 10", tasks=1):
    (folder / "app.sh").write_text(APP.format(more=more))
    (folder / "app.sh").chmod(0o755)
    (folder / "app.toml").write_text(RECIPE.format(limit=limit, tasks=tasks))


def test_a_program_is_tuned_in_a_job(type_in, tmp_path):
    write_app(tmp_path)
    done = type_in(*TUNE_APP)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^Submitted job \d+ on main \(1 × 1 tasks, at most ", done.stdout, re.MULTILINE)
    assert "Use the new settings: 33.3 % more rate" in done.stdout
    assert json.loads((tmp_path / "tune-app/result.json").read_text())["best_found"] == {"n": 3}
    assert "#SBATCH --ntasks-per-node=1" in (tmp_path / "tune-app/main/job.sh").read_text()
    runs = (tmp_path / "runs").read_text()
    again = type_in(*TUNE_APP)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "Submitted" not in again.stdout
    assert "Use the new settings: 33.3 % more rate" in again.stdout
    assert (tmp_path / "runs").read_text() == runs


def test_a_tuning_that_was_cancelled_continues_in_another_job(type_in, slurm, tmp_path):
    write_app(tmp_path, more="[ -e go ] || [ $(wc -l < $CULMEN_STUDY_FOLDER/runs) -lt 4 ] || sleep 60".replace(
        "-e go", "-e $CULMEN_STUDY_FOLDER/go"), limit="time_limit_s = 100")  # fmt: skip
    with Running(*TUNE_APP, cwd=tmp_path, SLURM_CONF=str(slurm.configuration)) as first:
        wait_for(lambda: (tmp_path / "runs").exists() and len((tmp_path / "runs").read_text().split()) >= 4, "runs")
        job = json.loads((tmp_path / "tune-app/main/job.json").read_text())["job"]
        assert slurm.run("scancel", job).returncode == 0
        code, out, err = first.end()
    assert code == 75, out + err
    assert f"job {job} on main was cancelled after 3 of 22 runs at most; to measure the rest, type the same" in out
    (tmp_path / "go").touch()
    done = type_in(*TUNE_APP)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 3 of 22 runs at most before): tune-app/main/job.sh" in done.stdout
    assert "Use the new settings: 33.3 % more rate" in done.stdout
    assert len((tmp_path / "runs").read_text().split()) == 1 + 12 + 2 * 3 + 1, "only the cancelled run is repeated"


PLACEMENT = (
    "tune", "placement", "--threads", "1,2", "--figure", r"rate = (\S+)", "--maximize", "--runs", "4", "--rounds", "3",
    "--submit", "slurm", "--tasks-per-node", "2", "--time", "30", "--", "./app",
)  # fmt: skip
HPL = (
    "tune", "hpl", "--program", "./xhpl", "--minutes", "0.1", "--rounds", "3", "--only", "nb", "--ranks", "1",
    "--submit", "slurm", "--tasks-per-node", "2",
)  # fmt: skip
FAKE_HPL = """#!/bin/sh
line() { sed -n "$1p" HPL.dat | cut -d' ' -f1; }
echo "WR11C2R4 $(line 6) $(line 8) 1 1 0.01 $(( 100 - ($(line 8) - 128) * ($(line 8) - 128) / 1000 )).0e+00"
echo "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 0.0044729 ...... PASSED"
"""


@pytest.mark.parametrize(
    ("name", "text", "words", "says"),
    [
        ("app", '#!/bin/sh\necho "rate = ${OMP_NUM_THREADS:-1}"\n', PLACEMENT, "OMP_NUM_THREADS=2 ./app"),
        ("xhpl", FAKE_HPL, HPL, "/tune-hpl/main: "),
    ],
)
def test_a_command_line_or_hpl_is_tuned_in_a_job(type_in, tmp_path, name, text, words, says):
    (tmp_path / name).write_text(text)
    (tmp_path / name).chmod(0o755)
    done = type_in(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^Submitted job \d+ on main \(1 × 2 tasks, at most ", done.stdout, re.MULTILINE)
    assert says in done.stdout
    again = type_in(*words)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "Submitted" not in again.stdout
    assert says in again.stdout


def test_a_program_that_fails_in_a_job_says_so(type_in, tmp_path):
    write_app(tmp_path, more="echo no licence >&2; exit 3")
    done = type_in(*TUNE_APP)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "no licence" in done.stdout
    assert "culmen: nothing was measured" in done.stdout


@pytest.mark.parametrize(
    ("file", "words", "says"),
    [
        ({"tasks": 9}, [], "--tasks-per-node 9: the nodes of the partition main have 8 CPUs"),
        ({}, ["--nodes", "3"], "--nodes 3, but the partition main has 1"),
        ({}, ["--partition", "main,short"], "--partition: settings are for one kind of node; give one partition"),
        ({"limit": ""}, [], "app: culmen cannot estimate the time of the job, because the time of a run is not known"),
        ({}, ["--time", "soon"], "--time soon: it must be minutes or hours:minutes:seconds"),
    ],
)
def test_a_tuning_is_refused_in_one_sentence(type_in, tmp_path, file, words, says):
    write_app(tmp_path, **file)
    done = type_in(*TUNE_APP, *words)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith(f"culmen: {says}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.glob("tune-app/*/job.json"))
