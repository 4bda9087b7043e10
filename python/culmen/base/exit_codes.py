"""Exit codes."""

FINISHED, FAILED, BAD_INPUT, RESUMABLE = 0, 1, 2, 75
_KILLED = 128


def as_of_a_shell(code: int) -> int:
    """``code``: of a subprocess; negative if a signal ended it. A shell says 128 + signal then."""
    return code if code >= 0 else _KILLED - code
