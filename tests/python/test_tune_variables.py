"""The choice of variables for ``culmen tune cluster``, from times of launches, and its files."""

import json
from dataclasses import replace

import pytest
from culmen._core import InputError
from culmen.launch.mpi import load
from culmen.launch.mpi.collectives import DEFAULT
from culmen.launch.mpi.variables import GROUPS, TRANSPORT, environment_of
from culmen.tune.cluster import variables_page
from culmen.tune.cluster.accepted import Parameters
from culmen.tune.cluster.pairs import LAUNCHES, Gain
from culmen.tune.cluster.setting_gains import (
    OWN,
    WHOLE,
    Memory,
    Row,
    SpotGain,
    Tried,
    TunedVariables,
    best_of,
    gain_over,
    judged,
    kinds_of,
    row_after,
    without_effect,
)
from culmen.tune.cluster.setting_launch import Spot
from culmen.tune.cluster.variables_asked import groups_of
from culmen.tune.cluster.variables_files import (
    ENVIRONMENT,
    environment_in,
    result_in,
    sentences,
    write_environment,
    write_result,
)

OPEN_MPI = next(mpi for mpi in load() if mpi.title == "Open MPI 4")
SMALL, LARGE = Spot("bcast", 8), Spot("bcast", 1 << 20)
TWO = {"a": "1", "b": "2"}
FASTER = Gain(1.5, 1.4, 1.6, 1e-6, LAUNCHES)


def launches(small_s, large_s=1e-3, lost=0):
    """With a little noise. ``lost``: the number of launches that failed."""
    noise = [1 + 0.01 * ((7 * k) % LAUNCHES) / LAUNCHES for k in range(LAUNCHES)]
    return [{} if k < lost else {SMALL: small_s * noise[k], LARGE: large_s * noise[-k]} for k in range(LAUNCHES)]


def test_a_variable_is_changed_if_calls_are_slower_without_it():
    times = {OWN: launches(3e-6), WHOLE: launches(1e-6), "without-a": launches(2e-6), "without-b": launches(1e-6)}
    found = judged(TWO, times)
    assert found["a"][1] == ""
    assert found["a"][0].low > 1.3
    assert found["b"][1] == "not faster beyond doubt"


def test_one_variable_is_compared_with_the_default():
    assert set(kinds_of({"a": "1"})) == {OWN, WHOLE}
    assert kinds_of(TWO)["without-a"] == {"b": "2"}
    found = judged({"a": "1"}, {OWN: launches(2e-6), WHOLE: launches(1e-6)})
    assert found["a"][1] == ""


def test_a_setting_that_is_slower_somewhere_is_not_used():
    times = {OWN: launches(4e-6, 1e-3), WHOLE: launches(1e-6, 1.2e-3)}
    assert gain_over(times[OWN], times[WHOLE]).low > 1, "it is faster on average"
    assert judged({"a": "1"}, times)["a"][1] == "slower for bcast of 1 MiB"


def test_two_variables_that_are_slower_only_together_keep_their_defaults():
    slow = 1.2e-3
    times = {
        OWN: launches(4e-6), WHOLE: launches(1e-6, slow), "without-a": launches(2e-6, slow),
        "without-b": launches(2e-6, slow),
    }  # fmt: skip
    assert [why for _, why in judged(TWO, times).values()] == ["slower for bcast of 1 MiB"] * 2


def test_a_setting_that_failed_once_is_not_used():
    times = {OWN: launches(4e-6), WHOLE: launches(1e-6, lost=1)}
    assert judged({"a": "1"}, times)["a"][1] == "not faster beyond doubt"


def test_the_best_value_of_a_race_did_not_fail():
    unlikely = Gain(1.5, 0.5, 4.0, 0.2, 10)
    assert best_of([Tried("a", "1", FASTER)], DEFAULT) == "1"
    assert best_of([Tried("a", "1", FASTER, "it hung")], "1") == DEFAULT
    assert best_of([Tried("a", "1", unlikely), Tried("a", "2", failed="it hung")], DEFAULT) == DEFAULT
    assert best_of([Tried("a", "1", unlikely), Tried("a", "2", FASTER)], "1") == "1"


def test_variables_without_effect_are_known():
    at = {TRANSPORT: "ucx", "btl_vader_eager_limit": "1024", "btl_tcp_buffers": "131072"}
    assert without_effect(at, OPEN_MPI.variables, 1) == {"btl_vader_eager_limit", "btl_tcp_buffers"}
    alone = {name: value for name, value in at.items() if name != TRANSPORT}
    assert without_effect(alone, OPEN_MPI.variables, 1) == {"btl_tcp_buffers"}
    assert without_effect(alone, OPEN_MPI.variables, 2) == set()


