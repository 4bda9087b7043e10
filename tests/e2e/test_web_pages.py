"""Answers of a run that listens for WebSockets, to browsers and scripts."""

import http.client
import json
import re
import ssl

import pytest
from harness import HANGS_S, Running, culmen

STUDY = """
[space]
x = { lower = -5, upper = 5 }
[evaluator]
python = "model.py:f"
[stop]
evaluations = 40
"""
TOKEN = "0123456789abcdef"  # noqa: S105


pytestmark = [pytest.mark.usefixtures("data_folder"), pytest.mark.no_numbers]


@pytest.fixture
def study(tmp_path):
    (tmp_path / "fit.toml").write_text(STUDY)
    (tmp_path / "model.py").write_text("def f(p):\n    return p['x'] ** 2\n")
    (tmp_path / "T").write_text(TOKEN)
    return tmp_path


def get(scheme, port, page, token=None, method="GET"):
    """Status code and text."""
    insecure = ssl._create_unverified_context()  # noqa: S323, the certificate is the run's own
    connection = (
        http.client.HTTPSConnection("127.0.0.1", port, context=insecure, timeout=HANGS_S)
        if scheme == "wss"
        else http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS_S)
    )
    connection.request(method, page, headers={"Authorization": f"Bearer {token}"} if token else {})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@pytest.mark.parametrize("scheme", ["ws", "wss"])
def test_a_run_answers_scripts_while_it_waits_and_still_takes_workers(study, scheme):
    listen = ["--listen", f"{scheme}://127.0.0.1:0", "--token-file", "T"]
    with Running("run", "fit.toml", *listen, cwd=study) as run:
        line = next(line for line in run.process.stdout if "Workers join with:" in line)
        words = line.split("culmen ", 1)[1].split()
        port = int(re.search(r":(\d+) ", line)[1])
        assert get(scheme, port, "/healthz") == (200, "ok\n")
        code, text = get(scheme, port, "/status", TOKEN)
        status = json.loads(text)
        assert (code, status["name"], status["told"], status["limit"]) == (200, "fit", 0, 40)
        assert (status["workers"], status["best_value"]) == (0, None)
        assert get(scheme, port, "/status")[0] == 401
        assert get(scheme, port, "/status", "wrong")[0] == 403
        assert get(scheme, port, "/")[0] == 404
        assert get(scheme, port, "/status", TOKEN, method="DELETE")[0] == 405
        assert culmen(*words, "--slots", 2, cwd=study).returncode == 0
        assert run.end()[0] == 0
