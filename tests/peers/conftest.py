"""Tests of other projects, on culmen's parts. Each test that must fail is named with its reason."""

from collections.abc import Mapping

import pytest

UNKNOWN_IN_CHILDREN = "joblib knows a registered backend only in the process that registered it"
OF_JOBLIB: Mapping[str, str] = {
    "test_nested_loop[loky-culmen]": UNKNOWN_IN_CHILDREN,
    "test_nested_loop[culmen-culmen]": UNKNOWN_IN_CHILDREN,
    "test_nested_loop[back_compat_backend-culmen]": "a loky backend of joblib's tests, too: " + UNKNOWN_IN_CHILDREN,
    "test_invalid_njobs[culmen]": "culmen's message has other words",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of joblib's tests, only those of culmen's backend."""
    others = [item for item in items if item.path.name == "test_joblib.py" and "culmen" not in item.name.lower()]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]
    for item in items:
        if item.path.name == "test_joblib.py" and item.name in OF_JOBLIB:
            item.add_marker(pytest.mark.xfail(reason=OF_JOBLIB[item.name], strict=True))
