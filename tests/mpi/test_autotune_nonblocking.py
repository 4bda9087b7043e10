"""``culmen autotune`` with nonblocking and persistent collectives, under both MPIs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.collectives import DEFAULT, Collectives
from culmen.launch.mpi.versions import UNSAFE
from culmen.tune.autotune.tuned import Choice, Tuning, read_tuning
from profiles import built
from test_autotune import tuned, written

pytestmark = pytest.mark.either("mpi")

_SIZE = 256  # of order_program's vectors
_REDUCTIONS = ("allreduce", "reduce")


def collectives_of(mpi: str) -> Collectives:
    return find_launcher(mpi).mpi.collectives


def usable(known: Collectives, collective: str) -> list[str]:
    table = known.nonblocking[collective]
    keys = (*UNSAFE, "splits_counts")
    left_out = {name for key in keys for name in table.get(key, [])}
    return [name for name in table["algorithms"] if name not in left_out]


@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.slow), 3, pytest.param(4, marks=pytest.mark.slow)])
def test_results_of_nonblocking_calls_stay_right_while_algorithms_change(mpi, tmp_path, ranks):
    words = built(mpi, tmp_path, "nonblocking_program.c")
    done = tuned(tmp_path, [*words, "40"], ranks, "--output", "first.tuning")
    assert done.returncode == 0 and "0 wrong" in done.stdout, done.stdout + done.stderr
    explored = {one.collective for one in read_tuning(tmp_path / "first.tuning").choices if one.communicator == "world"}
    late = {
        f"i{name}" for name in collectives_of(mpi).nonblocking
    } - explored  # a request was under way at each decision
    assert len(late) <= len(explored) / 2
    loaded = tuned(tmp_path, [*words, "4"], ranks, "--load", "first.tuning")
    assert loaded.returncode == 0 and "0 wrong" in loaded.stdout, loaded.stdout + loaded.stderr


def test_each_nonblocking_algorithm_gives_right_results(mpi, tmp_path):
    """As if each had been the fastest one, also for persistent requests if the MPI has them."""
    words, known = built(mpi, tmp_path, "nonblocking_program.c"), collectives_of(mpi)
    like = like_here(mpi, tmp_path)
    modes = [[], ["persistent"]] if has_persistent(mpi, tmp_path) else [[]]
    for number in range(max(len(usable(known, name)) for name in known.nonblocking)):
        names = {name: usable(known, name) for name in known.nonblocking}
        choices = [
            Choice(where, 3 if where == "world" else 2, f"i{name}", 1 << power, those[number % len(those)], 0, 0, 0)
            for where in ("world", "world/split 1 colour 0")
            for name, those in names.items()
            for power in range(20)
        ]
        file = written(tmp_path / "all.tuning", like, *choices)
        for mode in modes:
            done = tuned(tmp_path, [*words, "1", *mode], 3, "--load", file)
            assert done.returncode == 0 and "0 wrong" in done.stdout, (number, mode, done.stdout + done.stderr)


def like_here(mpi: str, folder: Path) -> Tuning:
    done = tuned(folder, [*built(mpi, folder, "broadcasts_program.c"), "8", "1"], 2, "--output", "version.tuning")
    assert done.returncode == 0, done.stderr
    return read_tuning(folder / "version.tuning")


def has_persistent(mpi: str, folder: Path) -> bool:
    """With a choice. culmen leaves those of MPICH alone."""
    source = folder / "persistent.c"
    source.write_text("#include <mpi.h>\nint main(void) { return MPI_Barrier_init == 0; }\n")
    command = [shutil.which(f"mpicc.{mpi}"), source, "-o", folder / "persistent"]
    return mpi == "openmpi" and subprocess.run(command, capture_output=True).returncode == 0


def order(said: str) -> dict[str, str]:
    found = re.search(r"order (\d+) (\d+)", said)
    assert found, said
    return dict(zip(_REDUCTIONS, found.groups(), strict=True))


def variables_for(known: Collectives, name: str, number: int) -> dict[str, str]:
    table = known.nonblocking[name]
    value = table["algorithms"][number - 1] if known.value_names else str(number)
    return {known.prefix + table["number_in"]: value}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["nonblocking", "persistent"])
def test_the_nonblocking_algorithm_of_the_file_runs_from_the_first_call_on(mpi, tmp_path, way):
    """The result shows it, because of an operator that does not commute although it says so."""
    words, known = [*built(mpi, tmp_path, "order_program.c"), "1", way], collectives_of(mpi)
    if way == "persistent" and not has_persistent(mpi, tmp_path):
        pytest.skip("this MPI has no persistent collectives with a choice")
    like, results = like_here(mpi, tmp_path), {name: set() for name in _REDUCTIONS}
    empty = written(tmp_path / "empty.tuning", like)
    for name in _REDUCTIONS:
        algorithms = usable(known, name)
        for algorithm in (DEFAULT, algorithms[0], algorithms[-1]):
            number = 0 if algorithm == DEFAULT else known.nonblocking[name]["algorithms"].index(algorithm) + 1
            asked = variables_for(known, name, number) if number else {}
            by_variable = tuned(tmp_path, words, 4, "--load", empty, **asked)
            file = written(tmp_path / "one.tuning", like, Choice("world", 4, f"i{name}", _SIZE, algorithm, 0, 0, 0))
            by_file = tuned(tmp_path, words, 4, "--load", file)
            assert order(by_file.stdout) == order(by_variable.stdout), (name, algorithm)
            results[name].add(order(by_file.stdout)[name])
    same = find_launcher(mpi).mpi.title == "MPICH 5"  # its usable algorithms of reduce have one order
    assert all(len(found) > 1 for name, found in results.items() if not (same and name == "reduce")), results


def test_nothing_is_decided_without_blocking_calls_unless_the_program_has_one_request(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "order_program.c"), "100", "nonblocking"]
    done = tuned(tmp_path, words, 2, "--output", "none.tuning")
    assert done.returncode == 0 and not read_tuning(tmp_path / "none.tuning").choices, done.stderr
    done = tuned(tmp_path, words, 2, "--output", "some.tuning", "--one-request")
    assert done.returncode == 0, done.stderr
    assert {one.collective for one in read_tuning(tmp_path / "some.tuning").choices} == {"iallreduce", "ireduce"}


def test_reproducible_leaves_nonblocking_reductions_alone(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "order_program.c"), "100", "nonblocking"]
    done = tuned(tmp_path, words, 2, "--output", "none.tuning", "--one-request", "--reproducible")
    assert done.returncode == 0 and not read_tuning(tmp_path / "none.tuning").choices, done.stderr


def test_collectives_are_chosen_by_their_own_names(mpi, tmp_path):
    words = [*built(mpi, tmp_path, "nonblocking_program.c"), "20"]
    done = tuned(tmp_path, words, 2, "--output", "one.tuning", "--collectives", "ibcast", "--max-bytes", "1K")
    assert done.returncode == 0 and "0 wrong" in done.stdout, done.stdout + done.stderr
    choices = read_tuning(tmp_path / "one.tuning").choices
    assert {one.collective for one in choices} == {"ibcast"} and max(one.size for one in choices) <= 1024


def test_a_handle_that_is_used_again_ends_no_earlier_measurement(mpi, tmp_path):
    """The broadcasts are completed where the tuner does not see it, so no time of theirs is known."""
    words = [*built(mpi, tmp_path, "reuse_program.c", "-ldl"), "40"]
    done = tuned(tmp_path, words, 2, "--output", "reuse.tuning", "--collectives", "ibcast,barrier")
    assert done.returncode == 0, done.stdout + done.stderr
    again = re.search(r"(\d+) again", done.stdout)
    assert again and int(again[1]) > 30, done.stdout
    assert {one.collective for one in read_tuning(tmp_path / "reuse.tuning").choices} <= {"barrier"}
