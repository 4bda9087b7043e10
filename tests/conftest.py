"""Puts this folder on sys.path, for harness.py, and says which tests must not run side by side."""

import signal

import pytest

# A shell starts what it puts into the background with SIGINT ignored, nohup with SIGHUP; what the tests interrupt would
# inherit that, where a handler is no more in a new program.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)


def group_of(item: pytest.Item) -> str | None:
    """The tests of a group run one after another in one process: those that start MPI ranks, which fill every core, and
    those of a file that share a fixture."""
    if "mpi" in item.path.parts:
        return "mpi"
    fixtures = [each for found in item._fixtureinfo.name2fixturedefs.values() for each in found]
    shared = any(each.scope == "module" and each.baseid for each in fixtures)  # baseid: empty for a plugin's
    return str(item.path) if shared else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if group := group_of(item):
            item.add_marker(pytest.mark.xdist_group(group))
