"""`culmen tune hpl`: the input file, the output, the settings, and the sizes."""

import dataclasses
import json
import math
from pathlib import Path

import pytest
from culmen.bench.verdict import verdict_of
from culmen.launch.mpi import Launcher, Mpi, load
from culmen.tune.hpl.dat import LINES, Dat, parse_dat, read_dat
from culmen.tune.hpl.measured import How, input_text
from culmen.tune.hpl.output import HplError, failed_with, is_short_of_memory, result_in, runs_in
from culmen.tune.hpl.plan import Known, Wanted, check_size, memory_of, planned
from culmen.tune.hpl.program import Program, with_blas
from culmen.tune.hpl.programs import Programs
from culmen.tune.hpl.report import CALCULATOR, FOUND, PRESENT, Case, figure_of, of_sizes, over, rows_of
from culmen.tune.hpl.scaling import Curve, bytes_for, fitted, operations, size_in
from culmen.tune.hpl.space import (
    calculator,
    dat_of,
    fixed_by,
    grids_for,
    settings_of,
    shipped,
    space_for,
    squarest,
    threads_of,
)

from culmen import InputError

DATA = Path(__file__).parent.parent / "data" / "hpl"
OUTPUT = (DATA / "hpcc_1.5.0_hpl_only.txt").read_text()
OUTPUT_2_3 = (DATA / "xhpl_2.3_two_sizes.txt").read_text()
SHIPPED = DATA / "hpccinf.txt"
MPI = Mpi("Some MPI", "some", "some", "", [], "--host", "HOSTS", [])
OPEN_MPI = next(mpi for mpi in load() if mpi.title == "Open MPI 4")
MPICH = next(mpi for mpi in load() if mpi.title == "MPICH 4")
PROGRAM = Program("/opt/xhpl", Launcher("mpiexec", MPI), {"atlas": "/lib/atlas", "openblas": "/lib/openblas"}, "atlas")


# -- the input file


def test_the_shipped_file_is_read():
    dat = read_dat(SHIPPED)
    assert (dat.n, dat.nb, dat.grids) == ((1000,), (80,), [(2, 2)])
    assert (dat.pfact, dat.rfact, dat.bcast, dat.depth, dat.swap_threshold, dat.align) == (
        (2,),
        (1,),
        (1,),
        (1,),
        64,
        8,
    )


def test_a_written_file_is_read_as_it_was():
    shipped_file = read_dat(SHIPPED)
    assert parse_dat(shipped_file.text(), "it") == shipped_file
    many = Dat(n=(29, 30), nb=(1, 2, 3, 4), p=(2, 1, 4), q=(2, 4, 1), pfact=(0, 1, 2), nbmin=(2, 4), pmap=1, l1=1, u=1)
    assert parse_dat(many.text(), "it") == many
    assert len(many.text().splitlines()) == LINES


def test_the_lines_have_the_places_of_the_shipped_file():
    """HPL counts lines: each number must stand where it stands there."""
    ours, theirs = read_dat(SHIPPED).text().splitlines(), SHIPPED.read_text().splitlines()
    for own, other in list(zip(ours, theirs, strict=False))[4:LINES]:
        assert own.split()[0] == other.split()[0]


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (6, "many Ns", "line 6 (Ns): expected an integer of at least 0, got 'many'"),
        (7, "0 # of NBs", "line 7 (# of NBs): expected an integer from 1 to 20, got '0'"),
        (8, "", "line 8 (NBs): expected an integer of at least 1, got 'nothing'"),
        (13, "high threshold", "line 13 (threshold): expected a number, got 'high'"),
        (15, "7 PFACTs", "line 15 (PFACTs (0=left, 1=Crout, 2=Right)): expected an integer from 0 to 2, got '7'"),
    ],
)
def test_mistakes_in_a_file_are_sentences(line, text, message):
    lines = SHIPPED.read_text().splitlines()
    lines[line - 1] = text
    with pytest.raises(InputError) as caught:
        parse_dat("\n".join(lines), "HPL.dat")
    assert str(caught.value) == f"HPL.dat, {message}"


