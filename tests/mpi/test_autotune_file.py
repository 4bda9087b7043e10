"""The tuning file of ``culmen autotune``: what a load uses, and what it says, under both MPIs."""

import os
import subprocess
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from culmen._core import InputError
from culmen.bench.session import Session
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT
from culmen.launch.programs import own_library
from culmen.tune.autotune.page import page
from culmen.tune.autotune.tuned import Choice, Tuning, read_tuning
from harness import HANGS_S
from profiles import AS_ROOT, built
from rich.console import Console
from test_autotune import written

pytestmark = pytest.mark.either("mpi")

HALF, ROW = "world/create 1", "world/cart 1/cart_sub 1"


def run(mpi: str, folder: Path, words: list[str], ranks: int, **settings: str) -> subprocess.CompletedProcess:
    """The program with the library alone: then a run may load and write a file."""
    words = [str(ranks) if word == "RANKS" else word for word in words]
    variables = {f"CULMEN_TUNING_{name}": value for name, value in settings.items()}
    library = {"LD_PRELOAD": str(own_library(f"autotune_{find_launcher(mpi).mpi.module}"))}
    environment = {**os.environ, **AS_ROOT, **library, **variables}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=HANGS_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def loaded(mpi: str, folder: Path, words: list[str], ranks: int, like: Tuning, *choices: Choice) -> list[Choice]:
    """The choices that hold from the first call on, so that their algorithms are not timed."""
    written(folder / "in.tuning", like, *choices)
    run(mpi, folder, words, ranks, LOAD="in.tuning", DUMP="out.tuning")
    return [each for each in read_tuning(folder / "out.tuning").choices if not each.default_s]


def key(choice: Choice) -> tuple[str, str, str, str]:
    return choice.communicator, choice.members, choice.collective, choice.algorithm


def test_communicators_with_the_same_name_keep_their_own_choices(mpi, tmp_path):
    words = built(mpi, tmp_path, "siblings_program.c")
    run(mpi, tmp_path, words, 4, DUMP="first.tuning")
    like = read_tuning(tmp_path / "first.tuning")
    expected = {
        (HALF, "0-1", "allreduce"),
        (HALF, "2-3", "bcast"),
        (ROW, "0-1", "allreduce"),
        (ROW, "2-3", "allreduce"),
    }
    assert {key(each)[:3] for each in like.choices} == expected
    one, other = [each.name for each in find_launcher(mpi).mpi.collectives.algorithms("allreduce")][2:4]
    names = {(HALF, "2-3"): "binomial", (ROW, "2-3"): other}
    chosen = [replace(each, algorithm=names.get(key(each)[:2], one)) for each in like.choices]
    assert {*map(key, loaded(mpi, tmp_path, words, 4, like, *chosen))} == {*map(key, chosen)}
    elsewhere = [replace(each, members="7-8") for each in chosen if each.communicator == HALF]
    expected = {(HALF, "0-1", "allreduce", one), (HALF, "2-3", "bcast", "binomial")}
    assert {*map(key, loaded(mpi, tmp_path, words, 4, like, *elsewhere))} == expected
    without_members = [replace(each, members="") for each in elsewhere]
    assert {*map(key, loaded(mpi, tmp_path, words, 4, like, *without_members))} == expected


def test_the_page_tells_communicators_with_the_same_name_apart():
    choices = [Choice(ROW, 2, "bcast", 64, "ring", 2e-6, 1e-6, 9, members) for members in ("0-1", "2-3")]
    console = Console(width=200, record=True, file=StringIO())
    console.print(page(Tuning("MPI", 4, "", "", [*choices, replace(choices[0], communicator="world", ranks=4)])))
    said = console.export_text()
    assert f"{ROW} (2: 0-1)" in said and f"{ROW} (2: 2-3)" in said and "world (4)" in said


def made(mpi: str, folder: Path) -> tuple[list[str], Choice]:
    """A program with broadcasts, and its choice."""
    words = [*built(mpi, folder, "broadcasts_program.c"), "8", "60"]
    run(mpi, folder, words, 2, DUMP="first.tuning")
    (choice,) = read_tuning(folder / "first.tuning").choices
    return words, choice


