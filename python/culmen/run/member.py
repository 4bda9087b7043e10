"""A rank that evaluates Python functions with its team, as ``python -m culmen.run.member``.

The other ranks of ``culmen launch … run`` are a small native program; such a rank becomes this one instead.
"""

import contextlib
import os
import sys

from .. import _core
from ..slot import stops


def main() -> None:
    stops.ignore()  # so far, this process ignored the signals in a way that programs which it starts would inherit
    os.environ.pop("PYTHONSAFEPATH", None)  # only for this process, not for those that the function starts
    with contextlib.suppress(_core.CulmenError):  # rank 0 says it, and its exit code is the launch's
        _core.serve_until_dismissed()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    _core.finalize_mpi(0)
    _core.exit_as_rank(0)
    os._exit(0)


if __name__ == "__main__":
    main()
