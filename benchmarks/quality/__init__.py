"""Measures how many evaluations optimizers need, on COCO's problems, and compares them with peers."""

import os

# Each peer uses one core: with NumPy's threads, SLSQP on 20 parameters would take ten times as long. This must come
# before NumPy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