def test_a_short_file_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="has 1 lines; an input file of HPL has 31"):
        parse_dat("HPLinpack", "HPL.dat")
    with pytest.raises(InputError, match="cannot be read"):
        read_dat(tmp_path / "nothing.dat")


def test_hpcc_reads_lines_for_ptrans_after_those_of_hpl():
    """As many as in the shipped file."""
    ours = input_text(read_dat(SHIPPED), True)
    assert len(ours.splitlines()) == len(SHIPPED.read_text().splitlines())
    assert parse_dat(ours, "it") == read_dat(SHIPPED)
    assert len(input_text(Dat(), False).splitlines()) == LINES


# -- the output


def test_all_results_of_an_output_are_read():
    runs = runs_in(OUTPUT)
    assert len(runs) == 10
    assert all(run.passed and run.n == 2000 for run in runs)
    assert [(run.nb, run.p, run.q) for run in runs[:5]] == [
        (16, 1, 2),
        (64, 1, 2),
        (128, 1, 2),
        (256, 1, 2),
        (16, 2, 1),
    ]
    assert (runs[0].variant, runs[0].time_s, runs[0].gflops, runs[0].residual) == ("WR11C2R4", 3.9, 1.369, 0.0028983)
    assert result_in(OUTPUT, 2000) == runs[-1]


def test_a_wrong_result_is_no_result():
    end = OUTPUT[OUTPUT.rindex("T/V") :]
    with pytest.raises(HplError, match=r"residual 0.0032136 FAILED; a wrong result is no result"):
        result_in(end.replace("PASSED", "FAILED"), 2000)
    with pytest.raises(HplError, match="did not check the result"):
        result_in("\n".join(line for line in end.splitlines() if not line.startswith("||Ax")), 2000)
    with pytest.raises(HplError, match="residual nan FAILED; a wrong result is no result"):
        result_in(end.replace("0.0032136", "nan").replace("PASSED", "FAILED"), 2000)
    with pytest.raises(HplError, match="which is no speed"):
        result_in(end.replace("2.266e+00", "0.000e+00"), 2000)


def test_the_output_of_hpl_2_3_is_read():
    first, second = runs_in(OUTPUT_2_3)
    assert (first.variant, first.n, first.nb, first.p, first.q) == ("WR11C2R4", 8000, 192, 1, 2)
    assert (first.time_s, first.gflops, first.residual, first.passed) == (11.42, 29.899, 2.97184e-3, True)
    assert result_in(OUTPUT_2_3, 8000) == first
    assert (second.variant, second.residual, second.passed) == ("WC30L4C2", 35.2, False)
    said = (
        "HPL calls the residual 35.2 FAILED; a wrong result is no result, so use another BLAS or other compiler flags"
    )
    with pytest.raises(HplError, match=said):
        result_in(OUTPUT_2_3, 12000)


def test_the_rate_of_each_gpu_is_left_out():
    line = "WC0           571392  1024     4     8        98.05       1.268e+06 ( 3.964e+04)\n"
    (run,) = runs_in(line + "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   0.000343347104 ...... PASSED\n")
    assert (run.n, run.gflops, run.passed) == (571392, 1.268e6, True)


def test_an_output_without_the_result_is_a_sentence():
    with pytest.raises(HplError, match="no result for N = 500; its last line is: End of Tests"):
        result_in(OUTPUT, 500)
    with pytest.raises(HplError, match="it printed nothing"):
        result_in("", 500)
    with pytest.raises(HplError) as caught:
        result_in("Memory allocation failed for A, x and b. Skip.", 500)
    assert is_short_of_memory(str(caught.value))


def test_a_killed_run_was_probably_short_of_memory():
    for code in (9, 137):
        assert is_short_of_memory(str(failed_with(code, ": some text")))
    assert not is_short_of_memory(str(failed_with(1, ": the memory of old times")))


# -- settings


