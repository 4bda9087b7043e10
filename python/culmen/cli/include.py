"""``culmen include``."""

from pathlib import Path

from .. import _core


def include() -> None:
    print(Path(_core.__file__).parent / "include")
