"""`culmen tune hpl`: what it takes as present, which settings it may change, and how it plans from the first runs."""

import math
from collections import defaultdict
from types import SimpleNamespace

import pytest
from culmen.bench.verdict import in_turns
from culmen.launch.mpi import Launcher, load
from culmen.tune.command.line import typed_line
from culmen.tune.hpl import asked as asked_for
from culmen.tune.hpl import choosing
from culmen.tune.hpl.asked import Asked
from culmen.tune.hpl.baseline import baseline_for
from culmen.tune.hpl.compared import compare
from culmen.tune.hpl.dat import Dat
from culmen.tune.hpl.first import first
from culmen.tune.hpl.options import Options
from culmen.tune.hpl.output import failed_with
from culmen.tune.hpl.program import Program
from culmen.tune.hpl.programs import Programs
from culmen.tune.hpl.report import CALCULATOR, FOUND, PRESENT, RANDOM, SHIPPED, USUAL
from culmen.tune.hpl.runs import KNOWN
from culmen.tune.hpl.scaling import operations

from culmen import InputError

LAUNCHER = Launcher("mpiexec", load()[0])
XHPL = Program("/opt/hpl/xhpl", LAUNCHER, {"slow": "/lib/slow", "quick": "/lib/quick"}, "slow")
HPCC = Program("/opt/hpl/hpcc", LAUNCHER, {}, "its own")
CORES = 4


class ModelledRuns:
    """Runs by a formula. ``gflops``: of settings; 0: the run fails."""

    def __init__(self, folder, gflops, failure="it failed"):
        self.folder, self._gflops, self._failure = folder, gflops, failure
        self.asked = defaultdict(list)
        self.limits_s = {}

    def of(self, store, points, _what, limit_s):
        self.asked[store] += points
        self.limits_s[store] = limit_s
        values = [self._gflops(settings) for settings, _ in points]
        return [value or math.nan for value in values], SimpleNamespace(first_failure=self._failure)

    def failures(self, store):
        return {k: self._failure for k, (settings, _) in enumerate(self.asked[store]) if not self._gflops(settings)}

    def remove(self, store):
        del self.asked[store]

    def overhead_s(self, _store):
        return 0.1

    def comparison(self, n):
        return str(n)

    def say(self, _text):
        pass

    def seconds(self, store):
        return [operations(n) / self._gflops(settings) * 1e-9 for settings, n in self.asked[store]]


@pytest.fixture
def asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(choosing, "find_program", lambda *_: XHPL)
    monkeypatch.setattr(asked_for, "all_cores", lambda: CORES)
    monkeypatch.setattr(asked_for, "available_bytes", lambda: 64 * 2**30)
    return lambda **options: Asked(Options(**options))


# -- the present settings


def test_a_file_in_this_folder_has_the_present_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "HPL.dat").write_text(Dat(nb=(96,), p=(2,), q=(2,), align=16).text())
    found = baseline_for(XHPL, None, CORES, CORES)
    assert (found.settings["nb"], found.settings["grid"], found.dat.align) == (96, "2x2", 16)
    assert found.source == f"as in {tmp_path / 'HPL.dat'}"


def test_a_file_beside_the_program_has_the_present_settings(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "HPL.dat").write_text(Dat(nb=(96,)).text())
    program = Program(str(tmp_path / "xhpl"), LAUNCHER, {}, "its own")
    assert baseline_for(program, None, CORES, CORES).settings["nb"] == 96


@pytest.mark.parametrize(
    "dat", [Dat(n=(29, 30, 34, 35), nb=(1, 2, 3, 4)), Dat(p=(3,), q=(3,))], ids=["HPL's own test", "another machine"]
)
def test_a_file_that_nobody_runs_here_is_not_the_present_one(dat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "HPL.dat").write_text(dat.text())
    found = baseline_for(XHPL, None, CORES, CORES)
    assert (found.settings["nb"], found.settings["grid"]) == (192, "2x2")
    assert "web calculators" in found.source
    if dat.p == (3,):
        with pytest.raises(InputError, match="needs 9 ranks, but there are 4 cores"):
            baseline_for(XHPL, tmp_path / "HPL.dat", CORES, CORES)


def test_hpcc_has_its_own_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert baseline_for(HPCC, None, CORES, CORES).settings["nb"] == 80


# -- the first runs


def test_usual_settings_change_only_what_the_user_allows(asked):
    everything = asked().usual()
    assert [(each["blas"], each["grid"]) for each in everything] == [
        ("slow", "2x2"), ("slow", "1x1"), ("quick", "2x2"), ("quick", "1x1")
    ]  # fmt: skip
    assert [(each["blas"], each["grid"], each["nb"]) for each in asked(only="nb").usual()] == [("slow", "2x2", 192)]
    assert [each["grid"] for each in asked(only="grid", ranks=2).usual()] == ["1x2"]


def test_sizes_follow_from_settings_that_are_allowed(asked, tmp_path):
    def gflops(settings):
        return {"slow": 10.0, "quick": 100.0}[settings["blas"]]

    quick = first(asked(minutes=10), ModelledRuns(tmp_path, gflops)).plan
    (tmp_path / "known.json").unlink()
    slow = first(asked(minutes=10, only="nb"), ModelledRuns(tmp_path, gflops)).plan
    assert slow.search_n < quick.search_n


