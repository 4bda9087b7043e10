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

# In each worker, evaluations after the first 30 wait until there is no file `hold`.
HELD_MODEL = """
import os, time
evaluated = 0
def f(p):
    global evaluated
    evaluated += 1
    while evaluated > 30 and os.path.exists("hold"):
        time.sleep(0.005)
    return (p["x"] - 1) ** 2 + p["y"] ** 2
"""

pytestmark = [pytest.mark.either("scheme"), pytest.mark.usefixtures("data_folder"), pytest.mark.no_numbers]


def write(folder, n=300, s=0.002):
    folder.mkdir(exist_ok=True)
    (folder / "fit.toml").write_text(STUDY.format(n=n))
    (folder / "model.py").write_text(MODEL.format(s=s))
    return folder


def said(run, pattern):
    """The match of the pattern in the next line of output that contains it."""
    return next(found for line in run.process.stdout if (found := re.search(pattern, line)))


def way_to(run):
    """The address for a worker, and the words after `--study fit.toml`."""
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
    folder = write(tmp_path / "study", n=400)
    hold = folder / "hold"
    hold.touch()
    (folder / "model.py").write_text(HELD_MODEL)
    with Running("run", "fit.toml", "--listen", f"{scheme}://127.0.0.1:0", cwd=folder) as run:
        way = way_to(run)
        with Running("worker", *way, "--study", "fit.toml", "--slots", 2, cwd=folder) as worker:
            said(worker, "2 workers joined")
            wait_for(lambda: store_is_ready(folder / "fit.db") and evaluations(folder) > 20, "some evaluations")
            run.process.kill()
            run.end()
            before = evaluations(folder)
            hold.unlink()
            with Running("resume", "fit.db", "--listen", way[0], cwd=folder) as resumed:
                code, out, _ = resumed.end()
            assert worker.end()[0] == 0
    assert code == 0
    assert 20 < before < 400
    assert re.search(r"evaluations +400\b", out)


def test_a_token_file_is_there_as_a_whole_or_not_at_all(tmp_path):
    here = write(tmp_path / "here", n=20)
    (here / "T").write_text("")
    words = ("run", "fit.toml", "--listen", "tcp://127.0.0.1:0", "--token-file")
    empty = culmen(*words, "T", cwd=here)
    assert empty.returncode == 2
    assert "--token-file T: it is empty; delete it, and the run writes a new one" in empty.stderr
    nowhere = culmen(*words, "no/T", cwd=here)
    assert nowhere.returncode == 2
    assert "--token-file no/T: it cannot be created: No such file or directory" in nowhere.stderr
    missing = culmen("worker", "tcp://127.0.0.1:9", "--study", "fit.toml", "--token-file", "none", cwd=here)
    assert "it cannot be read: No such file or directory; copy it from the machine of the run" in missing.stderr


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
            "it was started with another study: there is a difference in the code of the model; copy the study and its "
            "model from the machine of the run, and fix the same parameters": (there, ["--token-file", "T"]),
        }
        for reason, (folder, words) in refusals.items():
            done = culmen("worker", address, "--study", "fit.toml", *words, cwd=folder)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"culmen: {address} refused this worker: {reason}\n"
        said(run, r"\d+ workers refused \(the last one: it was started with another study")
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
        "--listen is given 2 times; give it once",
    ),
    "open to all": (["--listen", "tcp://0.0.0.0:0"], "others on the network could read and change what is sent"),
    "open to all, no token": (["--listen", "tcp://0.0.0.0:0", "--insecure"], "anyone could join"),
    "unreadable token": (["--listen", "tcp://127.0.0.1:0", "--token-file", "."], "it cannot be read: Is a directory"),
    "open to all, encrypted, no token": (["--listen", "wss://0.0.0.0:0"], "anyone could join"),
    "no certificate": (["--listen", "wss://127.0.0.1:0", "--certificate", "fit.toml"], "is not a certificate with its"),
    "threads without listening": (["--io-threads", "2"], "--io-threads has no effect without --listen wss://"),
    "size without listening": (
        ["--largest-message-mib", "2"],
        "--largest-message-mib has no effect without --listen wss://",
    ),
    "token without listening": (["--token-file", "T"], "--token-file has no effect without --listen wss://"),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_is_one_sentence(tmp_path, kind):
    words, sentence = MISTAKES[kind]
    done = culmen("run", "fit.toml", *words, cwd=write(tmp_path / "study"))
    assert done.returncode == 2
    assert done.stderr.startswith("culmen: ")
    assert sentence in done.stderr
    assert not (tmp_path / "study" / "fit.db").exists()


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
