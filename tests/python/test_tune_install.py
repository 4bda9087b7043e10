"""``culmen tune install`` without an MPI: its files, and what it says."""

import json
import os
import stat
from dataclasses import replace

import pytest
from culmen.cli.work import convert, lint
from culmen.cli.work import install as work
from culmen.launch.mpi import Launcher, LauncherError, load
from culmen.tune.autotune.tuned import Tuning
from culmen.tune.cluster import installed

from culmen import _core

pytestmark = pytest.mark.no_numbers

OPEN_MPI = next(mpi for mpi in load() if mpi.title == "Open MPI 4")
HEAD = "# Rules for the collectives of Open MPI 4.1.4, from `culmen tune cluster`\n# 2026-11-27, node7, {cpu}\n"
OFF = "Open MPI takes the algorithms from a file (coll_tuned_dynamic_rules_filename); leave it out"
RULES = "1\n7\n1\n0\n1\n0 2 0 0\n"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def open_mpi(monkeypatch, tmp_path):
    """Open MPI is there, with its settings in tmp_path/etc, on a machine with a known CPU."""
    monkeypatch.setattr(work, "here", lambda: {"cpu": "EPYC 1"})
    monkeypatch.setattr(work, "find_launcher", lambda _name: Launcher("no-mpiexec", OPEN_MPI))
    for each in (work, installed):
        monkeypatch.setattr(each, "site_folder", lambda _launcher: tmp_path / "etc")


@pytest.fixture
def no_mpi(monkeypatch):
    def none(_name):
        raise LauncherError("no mpiexec")

    monkeypatch.setattr(work, "find_launcher", none)


@pytest.fixture
def rules(tmp_path):
    file = tmp_path / "rules.conf"
    file.write_text(HEAD.format(cpu="EPYC 1") + RULES)
    return file


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_settings_are_removed_without_an_mpi_and_whatever_the_folder_holds(home, tmp_path, no_mpi, capsys):
    folder = tmp_path / "tune-cluster"
    folder.mkdir()
    (folder / "mpich-rules.json").write_text("{}")
    settings = home / ".openmpi/mca-params.conf"
    settings.parent.mkdir()
    settings.write_text("mine = 1\n# culmen tune install: begin\nx = 2\n# culmen tune install: end\n")
    assert work.install(folder, False, None, True, None) == 0
    assert settings.read_text() == "mine = 1\n"
    assert "Removed the rules from" in capsys.readouterr().out
    with pytest.raises(_core.InputError, match="MPICH 4 has no file for settings"):
        work.install(folder, False, None, True, "mpich")


def test_rules_that_end_programs_are_not_installed(home, tmp_path, open_mpi):
    file = tmp_path / "old.conf"
    file.write_text("1\n7\n1\n4\n1\n0 42 0 0\n")
    with pytest.raises(_core.InputError, match=r"line 6: bcast has no algorithm 42 in Open MPI 4, so calls .* fail"):
        work.install(file, False, None, False, None)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("text", ["0  # collectives\n", "1\n7\n1\n0\n1\n0 0 0 0\n"])
@pytest.mark.parametrize("module", [False, True])
def test_a_file_without_rules_is_not_installed(home, tmp_path, open_mpi, text, module):
    folder = tmp_path / "tuned"
    folder.mkdir()
    (folder / "openmpi-rules.conf").write_text(text)
    with pytest.raises(_core.InputError, match=r"openmpi-rules.conf has no rules: .* so there is nothing to install"):
        work.install(folder, False, tmp_path / "module" if module else None, False, None)
    assert list(home.iterdir()) == []
    (folder / "variables.env").write_text("OMPI_MCA_btl_vader_eager_limit=2048\n")
    assert work.install(folder, False, None, False, None) == 0
    assert "eager_limit = 2048" in (home / ".openmpi/mca-params.conf").read_text()


