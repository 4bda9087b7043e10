"""Which of an MPI launch's processes this is."""

from . import _core


def is_master() -> bool:
    """False in the ranks other than 0 of an MPI launch, else True.

    Under mpiexec every rank runs the whole script, so that what stands outside ``minimize`` happens in each of them;
    ``if culmen.is_master():`` before printing or saving keeps it to one.
    """
    launch = _core.detect_launch()
    return not (launch.is_rank and launch.rank)
