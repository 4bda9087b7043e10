"""The program's own functions and classes in a slot: its ``__main__`` offers them, as the program's does.

A pool that an evaluated function makes by fork pickles such functions by name.
"""

import io
import pickle
import sys
import types

_SETTERS = ("_function_setstate", "_class_setstate")  # by which cloudpickle completes a function and a class
_OF_CLOUDPICKLE = b"cloudpickle"


class _Unpickler(pickle.Unpickler):
    def __init__(self, pickled):
        super().__init__(io.BytesIO(pickled))
        self.names = {}

    def find_class(self, module, name):
        found = super().find_class(module, name)
        if name not in _SETTERS or module != "cloudpickle.cloudpickle":
            return found

        def complete(thing, state):
            found(thing, state)
            if thing.__module__ == "__main__" and thing.__qualname__.isidentifier():
                self.names[thing.__qualname__] = thing

        return complete


def load(pickled):
    """(the object, the program's functions and classes in it by name)"""
    if _OF_CLOUDPICKLE not in pickled:
        return pickle.loads(pickled), {}
    unpickler = _Unpickler(pickled)
    return unpickler.load(), unpickler.names


def offer(names):
    """The slot's own module keeps its names: it is replaced by an empty one."""
    if not names:
        return
    main = sys.modules["__main__"]
    if getattr(main, "__spec__", None) is not None:
        main = sys.modules["__main__"] = types.ModuleType("__main__")
    vars(main).update(names)


def share_key(key):
    """The key by which the program's ``multiprocessing`` knows its children: managers accept no others."""
    if key:
        from multiprocessing import process  # takes a few milliseconds

        process.current_process().authkey = key
