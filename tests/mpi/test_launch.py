"""``culmen launch``: the line it makes, the exit code it returns, and what signals do."""

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from culmen.launch.mpi import load, recognise
from culmen.launch.rank_watch import RankWatch, rank_in
from harness import HANGS_S, PYTHON, Running, culmen, environment, patience, store_is_ready, wait_for, write_study

STOPPED = 3  # the exit code of world_program's rank 0 when it was asked to end
VERSIONS = {
    "mpiexec (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/": "Open MPI 4",
    "mpirun.openmpi (OpenRTE) 4.1.4": "Open MPI 4",
    "mpiexec (Open MPI) 5.0.11": "Open MPI 5",
    "HYDRA build details:\n    Version:                                 4.0.2\n": "MPICH 4",
    "HYDRA build details:\n    Version:                                 5.0.2\n": "MPICH 5",
    "Intel(R) MPI Library for Linux* OS, Version 2021.19 Build 20260210": "Intel MPI",
    "jsrun version 10": None,
}


@pytest.mark.parametrize("version", VERSIONS)
def test_an_mpi_is_recognised_by_its_version(version):
    mpi = recognise(version)
    assert (mpi and mpi.title) == VERSIONS[version]


def test_every_data_file_has_an_example_here():
    assert {mpi.title for mpi in load()} == set(VERSIONS.values()) - {None}


def test_a_dry_run_prints_the_line_and_runs_nothing(launch, world_program):
    done = launch(9, "--dry-run", "run", "a study.toml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    assert done.stdout.endswith(f"-n 9 {world_program} run 'a study.toml'\n")


LAUNCHES = {
    "nothing": ([], "give a command to launch, for example `culmen launch -n 3 run STUDY.toml`"),
    "a study": (["k.toml"], "'k.toml' is not a command; write `culmen launch -n 3 run k.toml`"),
    "a store": (["k.db"], "'k.db' is not a command; write `culmen launch -n 3 resume k.db`"),
    "a typo": (["rnu", "k.toml"], "'rnu' is neither a command of culmen nor a program; did you mean 'run'?"),
}


@pytest.mark.parametrize("kind", LAUNCHES)
def test_what_cannot_be_launched_is_said_before_mpi_starts(kind, tmp_path):
    words, sentence = LAUNCHES[kind]
    done = culmen("launch", "-n", 3, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"culmen: {sentence}\n")


SCRIPT = """
import culmen, sys
found = culmen.minimize(lambda p: p["x"] ** 2, {"x": (-5, 5)}, budget=50)
if culmen.is_master():
    print(found.evaluations, found.workers)
    if "fail" in sys.argv:
        raise RuntimeError("a mistake of one's own")
culmen.minimize(lambda p: p["x"] ** 2, {"x": (-5, 5)}, budget=50)
"""


@pytest.mark.either("mpi")
def test_a_script_is_launched_like_a_command(mpi, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = culmen("launch", "-n", 3, "--mpi", mpi, PYTHON, "script.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == ["50 2"]


@pytest.mark.either("mpi")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"x": (1, -1)}, budget=9', "parameter 'x': lower bound 1 must be below upper bound -1"),
        ('{"x": (-1, 1)}, fix={"y": 2}, budget=9', "there is no parameter 'y' that could be fixed"),
        ('{"x": (-1, 1)}, budget="many"', 'budget must be a whole number, got "many"'),
    ],
)
def test_a_wrong_argument_ends_all_ranks(mpi, tmp_path, arguments, said):
    (tmp_path / "script.py").write_text(f"import culmen\nculmen.minimize(abs, {arguments})\n")
    done = culmen("launch", "-n", 3, "--mpi", mpi, PYTHON, "script.py", cwd=tmp_path)
    assert done.returncode == 1
    assert said in done.stderr
    assert "killed" not in done.stderr


