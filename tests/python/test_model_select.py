"""Predictions from a table of collectives, and differences between models and measurements."""

import csv
import re

import pytest
from culmen.bench.collectives.samples import COLUMNS as SAMPLED
from culmen.bench.collectives.samples import Table
from culmen.bench.pingpong.measured import Header as RouteHeader
from culmen.bench.pingpong.measured import Sized, write_samples
from culmen.cli.work import model as command
from culmen.model import compare
from culmen.model.boundaries import boundaries
from culmen.model.measured import Place, Times, cores_beside, read_latencies, read_times, socket_beside
from culmen.model.point_to_point import network
from culmen.model.rows import COLUMNS, Options
from culmen.model.selection import ANALYTIC, BETWEEN, FIT, Prediction, Selector, as_good
from model_tables import ALPHA, BETA, GAMMA, MPI, SIZES, exact, write_table

from culmen import InputError


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    return write_table(folder / "collectives.csv", more={"reduce": ("linear", "binomial")})


@pytest.fixture(scope="module")
def times(table):
    return read_times(table)


@pytest.fixture(scope="module")
def selector(times):
    return Selector(times, MPI, "bcast", times.network(MPI))


def best(ranks, size):
    names = ("basic_linear", "pipeline", "binomial", "scatter_allgather_ring")
    return min(names, key=lambda name: exact("bcast", name, ranks, size))


def test_the_network_comes_from_two_ranks(times):
    net = times.network(MPI)
    assert net.send(1024) == pytest.approx(ALPHA + 1024 * BETA, rel=0.03)
    assert net.send(2**22) == pytest.approx(ALPHA + 2**22 * BETA, rel=0.05)
    assert net.reduce_s == pytest.approx(GAMMA, rel=0.1)


@pytest.mark.parametrize(("ranks", "size"), [(16, 3000), (16, 2**20), (8, 100), (32, 500_000)])
def test_between_measured_sizes_the_fit_decides(selector, ranks, size):
    found = selector.predict(Place(ranks, size))
    assert {each.source for each in found} == {FIT}
    for each in found:
        assert each.time_s == pytest.approx(exact("bcast", each.algorithm, ranks, size), rel=0.1)
    assert exact("bcast", found[0].algorithm, ranks, size) < 1.1 * exact("bcast", best(ranks, size), ranks, size)


def test_between_numbers_of_ranks_the_fits_are_interpolated(selector):
    found = selector.predict(Place(24, 4096))
    assert {each.source for each in found} == {BETWEEN}
    for each in found:
        assert each.time_s == pytest.approx(exact("bcast", each.algorithm, 24, 4096), rel=0.15)


@pytest.mark.parametrize(("ranks", "size"), [(48, 65536), (1024, 8), (16, 2**24)])
def test_away_from_measurements_the_analytic_models_decide(selector, ranks, size):
    found = selector.predict(Place(ranks, size))
    assert {each.source for each in found} == {ANALYTIC}
    assert all(each.measured_s is None for each in found)
    assert found[0].algorithm == best(ranks, size)
    assert found[0].time_s == pytest.approx(exact("bcast", found[0].algorithm, ranks, size), rel=0.1)


def test_an_algorithm_that_cannot_run_is_not_predicted(tmp_path):
    names = {"allgather": ("ring", "two_proc", "neighbor", "recursive_doubling")}
    times = read_times(write_table(tmp_path / "all.csv", ranks=(2,), algorithms=("binomial",), more=names))
    selector = Selector(times, MPI, "allgather", times.network(MPI))
    for ranks, able in ((2, 4), (7, 1), (12, 2), (16, 3)):
        found = [each.algorithm for each in selector.predict(Place(ranks, 64))]
        assert len(found) == able
        assert ("two_proc" in found) == (ranks == 2)


