"""Ranks in a profile: received messages, several threads, variables for other machines."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from culmen.launch import preloading
from culmen.launch.mpi import linked
from culmen.profile.figures import figures_of
from culmen.profile.layout import KINDS
from culmen.profile.page import page
from culmen.profile.recorded import FURTHER, Calls, Rank, Timeline
from culmen.profile.sizes import rows_of
from rich.console import Console

from culmen import InputError

pytestmark = pytest.mark.no_numbers

NEVER = Timeline(0.1, np.zeros((0, len(KINDS))))


def sent(communicator, to, bytes_, ranks=3):
    return Calls("MPI_Send", "messages", communicator, ranks, 4, to, 1, bytes_, 1e-3, 1e-3, 1e-3, 0.0, 0)


def rank(number, numbers, *calls):
    of_world = {"world": number} | numbers
    return Rank(number, 3, "here", "MPICH 4.0.2", "app", 10.0, 0.1, 0, 0, 0, [*calls], {}, NEVER, numbers=of_world)


def traffic(ranks):
    figure = next(each for each in figures_of(ranks) if each.key == "traffic")
    return [row["marker"]["color"] for row in figure.data], figure.notes


def test_bytes_go_to_the_rank_of_the_program_whatever_its_number_in_the_communicator():
    turned = "world/cart 1"  # the same ranks in another order
    part = "world/split 1 colour 0"  # of the ranks 0 and 2
    ranks = [
        rank(0, {turned: 2, part: 0}, sent("world", 1, 5), sent(part, 1, 7, ranks=2)),
        rank(1, {turned: 0}, sent(turned, 2, 11)),
        rank(2, {turned: 1, part: 1}, sent(turned, 0, 13)),
    ]
    amount, notes = traffic(ranks)
    assert amount == [[0, 11, 0], [5, 0, 13], [7, 0, 0]]  # by receiver, then by sender
    assert not notes


def test_bytes_in_communicators_of_one_name_are_not_drawn_and_this_is_said():
    name = "world/cart_sub 1"  # rank 0 alone, and the ranks 1 and 2
    ranks = [
        rank(0, {name: 0}, sent("world", 1, 5)),
        rank(1, {name: 0}, sent(name, 0, 7, ranks=2)),
        rank(2, {name: 1}, sent(name, 0, 9, ranks=2)),
    ]
    amount, notes = traffic(ranks)
    assert amount == [[0, 0, 0], [5, 0, 0], [0, 0, 0]]
    assert len(notes) == 1
    assert notes[0].startswith("16 B are not drawn")


def test_figures_say_that_calls_without_room_have_no_peer_and_no_size():
    further = replace(sent(FURTHER, -1, 7, ranks=0), size_class=None, calls=4)
    ranks = [rank(0, {}, sent("world", 1, 5), further), rank(1, {}), rank(2, {})]
    amount, notes = traffic(ranks)
    assert amount == [[0, 0, 0], [5, 0, 0], [0, 0, 0]]
    assert notes[0].startswith("7 B are not drawn")
    sizes = next(each for each in figures_of(ranks) if each.key == "sizes")
    assert [row["y"] for row in sizes.data] == [[1]]
    assert sizes.notes == ["The figure does not contain 4 calls whose size is not known."]


def test_threads_do_not_spend_more_than_all_of_their_time_in_mpi():
    calls = [replace(sent("world", 1, 5), seconds=25.0)]
    ranks = [replace(rank(number, {}, *calls), threads=4, more_threads_s=30) for number in range(3)]
    console = Console(width=160)
    with console.capture() as out:
        console.print(page(ranks))
    text = " ".join(out.get().split())
    assert "3 ranks with up to 4 threads that call MPI on 1 node" in text
    assert "MPI takes 62% of the time of all ranks" in text


@pytest.mark.parametrize(
    ("kind", "words", "host_file", "is_told"),
    [
        ("openmpi", ["mpirun", "--host", "a,b", "app"], False, True),
        ("openmpi", ["mpirun", "-n", "2", "app"], False, False),
        ("openmpi", ["mpirun", "-n", "2", "app"], True, True),
        ("mpich", ["mpiexec", "-host", "a", "app"], False, False),
    ],
)
def test_open_mpi_is_told_to_pass_variables_on_to_other_machines(kind, words, host_file, is_told, monkeypatch):
    monkeypatch.setattr(preloading, "_kind_of", lambda _word: kind)
    monkeypatch.setattr(preloading, "names_hosts", lambda _environment: host_file)
    told = ["-x", "LD_PRELOAD"] if is_told else []
    assert preloading.forwarding(words, ["LD_PRELOAD"]) == [words[0], *told, *words[1:]]


def test_the_libraries_of_a_program_are_asked_for_once(tmp_path, monkeypatch):
    asked = []

    def said_by(*words):
        asked.append(words)
        return "libmpi.so.40 => /lib/libmpi.so.40\nlibasan.so.8 => /lib/libasan.so.8"

    monkeypatch.setattr(preloading, "said_by", said_by)
    monkeypatch.setattr(linked, "said_by", said_by)
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    program = tmp_path / "app"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.raises(InputError, match=f"{program} was built with -fsanitize=address"):
        preloading.library_for([str(program)], "mpiprobe", "culmen profile")
    assert asked == [("ldd", str(program))]


def module_for(command, monkeypatch, default="mpich", mpi=None):
    """The MPI of the library that this command gets, on a machine with two launchers."""
    here = {"mpiexec": default, "mpirun.openmpi": "openmpi"}
    monkeypatch.setattr(
        preloading, "own_library", lambda name: SimpleNamespace(exists=lambda: True, kind=name.rpartition("_")[2])
    )
    known = {name: preloading._Program(kind, "") for name, kind in here.items()}
    monkeypatch.setattr(preloading, "_program_of", lambda word: known.get(word, preloading._Program("", "")))
    launcher = SimpleNamespace(mpi=SimpleNamespace(module=mpi or default))
    monkeypatch.setattr(preloading, "find_launcher", lambda _wanted: launcher)
    return preloading.library_for(command, "mpiprobe", "culmen profile", mpi).kind


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("#!/bin/sh\nmpirun.openmpi -n 2 ./app\n", "openmpi"),
        ("x=$(mpirun.openmpi -n 2 ./app); mpiexec -n 2 ./app", "openmpi"),
        ("srun -n 2 python3 x.py", "mpich"),
    ],
)
def test_the_mpi_of_a_script_is_found(tmp_path, monkeypatch, text, module):
    script = tmp_path / "run.sh"
    script.write_text(text)
    script.chmod(0o755)
    for command in ([str(script)], ["sh", str(script)], ["sh", "-c", text], ["srun", "-n", "2", str(script)]):
        assert module_for(command, monkeypatch) == module


def test_the_option_chooses_the_mpi(monkeypatch):
    assert module_for(["true"], monkeypatch, mpi="openmpi") == "openmpi"
    assert module_for(["srun", "-n", "2", "true"], monkeypatch, mpi="mpich") == "mpich"


def test_a_command_that_names_no_mpi_is_one_sentence(monkeypatch):
    with pytest.raises(InputError, match=r"names neither a launcher .* name the MPI with --mpi, or write the launcher"):
        module_for(["true"], monkeypatch)


def test_the_sizes_of_calls_are_a_table():
    calls = [
        replace(sent("world", 1, 5000), size_class=size, calls=n, seconds=seconds, least_s=least, most_s=most)
        for size, n, seconds, least, most in (
            (4, 3, 1e-3, 2e-6, 9e-4),
            (13, 2, 3e-3, 7e-5, 2e-3),
            (13, 1, 1e-3, 5e-5, 1e-3),
        )
    ]
    ranks = [rank(0, {}, *calls)]
    assert rows_of(ranks) == [
        ["MPI_Send", "from 8 B", "3", "4.88 KiB", "0.0010", "0.0%", "2.0", "900.0"],
        ["MPI_Send", "from 4 KiB", "3", "9.77 KiB", "0.0040", "0.0%", "50.0", "2,000.0"],
    ]
    for sizes in (True, False):
        with (console := Console(width=200)).capture() as shown:
            console.print(page(ranks, sizes=sizes))
        assert ("least µs" in shown.get()) == sizes
