"""``culmen.minimize(…, listen=…)`` and ``culmen.work``: programs that join the run of a program."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import EXAMPLES, HANGS_S, ROOT, environment

import culmen

PROGRAM = """
import sys
import culmen
SHIFT = 3
def f(p):
    return (p["x"] - SHIFT) ** 2 + p["y"] ** 2
space = {"x": (-5, 5), "y": culmen.real(-5, 5)}
same = {"derived": {"z": "x + y"}, "fix": {"y": 2}}
if len(sys.argv) > 1:
    way = dict(word.split("=", 1) for word in sys.argv[2:])
    print(culmen.work(sys.argv[1], f, space, slots=2, progress=True, **way, **same), "done")
else:
    found = culmen.minimize(f, space, budget=60, optimizer="cmaes", listen=SCHEME + "://127.0.0.1:0", **MORE, **same)
    print(found.best["y"], found.evaluations, "ended")
"""


pytestmark = [pytest.mark.usefixtures("data_folder"), pytest.mark.no_numbers]


class Program:
    """A script that runs in the background."""

    def __init__(self, folder, *words):
        command = [sys.executable, *words] if isinstance(words[0], str) else words
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=folder, env=environment(), **pipes)

    def way(self):
        """The address and the arguments by which others join."""
        line = next(line for line in self.process.stderr if line.startswith("Workers join with: culmen.work("))
        address = re.search(r"culmen\.work\('([^']+)'", line)[1]
        return address, dict(re.findall(r"(token_file|fingerprint)='([^']*)'", line)), line

    def end(self):
        out, err = self.process.communicate(timeout=HANGS_S)
        return self.process.returncode, out, err

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def write(folder, scheme="wss", more="{'token_file': 'T'}", name="fit.py"):
    (folder / name).write_text(PROGRAM.replace("SCHEME", repr(scheme)).replace("MORE", more))


@pytest.mark.either("scheme")
@pytest.mark.parametrize("scheme", ["tcp", "ws", "wss"])
def test_another_program_evaluates_for_the_run(tmp_path, scheme):
    write(tmp_path, scheme)
    with Program(tmp_path, "fit.py") as run:
        address, way, line = run.way()
        assert ("fingerprint" in way) == (scheme == "wss")
        assert "derived={'z': 'x + y'}" in line
        with Program(tmp_path, "fit.py", address, *(f"{key}={value}" for key, value in way.items())) as worker:
            code, out, err = worker.end()
        assert (code, err) == (0, "")
        assert out == f"2 workers joined the run at {address}\n60 done\n"
        assert run.end() == (0, "2.0 60 ended\n", "")


def test_a_worker_with_another_function_is_refused(tmp_path):
    write(tmp_path, "tcp")
    with Program(tmp_path, "fit.py") as run:
        address, *_ = run.way()
        text = (tmp_path / "fit.py").read_text()
        others = {
            "the values that the function uses": text.replace("SHIFT = 3", "SHIFT = 4"),
            "the code of the model": text.replace("p['y'] ** 2", "p['y'] ** 4").replace('p["y"] ** 2', 'p["y"] ** 4'),
            "the parameters": text.replace('"x": (-5, 5)', '"x": (-5, 6)'),
            "the objectives and limits": text.replace("x + y", "x - y"),
        }
        for what, other in others.items():
            assert other != text, what
            (tmp_path / "other.py").write_text(other)
            with Program(tmp_path, "other.py", address, "token_file=T") as worker:
                code, _, err = worker.end()
            assert code == 1
            assert err.splitlines()[-1] == (
                f"culmen.InputError: {address} refused this worker: it was started with another study: "
                f"there is a difference in {what}; copy the study and its model from the machine of the run, and fix "
                "the same parameters"
            ), what
        (tmp_path / "same.py").write_text("# the same, with a comment\n" + text)
        with Program(tmp_path, "same.py", address, "token_file=T") as worker:
            code, _, err = worker.end()
            assert (code, err) == (0, "")
        assert run.end()[0] == 0


def test_a_study_file_runs_and_works_in_programs(tmp_path):
    shutil.copytree(EXAMPLES / "14_other_machines", tmp_path / "study")
    master = "import culmen\nprint(culmen.Study.from_file('fit.toml').run(listen='wss://127.0.0.1:0').reason)"
    worker = (
        "import culmen, sys\n"
        "print(culmen.Study.from_file('fit.toml').work(sys.argv[1], fingerprint=sys.argv[2], slots=2) > 0)"
    )
    with Program(tmp_path / "study", "-c", master) as run:
        line = next(line for line in run.process.stderr if "Workers join with: culmen worker" in line)
        found = re.search(r"worker (\S+) --study fit.toml --fingerprint (\w+)", line)
        with Program(tmp_path / "study", "-c", worker, *found.groups()) as there:
            assert there.end() == (0, "True\n", "")
        assert run.end() == (0, "target\n", "")


LENDING = """
import os, pathlib, sys, time
from concurrent import futures
import culmen
def f(p):  # ends only when both kinds of workers have begun an evaluation
    with open(os.environ.get("KIND", "lent"), "a") as log:
        log.write("x")
    while not all(pathlib.Path(kind).exists() for kind in ("lent", "joined")):
        time.sleep(0.001)
    return p["x"] ** 2
if __name__ == "__main__":
    same = {"space": {"x": (-5, 5)}}
    if len(sys.argv) > 2:
        os.environ["KIND"] = "joined"
        print(culmen.work(sys.argv[2], f, slots=2, **same))
    else:
        with getattr(futures, sys.argv[1])(2) as pool:
            more = {"optimizer": "random", "budget": 60, "executor": pool, "listen": "tcp://127.0.0.1:0"}
            print(culmen.minimize(f, **same, **more).evaluations, "ended")
