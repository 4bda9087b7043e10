"""The child process that runs Python evaluators, started by a worker as ``python -m culmen.slot``.

It imports only a small part of the standard library: a run starts as many slots as it has workers.
"""
