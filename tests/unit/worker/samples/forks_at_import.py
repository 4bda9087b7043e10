"""Importing it makes two more processes: one leaves, the other comes back from the import as the first one does."""

import os
import sys

if os.fork() == 0:
    sys.exit(3)
os.fork()


def f(p):
    return p["x"]
