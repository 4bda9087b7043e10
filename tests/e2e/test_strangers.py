"""Connections that say nothing, to a run that listens."""

import contextlib
import re
import socket

from harness import Running, culmen, summary

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
