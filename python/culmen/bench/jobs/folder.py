"""A job that measures, in a folder of its own: its script, what it prints, its results, and which job it is."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from ..._core import InputError
from ..parts import write_whole

_LAST_LINES = 5


@dataclass(frozen=True)
class Submitted:
    """``arguments``: the arguments of the command in the job, without the folders."""

    scheduler: str
    job: str
    partition: str
    arguments: list[str]
    submitted: str


@dataclass(frozen=True)
class JobFolder:
    """``path``: an absolute path."""

    path: Path

    @property
    def script(self) -> Path:
        return self.path / "job.sh"

    @property
    def output(self) -> Path:
        return self.path / "job.out"

    def record(self) -> Submitted | None:
        """None if no job was submitted. Raises InputError if the record cannot be read."""
        file = self.path / "job.json"
        if not file.exists():
            return None
        try:
            return Submitted(**json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            raise InputError(f"{file} is damaged: it should say which job was submitted; remove it") from None

    def write_record(self, scheduler: str, job: str, partition: str, arguments: list[str]) -> Submitted:
        now = f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S%z}"
        record = Submitted(scheduler, job, partition, arguments, now)
        write_whole(self.path / "job.json", json.dumps(asdict(record), indent=2) + "\n")
        return record

    def last_lines(self) -> list[str]:
        """The last lines of the job's output."""
        try:
            text = self.output.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        return [line for line in text.splitlines() if line.strip()][-_LAST_LINES:]