def test_a_point_that_is_left_out_does_not_help_its_own_prediction(tmp_path):
    strange = Place(8, 4096)

    def time_of(collective, name, ranks, size):
        return exact(collective, name, ranks, size) * (0.01 if (ranks, size, name) == (*strange, "pipeline") else 1)

    times = read_times(write_table(tmp_path / "strange.csv", time_of=time_of))
    found = Selector(times, MPI, "bcast", None).regret(strange)
    assert found.algorithm != "pipeline"
    assert found.fastest == "pipeline"
    lost = exact("bcast", found.algorithm, *strange) / (0.01 * exact("bcast", "pipeline", *strange)) - 1
    assert found.lost == pytest.approx(lost, rel=0.05)


def times_of(algorithms):
    """Times of a broadcast without a file. ``algorithms``: seconds by name, then by ranks and size."""
    times = Times(Table([]))
    times.of[MPI, "bcast"] = {name: {Place(*at): t for at, t in known.items()} for name, known in algorithms.items()}
    return times


def test_a_regret_comes_from_the_other_points_only():
    chain, binomial = {(4, 64): 1.0, (8, 64): 1.0, (16, 64): 1.0}, {(4, 64): 2.0, (8, 64): 0.5, (16, 64): 2.0}
    found = Selector(times_of({"chain": chain, "binomial": binomial}), MPI, "bcast", None).regret(Place(8, 64))
    assert (found.algorithm, found.fastest, found.lost) == ("chain", "binomial", 1.0)


@pytest.mark.parametrize(
    ("place", "factor"), [((3, 1024), 2), ((48, 1024), 3), ((64, 64), 3), ((32, 2**20), 5), ((3, 2**18), 7)]
)
def test_an_analytic_model_is_corrected_by_the_nearest_measurement(place, factor):
    factors = {(4, 1024): 2, (32, 1024): 3, (32, 2**16): 5, (4, 2**16): 7}
    net = network({size: ALPHA + BETA * size for size in SIZES}, {})
    known = {at: exact("bcast", "binomial", *at) * by for at, by in factors.items()}
    [found] = Selector(times_of({"binomial": known}), MPI, "bcast", net).predict(Place(*place))
    assert found.time_s == pytest.approx(factor * exact("bcast", "binomial", *place))


