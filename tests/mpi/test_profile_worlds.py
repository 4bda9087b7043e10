"""Commands that start several MPI programs: no figure mixes them."""

import json

import pytest
from culmen.profile.recorded import read_folder
from culmen.profile.worlds import worlds_of
from harness import HANGS_S, culmen
from profiles import AS_ROOT, built, counted, profiled, traffic_of

pytestmark = pytest.mark.either("mpi")

TOGETHER = 'all=\n{} & all=$!\n{} & all="$all $!"\nfor one in $all; do wait $one || exit 1; done\n'
ONE_BY_ONE = "{}\n{}\n"


def run(tmp_path, script: str, words: list[str], sizes: tuple[int, int]):
    """Runs the program with each number of ranks."""
    commands = (" ".join(str(n) if word == "RANKS" else word for word in words) for n in sizes)
    (tmp_path / "script").write_text(f"set -e\n{script.format(*commands)}")
    done = culmen("profile", "--output", "out", "--", "sh", "script", cwd=tmp_path, timeout=HANGS_S, **AS_ROOT)
    assert done.returncode == 0, done.stderr
    return done


def report(tmp_path, *words: str) -> str:
    done = culmen("profile", "report", "out", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", [ONE_BY_ONE, TOGETHER])
@pytest.mark.parametrize("sizes", [(2, 3), (2, 2)])
def test_programs_of_one_script_are_kept_apart(mpi, tmp_path, script, sizes):
    done = run(tmp_path, script, built(mpi, tmp_path, "traffic_program.c"), sizes)
    worlds = worlds_of(read_folder(tmp_path / "out"))
    assert worlds.is_sure
    assert sorted(len(world) for world in worlds.all) == sorted(sizes)
    for world in worlds.all:
        assert [rank.rank for rank in world] == list(range(world[0].size))
        assert counted(world) == traffic_of(len(world))
    assert "The command started MPI 2 times." in " ".join(done.stdout.split())
    seen = set()
    for number, world in enumerate(worlds.all, 1):
        of = ("--world", str(number))
        assert f"This is world {number} of 2;" in " ".join(report(tmp_path, *of).split())
        read = json.loads(report(tmp_path, "--json", *of))
        assert (read["world"], read["worlds"], read["size"]) == (number, 2, len(world))
        assert [rank["rank"] for rank in read["ranks"]] == list(range(len(world)))
        assert sum(each["calls"] for each in read["calls"]) == sum(calls for calls, _ in counted(world).values())
        seen |= {rank["seconds"] for rank in read["ranks"]}
    assert len(seen) == sum(sizes)
    report(tmp_path, "--html")
    assert "The command started MPI 2 times." in (tmp_path / "out/profile.html").read_text()


def test_a_world_that_is_not_there_is_one_sentence(mpi, tmp_path):
    assert profiled(tmp_path, built(mpi, tmp_path, "traffic_program.c"), 2).returncode == 0
    assert "--world" not in report(tmp_path)
    done = culmen("profile", "report", "out", "--world", "2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "culmen: --world: the profile has one world, got 2\n")


def test_spawned_programs_are_worlds_of_their_own(tmp_path):
    """MPICH over UCX, as Debian has it, spawns no programs."""
    done = profiled(tmp_path, built("openmpi", tmp_path, "spawn_program.c"), 2, "spawn")
    assert done.returncode == 0, done.stdout + done.stderr
    worlds = worlds_of(read_folder(tmp_path / "out"))
    assert [(world[0].size, len(world)) for world in worlds.all] == [(2, 2), (1, 1), (2, 2)]
    assert "The command started MPI 3 times." in " ".join(done.stdout.split())


def test_several_programs_of_one_world_are_one_profile(mpi, tmp_path):
    words = built(mpi, tmp_path, "traffic_program.c")
    other = tmp_path / "other_program"
    other.hardlink_to(words[-1])
    place = words.index("-n")
    command = [*words[:place], "-n", "1", words[-1], ":", "-n", "2", str(other)]
    done = profiled(tmp_path, command, 3)
    assert done.returncode == 0, done.stderr
    [world] = worlds_of(read_folder(tmp_path / "out")).all
    assert counted(world) == traffic_of(3)
    text = "".join(done.stdout.split())  # lines end within the long names of folders
    assert "traffic_programand1otherprogram:3rankson1node" in text
