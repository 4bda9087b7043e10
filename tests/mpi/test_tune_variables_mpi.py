"""``culmen tune cluster --variables`` with real ranks."""

import json
import os

import pytest
from culmen.bench.conversation import LostError, RefusedError
from culmen.bench.session import Session
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT
from culmen.launch.mpi.variables import GROUPS
from culmen.tune.cluster.accepted import ask
from culmen.tune.cluster.setting_launch import COLUMNS, measure, measure_memory, times_of
from culmen.tune.cluster.variables_files import environment_in
from harness import HANGS_S, culmen

SETTINGS = {  # the beginning of the MPI's title: a setting, its variable, and a value that is not the default
    "Open MPI 4": ("btl_vader_eager_limit", "OMPI_MCA_btl_vader_eager_limit", "1024"),
    "Open MPI 5": ("btl_sm_eager_limit", "OMPI_MCA_btl_sm_eager_limit", "1024"),
    "MPICH": ("MPIR_CVAR_POLLS_BEFORE_YIELD", "MPIR_CVAR_POLLS_BEFORE_YIELD", "100"),
}
GROUP = {"openmpi": "copy", "mpich": "wait"}
SMALL = ("--collectives", "bcast", "--ranks", "2", "--sizes", "8,16K", "--seconds", "0.05")


@pytest.fixture
def launcher(mpi):
    return find_launcher(mpi)


@pytest.fixture
def setting(launcher):
    return next(setting for title, setting in SETTINGS.items() if launcher.mpi.title.startswith(title))


@pytest.fixture
def asked(launcher):
    with Session(launcher, 2, HANGS_S, launcher.mpi.collectives.without_rules) as session:
        return ask(launcher, session, GROUPS, 1 << 20)


def point(mpi, setting, **more):
    return {
        "mpi": mpi, "ranks": 2, "collectives": "bcast,barrier", "sizes": "8,16384", "timeout_s": HANGS_S, "name": "one",
        "setting": json.dumps(setting), "number": 3,
    } | more  # fmt: skip


def test_only_values_that_the_mpi_takes_are_tried(mpi, setting, asked):
    values = {each.name: set(each.values) for each in asked.variables}
    name, _, value = setting
    assert value in values[name]
    assert asked.nodes == 1
    assert all("net.core.wmem_max" in why for (_, value), why in asked.refused.items() if value == "4194304")
    if mpi == "openmpi":
        assert asked.defaults[name] == "4096"
        assert "4096" not in values[name], "the default is measured anyway"
    else:
        assert values["transport"] & {"netmod", "netmod-tcp"}
        assert asked.defaults["MPIR_CVAR_POLLS_BEFORE_YIELD"] == "1000"


def test_a_launch_measures_all_collectives_and_messages(mpi, setting, tmp_path, monkeypatch):
    monkeypatch.setenv("CULMEN_BENCH_FOLDER", str(tmp_path))
    name, _, value = setting
    mean_s, figures = measure(point(mpi, {name: value}))
    found = times_of(tmp_path / "samples/variables-one-3.csv")
    assert {(spot.collective, spot.size) for spot in found} == {
        ("bcast", 8), ("bcast", 16384), ("barrier", 0), ("messages", 8), ("messages", 16384)
    }  # fmt: skip
    assert figures["points"] == len(found)
    assert min(found.values()) <= mean_s <= max(found.values())
    assert COLUMNS == ("collective", "size", "time_s")


def test_a_value_that_the_mpi_does_not_use_is_left_out(mpi, setting, tmp_path, monkeypatch):
    monkeypatch.setenv("CULMEN_BENCH_FOLDER", str(tmp_path))
    name, variable, value = setting
    monkeypatch.setattr(Session, "value_of", lambda *_: ["4711"])
    with pytest.raises(LostError, match=f"with {variable}={value}, the MPI uses 4711"):
        measure(point(mpi, {name: value}))
    assert not (tmp_path / "samples/variables-one-3.csv").exists()


def test_ranks_that_fail_at_their_end_are_noticed(mpi, setting, tmp_path, monkeypatch):
    monkeypatch.setenv("CULMEN_BENCH_FOLDER", str(tmp_path))
    name, _, value = setting
    monkeypatch.setattr(Session, "memory", lambda _: os.kill(killed[0]._process.pid, 9) or (1, 1))
    killed = []
    begin = Session.__enter__
    monkeypatch.setattr(Session, "__enter__", lambda self: killed.append(self) or begin(self))
    with pytest.raises(LostError, match=r"the ranks (failed|ended)|at their end, the ranks"):
        measure_memory(point(mpi, {name: value}, number_of_ranks=2))