def test_slow_present_settings_run_with_a_smaller_n_in_their_time(asked, tmp_path):
    runs = ModelledRuns(tmp_path, lambda settings: 0.1 if settings["blas"] == "slow" else 1000.0)
    known = first(asked(minutes=15), runs)
    assert max(runs.seconds("second.db")) <= 15 * 60 / 100
    assert max(runs.seconds("second.db")) < runs.limits_s["second.db"]
    assert known.usual["blas"] == "quick"
    assert known.fast_blas == ["quick"]


def test_a_slow_start_of_the_launcher_is_within_the_limits(asked, tmp_path):
    runs = ModelledRuns(tmp_path, lambda _: 5.0)
    first(asked(), runs)
    assert min(runs.limits_s.values()) >= 120


def test_settings_that_fail_do_not_lengthen_the_limits(asked, tmp_path):
    (tmp_path / "HPL.dat").write_text(Dat(nb=(64,)).text())

    def gflops(settings):
        return 0.0 if settings["nb"] == 192 and settings["blas"] == "slow" else 50.0

    runs = ModelledRuns(tmp_path, gflops)
    known = first(asked(), runs)
    assert set(known.curves) == {PRESENT, SHIPPED, USUAL}
    assert known.limit_s(5000) < 60
    assert [(each["blas"], speed) for each, _, speed in known.tried] == [("slow", None), ("quick", 50.0)]
    assert CALCULATOR not in known.curves


def test_each_build_runs_first_and_one_whose_runs_fail_is_not_searched(asked, tmp_path, monkeypatch):
    """As one for another CPU, which ends with an illegal instruction."""
    flags = ("-O2", "-O3", "-march=other")
    built = Programs({("openmpi", "gcc", each): XHPL for each in flags})
    monkeypatch.setattr(asked_for, "found_programs", lambda *_: (built, ["Left out: the build with clang."]))
    wanted = asked()
    runs = ModelledRuns(tmp_path, lambda settings: 0.0 if settings["flags"] == "-march=other" else 50.0)
    known = first(wanted, runs)
    assert {settings["flags"] for settings, _ in runs.asked["first.db"]} == set(flags)
    assert wanted.space(known)["flags"]["choices"] == ["-O2", "-O3"]
    assert wanted.space(known)["compiler"] == {"value": "gcc"}
    assert wanted.left_out[0] == "Left out: the build with clang."
    assert wanted.cases[PRESENT]["flags"] == "-O2"
    assert [each["flags"] for each in asked(only="nb").usual()] == ["-O2"]


# -- the comparison


def test_equal_settings_run_once_in_each_round(asked, tmp_path):
    (tmp_path / "HPL.dat").write_text(Dat(nb=(64,)).text())
    wanted = asked()
    known = SimpleNamespace(plan=SimpleNamespace(final_n=1000), limit_s=lambda _: 60.0)

    def names(new, by_chance=None):
        return [case.name for case in compare(new, by_chance, wanted, ModelledRuns(tmp_path, lambda _: 1.0), known)]

    other = {**wanted.cases[PRESENT], "nb": 128}
    assert names(other) == [PRESENT, SHIPPED, CALCULATOR, FOUND]
    assert names(wanted.cases[CALCULATOR]) == [PRESENT, SHIPPED, FOUND]
    assert names(wanted.cases[PRESENT]) == [PRESENT, SHIPPED, CALCULATOR]
    assert names(other, {**other, "nb": 32}) == [PRESENT, SHIPPED, CALCULATOR, RANDOM, FOUND]
    assert names(other, other) == [PRESENT, SHIPPED, CALCULATOR, FOUND]


def test_killed_settings_make_all_run_with_a_smaller_n(asked, tmp_path):
    """As the system kills them if memory is short."""
    wanted = asked()
    known = SimpleNamespace(plan=SimpleNamespace(final_n=1000), limit_s=lambda _: 60.0)
    runs = ModelledRuns(tmp_path, lambda settings: 0.0 if settings["nb"] == 128 else 1.0, str(failed_with(137, "")))
    cases = compare({**wanted.cases[PRESENT], "nb": 128}, None, wanted, runs, known)
    assert [case.n for case in cases] == 3 * [1000] + 3 * [900] + 3 * [810]
    other = ModelledRuns(tmp_path, lambda settings: 0.0 if settings["nb"] == 128 else 1.0)
    cases = compare({**wanted.cases[PRESENT], "nb": 128}, None, wanted, other, known)
    reasons = {case.name: {*case.failures} for case in cases}
    assert reasons == {PRESENT: set(), SHIPPED: set(), FOUND: {"it failed"}}


def test_each_round_has_each_kind_once():
    order = in_turns("abc", 4, seed=1)
    assert len(order) == 12
    assert all(set(order[at : at + 3]) == set("abc") for at in range(0, 12, 3))
    assert order == in_turns("abc", 4, seed=1) != in_turns("abc", 4, seed=2)


def test_the_line_to_type_quotes_values_and_words():
    assert typed_line({"NAME": "a b"}, ["./x hpl", "-n"]) == "NAME='a b' './x hpl' -n"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"request": 1, "plan": 3, "curves": {}, "tried": []}'])
def test_a_damaged_plan_is_a_sentence(tmp_path, text):
    (tmp_path / KNOWN).write_text(text)
    asked, runs = SimpleNamespace(text=lambda: 1), SimpleNamespace(folder=tmp_path)
    with pytest.raises(InputError, match=rf"{KNOWN} is damaged; write --overwrite to measure again"):
        first(asked, runs)
