"""``culmen run --listen`` and ``culmen worker``: workers that join a run, leave it, and are refused."""

import json
import re
import shlex
import shutil
import signal
import socket

import pytest
from harness import ROOT, Running, culmen, outcomes, store_is_ready, summary, wait_for

from culmen import _core

EXAMPLES = ROOT / "examples"
STUDY = """
[space]
x = {{ lower = -5, upper = 5 }}
y = {{ lower = -5, upper = 5 }}
[evaluator]
python = "model.py:f"
[optimizer]
name = "cmaes"
[stop]
evaluations = {n}
"""
MODEL = """
import os, time
def f(p):
    time.sleep({s})
    return (p["x"] - 1) ** 2 + p["y"] ** 2
"""


pytestmark = pytest.mark.either("scheme")


@pytest.fixture(params=["tcp", "ws", "wss"])
def scheme(request):
    return request.param


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def write(folder, n=300, s=0.002):
    folder.mkdir(exist_ok=True)
    (folder / "fit.toml").write_text(STUDY.format(n=n))
    (folder / "model.py").write_text(MODEL.format(s=s))
    return folder


def said(run, pattern):
    """What the pattern finds in the next line of the output that has it."""
    return next(found for line in run.process.stdout if (found := re.search(pattern, line)))


def way_to(run):
    """What a worker must write after `--study fit.toml`, and the address in front."""
    found = said(run, r"Workers join with: culmen worker (\S+) --study fit.toml(.*)")
    return found[1], *found[2].split()


def test_a_run_without_workers_waits_for_those_that_join(tmp_path, scheme):
    here, there = write(tmp_path / "here"), write(tmp_path / "there")
    with Running("run", "fit.toml", "--listen", f"{scheme}://127.0.0.1:0", cwd=here) as run:
        worker = culmen("worker", *way_to(run), "--study", "fit.toml", "--slots", 2, cwd=there)
        code, out, _ = run.end()
    assert code == 0
    assert re.search(r"evaluations +300\b", out)
    assert re.search(r"time +\S.* with 2 workers, \S+/s\b", out)
    assert re.search(r"workers busy +\d+% of their time\b", out)
    assert worker.returncode == 0, worker.stderr
    assert worker.stdout.splitlines()[-1] == "300 evaluations were done here"


def test_candidates_do_not_depend_on_who_evaluates(tmp_path, scheme):
    alone, shared = write(tmp_path / "alone"), write(tmp_path / "shared")
    assert culmen("run", "fit.toml", "--workers", 2, cwd=alone).returncode == 0
    with Running("run", "fit.toml", "--workers", 1, "--listen", f"{scheme}://127.0.0.1:0", cwd=shared) as run:
        culmen("worker", *way_to(run), "--study", "fit.toml", "--slots", 2, cwd=shared)
        assert run.end()[0] == 0
    exported = [culmen("export", "fit.db", "--csv", cwd=folder).stdout for folder in (alone, shared)]
    values = [[line.split(",")[:5] for line in text.splitlines()] for text in exported]
    assert values[0]
    assert values[0] == values[1]


def test_workers_that_join_share_the_cpus_of_their_machine(tmp_path, share_of_two):
    folder = write(tmp_path, n=20)
    (folder / "model.py").write_text("import os\n\ndef f(p):\n    return int(os.environ['MKL_NUM_THREADS'])\n")
    with Running("run", "fit.toml", "--listen", "tcp://127.0.0.1:0", cwd=folder) as run:
        culmen("worker", *way_to(run), "--study", "fit.toml", "--slots", 2, cwd=folder)
        assert run.end()[0] == 0
    assert {value for _, value, _ in outcomes(folder / "fit.db").values()} == {share_of_two}