def test_the_regret_of_smooth_times_is_small(selector):
    some = [place for place in selector.places() if place.ranks == 8]
    found = [selector.regret(place) for place in some]
    assert sorted(each.lost for each in found)[len(found) // 2] < 0.05
    assert all(each.lost >= 0 for each in found)


def test_predictions_that_are_as_good_are_named():
    found = [Prediction("a", 1.0, FIT), Prediction("b", 1.04, FIT), Prediction("c", 1.2, FIT)]
    assert as_good(found) == ["b"]


def test_a_model_that_holds_needs_no_sentence(times):
    parted = compare.compare(times, {MPI: times.network(MPI)})
    assert {each.algorithm for each in parted if each.collective == "reduce"} == {"linear", "binomial"}
    assert all(each.median == pytest.approx(1, rel=0.1) for each in parted)
    assert compare.sentences(parted, None) == []


@pytest.mark.parametrize(
    ("factor", "says"),
    [
        (
            lambda ranks, size: ranks / 2,
            "grows with the ranks; messages of several ranks disturb each other",
        ),
        (lambda ranks, size: 1 + 6 * (size > 1000) * (ranks > 2), "the factor grows with the size"),
        (lambda ranks, size: 1 if ranks == 2 else 1 / 4, "only 0.25 of the time"),
    ],
)
def test_where_model_and_measurement_part_a_sentence_says_why(tmp_path, factor, says):
    def time_of(collective, name, ranks, size):
        return exact(collective, name, ranks, size) * factor(ranks, size)

    times = read_times(write_table(tmp_path / "slow.csv", ranks=(2, 8, 16), time_of=time_of, algorithms=("binomial",)))
    said = compare.sentences(compare.compare(times, {MPI: times.network(MPI)}), None)
    assert len(said) == 1
    assert said[0].startswith("bcast (binomial) often took ")
    assert says in said[0]
    crowded = compare.sentences(compare.compare(times, {MPI: times.network(MPI)}), 4)[0]
    assert ("with more ranks than cores (4), ranks wait for a CPU" in crowded) == ("only" not in says)


@pytest.mark.parametrize(
    ("ppn", "cores", "says"),
    [
        (0, 4, "; with more ranks than cores (4), ranks wait for a CPU."),
        (4, 4, "messages of several ranks disturb each other."),
        (8, 4, "; with more ranks on a node than cores (4), ranks wait for a CPU."),
        (8, 8, "messages of several ranks disturb each other."),
    ],
)
def test_the_ranks_on_a_node_are_compared_with_its_cores(tmp_path, ppn, cores, says):
    def time_of(collective, name, ranks, size):
        return exact(collective, name, ranks, size) * ranks / 2

    table = write_table(tmp_path / "a.csv", ranks=(2, 16, 32), time_of=time_of, algorithms=("binomial",), ppn=ppn)
    times = read_times(table)
    [said] = compare.sentences(compare.compare(times, {MPI: times.network(MPI)}), cores)
    assert said.endswith(says)


def test_unverified_points_are_left_out(tmp_path):
    times = read_times(write_table(tmp_path / "some.csv", ranks=(2, 4), unverified=("pipeline",)))
    assert "pipeline" not in times.of[MPI, "bcast"]
    assert times.unverified == 2 * len(SIZES)
    with pytest.raises(InputError, match="all 88 points are unverified"):
        read_times(
            write_table(
                tmp_path / "none.csv",
                ranks=(2, 4),
                unverified=("basic_linear", "pipeline", "binomial", "scatter_allgather_ring"),
            )
        )


def test_coefficients_are_exported_with_their_intervals(table, tmp_path, capsys):
    shown = command.shown_of("bcast", None, "3K")
    assert command.fit_models(table, Options(), shown, tmp_path / "out", False) == 0
    with (tmp_path / "out/coefficients.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == COLUMNS
    hockney = next(row for row in rows if row["model"] == "Hockney")
    assert hockney["collective"] == "message"
    for name, value in (("intercept{}_us", ALPHA), ("slope{}_us_per_x", BETA)):
        low, high = (float(hockney[name.format(end)]) for end in ("_low", "_high"))
        assert low < 1e6 * value * 1.02
        assert high > 1e6 * value * 0.98
    over = {(row["over"], row["at"]) for row in rows if row["algorithm"] == "binomial" and row["collective"] == "bcast"}
    assert over == {*(("size", str(n)) for n in (2, 4, 8, 16, 32)), *(("ranks", str(size)) for size in SIZES)}
    printed = capsys.readouterr().out
    assert "size at 32 ranks" in printed
    assert "ranks at 4 KiB" in printed
    page = (tmp_path / "out/models.html").read_text()
    assert "bcast, 32 ranks, openmpi" in page
    assert '"dash":"dot"' in page


def test_tables_of_messages_have_models_for_each_mapping(tmp_path, capsys):
    path = tmp_path / "messages.csv"
    lines = [f"{name},{2**k},{a + 1e-10 * 2**k}" for name, a in (("core", 1e-6), ("node", 3e-6)) for k in range(20)]
    path.write_text("\n".join(["mapping,size,time_s", *lines, ""]))
    assert list(read_latencies(path)) == ["core", "node"]
    assert command.fit_models(path, Options(), command.shown_of(None, None, None), tmp_path / "out", False) == 0
    printed = capsys.readouterr().out
    for name in ("Hockney", "LogGP", "segmented"):
        assert printed.count(name) == 2
    question = command.question_of("bcast", 48, "64K")
    table = write_table(tmp_path / "few.csv", ranks=(4,))
    assert command.select_algorithm(table, question, None, path, "node", False) == 0
    with pytest.raises(InputError, match="several mappings; choose one with --mapping: core, node"):
        command.select_algorithm(table, question, None, path, None, False)
    with pytest.raises(InputError, match="nothing was measured near 48 ranks"):
        command.select_algorithm(table, question, None, None, None, False)


def test_messages_of_their_own_do_not_make_additions_free(tmp_path, capsys):
    table = write_table(tmp_path / "sums.csv", ranks=(2, 4), more={"reduce": ("linear", "binomial")})
    messages = tmp_path / "messages.csv"
    lines = [f"own,{2**k},{ALPHA + BETA * 2**k}" for k in range(23)]
    messages.write_text("\n".join(["mapping,size,time_s", *lines, ""]))
    question = command.question_of("reduce", 16, "1M")
    predicted = []
    for path in (None, messages):
        assert command.select_algorithm(table, question, None, path, None, False) == 0
        predicted.append(float(re.search(r", (\S+) µs", capsys.readouterr().out)[1]))
    assert predicted[1] == pytest.approx(predicted[0], rel=0.05)


def test_messages_of_another_network_correct_nothing(tmp_path, capsys):
    table = write_table(tmp_path / "memory.csv", ranks=(2,), algorithms=("binomial", "scatter_allgather_ring"))
    messages = tmp_path / "messages.csv"
    for slower, says in ((20, "The predictions are not corrected: at 2 ranks, 64 KiB, "), (1, None)):
        lines = [f"tcp,{2**k},{slower * (ALPHA + BETA * 2**k)}" for k in range(23)]
        messages.write_text("\n".join(["mapping,size,time_s", *lines, ""]))
        question = command.question_of("bcast", 48, "64K")
        assert command.select_algorithm(table, question, None, messages, None, False) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert (says is None) == ("are not corrected" not in said)
        assert says is None or says in said
        assert ("(from 2 ranks, 64 KiB)" in said) == (says is None)
        predicted = float(re.search(r"64 KiB, openmpi: \S+, (\S+) µs", said)[1])
        assert predicted > slower * 1e6 * (ALPHA + BETA * 2**16)


def test_an_extrapolation_is_named(tmp_path, capsys):
    table = write_table(tmp_path / "few.csv", ranks=(2, 4))
    for size, more in (("1G", "The largest measured message has 1 MiB."), ("64K", None)):
        question = command.question_of("bcast", 48, size)
        assert command.select_algorithm(table, question, None, None, None, False) == 0
        said = capsys.readouterr().out
        assert "Only 2 to 4 ranks and 1 B to 1 MiB were measured, so these predictions are extrapolations; " in said
        assert more is None or more in said
    assert command.select_algorithm(table, command.question_of("bcast", 4, "100"), None, None, None, False) == 0
    assert "extrapolations" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is neither a table of `culmen bench collectives` nor one with the columns mapping,size,time_s"),
        ("a,b\n1,2\n", "is neither a table"),
        ("mapping,size,time_s\n", "a model needs at least two sizes"),
        ("mapping,size,time_s\ncore,1,1e-6\n", "at least two sizes of the mapping 'core'"),
        (
            "mapping,size,time_s\ncore,1,1e-6\ncore,x,1e-6\n",
            "wrong.csv, line 3, column size: 'x' is given, but it must be a whole number, at least 0",
        ),
        (
            "mapping,size,time_s\ncore,1,-1\n",
            "line 2, column time_s: '-1' is given, but it must be a number of seconds",
        ),
        ("mapping,size,time_s\ncore,1,nan\n", "line 2, column time_s: 'nan' is given"),
        ("mapping,size,time_s\ncore,1,0\n", "time_s must be a positive number of seconds, but one is 0"),
        ("mapping,size,time_s\ncore,1\n", "line 2, column time_s: nothing is given"),
        ("mapping,size,time_s\ncore,1,1e-6,7\n", "line 2 has more cells than the first line"),
    ],
)
def test_a_wrong_table_is_one_sentence(tmp_path, text, says):
    path = tmp_path / "wrong.csv"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        command.fit_models(path, Options(), command.shown_of(None, None, None), tmp_path / "out", True)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("column", "word", "wanted"),
    [
        ("ranks", "x", "a whole number, at least 1"),
        ("ranks", "0", "a whole number, at least 1"),
        ("size", "", "a whole number, at least 0"),
        ("size", "-8", "a whole number, at least 0"),
        ("time_s", "-1e-6", "a number of seconds, at least 0"),
        ("time_s", "nan", "a number of seconds, at least 0"),
        ("time_s", "inf", "a number of seconds, at least 0"),
        ("late", "2", "0 or 1"),
    ],
)
def test_a_damaged_table_is_one_sentence(table, tmp_path, column, word, wanted):
    path = tmp_path / "damaged.csv"
    lines = table.read_text().splitlines()
    cells = lines[20].split(",")
    cells[SAMPLED.index(column)] = word
    path.write_text("\n".join([*lines[:20], ",".join(cells), ""]))
    given = f"'{word}'" if word else "nothing"
    says = f"{path}, line 21, column {column}: {given} is given, but it must be {wanted}"
    with pytest.raises(InputError, match=f"^{re.escape(says)}$"):
        read_times(path)


