"""From settings to a run with a rules file. measured.py loads this file by its path, with nothing but the standard
library. A plan is a dict that JSON can hold; ``direct.py`` makes it. Settings are strings, as in words of a command."""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

_DEFAULT, _RULES = "default", "rules"


def run_of(plan: dict[str, Any], settings: dict[str, str], path: Path) -> tuple[dict[str, str], list[str]]:
    """The variables and the words of one run, for measured.py. ``settings``: such as ``bcast_4_ranks_8_bytes`` with the
    value ``chain``. ``path``: of the plan."""
    changed = sorted(f"{name}={value}" for name, value in settings.items() if value != _DEFAULT)
    run = plan["with_rules" if changed else "without_rules"]
    folder = _rules(plan, path, changed).parent if changed else path
    there = {name: folder / file for name, file in plan["files"].items()} if changed else {}
    files = {name: str(file) for name, file in there.items() if file.exists()}
    return {**run["variables"], **files}, list(run["command"])


def _rules(plan: dict[str, Any], path: Path, changed: list[str]) -> Path:
    of = "\n".join([path.read_text(encoding="utf-8"), *changed])  # of another plan, another file
    folder = path.parent / _RULES / hashlib.sha256(of.encode()).hexdigest()[:16]
    rules = folder / plan["rules_name"]
    if not rules.exists():
        folder.mkdir(parents=True, exist_ok=True)
        words = [plan["python"], "-m", plan["writer"], str(path), str(rules), *changed]
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines() or [""]
            sys.exit(f"culmen: the rules file cannot be written: {said[-1]}")
    return rules
