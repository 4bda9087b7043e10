"""From settings to a run with a rules file. measured.py loads this file by its path, with nothing but the standard
library. A plan is a dict that JSON can hold; ``direct.py`` makes it. Settings are strings, as in words of a command."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_DEFAULT, _RULES = "default", "rules"


def expanded(words: list[str]) -> list[str]:
    """The command of one run, from the path of a plan and words such as ``bcast_4_ranks_8_bytes=chain``. The process
    changes to the folder of the plan, and its environment to that of the run."""
    path = Path(words[0])
    plan = json.loads(path.read_text(encoding="utf-8"))
    for name, value in (word.split("=", 1) for word in words[1:]):  # the program sees what it will see later
        if os.environ.get(name) == value:
            del os.environ[name]
    changed = sorted(word for word in words[1:] if not word.endswith(f"={_DEFAULT}"))
    run = plan["with_rules" if changed else "without_rules"]
    os.environ.update(run["variables"])
    if changed:
        os.environ[plan["rules_variable"]] = str(_rules(plan, path, changed))
    os.environ["PWD"] = plan["folder"]
    os.chdir(plan["folder"])
    return list(run["command"])


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
