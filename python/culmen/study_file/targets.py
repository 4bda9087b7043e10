"""Where a function is: ``"file.py:function"``, ``"module:function"``, ``"library.so:function"``."""

from pathlib import PurePath

_WANTED = {"python": '"file.py:function" or "module:function"', "library": '"library.so:function"'}
_LIBRARIES = (".so", ".dylib", ".dll", ".a", ".o")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".f", ".f90", ".f95", ".f03", ".f08", ".for")


def split_target(target: str) -> tuple[str, str]:
    """File or module, and function; either may be empty."""
    where, _, function = target.rpartition(":")
    return where, function


def wrong_target(kind: str, target: str) -> str:
    """What is wanted instead, as a sentence; empty: nothing is wrong to see. ``kind``: "python" or "library"."""
    where, function = split_target(target)
    given, ending = f'{kind} = "{target}"', PurePath(where or target).suffix.lower()
    if kind == "python" and ending in _LIBRARIES:
        return f'{given}: for what is compiled, library = "{target}" is wanted'
    if kind == "library" and ending == ".py":
        return f'{given}: for Python, python = "{target}" is wanted'
    if kind == "library" and is_source(where or target):
        made = PurePath(where or target).with_suffix(".so")
        return f'{given}: this is a source file; the library made of it is wanted, "{made}:{function or "function"}"'
    if not (where and function):
        return f"{given}: {_WANTED[kind]} is wanted"
    if not function.isidentifier():
        name = function.partition("(")[0].strip()
        return f'{given}: the function\'s name alone is wanted, as in "{where}:{name if name.isidentifier() else "f"}"'
    return ""


def is_source(name: str) -> bool:
    """Of a language that libraries are made of."""
    return PurePath(name).suffix.lower() in _SOURCES
