"""Connections that say nothing, to a run that listens."""

import contextlib
import re
import socket
import ssl

import pytest
from harness import Running, culmen, summary

pytestmark = pytest.mark.no_numbers

STUDY = """
[space]
x = { lower = -5, upper = 5 }
[evaluator]
command = ["sh", "-c", "echo $0", "{x}"]
[optimizer]
name = "random"
[stop]
evaluations = 400
"""
FEW_FILES = ("sh", "-c", 'ulimit -Sn 320 && exec "$@"', "sh")  # many systems allow 1024 unless a process asks for more


def test_silent_connections_take_no_files_from_evaluations(tmp_path):
    (tmp_path / "fit.toml").write_text(STUDY)
    words = ("run", "fit.toml", "--workers", 2, "--listen", "tcp://127.0.0.1:0", "--insecure")
    with contextlib.ExitStack() as open_sockets, Running(*words, cwd=tmp_path, prefix=FEW_FILES) as run:
        line = next(line for line in run.process.stdout if "Workers join with" in line)
        port = int(re.search(r"tcp://\S+?:(\d+)", line)[1])
        for _ in range(500):
            with contextlib.suppress(OSError):
                open_sockets.enter_context(socket.create_connection(("127.0.0.1", port)))
        code, out, err = run.end()
    assert code == 0, out + err
    assert summary(tmp_path / "fit.db")["failed"] == 0


def test_a_trusted_certificate_of_another_host_is_refused(tmp_path):
    (tmp_path / "fit.toml").write_text(STUDY)
    (tmp_path / "token").write_text("secret")
    (tmp_path / "token").chmod(0o600)
    words = ("run", "fit.toml", "--listen", "wss://127.0.0.1:0", "--token-file", "token")
    with Running(*words, "--certificate", "own.pem", cwd=tmp_path) as run:
        line = next(line for line in run.process.stdout if "Workers join with" in line)
        address = re.search(r"wss://\S+?:\d+", line)[0]
        join = ("worker", address, "--study", "fit.toml", "--token-file", "token")
        done = culmen(*join, cwd=tmp_path, SSL_CERT_FILE=str(tmp_path / "own.pem"))
    assert done.returncode == 2
    assert "the master's certificate is not accepted (it is for another host)" in done.stderr


OLD_TLS = """
openssl_conf = start
[start]
ssl_conf = all
[all]
system_default = old
[old]
MinProtocol = TLSv1
CipherString = DEFAULT@SECLEVEL=0
"""


def test_old_versions_of_tls_are_refused_though_the_system_allows_them(tmp_path):
    (tmp_path / "fit.toml").write_text(STUDY)
    (tmp_path / "openssl.cnf").write_text(OLD_TLS)
    words = ("run", "fit.toml", "--listen", "wss://127.0.0.1:0", "--certificate", "own.pem")
    with Running(*words, cwd=tmp_path, OPENSSL_CONF=str(tmp_path / "openssl.cnf")) as run:
        line = next(line for line in run.process.stdout if "Workers join with" in line)
        port = int(re.search(r"wss://\S+?:(\d+)", line)[1])
        assert version_of_tls(port, ssl.TLSVersion.TLSv1_2) == "TLSv1.2"
        assert version_of_tls(port, ssl.TLSVersion.TLSv1_1) is None
        assert version_of_tls(port, ssl.TLSVersion.TLSv1) is None


def version_of_tls(port, newest):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("DEFAULT@SECLEVEL=0")
    context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, newest
    with socket.create_connection(("127.0.0.1", port)) as plain:
        try:
            with context.wrap_socket(plain) as secure:
                return secure.version()
        except (ssl.SSLError, ConnectionResetError):
            return None


LARGE = """
[space]
x = { lower = -5, upper = 5 }
[evaluator]
python = "model.py:f"
result = "residuals"
[optimizer]
name = "random"
[stop]
evaluations = 10
"""


def test_a_worker_with_too_large_results_is_told_which_setting_to_raise(tmp_path):
    (tmp_path / "fit.toml").write_text(LARGE)
    (tmp_path / "model.py").write_text("def f(p):\n    return [p['x']] * 200_000\n")
    words = ("run", "fit.toml", "--listen", "tcp://127.0.0.1:0", "--largest-message-mib")
    with Running(*words, 1, cwd=tmp_path) as run:
        line = next(line for line in run.process.stdout if "Workers join with" in line)
        address = re.search(r"tcp://\S+", line)[0]
        done = culmen("worker", address, "--study", "fit.toml", "--slots", 1, cwd=tmp_path)
        assert done.returncode == 1
        assert f"culmen: {address} sent this worker away: it sent a frame of 1600" in done.stderr
        assert "raise --largest-message-mib of the run" in done.stderr
        said = next(line for line in run.process.stdout if "waiting for workers (lost: " in line)
        assert "raise --largest-message-mib of the run" in said
    with Running(*words, 2, "--store", "larger.db", cwd=tmp_path) as run:
        line = next(line for line in run.process.stdout if "Workers join with" in line)
        address = re.search(r"tcp://\S+", line)[0]
        assert culmen("worker", address, "--study", "fit.toml", "--slots", 1, cwd=tmp_path).returncode == 0
        assert run.end()[0] == 0