def test_autotune_names_the_command_that_removes_installed_rules(open_mpi, rules, home):
    tuning = Tuning("Open MPI 4.1.4", 2, "x", OFF, [])
    assert installed.with_undo(tuning).off == tuning.off
    work.install(rules, False, None, False, None)
    file = home / ".openmpi/mca-params.conf"
    undo = f"`culmen tune install --remove` removes the rules that culmen installed in {file}"
    assert installed.with_undo(tuning).off == f"{tuning.off}; {undo}"
    assert installed.with_undo(replace(tuning, off="MPI_T does not work")).off == "MPI_T does not work"


@pytest.mark.parametrize("command", ["install", "lint", "convert"])
def test_a_file_of_autotune_is_told_from_rules_of_an_mpi(tmp_path, open_mpi, command):
    file = tmp_path / "autotune-1.tuning"
    file.write_text("culmen-tuning\t1\nmpi\tOpen MPI 4.1.4\n")
    said = f"{file} is a file of `culmen autotune`, .* load it with `culmen autotune --load {file}`"
    with pytest.raises(_core.InputError, match=said):
        if command == "install":
            work.install(file, False, None, False, None)
        elif command == "lint":
            lint.lint(file, None, 0)
        else:
            convert.convert(file, "openmpi-json", None)


def test_lint_takes_a_folder_and_says_that_there_are_no_rules(tmp_path, open_mpi, monkeypatch, capsys):
    monkeypatch.setattr(lint, "find_launcher", lambda _name: Launcher("no-mpiexec", OPEN_MPI))
    with pytest.raises(
        _core.InputError, match=f"{tmp_path} has no tuning file; give a folder of `culmen tune cluster`"
    ):
        lint.lint(tmp_path, None, 0)
    (tmp_path / "openmpi-rules.conf").write_text("0  # collectives\n")
    assert lint.lint(tmp_path, None, 0) == 0
    assert "openmpi-rules.conf means:\nThe file has no rules that choose an algorithm." in capsys.readouterr().out


def test_a_file_of_the_user_is_no_module_and_is_kept(tmp_path, open_mpi, rules):
    module = tmp_path / "mod"
    module.write_text("#%Module1.0\n")
    with pytest.raises(_core.InputError, match=r"mod exists and is no environment module .*, or remove this one$"):
        work.install(rules, False, module, False, None)
    assert module.read_text() == "#%Module1.0\n"


def test_all_users_can_read_the_files_of_a_site(tmp_path, open_mpi, rules):
    before = os.umask(0o077)
    try:
        work.install(rules, True, None, False, None)
    finally:
        os.umask(before)
    written = [tmp_path / "etc" / name for name in ("openmpi-mca-params.conf", "culmen-rules.conf")]
    assert [mode(path) for path in written] == [0o644, 0o644]
    assert mode(tmp_path / "etc") == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_keep_their_owner_and_their_permissions(tmp_path, open_mpi, rules):
    settings = tmp_path / "etc/openmpi-mca-params.conf"
    settings.parent.mkdir()
    settings.write_text("mine = 1\n")
    settings.chmod(0o664)
    os.chown(settings, 4711, 4712)
    for removed in (False, True):
        work.install(rules, True, None, removed, None)
        found = settings.stat()
        assert (found.st_uid, found.st_gid, mode(settings)) == (4711, 4712, 0o664)


def test_it_says_where_the_files_must_be(home, open_mpi, rules, capsys):
    work.install(rules, False, None, False, None)
    said = capsys.readouterr().out
    assert "and also every other Open MPI that reads this file." in said
    assert "Every node must have these files" in said
    assert f"If the nodes do not share {home / '.openmpi'}, type this command on each node while no program" in said
    assert "warning" not in said


