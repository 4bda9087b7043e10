"""Messages of `culmen worker` if it does not reach its run, and the state of the run afterwards."""

import re
import signal
import socket

import pytest
from harness import Running, culmen

pytestmark = pytest.mark.no_numbers

STUDY = """
[space]
x = { lower = -5, upper = 5 }
[evaluator]
python = "model.py:f"
[optimizer]
name = "cmaes"
[stop]
evaluations = 100000
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "fit.toml").write_text(STUDY)
    (tmp_path / "model.py").write_text("def f(p):\n    return p['x'] ** 2\n")
    return tmp_path


def worker(folder, address, *words):
    return culmen("worker", address, "--study", "fit.toml", "--slots", 2, *words, cwd=folder)


def test_a_run_that_is_not_there_is_exit_code_1(folder):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
    done = worker(folder, address, "--patience", 0)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"culmen: {address}: connection refused: no run listens there; start the run first, or check the host and the "
        "port\n"
    )


def test_an_unknown_host_is_not_tried_again(folder):
    done = worker(folder, "wss://no-such-host.invalid:7443", "--patience", 1e5)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "culmen: wss://no-such-host.invalid:7443: this machine knows no host 'no-such-host.invalid'; check its name, "
        "or give its IP address\n"
    )


def test_a_fingerprint_without_a_certificate_is_refused(folder):
    done = worker(folder, "tcp://127.0.0.1:1", "--fingerprint", "0" * 64)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"culmen: --fingerprint {'0' * 64}: only wss:// has a certificate, and tcp://127.0.0.1:1 begins with tcp://; "
        "write the address that the run prints, or remove the fingerprint\n"
    )


def test_workers_that_are_refused_leave_no_trace_in_the_run(folder):
    with Running("run", "fit.toml", "--listen", "ws://127.0.0.1:0", "--token-file", "T", cwd=folder) as run:
        line = next(line for line in run.process.stdout if "Workers join with" in line)
        host = re.search(r"ws://(\S+)", line)[1]
        refusals = {
            f"tcp://{host}": f"tcp://{host} refused this worker: it came with tcp://, and the run listens with ws://; "
            "write ws://",
            f"wss://{host}": f"wss://{host}: what answers there does not use TLS; write ws:// or tcp://, as in the "
            "address that the run prints",
            f"ws://{host}": f"ws://{host} refused this worker: it gave no token; give a copy of the run's token file "
            "(--token-file, or token_file in a program)",
        }
        for address, sentence in refusals.items():
            done = worker(folder, address, "--patience", 1e5)
            assert (done.returncode, done.stdout, done.stderr) == (2, "", f"culmen: {sentence}\n")
        run.process.send_signal(signal.SIGINT)
        code, out, err = run.end()
    assert (code, err) == (75, "")
    assert "lost" not in out


@pytest.fixture
def silent():
    """The address of a port where nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"


def test_a_worker_that_waits_says_so_once(folder, silent):
    with Running("worker", silent, "--study", "fit.toml", "--patience", 300, cwd=folder) as waiting:
        assert waiting.process.stdout.readline() == f"Connecting to {silent} for up to 300 s; Ctrl-C ends this\n"
        waiting.process.send_signal(signal.SIGINT)
        assert waiting.end() == (0, "0 evaluations were done here\n", "")


def test_a_worker_that_waits_on_a_terminal_counts_the_seconds(folder, silent):
    words = ("worker", silent, "--study", "fit.toml", "--patience", 300)
    with Running(*words, cwd=folder, CULMEN_PROGRESS="bar", COLUMNS="100") as waiting:
        shown = ""
        while not (seen := re.search(rf"Connecting to {re.escape(silent)} for up to 300 s, (\d+) s so far", shown)):
            piece = waiting.process.stdout.read(1)
            assert piece, f"the worker has ended: {shown}"
            shown += piece
        waiting.process.send_signal(signal.SIGINT)
        assert waiting.end()[0] == 0
    assert int(seen[1]) >= 1
    assert "Ctrl-C" not in shown


def test_a_quiet_worker_says_nothing(folder, silent):
    done = worker(folder, silent, "--patience", 0, "--quiet")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no answer within 2 s" in done.stderr
