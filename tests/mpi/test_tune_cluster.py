"""``culmen tune`` with real ranks: the choices, the rules file that Open MPI reads, and its installation."""

import csv
import json
import re
import subprocess
from pathlib import Path

import pytest
from culmen._core import InputError
from culmen.base.text import grouped
from culmen.bench.session import Ranks, Session
from culmen.launch.mpi import Launcher, find_launcher, load
from culmen.launch.mpi.collectives import DEFAULT
from culmen.tune.cluster.pairs import LAUNCHES, VISITS
from culmen.tune.rules.file import read_rules
from culmen.tune.rules.reader import environment_for, reader_of_rules
from culmen.tune.rules.tried import Expected, not_as_expected
from harness import HANGS_S, culmen
from profiles import AS_ROOT, built

SMALL = ("--collectives", "bcast,allreduce", "--ranks", "2,4", "--sizes", "8,1K,16K", "--seconds", "0.05")
WITHOUT_RULES = {"OMPI_MCA_coll_tuned_dynamic_rules_filename": ""}


@pytest.fixture
def open_mpi():
    return find_launcher("openmpi")


@pytest.fixture
def rules(tmp_path):
    """A file with a rule for MPI_Bcast: chain."""
    path = tmp_path / "mine.conf"
    path.write_text("1\n7\n1\n0\n1\n0 2 0 0\n")
    return path


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """The file with the user's settings of Open MPI, in a new home; it does not exist yet."""
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / ".openmpi" / "mca-params.conf"
    path.parent.mkdir()
    return path


def test_variants_run_with_their_fan_out_and_segments(open_mpi, tmp_path):
    library, file = tmp_path / "chains.so", tmp_path / "chains"
    source = Path(__file__).with_name("chains.c")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    known, ran_with = open_mpi.mpi.collectives, {}
    there = {one.name: one for one in [*known.safe_algorithms("bcast", 4), *known.variants("bcast", 4, True)]}
    with Ranks(open_mpi, 4, HANGS_S, "", {"LD_PRELOAD": str(library), "CHAINS": str(file)}) as ranks:
        for name in ("chain", "chain:2", "chain/8K", "chain:2/8K", "chain"):
            file.write_text("")
            communicator = ranks.session.choose("bcast", there[name])
            ranks.session.check("bcast", communicator, 65536, 0)
            ran_with[name] = set(file.read_text().splitlines())
    assert ran_with == {"chain": {"4 0"}, "chain:2": {"2 0"}, "chain/8K": {"4 8192"}, "chain:2/8K": {"2 8192"}}


def ran(launcher, rules: Path | None, collective: str, ranks: int, size: int) -> list[str]:
    """The algorithms that run with a rules file."""
    names = {one.function: one.name for one in launcher.mpi.collectives.algorithms(collective, ranks)}
    environment = environment_for(launcher.mpi.collectives, rules) if rules else {}
    with Session(launcher, ranks, HANGS_S, environment) as session:
        _, functions = session.time(collective, 0, size, 0, 2, 0.0)
    return sorted(names[function] for function in functions if function in names)


