"""``culmen autotune`` and programs with error handlers of their own, under both MPIs."""

import pytest
from culmen.launch.mpi import find_launcher
from culmen.tune.autotune.tuned import Choice, read_tuning
from profiles import built
from test_autotune import tuned, written

pytestmark = pytest.mark.either("mpi")


@pytest.mark.parametrize("which", ["all", "some"])
def test_error_handlers_that_do_not_return_leave_no_algorithm_behind(mpi, tmp_path, which):
    """While algorithms are tried, and with one from a file in each call."""
    words, ranks = [*built(mpi, tmp_path, "handler_program.c"), "60", which], 3
    done = tuned(tmp_path, words, ranks, "--output", "first.tuning")
    assert done.returncode == 0 and "0 wrong" in done.stdout, done.stdout + done.stderr
    tuning, known = read_tuning(tmp_path / "first.tuning"), find_launcher(mpi).mpi.collectives
    names = {"bcast": "binomial", "reduce": "binomial", "ibcast": known.nonblocking["bcast"]["algorithms"][0]}
    choices = [
        Choice(where, ranks, collective, 256, name, 0, 0, 0)
        for where in ("world", "world/dup 1")
        for collective, name in names.items()
    ]
    file = written(tmp_path / "chosen.tuning", tuning, *choices)
    loaded = tuned(tmp_path, words, ranks, "--load", file)
    assert loaded.returncode == 0 and "0 wrong" in loaded.stdout, loaded.stdout + loaded.stderr
