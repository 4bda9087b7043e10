"""The benchmark of collectives on several communicators, which call at the same time."""

import pytest
from culmen.bench.conversation import RefusedError
from culmen.bench.session import Session
from culmen.launch.mpi import find_launcher
from harness import HANGS_S


def test_the_benchmark_calls_on_several_communicators(mpi):
    launcher = find_launcher(mpi)
    with Session(launcher, 5, HANGS_S) as session:
        for groups, ranks in (("0-1;2-3", 2), ("4-0:-2", 3), ("2,0,4,1,3", 5), ("3-1:-2", 2)):
            session.split(groups)
            session.repeat("allreduce", 0, 64, 0, 2)  # its result was another one before
            assert session.nodes() == (1, ranks)
            for collective in ("bcast", "allreduce", "alltoall", "gather", "exscan", "reduce_scatter_block"):
                session.check(collective, 0, 1024, ranks - 1)
                times, _ = session.time(collective, 0, 1024, 0, 3, 0.0)
                assert len(times) == 3 and min(times) > 0
                session.repeat(collective, 0, 1024, ranks - 1, 2)
            session.repeat("allreduce", 0, 64, 0, 2)
            with pytest.raises(RefusedError, match="there is no such root"):
                session.check("bcast", 0, 8, ranks)


def test_wrong_groups_of_the_benchmark_are_refused(mpi):
    with Session(find_launcher(mpi), 4, HANGS_S) as session:
        for groups in ("0-9", "0-1;1-2", "0-1;2", "x", "0-1;", "0-2:3", "3-0"):
            with pytest.raises(RefusedError, match="the ranks of the communicators are wrong"):
                session.split(groups)
        session.check("allreduce", 0, 64, 0)


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_an_algorithm_runs_on_each_of_several_communicators(mpi):
    launcher = find_launcher(mpi)
    algorithms = launcher.mpi.collectives.algorithms("bcast", 2)
    own = {one.function for one in algorithms} - {""}
    with Session(launcher, 5, HANGS_S) as session:
        session.split("0-1;4-2:-2")
        for each in [one for one in algorithms if one.function]:
            communicator = session.choose("bcast", each)
            session.check("bcast", communicator, 4096, 0)
            _, functions = session.time("bcast", communicator, 4096, 0, 2, 0.0)
            assert functions & own == {each.function}
