"""Runs a scheduler's commands; what goes wrong is one sentence."""

import re
import shutil
import subprocess
from pathlib import Path

from ..._core import InputError

_TIMEOUT_S = 60.0


class Commands:
    """The commands of one scheduler. ``name``: as after --submit. ``title``: for people."""

    def __init__(self, name: str, title: str) -> None:
        self._name, self._title = name, title

    def said(self, *words: str, cwd: Path | None = None, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """``text``: for standard input. Raises InputError if the program is missing or does not answer."""
        program = shutil.which(words[0])
        if program is None:
            raise InputError(
                f"--submit {self._name}: there is no {words[0]} on PATH; run this command where {self._title} is "
                "installed"
            )
        given = {"stdin": subprocess.DEVNULL} if text is None else {"input": text}
        try:
            return subprocess.run(
                [program, *words[1:]], cwd=cwd, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S,
                start_new_session=True, **given,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise InputError(f"{words[0]} did not answer within {_TIMEOUT_S:g} s") from None

    def output(self, *words: str, cwd: Path | None = None, text: str | None = None) -> str:
        """Raises InputError if the command fails."""
        done = self.said(*words, cwd=cwd, text=text)
        if done.returncode != 0:
            raise InputError(f"{words[0]} failed: {sentence(done)}")
        return done.stdout


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The scheduler's own message, in one line, without the name of the program."""
    lines = [
        re.sub(r"^\w+: ((error|fatal): )?", "", line.strip()) for line in (done.stderr or done.stdout).splitlines()
    ]
    return "; ".join(list(dict.fromkeys(filter(None, lines)))[-2:]) or f"exit code {done.returncode}"
