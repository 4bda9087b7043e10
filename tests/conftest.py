"""Puts this folder on sys.path, for harness.py. Says which tests must not run side by side, and which ones only
`make test-all` runs."""

import collections
import os
import re
import signal
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from culmen import _core

# On a busy machine, any example may be slow.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

TOLERANCE = re.compile(r"\b(approx|isclose|allclose)\(")

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


def left_out(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The tests that only `make test-all` runs: those with the mark `slow`, and all values but one of the fixture that
    the mark `either` names. The name of the test chooses this value, so each value is used by some tests."""
    groups = collections.defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow"):
            yield item
        elif mark := item.get_closest_marker("either"):
            value = getattr(item, "callspec", None) and item.callspec.params.get(mark.args[0])
            if value:
                groups[item.nodeid.replace(str(value), "", 1)].append(item)
    for name, group in groups.items():
        chosen = zlib.crc32(name.encode()) % len(group)
        yield from group[:chosen] + group[chosen + 1 :]


def refuse_wrong_marks(items: list[pytest.Item]) -> None:
    """A file that compares with a tolerance looks at numbers, so the variants must run it."""
    for path in {item.path for item in items if item.get_closest_marker("no_numbers")}:
        if found := TOLERANCE.search(path.read_text()):
            raise pytest.UsageError(f"{path.name} has the mark no_numbers, but compares numbers with {found[1]}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    refuse_wrong_marks(items)
    if not os.environ.get("CULMEN_TEST_ALL"):
        without = set(left_out(items))
        config.hook.pytest_deselected(items=list(without))
        items[:] = [item for item in items if item not in without]
    for item in items:
        if group := group_of(item):
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture
def share_of_two(monkeypatch: pytest.MonkeyPatch) -> int:
    """The threads of numerical libraries in each of two workers on this machine, if the user has set no number."""
    for name in _core.THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return max(1, len(os.sched_getaffinity(0)) // 2)