def test_a_table_that_ends_early_or_is_no_text_is_one_sentence(table, tmp_path):
    path = tmp_path / "damaged.csv"
    content = table.read_bytes()
    path.write_bytes(content[: content.index(b"\n", 20_000) - 30])
    with pytest.raises(InputError, match=r"damaged\.csv, line \d+, column \w+: "):
        read_times(path)
    lines = content.splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:300], b"\xff\xfe\n", *lines[300:]]))
    with pytest.raises(InputError, match=r"damaged\.csv, line 301: there are bytes that are not UTF-8 text"):
        read_times(path)
    path.write_bytes(b"mapping,size,time_s\ncore,1,\xff\n")
    with pytest.raises(InputError, match=r"damaged\.csv, line 2: there are bytes that are not UTF-8 text"):
        read_latencies(path)
    with pytest.raises(InputError, match=r"there is no .*no\.csv; `culmen bench collectives` writes it"):
        read_times(tmp_path / "no.csv")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: command.options_of("12,x", None, False, False), "--breaks: 'x' is no number of ranks"),
        (lambda: command.options_of(None, "4K-8K", False, False), "--size-breaks 4K-8K: it must be a number of bytes"),
        (lambda: command.options_of(None, None, True, False), "--keep-breaks needs --breaks or --size-breaks"),
        (lambda: command.question_of("bcast", 4, None), "--size is missing; give the message size of bcast in bytes"),
        (lambda: command.question_of("bcast", 4, "much"), "--size much: it must be a number of bytes"),
    ],
)
def test_a_wrong_option_is_one_sentence(call, says):
    with pytest.raises(InputError) as raised:
        call()
    assert says in str(raised.value)


