"""What peers reached, in a file: they are slow, and the same seed gives the same."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "peers"


class Stored:
    """Runs of peers by problem; of one suite a file. Each player's runs are of one state of its libraries.

    command: what makes the file again; it stands in it.
    """

    def __init__(self, suite: str, command: str) -> None:
        self._path = FOLDER / f"{suite}.json"
        self._command = command
        self._players: dict[str, Any] = json.loads(self._path.read_text())["players"] if self._path.exists() else {}

    def get(self, player: str, run: str) -> Any | None:
        """What put() got, or None; run: the problem with its budget and seed."""
        return self._players.get(player, {}).get("runs", {}).get(run)

    def put(self, player: str, run: str, reached: Any, libraries: tuple[str, ...]) -> None:
        """Runs of other versions of these libraries are forgotten."""
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
        """One run a line, so that changes can be read."""
        players = []
        for player, entry in sorted(self._players.items()):
            runs = ",\n".join(f"   {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(entry["runs"].items()))
            head = f'  {json.dumps(player)}: {{"versions": {json.dumps(entry["versions"])}, "runs": {{'
            players.append(f"{head}\n{runs}\n  }}}}")
        text = f'{{"command": {json.dumps(self._command)},\n "players": {{\n' + ",\n".join(players) + "\n }\n}\n"
        json.loads(text)
        self._path.parent.mkdir(exist_ok=True)
        self._path.write_text(text)