# culmen's explanation of such files must agree with Open MPI's behaviour.
@pytest.mark.parametrize(
    ("text", "collective", "size", "algorithm"),
    [
        ("1\n7\n1\n0\n2\n0 1 0 0\n1000 2 0 0\n", "bcast", 992, "basic_linear"),
        ("1\n7\n1\n0\n2\n0 1 0 0\n1000 2 0 0\n", "bcast", 1000, "chain"),
        ("1\n0\n1\n0\n2\n0 1 0 0\n1024 2 0 0\n", "allgather", 248, "linear"),
        ("1\n0\n1\n0\n2\n0 1 0 0\n1024 2 0 0\n", "allgather", 256, "bruck"),
        ("1\n3\n1\n0\n2\n0 1 0 0\n1024 2 0 0\n", "alltoall", 256, "pairwise"),
        ("1\n9\n1\n0\n2\n0 1 0 0\n1024 2 0 0\n", "gather", 256, "binomial"),
        ("1\n15\n1\n0\n2\n0 1 0 0\n1024 2 0 0\n", "scatter", 256, "binomial"),
        ("1\n12\n1\n0\n2\n0 1 0 0\n1024 3 0 0\n", "reduce_scatter", 256, "ring"),
        ("1\n13\n1\n0\n2\n0 1 0 0\n1024 2 0 0\n", "reduce_scatter_block", 256, "recursive_doubling"),
        ("1\n1\n1\n0\n2\n0 3 0 0\n64 2 0 0\n", "allgatherv", 56, "ring"),
        ("1\n1\n1\n0\n2\n0 3 0 0\n64 2 0 0\n", "allgatherv", 64, "bruck"),
        ("1\n4\n1\n0\n2\n0 1 0 0\n8 2 0 0\n", "alltoallv", 4000, "basic_linear"),
        ("1\n14\n1\n0\n2\n0 1 0 0\n16 2 0 0\n", "scan", 8, "recursive_doubling"),
        ("1\n14\n1\n0\n2\n0 1 0 0\n17 2 0 0\n", "scan", 4000, "linear"),
        ("1\n8\n1\n0\n2\n0 1 0 0\n17 2 0 0\n", "exscan", 4000, "linear"),
        ("1\n6\n1\n0\n2\n0 3 0 0\n8 2 0 0\n", "barrier", 0, "recursive_doubling"),
        ("1\n2\n1\n0\n1\n0 4 0 0\n", "allreduce", 4000, "ring"),
        ("1\n11\n1\n0\n1\n0 5 0 0\n", "reduce", 4000, "binomial"),
        ("1\n7\n1\n8\n1\n0 2 0 0\n", "bcast", 8, "chain"),
        ("1\n7\n2\n8\n1\n0 2 0 0\n2\n1\n0 3 0 0\n", "bcast", 8, "chain"),
        ("1\n7\n1\n0\n3\n0 1 0 0\n1000 2 0 0\n500 3 0 0\n", "bcast", 600, "basic_linear"),
        ("1\n7\n1\n0\n3\n0 1 0 0\n1000 2 0 0\n500 3 0 0\n", "bcast", 2000, "pipeline"),
        ("2\n7\n1\n0\n1\n0 2 0 0\n7\n1\n0\n1\n0 1 0 0\n", "bcast", 8, "basic_linear"),
    ],
)
def test_open_mpi_reads_a_file_as_culmen_says(open_mpi, tmp_path, text, collective, size, algorithm):
    file = tmp_path / "rules.conf"
    file.write_text(text)
    known = open_mpi.mpi.collectives
    kind = known.of[collective]["in_rules"]["sizes"]
    compared = {"own": size, "all_ranks": size * 4, "element": 4 * 4, "zero": 0}[kind]
    row = read_rules(file).row(collective, 4, compared)
    assert known.of[collective]["algorithms"][row.algorithm - 1] == algorithm
    assert ran(open_mpi, file, collective, 4, size) == [algorithm]


@pytest.mark.parametrize(
    "text",
    [
        "2\n2\n1\n0\n1\n0 1 0 0\n7\n1\n0\n1\n1000 2 0 0\n",
        "2\n2\n1\n0\n1\n0 1 0 0\n7\n1\n0\n2\n0 2 0 0\n",
        "2\n2\n1\n0\n1\n0 1 0 0\n77\n1\n0\n1\n0 2 0 0\n",
    ],
)
def test_open_mpi_ignores_the_whole_file_after_a_mistake(open_mpi, tmp_path, text):
    file = tmp_path / "rules.conf"
    file.write_text(text)
    assert ran(open_mpi, file, "allreduce", 4, 8) == ran(open_mpi, None, "allreduce", 4, 8)
    said = culmen("tune", "lint", file, cwd=tmp_path)
    assert said.returncode == 1
    assert "Open MPI ignores the whole file, and says nothing." in said.stdout


def test_lint_tries_the_rules(open_mpi, tmp_path):
    file = tmp_path / "rules.conf"
    file.write_text("1\n7\n2\n0\n1\n0 0 0 0\n3\n2\n0 1 0 0\n1000 12 0 0\n")
    said = culmen("tune", "lint", file, "--mpi", "openmpi", cwd=tmp_path)
    assert said.returncode == 1, said.stderr
    assert "bcast has no algorithm 12" in said.stdout
    assert "the rule names number 12, but: MPI_ERR_ARG" in said.stdout
    assert "1 of 2 rules ran as they say." in said.stdout