def test_what_the_table_has_not_is_one_sentence(table, tmp_path):
    place = command.question_of("bcst", 4, "8")
    with pytest.raises(InputError, match=r"has no 'bcst'; did you mean 'bcast'\?; it has bcast, reduce"):
        command.select_algorithm(table, place, None, None, None, False)
    with pytest.raises(InputError, match=r"--mpi mpich: .* has no such MPI; it has openmpi"):
        command.select_algorithm(table, place, "mpich", None, None, False)
    with pytest.raises(InputError, match=r"--collectives: .* has no 'allgather'; it has bcast, reduce"):
        command.fit_models(table, Options(), command.shown_of("allgather", None, None), tmp_path / "out", True)


def test_the_models_of_the_nearest_measured_ones_are_named(table, tmp_path, capsys):
    for ranks, size in ((5, "3"), (8, "4")):
        assert command.fit_models(table, Options(), command.shown_of(None, ranks, size), tmp_path / "out", False) == 0
        said = capsys.readouterr().out
        over_size = "5 ranks were not measured: models over the size are shown for the nearest of 2, 4, 8, 16 and 32"
        over_ranks = "The size 3 was not measured: models over ranks are shown for the nearest of the sizes 1, 4, 16, "
        assert [over_size in said, over_ranks in said] == [ranks == 5, size == "3"]


def test_the_number_of_cores_stands_beside_the_table(tmp_path):
    assert cores_beside(tmp_path / "collectives.csv") is None
    (tmp_path / "environment.json").write_text('{"cores": 24}')
    assert cores_beside(tmp_path / "collectives.csv") == 24


@pytest.mark.parametrize(("sockets", "cores"), [("[12, 12]", 12), ("[12, 6]", None), ("[]", None), ("12", None)])
def test_the_cores_of_a_socket_stand_beside_the_table(tmp_path, sockets, cores):
    assert socket_beside(tmp_path / "collectives.csv") is None
    (tmp_path / "environment.json").write_text(f'{{"cores_of_sockets": {sockets}}}')
    assert socket_beside(tmp_path / "collectives.csv") == cores


