"""How well optimizers spend evaluations: COCO's problems, peers, and the area under the runtime curve."""

import os

# Peers run one to a core. Before NumPy is loaded: its threads cost SLSQP on 20 parameters nine tenths of the time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