def test_both_files_of_open_mpi_5_are_installed_and_removed(home, tmp_path, open_mpi, rules, monkeypatch, capsys):
    newer = Launcher("no-mpiexec", next(mpi for mpi in load() if mpi.title == "Open MPI 5"))
    monkeypatch.setattr(work, "find_launcher", lambda _name: newer)
    folder = tmp_path / "tuned"
    folder.mkdir()
    rules.rename(folder / "openmpi-rules.conf")
    (folder / "openmpi-han-rules.conf").write_text("0\n")
    work.install(folder, False, None, False, None)
    there = home / ".openmpi"
    assert (there / "culmen-han-rules.conf").read_text() == "0\n"
    settings = (there / "mca-params.conf").read_text()
    assert f"coll_han_dynamic_rules_filename = {there / 'culmen-han-rules.conf'}\n" in settings
    assert "coll_han_use_dynamic_file_rules = 1\n" in settings
    installed.check_no_variables(newer)
    work.install(folder, False, None, True, None)
    assert list(there.iterdir()) == [], "no empty file is left"


@pytest.mark.parametrize("module", [False, True])
def test_rules_of_another_cpu_are_warned_of(tmp_path, open_mpi, rules, capsys, module):
    rules.write_text(HEAD.format(cpu="Abacus 3000 @ 1 Hz") + RULES)
    work.install(rules, False, tmp_path / "module" if module else None, False, None)
    assert (
        "warning: the rules were measured on Abacus 3000 @ 1 Hz, but this machine has EPYC 1" in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("system", "tasks", "said"),
    [
        ("Linux 6.1 x86_64", [4], ""),
        ("Linux 6.1 x86_64", [4, 4], ""),
        ("Linux 6.1 x86_64", [], ""),
        ("Linux 6.8 x86_64", [4], "measured with Linux 6.1 x86_64, but here is Linux 6.8 x86_64; they may be slower"),
        ("Linux 6.1 x86_64", [4] * 3, "measured on 1 or 2 nodes, but this job has 3; they may be slower"),
    ],
)
def test_another_kernel_or_number_of_nodes_is_said(tmp_path, open_mpi, rules, monkeypatch, capsys, system, tasks, said):
    folder = tmp_path / "tuned"
    folder.mkdir()
    rules.rename(folder / "openmpi-rules.conf")
    shapes = [{"collective": "bcast", "ranks": 4 * nodes, "nodes": nodes, "ppn": 4} for nodes in (1, 2)]
    facts = {"machine": {"system": "Linux 6.1 x86_64"}, "shapes": shapes}
    (folder / "environment.json").write_text(json.dumps(facts))
    monkeypatch.setattr(work, "here", lambda: {"cpu": "EPYC 1", "system": system})
    monkeypatch.setattr(work, "tasks_on_nodes", lambda: tasks)
    assert work.install(folder, False, None, False, None) == 0
    warnings = [line for line in capsys.readouterr().out.splitlines() if "warning" in line]
    assert warnings == ([f"culmen: warning: the rules were {said}"] if said else [])


@pytest.mark.parametrize("facts", ['{"machine": 5, "shapes": 7}', '{"shapes": [{}]}', '{"shapes": [4]}', 9999 * "["])
def test_rules_with_damaged_facts_are_installed(tmp_path, open_mpi, rules, capsys, facts):
    folder = tmp_path / "tuned"
    folder.mkdir()
    rules.rename(folder / "openmpi-rules.conf")
    (folder / "environment.json").write_text(facts)
    assert work.install(folder, False, None, False, None) == 0
    assert "warning" not in capsys.readouterr().out


@pytest.mark.parametrize("removed", [False, True])
def test_a_block_without_its_end_is_refused_and_stays(home, open_mpi, rules, removed):
    settings = home / ".openmpi/mca-params.conf"
    settings.parent.mkdir()
    settings.write_text(text := "# culmen tune install: begin\nx = 2\nmine = 1\n")
    with pytest.raises(_core.InputError, match="remove its lines by hand"):
        work.install(rules, False, None, removed, None)
    assert settings.read_text() == text