@pytest.mark.parametrize("mpi", [mpi for mpi in load() if mpi.variables], ids=lambda mpi: mpi.title)
def test_the_data_of_each_mpi_is_consistent(mpi):
    transports = {DEFAULT, *next(each for each in mpi.variables if each.name == TRANSPORT).values}
    assert mpi.variables[0].name == TRANSPORT, "it decides which others have an effect"
    for each in mpi.variables:
        assert each.group in GROUPS
        assert {*each.within_node, *each.between_nodes} <= transports
        assert DEFAULT not in each.values
        assert all(environment_of({each.name: value}, mpi.variables) == set_ for value, set_ in each.values.items())
        assert not each.socket_buffers or all(value.isdecimal() for value in each.values)


def test_open_mpi_is_asked_which_values_it_takes():
    found = Parameters(
        {("btl", "tcp"), ("btl", "self")}, {"btl": "", "copy": "cma"}, {"copy": {"1", "cma", "none"}}, ("btl",)
    )
    assert found.why_not("btl", "self,tcp") == ""
    assert found.why_not("btl", "self,vader") == "this MPI has no btl vader"
    assert found.why_not("copy", "none") == ""
    assert found.why_not("copy", "xpmem") == "this MPI allows only cma, none"
    assert found.why_not("eager", "1") == "this MPI has no parameter eager"


@pytest.fixture
def result():
    rows = [
        Row("a", "eager", "4096", "1024", "faster in fresh launches", "1024", FASTER),
        Row("b", "tcp", "0", DEFAULT, "-"),
    ]
    spots = [SpotGain(SMALL, 2e-6, 1e-6, FASTER)]
    tried = [Tried("a", "1024", FASTER), Tried(TRANSPORT, "tcp", FASTER), Tried("b", "1", failed="<it hung>")]
    memory = [Memory(DEFAULT, 2.0**24, 2.0**23, 2.0**23, 2.0**20), Memory("tcp", failed="it hung")]
    return TunedVariables(
        "Open MPI 4.1.4", 4, 1, ["eager", "tcp"], rows, {"X": "a b", "Y": "1"}, FASTER, spots, tried, memory, 90
    )


def test_a_result_is_read_as_it_was_written(result, tmp_path):
    write_result(result, tmp_path)
    assert result_in(tmp_path) == result
    (tmp_path / "variables.json").write_text("{")
    assert result_in(tmp_path) is None


def test_the_environment_is_read_as_it_was_written(result, tmp_path):
    assert environment_in(tmp_path) == {}
    write_environment(result, tmp_path / ENVIRONMENT, ["Variables of Open MPI 4.1.4, from `culmen tune cluster`"])
    assert environment_in(tmp_path) == result.environment
    (tmp_path / ENVIRONMENT).write_text("X=1\nexport\n")
    with pytest.raises(InputError, match="'export' must be NAME=VALUE"):
        environment_in(tmp_path)


def test_the_result_is_told(result):
    assert row_after(result.rows[0], {"a": (FASTER, "slower")}).value == DEFAULT
    first, second = variables_page.rows_of(result)
    assert first == ["a", "4096", "1024", "1.5", "1.4 – 1.6", "1024", "faster in fresh launches"]
    assert second[3:] == ["–", "–", DEFAULT, "-"]
    assert sentences(result) == [
        "Of 2 variables, 1 changed: a = 1024.", "With this, calls are 1.5 times faster (1.4 – 1.6)."
    ]  # fmt: skip
    limited = sentences(replace(result, limit=1 << 24))
    assert limited[2].startswith("Buffers of 16777216 bytes need higher limits of the kernel")
    assert r"net.core.rmem_max = 16777216\nnet.core.wmem_max = 16777216\n' >/etc/sysctl.d/" in limited[3]
    page = "".join(section.body for section in variables_page.sections_of(result))
    assert '<td>tcp</td><td class="number">1.5</td>' in page, "speed stands beside memory"
    assert "&lt;it hung&gt;" in page


def test_groups_are_named():
    assert groups_of(None) == ()
    assert groups_of("all") == GROUPS
    assert groups_of("eager,copy") == ("copy", "eager")
    with pytest.raises(
        InputError, match="--variables: 'buffers' is not one of transport, binding, wait, copy, eager, tcp"
    ):
        groups_of("buffers")


def test_a_result_has_only_what_json_can_hold(result, tmp_path):
    write_result(result, tmp_path)
    assert json.loads((tmp_path / "variables.json").read_text())["memory"][0]["per_peer"] == 2.0**20
