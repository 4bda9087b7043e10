"""The child process that runs Python evaluators, started by a worker as ``python -m culmen.slot``.

Standard library only, and little of it: a run starts as many slots as it has workers.
"""