"""


@pytest.mark.parametrize("pool", ["ThreadPoolExecutor", "ProcessPoolExecutor"])
def test_a_lent_executor_and_joined_workers_share_a_run(tmp_path, pool):
    (tmp_path / "fit.py").write_text(LENDING)
    with Program(tmp_path, "fit.py", pool) as run:
        address, *_ = run.way()
        with Program(tmp_path, "fit.py", pool, address) as worker:
            code, out, err = worker.end()
        assert run.end() == (0, "60 ended\n", "")
    lent, joined = (len((tmp_path / kind).read_text()) for kind in ("lent", "joined"))
    assert lent + joined == 60
    assert (code, out, err) == (0, f"{joined}\n", "")


def test_the_example(tmp_path):
    text = (EXAMPLES / "14_other_machines/program.py").read_text()
    (tmp_path / "program.py").write_text(text.replace(":7443", ":0"))
    with Program(tmp_path, "program.py") as run:
        address, way, _ = run.way()
        with Program(tmp_path, "program.py", address, way["fingerprint"]) as worker:
            assert worker.end() == (0, "3000 evaluations were done here\n", "")
        assert run.end()[0] == 0


def test_the_example_in_cpp(tmp_path):
    program = Path(os.environ.get("CULMEN_BUILD", ROOT / "build" / "release")) / "tests" / "other_machines"
    assert program.exists(), f"{program} is not built; make test builds it"
    with Program(tmp_path, program) as run:
        line = next(line for line in run.process.stderr if line.startswith("Workers join with: join = "))
        address, fingerprint = re.fullmatch(r'.* join = "([^"]+)", fingerprint = "(\w{64})"\n', line).groups()
        with Program(tmp_path, program, address, fingerprint) as worker:
            assert worker.end() == (0, "3000 evaluations were done here\n", "")
        code, out, err = run.end()
    assert (code, err) == (0, "")
    assert re.match(r"the least misfit is \S+\n", out)


def f(p):
    return p["x"] ** 2


SPACE = {"x": (0, 1)}
MISTAKES = {
    "no scheme": ({"listen": "7443"}, "'7443' is not an address: it has no '://'"),
    "unknown scheme": ({"listen": "http://127.0.0.1:0"}, "is not a way to reach workers; write wss:"),
    "open to all": (
        {"listen": "tcp://0.0.0.0:0"},
        "listen='tcp://0.0.0.0:0': others on the network could read and change what is sent; write wss://…, or add "
        "insecure=True",
    ),
    "no token": ({"listen": "wss://0.0.0.0:0"}, "listen='wss://0.0.0.0:0': anyone could join; add token_file='FILE'"),
    "no address": ({"listen": 7443}, "listen must be an address such as 'wss://0.0.0.0:7443', got 7443"),
    "token without address": ({"token_file": "T"}, "token_file has no effect without listen"),
    "io_threads": ({"listen": "tcp://127.0.0.1:0", "io_threads": 0}, "io_threads must be a whole number from 1 to 256"),
    "largest_message_mib": (
        {"listen": "tcp://127.0.0.1:0", "largest_message_mib": 5000},
        "largest_message_mib must be a whole number from 1 to 4095",
    ),
    "token is a folder": (
        {"listen": "tcp://127.0.0.1:0", "token_file": "."},
        "token_file='.': it cannot be read: Is a",
    ),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_of_the_run_is_one_sentence(kind):
    arguments, sentence = MISTAKES[kind]
    with pytest.raises(culmen.InputError) as caught:
        culmen.minimize(f, SPACE, budget=5, **arguments)
    assert sentence in str(caught.value)


def test_a_function_without_code_cannot_be_compared():
    for call in (
        lambda: culmen.minimize(len, SPACE, budget=5, listen="tcp://127.0.0.1:0"),
        lambda: culmen.work("tcp://127.0.0.1:1", len, SPACE),
    ):
        with pytest.raises(culmen.InputError, match=r"builtins.len has no Python code, so culmen cannot check"):
            call()


WRONG_WORK = {
    "fingerprint": ({"fingerprint": "12"}, "fingerprint='12': a fingerprint has 64 hexadecimal digits (SHA-256)"),
    "slots": ({"slots": 0}, "slots must be a whole number from 1 to 65536, got 0"),
    "patience": ({"patience_s": -1}, "patience_s must be a number of seconds from 0 to 1e+06, got -1"),
    "token": ({"token_file": "none.txt"}, "token_file='none.txt': it cannot be read: No such file or directory"),
    "listen": ({"listen": "tcp://127.0.0.1:0"}, "culmen.work: listen belongs to culmen.minimize; remove it"),
    "unknown": ({"objectivs": {}}, "culmen.work: there is no argument 'objectivs'; did you mean 'objectives'?"),
    "patience by another name": ({"patience": 3}, "there is no argument 'patience'; did you mean 'patience_s'?"),
    "slots by another name": ({"n_jobs": 3}, "there is no argument 'n_jobs'; did you mean 'slots'?"),
    "nobody there": ({"patience_s": 0}, "tcp://127.0.0.1:1"),
}


@pytest.mark.parametrize("kind", WRONG_WORK)
def test_a_mistake_of_a_worker_is_one_sentence(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, sentence = WRONG_WORK[kind]
    with pytest.raises(culmen.CulmenError) as caught:
        culmen.work("tcp://127.0.0.1:1", f, SPACE, **arguments)
    assert sentence in str(caught.value)


def test_an_executor_takes_no_workers_of_other_machines():
    with pytest.raises(culmen.InputError, match="workers of other machines evaluate only the function"):
        culmen.Executor(2, transport="wss://0.0.0.0:7443")
