"""culmen.Executor in whole programs: their functions and classes, their end, Ctrl-C and forks."""

import signal
import subprocess
import sys

import pytest
from harness import HANGS_S, Running, environment, wait_for

pytestmark = pytest.mark.no_numbers


def test_what_a_function_calls_is_as_it_was_when_it_was_submitted(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import culmen\nscale = 2\ndef inner(x): return x * scale\ndef outer(x): return inner(x) + 1\n"
        "with culmen.Executor(1) as pool:\n    print(pool.submit(outer, 3).result())\n"
        "    scale = 5\n    print(pool.submit(outer, 3).result())\n"
        "    def inner(x): return -x\n    print(pool.submit(outer, 3).result())\n"
    )
    done = run_python(script)
    assert (done.stdout, done.stderr) == ("7\n16\n-2\n", "")


def test_a_module_that_travels_is_as_it_was_when_a_function_was_submitted(tmp_path):
    (tmp_path / "model.py").write_text("k = 1\ndef f(x): return k * x\n")
    script = tmp_path / "script.py"
    script.write_text(
        "import cloudpickle, culmen, model\ncloudpickle.register_pickle_by_value(model)\n"
        "def through(x): return model.f(x) + model.k\n"
        "with culmen.Executor(1) as pool:\n"
        "    for model.k in (1, 2):\n"
        "        print(pool.submit(model.f, 3).result(), pool.submit(through, 3).result())\n"
    )
    done = run_python(script)
    assert (done.stdout, done.stderr) == ("3 4\n6 8\n", "")


def test_a_class_of_the_program_is_the_same_class_when_it_comes_back(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import culmen\nclass Point:\n    def __init__(self, x): self.x = x\n"
        "def move(p): return Point(p.x + 1)\n"
        "with culmen.Executor(1) as pool:\n    got = pool.submit(move, Point(1)).result()\n"
        "    print(type(got) is Point, got.x)\n"
    )
    done = run_python(script)
    assert (done.stdout, done.stderr) == ("True 2\n", "")


def run_python(*words):
    command = [sys.executable, "-X", "dev", *map(str, words)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=HANGS_S)


FORGOTTEN = """
import culmen, time
pool = culmen.Executor(2)
def slow(i): time.sleep(0.05); return i
sent = [pool.submit(slow, i) for i in range(4)]
sent[3].add_done_callback(lambda f: print("done", f.result()))
"""


def test_a_forgotten_executor_finishes_its_work_when_the_program_ends(tmp_path):
    (tmp_path / "forgotten.py").write_text(FORGOTTEN)
    done = run_python(tmp_path / "forgotten.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "done 3\n", "")


SLEEPING = """
import culmen, time, sys
with culmen.Executor(2, sys.argv[1]) as pool:
    sent = [pool.submit(time.sleep, 1000) for _ in range(9)]
    print("begun", flush=True)
    sent[0].result()
"""


@pytest.mark.parametrize("transport", ["threads", "processes"])
def test_ctrl_c_ends_it_at_once_and_leaves_nobody_behind(tmp_path, transport, monkeypatch):
    (tmp_path / "sleeping.py").write_text(SLEEPING)
    monkeypatch.setattr("harness.CULMEN", [sys.executable, "-X", "dev"])
    with Running("sleeping.py", transport, cwd=tmp_path) as run:
        wait_for(lambda: "culmen.slot" in str(run.processes().values()), "a child")
        assert run.process.stdout.readline() == "begun\n"
        run.process.send_signal(signal.SIGINT)
        code, _, err = run.end()
        wait_for(lambda: not run.processes(), "the end of every process")
    assert code == -signal.SIGINT
    assert "KeyboardInterrupt" in err
    assert "Warning" not in err


FORKING = """
import culmen, os, sys
pool = culmen.Executor(1)
print(pool.submit(len, "ab").result(), flush=True)
copy = os.fork()
if copy == 0:
    try:
        pool.submit(len, "ab")
    except culmen.InputError as e:
        print(e)
    pool.shutdown()
    with culmen.Executor(1) as own:
        print(own.submit(len, "abc").result())
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), pool.submit(len, "abcd").result())
"""


def test_a_fork_of_the_program_may_end_and_have_executors_of_its_own(tmp_path):
    (tmp_path / "forking.py").write_text(FORKING)
    done = run_python(tmp_path / "forking.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "2",
        "this executor belongs to the parent of this process, which os.fork() made; make a new executor here",
        "3",
        "7 4",
    ]