def test_a_worker_knows_the_fixed_parameters(tmp_path):
    folder = write(tmp_path / "study", n=60)
    with Running("run", "fit.toml", "--fix", "y=2", "--listen", "tcp://127.0.0.1:0", cwd=folder) as run:
        words = shlex.split(said(run, r"Workers join with: culmen (.*)")[1])
        assert "--fix=y=2.0" in words
        assert culmen(*words, "--slots", 2, cwd=folder).returncode == 0
        assert run.end()[0] == 0
    assert json.loads(culmen("status", "fit.db", "--json", cwd=folder).stdout)["best"]["y"] == 2


def test_workers_come_and_go_and_nothing_is_lost(tmp_path, scheme):
    folder = write(tmp_path / "study", n=600, s=0.01)
    with Running("run", "fit.toml", "--listen", f"{scheme}://127.0.0.1:0", cwd=folder) as run:
        way = way_to(run)
        for ending in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
            with Running("worker", *way, "--study", "fit.toml", "--slots", 2, cwd=folder) as worker:
                said(worker, "2 workers joined")
                worker.process.send_signal(ending)
                worker.end()
        culmen("worker", *way, "--study", "fit.toml", "--slots", 4, cwd=folder)
        code, out, _ = run.end()
    assert code == 0
    assert re.search(r"evaluations +600\b", out)
    assert "failed" not in out


def test_workers_wait_for_a_run_that_was_killed(tmp_path, scheme):
    folder = write(tmp_path / "study", n=400, s=0.01)
    with Running("run", "fit.toml", "--listen", f"{scheme}://127.0.0.1:0", cwd=folder) as run:
        way = way_to(run)
        with Running("worker", *way, "--study", "fit.toml", "--slots", 2, cwd=folder) as worker:
            said(worker, "2 workers joined")
            wait_for(lambda: store_is_ready(folder / "fit.db") and evaluations(folder) > 20, "some evaluations")
            run.process.kill()
            run.end()
            before = evaluations(folder)
            with Running("resume", "fit.db", "--listen", way[0], cwd=folder) as resumed:
                code, out, _ = resumed.end()
            assert worker.end()[0] == 0
    assert code == 0
    assert 20 < before < 400
    assert re.search(r"evaluations +400\b", out)


def evaluations(folder):
    return json.loads(culmen("status", "fit.db", "--json", cwd=folder).stdout)["outcomes"]


def test_a_worker_with_another_model_is_refused(tmp_path):
    here, there = write(tmp_path / "here", n=100_000), write(tmp_path / "there", s=0)
    with Running("run", "fit.toml", "--listen", "tcp://127.0.0.1:0", "--token-file", "T", cwd=here) as run:
        address = way_to(run)[0]
        shutil.copy(here / "T", there)
        (here / "other").write_text("of another run")
        refusals = {
            "it gave no token; give a copy of the run's token file (--token-file, or token_file in a program)": (
                here,
                [],
            ),
            "its token is not the one of this study; "
            "give the token file of the run (--token-file, or token_file in a program)": (
                here,
                ["--token-file", "other"],
            ),
            "it was started with another study; copy the study and its model from the machine of the run, "
            "and fix the same parameters": (there, ["--token-file", "T"]),
        }
        for reason, (folder, words) in refusals.items():
            done = culmen("worker", address, "--study", "fit.toml", *words, cwd=folder)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"culmen: {address} refused this worker: {reason}\n"
        assert (here / "T").stat().st_mode & 0o777 == 0o600
        run.process.send_signal(signal.SIGINT)
        run.end()


def test_a_worker_with_another_module_of_the_model_is_refused(tmp_path):
    here, there, alike = (write(tmp_path / name, n=100_000) for name in ("here", "there", "alike"))
    for folder, scale in ((here, 1), (there, 2), (alike, 1)):
        (folder / "model.py").write_text(f"import near\n{MODEL.format(s=0.002)}")
        (folder / "near.py").write_text(f"scale = {scale}\n")
    with Running("run", "fit.toml", "--listen", "tcp://127.0.0.1:0", cwd=here) as run:
        address = way_to(run)[0]
        done = culmen("worker", address, "--study", "fit.toml", cwd=there)
        assert done.returncode == 2
        assert "refused this worker: it was started with another study" in done.stderr
        with Running("worker", address, "--study", "fit.toml", cwd=alike) as worker:
            wait_for(lambda: store_is_ready(here / "fit.db") and summary(here / "fit.db")["told"] > 5, "5 tells")
            run.process.send_signal(signal.SIGINT)
            run.end()
            assert worker.end()[0] == 0


