"""``culmen status`` of a benchmark, and what is left after Ctrl-C."""

import json
import signal

import pytest
from harness import Running, culmen, store_is_ready, summary, wait_for

pytestmark = pytest.mark.no_numbers

LONG = ("--transports", "mailbox", "--workers", "2", "--durations", "1ms,4ms", "--repetitions", "1", "--seconds", "3")
WORDS = ("bench", "transport", *LONG, "--io-threads", "1", "--output", "out")


def state_of(folder):
    done = culmen("status", "out/transport.db", "--json", cwd=folder)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def seen(folder):
    """The state of the store: read here, because a process for each look is late on a busy machine."""
    store = folder / "out/transport.db"
    return summary(store) if store_is_ready(store) else {}


def test_the_status_of_a_benchmark_tells_what_is_measured(tmp_path):
    with Running(*WORDS, cwd=tmp_path) as run:
        wait_for(lambda: seen(tmp_path).get("told"), "a point")
        points = state_of(tmp_path)["points"]
        running = culmen("status", "out/transport.db", cwd=tmp_path).stdout
        run.process.send_signal(signal.SIGINT)
        code = run.process.wait()
    assert code == 75
    assert 0 < points["measured"] < points["points"]
    assert "of " + str(points["points"]) + " points" in running
    assert "workers" in points["now"]
    assert points["left_s"] > 0
    assert "time left" in running
    assert "optimizer" not in running
    stopped = culmen("status", "out/transport.db", cwd=tmp_path).stdout
    assert "state      stopped" in stopped
    assert "To continue: repeat the command culmen bench transport with the same options" in stopped
    assert state_of(tmp_path)["points"]["now"] is None


def test_ctrl_c_before_the_first_point_is_one_sentence(tmp_path):
    with Running(*WORDS[:-4], "--seconds", "60", *WORDS[-4:], cwd=tmp_path) as run:
        wait_for(lambda: seen(tmp_path).get("owned"), "the store")
        run.process.send_signal(signal.SIGINT)
        code, out, _ = run.end()
    assert code == 75
    assert "culmen: stopped before the first point was measured; the same command starts again" in out
    status = culmen("status", "out/transport.db", cwd=tmp_path).stdout
    assert "measured   0 of" in status
    assert "not known before the first point is measured" in status