def test_memory_is_that_of_the_rank_with_most(mpi):
    most, figures = measure_memory(point(mpi, {}, number_of_ranks=3))
    assert 1e6 < figures["after_init"] <= figures["most_of_init"] < 1e9
    assert 1e6 < most < 1e9


def test_variables_of_the_mpi_are_read(launcher):
    with Session(launcher, 2, HANGS_S) as session:
        with pytest.raises(RefusedError, match="there is no such variable"):
            session.value_of("no_such_variable")
        session.exchange_with_all(100_000)
        most, now = session.memory()
        assert 0 < now <= most
    assert session.bad_end == ""


@pytest.mark.slow
@pytest.mark.either("mpi")
def test_variables_are_tuned_before_the_algorithms(mpi, launcher, tmp_path):
    words = ("tune", "cluster", *SMALL, "--variables", f"{GROUP[mpi]},tcp", "--mpi", mpi)
    done = culmen(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "tune-cluster"
    found = json.loads((folder / "variables.json").read_text())
    rows = {row["variable"]: row for row in found["rows"]}
    assert {each.name for each in launcher.mpi.variables if each.group in (GROUP[mpi], "tcp")} == set(rows)
    tcp = next(row for row in rows.values() if row["group"] == "tcp")
    assert tcp["why"] == "it has no effect with this transport"
    for row in rows.values():
        assert row["value"] == DEFAULT or 1 < row["gain"]["low"] <= row["gain"]["times_faster"]
    assert environment_in(folder) == found["environment"]
    used = json.loads((folder / "environment.json").read_text()).get("variables", "{}")
    assert json.loads(used) == found["environment"], "the algorithms were measured with the chosen variables"
    assert "Variables" in (folder / "tuning.html").read_text()
    changed = [row for row in rows.values() if row["value"] != DEFAULT]
    told = f"Of {len(rows)} variables, {len(changed)} changed" if changed else f"All {len(rows)} variables keep the d"
    assert told in done.stdout
    again = culmen(*words, cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "All 11 launches are in" in again.stdout
    refused = culmen(*words, "--at-most", 1, cwd=tmp_path)
    assert "--variables: all launches depend on each other; leave out --at-most" in refused.stdout + refused.stderr


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_variables_are_installed_and_removed(mpi, launcher, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "openmpi-rules.conf").write_text("1\n7\n1\n0\n1\n0 2 0 0\n")
    (folder / "variables.env").write_text("# Variables of something\nOMPI_MCA_btl_vader_eager_limit=2048\n")
    done = culmen("tune", "install", folder, "--mpi", mpi, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "use these rules and variables" in done.stdout
    with Session(launcher, 2, HANGS_S) as session:
        assert session.value_of("btl_vader_eager_limit") == ["2048"]
    refused = culmen("tune", "cluster", *SMALL, "--variables", "copy", "--mpi", mpi, cwd=tmp_path)
    assert refused.returncode == 2
    assert "has variables from `culmen tune install`" in refused.stdout + refused.stderr
    assert culmen("tune", "install", "--remove", "--mpi", mpi, cwd=tmp_path).returncode == 0
    with Session(launcher, 2, HANGS_S) as session:
        assert session.value_of("btl_vader_eager_limit") == ["4096"]


def test_a_module_sets_the_variables(mpi, setting, launcher, tmp_path):
    known = launcher.mpi.collectives
    if not known.rules_name:
        pytest.skip("culmen knows no tuning file of this MPI")
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / known.rules_name).write_text("1\n7\n1\n0\n1\n0 2 0 0\n")
    _, variable, value = setting
    (folder / "variables.env").write_text(f"# Variables of Open MPI 3.9.9, from\n{variable}={value}\n")
    if mpi == "openmpi":
        refused = culmen("tune", "install", folder, "--module", "m", "--mpi", mpi, cwd=tmp_path)
        assert "was measured with Open MPI 3.9.9, but" in refused.stdout + refused.stderr
        (folder / "variables.env").write_text(f"{variable}={value}\n")
        assert culmen("tune", "install", folder, "--module", "m", "--mpi", mpi, cwd=tmp_path).returncode == 0
        assert f"setenv {variable} {{{value}}}" in (tmp_path / "m").read_text()
