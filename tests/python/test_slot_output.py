"""The output of an evaluated function: it is there after a crash, belongs to its evaluation, or goes nowhere."""

import os
import sys
from pathlib import Path

import pytest

import culmen

pytestmark = pytest.mark.no_numbers


def minimize(f, **given):
    return culmen.minimize(f, {"x": (0, 1)}, budget=6, workers=1, optimizer="random", **given)


def test_all_lines_are_there_after_a_crash():
    def f(p):
        print("the grid has", 3, "cells")
        print("and then", file=sys.stderr)
        os._exit(3)

    with pytest.raises(culmen.AllFailedError, match=r"before it returned a result\nthe grid has 3 cells\nand then$"):
        minimize(f)


def test_a_line_without_an_end_belongs_to_its_evaluation(tmp_path):
    def f(p):
        print(repr(p["x"]), end="")
        return p["x"]

    evaluations = minimize(f, output="all", store=tmp_path / "s.db").read()
    for number, x in zip(evaluations.evaluation, evaluations.x[:, 0], strict=True):
        assert (tmp_path / "s.work" / str(number) / "stdout.txt").read_text() == repr(float(x))


def test_a_printed_line_is_one_write():
    def writes(p):
        before = os.stat(1).st_size
        print(1, 2, end=" ")  # not the end of a line: nothing is written yet
        pending = os.stat(1).st_size - before
        print(3)
        return 10 * pending + os.stat(1).st_size - before

    assert minimize(writes).value == len("1 2 3\n")


def test_without_output_nothing_is_kept_and_nothing_is_written_until_it_is_much():
    def f(p):
        print("a" * 1000)
        os.write(1, b"from C")
        print("an error", file=sys.stderr)
        null = Path(os.devnull).stat()
        return float(all(os.path.samestat(os.fstat(number), null) for number in (1, 2)))

    assert minimize(lambda p: -f(p), output="none").value == -1


def test_without_output_a_crash_has_no_log():
    def f(p):
        print("the grid has 3 cells")
        os._exit(3)

    with pytest.raises(culmen.AllFailedError, match=r"exit code 3 before it returned a result$"):
        minimize(f, output="none")


@pytest.mark.parametrize("output", ["none", "failures"])
def test_a_function_may_close_its_output(output):
    def f(p):
        sys.stdout.close()
        sys.stderr.close()
        return p["x"]

    assert minimize(f, output=output).failed == 0
    with culmen.Executor(1) as executor:
        assert [executor.submit(f, {"x": k}).result() for k in range(3)] == [0, 1, 2]


def test_an_evaluator_that_cannot_start_still_says_why_without_output(tmp_path):
    (tmp_path / "model.py").write_text("import os\nprint('no licence', flush=True)\nos._exit(4)\n")
    toml = '[space]\nx = { type = "real", lower = -1.0, upper = 1.0 }\n[stop]\nevaluations = 10\n'
    (tmp_path / "s.toml").write_text(f'{toml}[evaluator]\npython = "model.py:f"\noutput = "none"\n')
    with pytest.raises(culmen.CulmenError, match="no licence"):
        culmen.Study.from_file(tmp_path / "s.toml", store=tmp_path / "s.db").run()