def test_choices_that_cannot_be_used_are_said_once(mpi, tmp_path):
    words, choice = made(mpi, tmp_path)
    like = read_tuning(tmp_path / "first.tuning")
    good = [choice, replace(choice, communicator="world/dup 9"), replace(choice, algorithm=DEFAULT)]
    written(tmp_path / "good.tuning", like, *good)
    assert "cannot be used" not in run(mpi, tmp_path, words, 2, LOAD="good.tuning").stderr
    bad = [replace(choice, algorithm="binomal"), replace(choice, collective="bcats"), replace(choice, size=-8)]
    written(tmp_path / "bad.tuning", like, choice, *bad)
    said = run(mpi, tmp_path, words, 2, LOAD="bad.tuning").stderr
    assert said.count("3 of its choices cannot be used here, the first in line 8, 'bcast\t8\tbinomal\t") == 1, said
    assert "this MPI has no such algorithm" in said


def test_a_size_that_is_no_whole_number_is_refused(tmp_path):
    file = written(
        tmp_path / "in.tuning", Tuning("MPI", 2, "", "", []), Choice("world", 2, "bcast", -8, "ring", 0, 0, 0)
    )
    with pytest.raises(InputError, match=r"line 6: 'bcast.*' is no line of a tuning file"):
        read_tuning(file)


def test_line_ends_of_windows_are_accepted(mpi, tmp_path):
    words, choice = made(mpi, tmp_path)
    file = written(
        tmp_path / "in.tuning", read_tuning(tmp_path / "first.tuning"), replace(choice, algorithm="binomial")
    )
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    done = run(mpi, tmp_path, words, 2, LOAD="in.tuning", DUMP="out.tuning")
    assert "nothing is tuned" not in done.stderr
    (kept,) = read_tuning(tmp_path / "out.tuning").choices
    assert kept.algorithm == "binomial" and not kept.default_s


def test_wrong_settings_are_said_by_one_rank(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "broadcasts_program.c"), "8", "10"]
    wrong = {"REPETITIONS": "many", "COLLECTIVES": "bcats", "COMMUNICATORS": 600 * "x"}
    said = run(mpi, tmp_path, words, 3, **wrong).stderr
    counts = [said.count(f"culmen: CULMEN_TUNING_{name} ") for name in wrong]
    assert counts == [1, 1, 1], said


def test_a_file_from_another_machine_is_said_once(mpi, tmp_path):
    words, _ = made(mpi, tmp_path)
    text = (tmp_path / "first.tuning").read_text()
    processor = read_tuning(tmp_path / "first.tuning").processor
    assert "\nnodes\t1\n" in text
    for old, new, is_said in (
        ("", "", False),
        ("nodes\t1\n", "", False),  # an older file
        ("nodes\t1", "nodes\t2", True),
        (f"processor\t{processor}", f"processor\t{processor} II", True),
    ):
        (tmp_path / "in.tuning").write_text(text.replace(old, new))
        said = run(mpi, tmp_path, words, 2, LOAD="in.tuning").stderr
        assert said.count("in.tuning was made on another machine (nodes: ") == is_said, said


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)  # only there, the functions that run can be seen
@pytest.mark.parametrize("explores", [False, True])
def test_a_load_alone_explores_nothing_and_a_mix_is_said(mpi, tmp_path, explores):
    """A broadcast of 8 bytes has no choice in the file. The functions are those that ran in all calls."""
    launcher = find_launcher(mpi)
    words, choice = made(mpi, tmp_path)
    like = read_tuning(tmp_path / "first.tuning")
    file = written(tmp_path / "in.tuning", like, replace(choice, size=1024, algorithm="chain"))
    variables = {"LD_PRELOAD": str(own_library(f"autotune_{launcher.mpi.module}")), "CULMEN_TUNING_LOAD": str(file)}
    if explores:
        variables["CULMEN_TUNING_DUMP"] = str(tmp_path / "out.tuning")
    algorithms = {each.function for each in launcher.mpi.collectives.algorithms("bcast", 3)} - {""}

    def ran(**own):
        with Session(launcher, 3, HANGS_S, own) as session:
            return session.time("bcast", 0, 8, 0, 60, 0)[1] & algorithms

    assert len(usual := ran()) == 1
    assert ran(**variables) == (set() if explores else usual)
    done = run(mpi, tmp_path, words, 2, **{name.removeprefix("CULMEN_TUNING_"): value
                                           for name, value in variables.items() if name != "LD_PRELOAD"})  # fmt: skip
    mix = "CULMEN_TUNING_LOAD and CULMEN_TUNING_DUMP are both set: the choices of "
    assert done.stderr.count(mix) == int(explores), done.stderr
