"""The program's own functions and classes in a slot: its ``__main__`` offers them, as the program's does.

They share their global variables, so that an initializer can set some. A pool that an evaluated function makes pickles
such functions by name.
"""

import io
import pickle
import sys
import types
from collections import namedtuple

from culmen.slot.shared import Shared

_CLOUDPICKLE = "cloudpickle.cloudpickle"
_SETTERS = ("_function_setstate", "_class_setstate")  # by which cloudpickle completes a function and a class
_OF_CLOUDPICKLE = b"cloudpickle"
_MODULE_WORDS = ("__file__", "__package__", "__path__")
_REPLACED = (type(None), bool, int, float, complex, str, bytes, type, types.FunctionType, types.ModuleType)

_sent = {}  # globals as the program has sent them; where __main__ has others, the slot's own code has set them
_kept = set()  # names of globals that an initializer may have filled
_last = None


# The object; the global variables, functions and classes of the program in it by name; the size of its pickle.
Loaded = namedtuple("Loaded", "thing names size")


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, buffers=None):
        super().__init__(file, buffers=buffers)
        self.names = {}

    def find_class(self, module, name):
        found = super().find_class(module, name)
        if module != _CLOUDPICKLE:
            return found
        if name == "_make_function":
            return lambda code, names, *rest: found(code, _globals_for(names), *rest)
        if name not in _SETTERS:
            return found

        def complete(thing, state):
            if name == "_function_setstate" and thing.__globals__ is vars(sys.modules["__main__"]):
                self.names.update(state[1]["__globals__"])
                state[1]["__globals__"] = {}
            found(thing, state)
            if thing.__module__ == "__main__" and thing.__qualname__.isidentifier():
                self.names[thing.__qualname__] = thing

        return complete


def _globals_for(names):
    """A function of the program's script gets the variables of ``__main__``, others their own."""
    if names.get("__name__") != "__main__":
        return names
    variables = vars(_main())
    variables.update((word, names[word]) for word in _MODULE_WORDS if word in names)
    return variables


def load(pickled):
    if _OF_CLOUDPICKLE in pickled:
        return _load(len(pickled), io.BytesIO(pickled))
    found = pickle.loads(pickled)
    if type(found) is not Shared:
        return Loaded(found, {}, len(pickled))
    file, buffers = found.open()
    with file:
        return _load(found.size, file, buffers)


def _load(size, *source):
    unpickler = _Unpickler(*source)
    thing = unpickler.load()
    unpickler.memo.clear()  # it refers to the unpickler, so both would stay until the next collection
    return Loaded(thing, unpickler.names, size)


def offer(names):
    """Sets these names, with which a function was loaded, before its call. Variables that the slot's own code has set
    remain."""
    global _last
    if not names or names is _last:
        return
    _last = names
    variables = vars(_main())
    for name, value in names.items():
        if name not in variables or (name not in _kept and variables[name] is _sent.get(name, _sent)):
            variables[name] = _sent[name] = value


def keep():
    """After the initializer: variables that it has set or may have filled remain, whatever the program sends."""
    variables = vars(_main()) if _sent else {}
    _kept.update(name for name in _sent if not isinstance(variables.get(name), _REPLACED))


def _main():
    """The slot's own module keeps its names: it is replaced by an empty one."""
    main = sys.modules["__main__"]
    if getattr(main, "__spec__", None) is not None:
        main = sys.modules["__main__"] = types.ModuleType("__main__")
    return main


def share_key(key):
    """The key by which the program's ``multiprocessing`` knows its children: managers accept no others."""
    if key:
        from multiprocessing import process  # takes a few milliseconds

        process.current_process().authkey = key