@pytest.mark.either("mpi")
def test_a_script_can_catch_the_error_of_its_arguments_in_every_rank(mpi, tmp_path):
    (tmp_path / "script.py").write_text(
        "import culmen\n"
        "def square(p): return p['x'] ** 2\n"
        "for space, optimizer in (({'x': (1, -1)}, 'random'), ({'x': (0, 1)}, 'none')):\n"
        "    try: culmen.minimize(square, space, budget=9, optimizer=optimizer)\n"
        "    except culmen.InputError: pass\n"
        "print(culmen.minimize(square, {'x': (-1, 1)}, budget=9).evaluations)\n"
    )
    done = culmen("launch", "-n", 3, "--mpi", mpi, PYTHON, "script.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "".join(done.stdout.splitlines()[1:]) == "999", "ranks print at the same time"


@pytest.mark.either("mpi")
def test_check_tries_the_model_in_rank_zero_alone(mpi, tmp_path):
    write_study(tmp_path, 30)
    done = culmen("launch", "-n", 3, "--mpi", mpi, "check", "study.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("study.toml is correct.") == 1


@pytest.mark.either("mpi")
def test_an_exception_in_one_rank_ends_the_launch(mpi, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = culmen("launch", "-n", 3, "--mpi", mpi, PYTHON, "script.py", "fail", cwd=tmp_path)
    assert done.returncode != 0
    assert "a mistake of one's own" in done.stderr


AGAIN = (0, 1, 2, 3, 2, 1)


@pytest.mark.either("mpi")
@pytest.mark.parametrize("rank", [*range(4), *(pytest.param(rank, marks=pytest.mark.slow) for rank in AGAIN)])
def test_a_rank_that_is_killed_is_named_with_the_way_to_resume(mpi, tmp_path, rank):
    """Many times, because MPI ends the other ranks at the same moment."""
    write_study(tmp_path, 1_000_000)
    with Running("launch", "-n", 4, "--mpi", mpi, "run", "study.toml", "--store=s.db", cwd=tmp_path) as run:
        wait_for(lambda: store_is_ready(tmp_path / "s.db"), "the store")
        for each in range(4):
            wait_for(lambda each=each: process_of(run, each), f"rank {each}")
        wait_for(
            lambda: watched(run) >= {process_of(run, each) for each in range(4)}, "that `launch` watches the ranks"
        )
        os.kill(process_of(run, rank), signal.SIGKILL)
        code, out, err = run.end()
    assert code != 0, out
    name = r"rank (\d)(?:, the master,)?"
    if mpi == "mpich":
        name += r"|one of the ranks ([\d, ]+)"
    resume = f"culmen launch -n 4 --mpi {mpi} resume s.db"
    how = "was killed by SIGKILL"
    if mpi == "mpich":  # its launcher can fail itself, if other ranks end at this moment; it then knows no signal
        how = rf"(?:{how}|ended early \(.*\))"
    found = re.search(f"culmen: (?:{name}) {how}, so .* ended all ranks; to resume: {resume}\n", err)
    assert found, (code, out, err)
    assert str(rank) in (found[1] or found[2]).split(", "), err
    assert ("the master" in err) == (rank == 0 and found[1] == "0")


FAILING_HYDRA = """#!/bin/sh
[ "$1" = --version ] && { echo "HYDRA build details:"; echo "    Version: 4.0.2"; exit; }
for rank in 0 1 2; do PMI_RANK=$rank sleep 600 & pids="$pids $!"; done
until [ -e go ]; do sleep 0.01; done
kill $(echo $pids | cut -d' ' -f2)
wait $(echo $pids | cut -d' ' -f2)
kill $pids 2>/dev/null
exit 255
"""


def test_a_launcher_that_fails_because_of_a_rank_names_the_rank(tmp_path):
    hydra = tmp_path / "mpiexec"
    hydra.write_text(FAILING_HYDRA)
    hydra.chmod(0o755)
    with Running("launch", "-n", 3, "--mpi", hydra, "sleep", 600, cwd=tmp_path) as run:
        for each in range(3):
            wait_for(lambda each=each: process_of(run, each), f"rank {each}")
        wait_for(
            lambda: watched(run) >= {process_of(run, each) for each in range(3)}, "that `launch` watches the ranks"
        )
        (tmp_path / "go").touch()
        code, out, err = run.end()
    assert code == 255, (out, err)
    assert re.search(r"culmen: (rank 1|one of the ranks .*1.*) ended early \(.*\), so MPICH 4 ended all ranks;", err), (
        err
    )


def test_a_program_that_returns_1_was_not_killed(mpi, tmp_path):
    done = culmen("launch", "-n", 2, "--mpi", mpi, PYTHON, "-c", "import os; os._exit(1)", cwd=tmp_path)
    assert done.returncode == 1
    assert "killed by" not in done.stderr


class Ranks:
    """Processes that look like the ranks of a launch."""

    def __init__(self, numbers):
        self.mark = f"test.{time.monotonic_ns()}"
        self._processes = {number: self._started(number) for number in numbers}

    def _started(self, number):
        variables = {**os.environ, "CULMEN_LAUNCH": self.mark, "PMI_RANK": str(number)}
        return subprocess.Popen(["/bin/sleep", "600"], env=variables)

    def kill(self, numbers):
        for number in numbers:
            self._processes[number].kill()
            os.waitid(os.P_PID, self._processes[number].pid, os.WEXITED | os.WNOWAIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._processes.values():
            process.kill()
            process.wait()


WATCH = """
import os, sys, time
from culmen.launch.rank_watch import RankWatch
watch = RankWatch(sys.argv[1], 3, os.getpid(), hasty=sys.argv[2] == "hasty")
while len(watch._watched) < 3:
    time.sleep(0.01)
print("all are watched", flush=True)
input()
print(watch.first())
"""


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]])
@pytest.mark.parametrize("launcher", ["hasty", "patient"])
def test_a_watch_that_looks_late_knows_the_order_unless_the_launcher_is_hasty(order, launcher):
    command = [PYTHON, "-c", WATCH]
    with (
        Ranks(range(3)) as ranks,
        subprocess.Popen(
            [*command, ranks.mark, launcher],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as watch,
    ):
        assert watch.stdout.readline() == "all are watched\n"
        watch.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, watch.pid, os.WSTOPPED | os.WNOWAIT)
        ranks.kill(order)
        watch.send_signal(signal.SIGCONT)
        assert watch.communicate("\n")[0] == f"{[0, 1, 2] if launcher == 'hasty' else order[:1]}\n"


@pytest.mark.parametrize("rank", range(3))
def test_the_watch_names_only_the_rank_that_ended_before_all_others(rank):
    with Ranks(range(3)) as ranks:
        watch = RankWatch(ranks.mark, 3, os.getpid())
        wait_for(lambda: len(watch._watched) == 3, "the look for the ranks")
        ranks.kill([rank])
        wait_for(lambda: watch._first, "the end of a rank")
        ranks.kill({0, 1, 2} - {rank})
        assert watch.first() == [rank]


def test_the_watch_names_no_rank_if_one_is_elsewhere():
    with Ranks(range(3)) as ranks:
        watch = RankWatch(ranks.mark, 4, os.getpid())
        wait_for(lambda: len(watch._watched) == 3, "the look for the ranks")
        ranks.kill([1])
        assert watch.first() == []


def test_the_watch_names_no_rank_that_ended_before_it_looked():
    with Ranks(range(3)) as ranks:
        ranks.kill([1])
        watch = RankWatch(ranks.mark, 3, os.getpid())
        wait_for(lambda: len(watch._watched) == 2, "the look for the ranks")
        ranks.kill([0])
        assert watch.first() == []


def watched(run: Running) -> set[int]:
    """The processes that those of the launch have as pidfds."""
    infos = (path for pid in run.processes() for path in Path(f"/proc/{pid}/fdinfo").glob("*"))
    found = set()
    for path in infos:
        with contextlib.suppress(OSError):
            found |= {int(pid) for pid in re.findall(r"^Pid:\t(\d+)$", path.read_text(), re.MULTILINE)}
    return found


def process_of(run: Running, rank: int) -> int | None:
    for pid in run.processes():
        with contextlib.suppress(OSError):
            if rank_in(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")) == rank:
                return pid
    return None


def test_ranks_are_told_the_module_of_an_mpi_that_has_none_of_its_own_name(tmp_path):
    mpiexec = tmp_path / "mpiexec"
    mpiexec.write_text("#!/bin/sh\necho 'Intel(R) MPI Library for Linux* OS, Version 2021.19'\n")
    mpiexec.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = culmen("launch", "-n", 2, "--dry-run", "run", "s.toml", cwd=tmp_path, PATH=path, CULMEN_MPI="intel")
    assert done.returncode == 0, done.stderr
    assert "CULMEN_MPI=mpich " in done.stdout


def test_an_unknown_mpi_is_answered_with_those_of_this_machine(tmp_path):
    nowhere = tmp_path / "empty"
    nowhere.mkdir()
    done = culmen("launch", "-n", 2, "--mpi", "foo", "run", "s.toml", cwd=tmp_path, PATH=str(nowhere))
    assert done.returncode == 2
    assert done.stderr == (
        "culmen: there is no MPI 'foo'; this machine has none on PATH; install one, or write the path of its mpiexec\n"
    )
    mpiexec = nowhere / "mpiexec.openmpi"
    mpiexec.write_text("#!/bin/sh\necho 'mpiexec (OpenRTE) 4.1.4'\n")
    mpiexec.chmod(0o755)
    done = culmen("launch", "-n", 2, "--mpi", "foo", "run", "s.toml", cwd=tmp_path, PATH=f"{nowhere}:/bin")
    said = done.stderr.split("; ", 1)
    assert said[0] == "culmen: there is no MPI 'foo'"
    assert said[1].endswith(" or the path of an mpiexec\n")
    assert "openmpi" in said[1]
    assert "intel" not in said[1]


def test_the_printed_line_runs_in_a_shell(launch):
    line = launch(2, "--dry-run").stdout
    done = subprocess.run(line, shell=True, env=environment(), capture_output=True, text=True, timeout=HANGS_S)  # noqa: S602
    assert done.stdout.endswith("| 2 ranks\n"), done.stderr


@pytest.mark.alone
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGUSR1", "SIGHUP"])
def test_a_signal_reaches_the_master_and_its_exit_code_comes_back(launched, name):
    with launched(4, "wait") as run:
        read_until(run, "waiting")
        sent = time.monotonic()
        run.process.send_signal(getattr(signal, name))
        read_until(run, "caught Terminated")
        assert time.monotonic() - sent < patience(1.0)
        assert run.end()[0] == STOPPED


def test_nothing_stays_when_launch_is_killed(launched):
    with launched(4, "wait") as run:
        read_until(run, "waiting")
        run.process.kill()
        run.process.wait()
        wait_for(lambda: not run.processes(), "an end of all processes")


@pytest.mark.parametrize("mpi", ["lam", "/bin/true", "/dev/null"])
def test_what_is_no_mpi_is_one_sentence(launch, mpi):
    done = launch(2)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"'{mpi}'" in done.stderr


def read_until(run: Running, text: str) -> None:
    """Reads lines up to one that holds the text; fails at the end of output."""
    seen = ""
    while text not in seen:
        line = run.process.stdout.readline()
        assert line, f"no '{text}' in:\n{seen}"
        seen += line