EACH = range(2, 49)


@pytest.mark.parametrize(
    ("ppn", "socket", "found"),
    [
        ({n: min(n, 24) for n in EACH}, 12, (12, 24, 36)),  # of the published study
        ({n: min(n, 24) for n in range(2, 49, 5)}, 12, (12, 24, 36)),
        ({n: min(n, 24) for n in EACH}, None, (24,)),
        ({n: min(n, 4) for n in EACH}, 12, (4, 8, 12, 16)),
        ({n: -(-n // 4) for n in (4, 16, 40, 64)}, 12, (48,)),  # over four nodes
        ({n: n for n in (2, 4, 8)}, 12, ()),
        (dict.fromkeys(EACH, 0), 12, ()),
    ],
)
def test_the_slope_may_change_where_a_socket_or_node_is_full(ppn, socket, found):
    assert boundaries(ppn, socket) == found


def test_breaks_are_tried_first_where_a_socket_or_node_is_full(tmp_path):
    def time_of(_collective, _name, n, _size):
        return 1e-6 * (5 + n + 3 * max(n - 12, 0) + 6 * max(n - 24, 0))

    ranks = [*range(2, 24, 3), *range(25, 49, 3)]  # the breaks are no measured numbers
    path = write_table(tmp_path / "collectives.csv", ranks, time_of, algorithms=["binomial"], ppn=24)
    (tmp_path / "environment.json").write_text('{"cores_of_sockets": [12, 12]}')
    shown = command.shown_of(None, None, None)
    assert command.fit_models(path, Options(continuous=True), shown, tmp_path / "out", True) == 0
    with (tmp_path / "out/coefficients.csv").open(newline="") as file:
        ends = [row["segment_upper"] for row in csv.DictReader(file) if (row["over"], row["at"]) == ("ranks", "1")]
    assert ends == ["12", "24", "36", "46"]


def test_breaks_without_a_bend_are_named_if_the_user_gave_them_and_not_used_otherwise(tmp_path, capsys):
    ranks = range(2, 49, 2)
    path = write_table(tmp_path / "collectives.csv", ranks, lambda *_: 1e-5, algorithms=["binomial"], ppn=24)
    (tmp_path / "environment.json").write_text('{"cores_of_sockets": [12, 12]}')
    shown = command.shown_of(None, None, None)
    ends = {}
    for name, options in (("given", Options(breaks=(24.0,))), ("guessed", Options())):
        assert command.fit_models(path, options, shown, tmp_path / name, False) == 0
        with (tmp_path / name / "coefficients.csv").open(newline="") as file:
            ends[name] = [row["segment_upper"] for row in csv.DictReader(file) if row["over"] == "ranks"]
        said = " ".join(capsys.readouterr().out.split())
        named = re.search(r"No bend found at the break 24 ranks in (\d+) of the (\d+) models that have it.", said)
        assert (named is not None) == (name == "given")
        assert named is None or 2 * int(named[1]) > int(named[2]) == ends["given"].count("24")
    assert ends["given"].count("24") == 11  # sizes
    assert ends["guessed"].count("24") < 6


def test_messages_of_pingpong_are_read(tmp_path):
    sized = [Sized([[9.0], *[[1e-6 * (2 + size / 1000)]] * 20], size=size) for size in (1, 1000, 5000)]
    path = tmp_path / "pingpong.csv"
    write_samples(path, RouteHeader("mpich/ucx-tcp", "MPICH 4.0.2"), sized, "")
    read = read_latencies(path)
    assert list(read) == ["mpich/ucx-tcp"]
    assert list(read["mpich/ucx-tcp"].values()) == pytest.approx([2.001e-6, 3e-6, 7e-6])
    write_samples(path, RouteHeader("mpich/ucx-tcp", "MPICH 4.0.2", partition="thin"), sized, "")
    assert list(read_latencies(path)) == ["mpich/ucx-tcp@thin"]
    write_samples(path, RouteHeader("openmpi", ""), [], "no answer")
    with pytest.raises(InputError, match="a model needs at least two sizes"):
        read_latencies(path)
