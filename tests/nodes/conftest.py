"""Four nodes for the tests of this folder."""

import os
from collections.abc import Iterator

import pytest
from simulated_nodes import Nodes, cannot_be_made


@pytest.fixture(scope="session")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """Four nodes."""
    if reason := cannot_be_made():
        (pytest.fail if os.environ.get("CULMEN_TEST_ALL") else pytest.skip)(reason)
    made = Nodes(tmp_path_factory.mktemp("nodes"), 4)
    try:
        made.start()
        yield made
    finally:
        made.stop()
