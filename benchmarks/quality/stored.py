"""Stored runs of peers, because peers are slow and the same seed gives the same run."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "peers"


class Stored:
    """Runs of peers by problem, in one file for each suite. All runs of a peer have the same versions of its libraries.

    command: makes the file again; the file contains it.
    """

    def __init__(self, suite: str, command: str) -> None:
        self._path = FOLDER / f"{suite}.json"
        self._command = command
        self._players: dict[str, Any] = json.loads(self._path.read_text())["players"] if self._path.exists() else {}

    def get(self, player: str, run: str) -> Any | None:
        """The value given to put(), or None. run: the problem with its budget and seed."""
        return self._players.get(player, {}).get("runs", {}).get(run)

    def put(self, player: str, run: str, reached: Any, libraries: tuple[str, ...]) -> None:
        """Deletes runs with other versions of these libraries."""
        versions = {name: version(name) for name in libraries} | {"python": platform.python_version()}
        entry = self._players.setdefault(player, {"versions": versions, "runs": {}})
        if entry["versions"] != versions:
            entry.update(versions=versions, runs={})
        entry["runs"][run] = reached
        self._write()

    def forget(self, player: str, run: str) -> None:
        self._players.get(player, {}).get("runs", {}).pop(run, None)

    def versions(self) -> Iterator[tuple[str, dict[str, str]]]:
        for player, entry in self._players.items():
            yield player, entry["versions"]

    def _write(self) -> None:
        """One line for each run, so that changes can be read."""
        players = []
        for player, entry in sorted(self._players.items()):
            runs = ",\n".join(f"   {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(entry["runs"].items()))
            head = f'  {json.dumps(player)}: {{"versions": {json.dumps(entry["versions"])}, "runs": {{'
            players.append(f"{head}\n{runs}\n  }}}}")
        text = f'{{"command": {json.dumps(self._command)},\n "players": {{\n' + ",\n".join(players) + "\n }\n}\n"
        json.loads(text)
        self._path.parent.mkdir(exist_ok=True)
        self._path.write_text(text)
