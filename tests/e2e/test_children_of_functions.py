"""Processes that a function of a library starts: they do not inherit that a worker ignores signals."""

import pytest
from children import EVALUATIONS, survivors, write
from harness import Running, culmen

pytestmark = pytest.mark.no_numbers


@pytest.mark.parametrize("isolation", ["process", "none"])
@pytest.mark.parametrize("place", [["--workers", "2"], ["--worker-processes"]], ids=["threads", "processes"])
def test_signals_end_what_a_function_starts(tmp_path, isolation, place):
    write(tmp_path, f'library = "libcost.so:cost"\nisolation = "{isolation}"')
    done = culmen("run", "study.toml", *place, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert survivors(tmp_path) == [0] * EVALUATIONS


@pytest.mark.parametrize("isolation", ["process", "none"])
def test_signals_end_what_a_function_starts_in_a_joined_worker(tmp_path, isolation):
    write(tmp_path, f'library = "libcost.so:cost"\nisolation = "{isolation}"')
    with Running("run", "study.toml", "--listen", "tcp://127.0.0.1:0", cwd=tmp_path) as run:
        way = next(line for line in run.process.stdout if "Workers join with: culmen worker " in line)
        words = way.partition("culmen worker ")[2].split()
        done = culmen("worker", words[0], "--study", "study.toml", *words[3:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        code, _, said = run.end()
    assert code == 0, said
    assert survivors(tmp_path) == [0] * EVALUATIONS