def test_grids_use_all_cores_by_ranks_or_by_threads():
    assert grids_for(4, None) == ["1x1", "1x2", "2x1", "1x4", "2x2", "4x1"]
    assert grids_for(4, 2) == ["1x2", "2x1"]
    assert [threads_of({"grid": grid}, 4) for grid in grids_for(4, None)] == [4, 2, 2, 1, 1, 1]
    assert max(int(grid.split("x")[0]) for grid in grids_for(64, None)) < 64, "1 x 64 is no grid for HPL"
    assert [squarest(n) for n in (1, 2, 6, 7, 16, 36)] == ["1x1", "1x2", "2x3", "1x7", "4x4", "6x6"]


@pytest.fixture
def two_nodes(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "4(x2)")


def test_all_nodes_have_ranks_and_no_rank_has_the_threads_of_two(two_nodes):
    assert grids_for(8, None) == ["1x2", "2x1", "1x4", "2x2", "4x1", "1x8", "2x4", "4x2", "8x1"]
    assert [threads_of({"grid": grid}, 8) for grid in ("1x1", "1x2", "2x2", "2x4")] == [4, 4, 2, 1]


def placed(mpi, ranks, threads, words=()):
    program = dataclasses.replace(PROGRAM, launcher=Launcher("mpiexec", mpi), words=words)
    line, _ = program.command(ranks, threads, "atlas")
    return " ".join(line[: line.index("-n")])


def test_nodes_share_the_ranks_equally(two_nodes):
    assert "--map-by ppr:1:node --bind-to none" in placed(OPEN_MPI, 2, 4)
    assert placed(OPEN_MPI, 8, 1).endswith("--map-by ppr:4:node")
    assert placed(MPICH, 8, 1).endswith("-ppn 4")
    assert placed(MPICH, 2, 4).endswith("-bind-to none -ppn 1")


def test_threads_of_a_rank_do_not_share_a_core():
    assert placed(OPEN_MPI, 1, 2).endswith("--bind-to none")
    assert "bind-to" not in placed(OPEN_MPI, 1, 1)


def test_words_of_the_user_place_the_ranks_alone(two_nodes):
    assert placed(OPEN_MPI, 2, 4, ("--map-by", "numa:PE=4")).endswith("--map-by numa:PE=4")
    assert "ppr:1:node" not in placed(OPEN_MPI, 2, 4, ("--map-by", "numa:PE=4"))
    assert "-bind-to" not in placed(MPICH, 2, 4, ("-ppn=1",))


def test_settings_become_a_file_and_come_back():
    settings = {**calculator(6, "atlas"), "swap": "long", "l1": "plain", "equilibration": False, "bcast": "2ringM"}
    dat = dat_of(settings, 3000)
    assert (dat.n, dat.nb, dat.grids, dat.swap, dat.l1, dat.equilibration) == ((3000,), (192,), [(2, 3)], 1, 1, 0)
    assert {**settings_of(dat), "blas": "atlas"} == settings


def test_what_is_no_setting_comes_from_the_present_file():
    base = dataclasses.replace(Dat(), align=16, pmap=1, threshold=1.0)
    dat = dat_of(shipped(4, "atlas"), 100, base)
    assert (dat.align, dat.pmap, dat.threshold) == (16, 1, 1.0)


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 1e9, float("nan"), float("inf")])
def test_the_present_file_cannot_switch_the_check_of_the_residual_off(threshold):
    """HPL checks nothing if the threshold is negative, and calls nothing FAILED if it is large."""
    base = dataclasses.replace(Dat(), threshold=threshold)
    assert dat_of(shipped(4, "atlas"), 100, base).threshold == 16


def test_a_threshold_without_effect_needs_no_value():
    settings = {name: value for name, value in calculator(2, "atlas").items() if name != "swap_threshold"}
    assert dat_of({**settings, "swap": "binary"}, 100).swap_threshold == 64