def test_a_worker_that_cannot_evaluate_says_why_and_the_run_goes_on(tmp_path):
    here, there = write(tmp_path / "here"), write(tmp_path / "there")
    for folder in (here, there):
        (folder / "model.py").write_text(f"open(__file__ + '.txt').close()\n{MODEL.format(s=0.002)}")
    (here / "model.py.txt").touch()
    with Running("run", "fit.toml", "--listen", "tcp://127.0.0.1:0", cwd=here) as run:
        way = way_to(run)
        broken = culmen("worker", *way, "--study", "fit.toml", "--slots", 1, cwd=there)
        assert broken.returncode == 1
        assert "No such file or directory" in broken.stderr
        assert culmen("worker", *way, "--study", "fit.toml", "--slots", 1, cwd=here).returncode == 0
        assert run.end()[0] == 0


def test_the_certificate_stays_and_another_one_is_refused(tmp_path):
    folder = write(tmp_path / "study", n=100_000)
    prints = []
    for _ in range(2):
        with Running(
            "run", "fit.toml", "--overwrite", "--listen", "wss://127.0.0.1:0", cwd=folder, HOME=str(tmp_path)
        ) as run:
            address, _, pin = way_to(run)
            prints.append(pin)
            if len(prints) == 2:
                other = "0" * 64
                done = culmen("worker", address, "--study", "fit.toml", "--fingerprint", other, cwd=folder)
                assert done.returncode == 2
                assert f"the master's certificate has the fingerprint {pin}, not {other}" in done.stderr
                done = culmen("worker", address, "--study", "fit.toml", cwd=folder)
                assert done.returncode == 2
                assert "the master's certificate is not accepted" in done.stderr
            run.process.send_signal(signal.SIGINT)
            run.end()
    assert prints[0] == prints[1]
    kept = tmp_path / "data/culmen/certificate.pem"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_the_scripts_of_the_example(tmp_path):
    example = tmp_path / "example"
    shutil.copytree(EXAMPLES / "14_other_machines", example)
    script = (example / "run.sh").read_text().replace(":7443", ":0").splitlines()[1]
    with Running(*shlex.split(script)[1:], cwd=example) as run:
        address, *_, fingerprint = way_to(run)
        script = (example / "join.sh").read_text().replace("wss://127.0.0.1:7443", address).splitlines()[2]
        words = shlex.split(script.replace("$FINGERPRINT", fingerprint))
        worker = culmen(*words[1:], "--slots", 2, cwd=example)
        assert run.end()[0] == 0
    assert worker.returncode == 0, worker.stderr
    assert json.loads(culmen("status", "fit.db", "--json", cwd=example).stdout)["finished"] == "target"


