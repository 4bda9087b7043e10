"""The conformance kit of culmen.Executor: ``executor_kit.py TRANSPORT`` runs every check on a transport.

A check is given ``make(**arguments)``, which makes an executor. Under MPI there is one at a time.
"""

import functools
import sys
import traceback

import executor_own
import executor_promises
from executor_helpers import OWN, PROMISES

import culmen

__all__ = ["OWN", "PROMISES", "executor_own", "executor_promises", "run"]


def run(checks, make, say):
    """Runs every check and returns the number of those that failed."""
    failed = 0
    for name, check in checks.items():
        try:
            check(make)
            say(f"ok {name}")
        except Exception:
            failed += 1
            say(f"FAILED {name}\n{traceback.format_exc()}")
    return failed


if __name__ == "__main__":
    transport = sys.argv[1]
    workers = None if transport == "mpi" else 2
    say = functools.partial(print, flush=True)
    sys.exit(run(PROMISES | OWN, lambda **words: culmen.Executor(workers, transport, **words), say) > 0)
