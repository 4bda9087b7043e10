"""Checks that a function can be called as evaluators are: with one argument."""


def misfit(function, parameter="p['{}']"):
    """A sentence if a plain function cannot be called so; empty if it can, or if only a call can tell.

    ``parameter``: how one is read from the argument.
    """
    if type(function) is not type(misfit):
        return ""
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    needed = names[: len(names) - len(defaults)]
    takes_any = code.co_flags & 0x04  # *args
    by_name = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    missing = [name for name in by_name if name not in (function.__kwdefaults__ or {})]
    if len(needed) <= 1 and (names or takes_any) and not missing:
        return ""
    taken = [*names, *by_name]
    name, is_lambda = function.__name__, function.__name__ == "<lambda>"
    given = f"lambda {', '.join(taken)}:" if is_lambda else f"{name}({', '.join(taken)})"
    wanted = "lambda p: …" if is_lambda else f"def {name}(p): …"
    read = parameter.format((taken or ["x"])[0])
    return f"{given} takes {len(taken) or 'no'} arguments, but culmen passes one; write {wanted} {read} …"
