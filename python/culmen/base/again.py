"""How a user continues the command that runs now."""

import sys
from itertools import takewhile


def same_command() -> str:
    """The words "the same command", and what to leave out: --overwrite would remove the results that are there."""
    own = takewhile(lambda word: word != "--", sys.argv[1:])
    return "the same command" + (" without --overwrite" if "--overwrite" in own else "")
