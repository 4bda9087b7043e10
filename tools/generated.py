"""Files, or parts of them, that the tools beside this one write from something else."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def renew(texts: dict[Path, str]) -> None:
    """Writes each file that has another text. With `--check` among the program's words it writes nothing, and ends the
    program with a sentence if a file is out of date."""
    old = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if "--check" not in sys.argv:
        for path in old:
            path.write_text(texts[path])
    elif old:
        names = ", ".join(str(path.relative_to(ROOT)) for path in old)
        sys.exit(f"out of date: {names}; run tools/{Path(sys.argv[0]).name}")