def test_the_space_has_the_starts_and_obeys_only_and_fix():
    starts = [{**shipped(4, "atlas"), "nb": 7, "grid": "1x3"}, calculator(4, "openblas")]
    space = space_for(Programs.one(PROGRAM), 4, None, starts, None, {})
    assert 7 in space["nb"]["choices"]
    assert "1x3" in space["grid"]["choices"]
    assert space["blas"]["choices"] == ["atlas", "openblas"]
    assert space["nb"]["initial"] == 7
    only = space_for(Programs.one(PROGRAM), 4, None, starts, ["nb", "grid"], {"nb": 128})
    assert [name for name, table in only.items() if "value" not in table] == ["grid"]
    assert only["nb"] == {"value": 128}
    long = space_for(Programs.one(PROGRAM), 4, None, starts, None, {"swap": "long"})
    assert "active_when" not in long["swap_threshold"]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("nb", "write NAME=VALUE"),
        ("nb=big", "write an integer of at least 1"),
        ("nb=0", "write an integer of at least 1"),
        ("nbmin=0", "--fix nbmin=0: write an integer of at least 1"),
        ("ndiv=1", "--fix ndiv=1: write an integer of at least 2"),
        ("depth=-1", "write an integer of at least 0"),
        ("nb=²", "write an integer of at least 1"),
        ("grid=²x1", "write P and Q, such as 2x3"),
        ("bcast=3", "write one of 1ring, 1ringM"),
        ("equilibration=1", "write true or false"),
        ("grid=2", "write P and Q"),
        ("grid=2x4", "this needs 8 ranks, but there are 4 cores"),
        ("nbb=3x", "there is no parameter 'nbb'"),
    ],
)
def test_wrong_values_are_sentences(word, message):
    with pytest.raises(InputError, match=message):
        fixed_by([word], 4)


def test_a_blas_that_is_not_there_is_a_sentence():
    assert list(with_blas(PROGRAM, ["openblas"]).blas) == ["openblas"]
    with pytest.raises(InputError, match="there is no 'mkl' on this machine; there are atlas, openblas"):
        with_blas(PROGRAM, ["mkl"])


def test_the_library_and_the_threads_reach_all_ranks():
    words, _ = PROGRAM.command(2, 3, "openblas")
    assert words[words.index("-n") + 1] == "2"
    assert "OMP_NUM_THREADS=3" in words
    assert any(word.startswith("LD_LIBRARY_PATH=/lib/openblas") for word in words)
    assert words[-1] == "/opt/xhpl"


def test_how_to_run_is_kept_as_text():
    how = How(Programs.one(PROGRAM).content(), 4, Dat().text(), "results")
    assert How.of(how.text()) == how


# -- sizes


def test_the_time_of_other_sizes_is_found_from_two():
    true = Curve(1e-11, 3e-8)
    found = fitted([(n, true.gflops(n)) for n in (2000, 5000)])
    assert found.gflops(40000) == pytest.approx(true.gflops(40000), rel=1e-6)
    assert found.gflops(40000) > found.gflops(2000), "a larger matrix has relatively less to send"


def test_one_size_or_noise_gives_a_constant_speed():
    assert fitted([(2000, 10.0)]).gflops(8000) == pytest.approx(10.0)
    slower = fitted([(2000, 10.0), (5000, 5.0)])  # the model has no such shape
    assert slower.gflops(20000) <= 10.0
    assert fitted([(2000, 10.0), (2000, 20.0)]).time_s(2000) == pytest.approx(operations(2000) * 1.5 / 20e9, rel=0.2)


def test_the_size_for_a_time_takes_this_time():
    curve = Curve(1e-11, 3e-8)
    n = curve.size_for(10.0)
    assert curve.time_s(n) <= 10.0 < curve.time_s(n + 1)


def test_the_matrix_fits_into_the_memory():
    n = size_in(16 * 2**30)
    assert 45_000 < n < 46_400
    assert bytes_for(n) <= 16 * 2**30
    with pytest.raises(InputError, match=r"--size 60000 needs 27\.4 GiB of memory, but there are 16 GiB"):
        check_size(60_000, 16 * 2**30, 20 * 2**30)
    check_size(40_000, 16 * 2**30, 20 * 2**30)


def test_memory_is_a_share_or_a_size():
    assert memory_of(None, 100e9) == 80e9
    assert memory_of("50%", 100e9) == 50e9
    assert memory_of("2G", 100e9) == 2 * 2**30
    for text in ("2", "G", "200%", "much", "0%"):
        with pytest.raises(InputError, match="write a share such as 80%, or a size such as 16G"):
            memory_of(text, 100e9)


