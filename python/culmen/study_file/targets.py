"""Where a function is: ``"file.py:function"``, ``"module:function"``, ``"library.so:function"``."""

from pathlib import PurePath

_FORMS = {"python": '"file.py:function" or "module:function"', "library": '"library.so:function"'}
_LIBRARIES = (".so", ".dylib", ".dll", ".a", ".o")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".f", ".f90", ".f95", ".f03", ".f08", ".for")


def split_target(target: str) -> tuple[str, str]:
    """File or module, and function; either may be empty."""
    where, _, function = target.rpartition(":")
    return where, function


def wrong_target(kind: str, target: str) -> str:
    """A sentence about a wrong target; empty: it looks right. ``kind``: "python" or "library"."""
    where, function = split_target(target)
    given, ending = f'{kind} = "{target}"', PurePath(where or target).suffix.lower()
    if kind == "python" and ending in _LIBRARIES:
        return f'{given}: this is a compiled library; write library = "{target}"'
    if kind == "library" and ending == ".py":
        return f'{given}: this is a Python file; write python = "{target}"'
    if kind == "library" and is_source(where or target):
        made = PurePath(where or target).with_suffix(".so")
        return f'{given}: this is a source file; compile it and write library = "{made}:{function or "function"}"'
    if not (where and function):
        return f'{kind} must be {_FORMS[kind]}, got "{target}"'
    if not function.isidentifier():
        name = function.partition("(")[0].strip()
        return f'{given}: write only the function\'s name, as in "{where}:{name if name.isidentifier() else "f"}"'
    return ""


def is_source(name: str) -> bool:
    """Whether its ending is of a compiled language."""
    return PurePath(name).suffix.lower() in _SOURCES
