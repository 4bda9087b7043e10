"""The options of ``culmen tune hpl``."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..command.worth import Use


@dataclass(frozen=True)
class Options:
    """The options as a user gives them."""

    program: Path | None = None
    ranks: int | None = None
    size: int | None = None
    memory: str | None = None
    minutes: float = 15.0
    rounds: int = 5
    only: str | None = None
    fix: Sequence[str] = ()
    present: Path | None = None
    build: Path | None = None
    compilers: str | None = None
    flags: Sequence[str] = ()
    mpis: str | None = None
    link: str | None = None
    compare_random: bool = False
    price: float | None = None
    use: Use = field(default_factory=Use)
    seed: int = 1
    words: Sequence[str] = ()
    verify: bool = False

    @property
    def only_names(self) -> list[str] | None:
        """The names of ``only``."""
        return None if self.only is None else [name.strip() for name in self.only.split(",") if name.strip()]