def test_the_plan_keeps_to_the_time_and_the_memory():
    curve = Curve(1 / 30e9, 1e-8)
    wanted = Wanted(15, 5, None, 16 * 2**30)
    plan = planned(wanted, curve, curve, 0.5)
    assert plan.search_n < plan.check_n <= wanted.memory_n
    assert plan.search_n < plan.final_n <= wanted.memory_n
    comparison_s = 15 * (curve.time_s(plan.final_n) + 0.5)
    assert comparison_s <= 0.36 * 900
    assert planned(Wanted(15, 5, 3000, 16 * 2**30), curve, curve, 0.5).final_n == 3000
    small = planned(Wanted(15, 5, None, 8e6), curve, curve, 0.5)
    assert small.search_n <= small.final_n <= size_in(8e6)


def test_what_the_first_runs_told_is_kept_as_text():
    plan = planned(Wanted(1, 3, None, 2**30), Curve(1e-10, 0), Curve(1e-10, 0), 0.1)
    tried = [
        ({"blas": name}, n, speed) for name, n, speed in (("a", 9, 10.0), ("b", 9, 4.9), ("c", 5, None), ("d", 5, 9.0))
    ]
    known = Known(plan, {"nb": 3}, tried, {"present": Curve(1e-10, 0), "slow": Curve(1e-9, 0)}, 0.1)
    assert Known.of(json.loads(known.text("request"))) == known
    assert known.fast_blas == ["a"], "only the largest N tells"
    assert (known.is_slow("slow"), known.is_slow("present")) == (True, False)


# -- the result


def test_the_table_is_like_that_of_a_hand_made_study():
    cases = [
        Case(PRESENT, calculator(2, "atlas"), 5000, [10.0, 11.0, 12.0]),
        Case(FOUND, {**calculator(2, "openblas"), "grid": "1x1"}, 5000, [20.0, math.nan, 24.0]),
    ]
    rows = rows_of(cases, Programs.one(PROGRAM), 2)
    assert rows[0][0:2] == [PRESENT, "Some MPI"]
    assert rows[0][3:] == ["unknown", "atlas", "not used", "5000", "192", "1x2", "1", "11", "10–12"]
    assert rows[1][3:] == ["unknown", "openblas", "no messages", "5000", "192", "1x1", "2", "22", "20–24"]


def test_settings_that_need_more_memory_are_compared_at_both_sizes():
    old, new = calculator(2, "atlas"), {**calculator(2, "atlas"), "nb": 384}
    cases = [
        Case(PRESENT, old, 3000, [30.0, 31.0, 32.0]),
        Case(FOUND, new, 3000, [34.0, math.nan, 35.0]),
        Case(PRESENT, old, 2700, [27.0, 28.0, 29.0]),
        Case(FOUND, new, 2700, [30.0, 30.5, 31.0]),
    ]
    assert list(of_sizes(cases)) == [
        "With N = 3000, these did not get their memory: best found. GFLOPS of the others: present 31.",
        "GFLOPS with the largest N of each: present 31 with N = 3000, best found 30.5 with N = 2700.",
        "With their larger N, the present settings are faster: prefer them if N may be so large.",
    ]
    assert list(of_sizes(cases[2:])) == []
    assert [trace["name"] for trace in figure_of(cases).data] == ["N = 3000", "N = 2700"]


def test_too_few_whole_rounds_have_no_verdict():
    settings = calculator(2, "atlas")
    cases = [Case(PRESENT, settings, 5, [1.0, 1.0, math.nan]), Case(CALCULATOR, settings, 5, [2.0, 2.0, 2.0])]
    assert over(cases, PRESENT, CALCULATOR) is None
    assert over(cases, PRESENT, FOUND) is None
    whole = [Case(PRESENT, settings, 5, [1.0, 1.1, 1.0]), cases[1]]
    assert over(whole, PRESENT, CALCULATOR) == verdict_of([(1.0, 2.0), (1.1, 2.0), (1.0, 2.0)], True)