@pytest.mark.slow
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_the_choices_are_written_tried_and_used(mpi, open_mpi, tmp_path):
    first = culmen("tune", "cluster", *SMALL, "--mpi", mpi, "--at-most", 3, cwd=tmp_path)
    assert first.returncode == 0, first.stdout + first.stderr
    whole = culmen("tune", "cluster", *SMALL, "--mpi", mpi, cwd=tmp_path)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    assert f"{4 * (LAUNCHES + 1)} launches, 3 of them before" in whole.stdout
    folder = tmp_path / "tune-cluster"
    with (folder / "choices.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 3
    changed = [row for row in rows if row["algorithm"] != DEFAULT]
    for row in changed:
        assert row["algorithm"] == row["candidate"]
        assert 1 < float(row["low"]) <= float(row["times_faster"]) <= float(row["high"])
    assert {int(row["pairs"]) for row in changed} <= set(range(LAUNCHES, LAUNCHES * (VISITS - 1) + 1)), "first: warm-up"
    samples = [path.read_text().count("\n") - 1 for path in (folder / "samples").iterdir()]
    assert f"culmen made {grouped(sum(samples))} calls." in whole.stdout
    rules = folder / "openmpi-rules.conf"
    expected = [Expected(r["collective"], int(r["ranks"]), int(r["size"]), r["algorithm"]) for r in changed]
    assert not_as_expected(open_mpi, rules, expected) == {}
    assert f"Of 12 points, {len(changed)} are faster with another algorithm" in whole.stdout
    if changed:
        assert "every one of these algorithms runs" in whole.stdout
    ran = json.loads((folder / "tried.json").read_text())["ran"]
    assert {tuple(call) for call in ran} == set(expected)
    assert not list(folder.glob(".*")), "the tried file has replaced the old one"
    about = json.loads((folder / "environment.json").read_text())
    assert about["machine"] == json.loads((folder / "measured-on.json").read_text())["machine"]
    page = (folder / "tuning.html").read_text()
    assert ("culmen tune install" in page) == bool(changed)
    assert ("OMPI_MCA_coll_tuned_dynamic_rules_filename" in page) == bool(changed)


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_rules_are_installed_used_and_removed(mpi, open_mpi, tmp_path, rules, settings):
    settings.write_text("# mine\nbtl_base_warn_component_unused = 0\n")
    usual = ran(open_mpi, None, "bcast", 4, 4000)
    assert usual != ["chain"]
    for _ in range(2):  # a second installation replaces the first
        assert culmen("tune", "install", rules, "--mpi", mpi, cwd=tmp_path).returncode == 0
        assert ran(open_mpi, None, "bcast", 4, 4000) == ["chain"]
    assert settings.read_text().count("coll_tuned_dynamic_rules_filename") == 1
    # Measurements for a new choice do not see the installed one: chain is no default there.
    with Ranks(open_mpi, 4, HANGS_S, environment=WITHOUT_RULES) as ranks:
        _, functions = ranks.session.time("bcast", 0, 4000, 0, 2, 0.0)
    assert not any("chain" in function for function in functions)
    again = culmen("tune", "cluster", "--collectives", "bcast", "--ranks", 4, "--sizes", "4000", "--mpi", mpi,
                   "--seconds", 0.05, cwd=tmp_path)  # fmt: skip
    assert again.returncode == 0, again.stdout + again.stderr
    assert culmen("tune", "install", "--remove", "--mpi", mpi, cwd=tmp_path).returncode == 0
    assert ran(open_mpi, None, "bcast", 4, 4000) == usual
    assert settings.read_text() == "# mine\nbtl_base_warn_component_unused = 0\n"
    twice = culmen("tune", "install", "--remove", "--mpi", mpi, cwd=tmp_path)
    assert twice.returncode == 2
    assert "has nothing from `culmen tune install`" in (twice.stdout + twice.stderr)


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_settings_of_the_user_are_not_overwritten(mpi, tmp_path, rules, settings):
    settings.write_text("coll_tuned_dynamic_rules_filename=/old.conf\n")
    refused = culmen("tune", "install", rules, "--mpi", mpi, cwd=tmp_path)
    assert refused.returncode == 2
    assert "already sets coll_tuned_dynamic_rules_filename ('coll_tuned_dynamic_rules_filename=/old.conf')" in (
        refused.stdout + refused.stderr
    )
    assert settings.read_text() == "coll_tuned_dynamic_rules_filename=/old.conf\n"
    other = "# Rules for the collectives of Open MPI 3.9.9, from `culmen tune cluster`\n" + rules.read_text()
    rules.write_text(other)
    refused = culmen("tune", "install", rules, "--mpi", mpi, cwd=tmp_path)
    assert refused.returncode == 2
    assert "was measured with Open MPI 3.9.9, but" in (refused.stdout + refused.stderr)


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_a_program_is_tuned_where_it_spends_its_time(mpi, tmp_path):
    words = ["3" if word == "RANKS" else word for word in built(mpi, tmp_path, "allreduce_program.c")]
    (tmp_path / "local").mkdir()
    given = ("tune", "app", "--seconds", 0.05, "--rounds", 3, "--scratch", "local")
    done = culmen(*given, "--", *words, cwd=tmp_path, **AS_ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^allreduce +world +3 +1 +64 ", done.stdout, re.MULTILINE), done.stdout
    with (tmp_path / "tune-app/choices.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    points = {(row["collective"], row["ranks"], row["size"]) for row in rows}
    assert points - {("barrier", "3", "0")} == {("allreduce", "3", "64"), ("allreduce", "3", "128")}
    kept = all(row["algorithm"] == DEFAULT for row in rows)
    verdict = "All points keep the default" if kept else r"% ± .*(faster|slower|%); \d of \d points keeps? the default"
    assert re.search(verdict, done.stdout)
    again = culmen(*given, "--", *words, cwd=tmp_path, **AS_ROOT)
    assert "The profile in tune-app/profile is used again" in again.stdout
    failed = culmen(*given, "-o", "failed", "--", *words[:-1], "false", cwd=tmp_path, **AS_ROOT)
    assert failed.returncode == 2


def test_another_mpi_is_one_sentence():
    other = next(mpi for mpi in load() if mpi.title == "MPICH 5")
    with pytest.raises(InputError, match=r"cannot write tuning files for MPICH 5 yet; `culmen autotune` tunes a pro"):
        reader_of_rules(Launcher("mpirun", other))


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tune", "cluster", "--collectives", "gatherv"), "rules for gatherv, because this MPI has only one algorithm"),
        (("tune", "install", "nowhere"), "nowhere does not exist; give a folder of `culmen tune cluster`"),
        (("tune", "lint", "nowhere"), "nowhere cannot be read: No such file or directory"),
        (("tune", "app"), "a command after -- is missing"),
    ],
)
def test_a_mistake_is_one_sentence(mpi, tmp_path, words, said):
    done = culmen(*words, *(() if words[1] == "app" else ("--mpi", mpi)), cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_files_of_the_user_are_kept(mpi, tmp_path, rules, settings):
    module = tmp_path / "module"
    module.write_text("#%Module1.0\nsetenv MINE 1\n")
    refused = culmen("tune", "install", rules, "--module", module, "--mpi", mpi, cwd=tmp_path)
    assert refused.returncode == 2
    assert module.read_text() == "#%Module1.0\nsetenv MINE 1\n"
    (tmp_path / "dotfiles").write_text("# culmen tune install: begin\nmine = 1\n")
    settings.symlink_to(tmp_path / "dotfiles")
    refused = culmen("tune", "install", rules, "--mpi", mpi, cwd=tmp_path)
    assert refused.returncode == 2
    assert "remove its lines by hand" in refused.stderr
    (tmp_path / "dotfiles").write_text("mine = 1\n")
    assert culmen("tune", "install", rules, "--mpi", mpi, cwd=tmp_path).returncode == 0
    assert settings.is_symlink()
    assert "mine = 1\n# culmen tune install: begin" in (tmp_path / "dotfiles").read_text()
