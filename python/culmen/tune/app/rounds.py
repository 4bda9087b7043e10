"""The rounds of a comparison that are done. The same command continues after them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...bench.parts import write_whole
from ..autotune.validated import Kind

FILE = "rounds.json"


@dataclass(frozen=True)
class KeptRounds:
    """``of``: text that tells this comparison from others."""

    file: Path
    of: str

    def load(self, kinds: Sequence[Kind]) -> int:
        """Adds the times of the whole rounds to those of the kinds. Returns the number of these rounds."""
        try:
            kept = json.loads(self.file.read_text(encoding="utf-8"))
            times = [list(map(float, kept["times_s"][what])) for what, _, _ in kinds]
        except (OSError, ValueError, LookupError, TypeError):
            return 0
        if kept.get("of") != self.of:
            return 0
        rounds = min(map(len, times))
        for (_, own, _), before in zip(kinds, times, strict=True):
            own += before[:rounds]
        return rounds

    def save(self, kinds: Sequence[Kind]) -> None:
        content = {"of": self.of, "times_s": {what: times for what, times, _ in kinds}}
        write_whole(self.file, json.dumps(content, indent=1) + "\n")