MISTAKES = {
    "no scheme": (["--listen", "7443"], "'7443' is not an address: it has no '://'"),
    "two addresses": (
        ["--listen", "tcp://127.0.0.1:0", "--listen", "ws://127.0.0.1:0"],
        "--listen: a run listens at one address, but 2 are given; leave one",
    ),
    "open to all": (["--listen", "tcp://0.0.0.0:0"], "others on the network could read and change what is sent"),
    "open to all, no token": (["--listen", "tcp://0.0.0.0:0", "--insecure"], "anyone could join"),
    "unreadable token": (["--listen", "tcp://127.0.0.1:0", "--token-file", "."], "it cannot be read: Is a directory"),
    "open to all, encrypted, no token": (["--listen", "wss://0.0.0.0:0"], "anyone could join"),
    "no certificate": (["--listen", "wss://127.0.0.1:0", "--certificate", "fit.toml"], "is not a certificate with its"),
    "threads without listening": (["--io-threads", "2"], "--io-threads has no effect without --listen ADDRESS"),
    "size without listening": (
        ["--largest-message-mib", "2"],
        "--largest-message-mib has no effect without --listen ADDRESS",
    ),
    "token without listening": (["--token-file", "T"], "--token-file has no effect without --listen ADDRESS"),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_is_one_sentence(tmp_path, kind):
    words, sentence = MISTAKES[kind]
    done = culmen("run", "fit.toml", *words, cwd=write(tmp_path / "study"))
    assert done.returncode == 2
    assert done.stderr.startswith("culmen: ")
    assert sentence in done.stderr
    assert not (tmp_path / "study" / "fit.db").exists()


LINE = """
[space]
a = { lower = -5, upper = 5 }
b = { lower = -5, upper = 5 }
[evaluator]
python = "model.py:f"
result = "residuals"
[stop]
evaluations = 200
"""
# Only who is told where to write can evaluate.
LINE_MODEL = """
import os
def f(p):
    with open(os.environ["CALLS"], "a") as log:
        log.write("x")
    return [(p["a"] * x + p["b"] - (0.5 * x + 1 + 0.1 * (-1) ** x)) / 0.1 for x in range(8)]
"""


def write_fit(folder):
    folder.mkdir()
    (folder / "fit.toml").write_text(LINE)
    (folder / "model.py").write_text(LINE_MODEL)
    return folder


def join_fit(run, stream, folder, calls):
    """Works for the run, whose way in is in the stream. What the run wrote, and what the worker did."""
    found = next(f for line in stream if (f := re.search(r"Workers join with: culmen (.*)", line)))
    words = [word.replace("STUDY.toml", "fit.toml") for word in shlex.split(found[1])]
    done = culmen(*words, "--slots", 2, cwd=folder, CALLS=str(calls))
    assert (done.returncode, done.stderr) == (0, "")
    return *run.end(), done.stdout


def parameters_in(out):
    """The lines of the table of parameters and their errors."""
    return [line for line in out.splitlines() if "±" in line or line.startswith("│")]


def test_workers_that_joined_evaluate_for_the_errors_of_a_fit(tmp_path, scheme):
    alone, here, there = (write_fit(tmp_path / name) for name in ("alone", "here", "there"))
    local = culmen("run", "fit.toml", "--workers", 2, cwd=alone, CALLS=str(tmp_path / "others"))
    assert local.returncode == 0, local.stderr
    calls = tmp_path / "calls"
    with Running("run", "fit.toml", "--listen", f"{scheme}://127.0.0.1:0", cwd=here) as run:
        code, out, err, worked = join_fit(run, run.process.stdout, there, calls)
    assert (code, err) == (0, "")
    assert "more evaluations" in local.stdout
    assert len(parameters_in(out)) == 3
    assert parameters_in(out) == parameters_in(local.stdout)
    kept = [json.loads(culmen("errors", "fit.db", "--json", cwd=folder).stdout) for folder in (alone, here)]
    assert kept[0] == kept[1]
    assert f"{len(calls.read_text())} evaluations were done here" in worked


def test_workers_leave_a_fit_that_is_interrupted(tmp_path):
    here, calls = write_fit(tmp_path / "here"), tmp_path / "calls"
    model = here / "model.py"
    model.write_text(model.read_text().replace("    return", "    import time; time.sleep(3600)\n    return"))
    with Running("run", "fit.toml", "--listen", "tcp://127.0.0.1:0", cwd=here) as run:
        words = shlex.split(said(run, r"Workers join with: culmen (.*)")[1])
        with Running(*words, "--slots", 2, cwd=here, CALLS=str(calls)) as worker:
            wait_for(lambda: calls.exists(), "an evaluation")
            run.process.send_signal(signal.SIGINT)
            assert run.end()[0] == 75
            assert worker.end()[0] == 0


def test_errors_are_for_workers_that_join_again(tmp_path):
    here, there = write_fit(tmp_path / "here"), write_fit(tmp_path / "there")
    calls = tmp_path / "calls"
    with Running("run", "fit.toml", "--no-errors", "--listen", "tcp://127.0.0.1:0", cwd=here) as run:
        assert join_fit(run, run.process.stdout, there, calls)[0] == 0
    evaluated = json.loads(culmen("status", "fit.db", "--json", cwd=here).stdout)["told"]
    assert len(calls.read_text()) == evaluated

    words = ["errors", "fit.db", "--json", "--listen", "tcp://127.0.0.1:0"]
    with Running(*words, cwd=here) as run:
        code, out, err, _ = join_fit(run, run.process.stderr, there, calls)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["free"] == ["a", "b"]
    assert len(calls.read_text()) == evaluated + found["evaluations"]


def test_errors_after_a_run_use_its_own_workers(tmp_path):
    here, calls = write_fit(tmp_path / "here"), tmp_path / "calls"
    done = culmen("run", "fit.toml", "--workers", 1, "--listen", "tcp://127.0.0.1:0", cwd=here, CALLS=str(calls))
    assert done.returncode == 0, done.stderr
    assert "more evaluations" in done.stdout


def test_errors_of_a_refit_need_workers_of_this_machine(tmp_path):
    done = culmen("errors", "fit.db", "--fix", "a=1", "--listen", "tcp://127.0.0.1:0", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "culmen: --fix and --listen are given; give only one of them\n"


def test_the_end_of_a_study_is_no_trouble_for_a_worker_that_is_not_ready(tmp_path):
    folder = write(tmp_path / "study", n=20)
    model = """
import os, time
try:
    os.close(os.open(os.environ["FIRST"], os.O_CREAT | os.O_EXCL))
except FileExistsError:
    time.sleep(3600)
"""
    (folder / "model.py").write_text(model + MODEL.format(s=0))
    with Running("run", "fit.toml", "--listen", "tcp://127.0.0.1:0", cwd=folder) as run:
        first = str(tmp_path / "first")
        worker = culmen("worker", *way_to(run), "--study", "fit.toml", "--slots", 2, cwd=folder, FIRST=first)
        assert run.end()[0] == 0
    assert (worker.returncode, worker.stderr) == (0, "")


@pytest.mark.parametrize("scheme", ["tcp", "wss", "tcp-per-item"])
def test_an_interrupt_ends_a_worker_that_nobody_answers(tmp_path, scheme):
    folder = write(tmp_path / "study")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}"
        with Running("worker", address, "--study", "fit.toml", "--patience", 1e5, cwd=folder) as worker:
            silent.accept()[0].close()
            worker.process.send_signal(signal.SIGINT)
            code, out, err = worker.end()
    assert (code, err) == (0, "")
    assert out.endswith("0 evaluations were done here\n")


def test_a_worker_that_is_stopped_counts_only_what_it_has_sent(tmp_path):
    folder = write(tmp_path / "study", n=100_000, s=0.2)

    def stored():
        return len(_core.Store.read(str(folder / "fit.db")).outcomes(0, 10**9))

    with Running("run", "fit.toml", "--listen", "tcp://127.0.0.1:0", cwd=folder) as run:
        address = way_to(run)[0]
        with Running("worker", address, "--study", "fit.toml", "--slots", 3, cwd=folder) as worker:
            wait_for(lambda: store_is_ready(folder / "fit.db") and stored() >= 6, "six results")
            worker.process.send_signal(signal.SIGINT)
            code, out, _ = worker.end()
        assert code == 0
        run.process.send_signal(signal.SIGINT)
        run.end()
    assert stored() == int(re.search(r"(\d+) evaluations were done here", out)[1])
