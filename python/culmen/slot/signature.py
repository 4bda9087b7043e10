"""Checks that a function can be called as evaluators are: with one argument, or in a team with two."""


def misfit(function, parameter="p['{}']", in_team=False):
    """A sentence if a plain function cannot be called so; empty if it can, or if only a call can tell.

    ``parameter``: how one is read from the argument. ``in_team``: the second argument is a communicator.
    """
    if type(function) is not type(misfit):
        return ""
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    needed = names[: len(names) - len(defaults)]
    takes_any = code.co_flags & 0x04  # *args
    by_name = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    missing = [name for name in by_name if name not in (function.__kwdefaults__ or {})]
    passed = 2 if in_team else 1
    if len(needed) <= passed and (len(names) >= passed or takes_any) and not missing:
        return ""
    taken = [*names, *by_name]
    name, is_lambda = function.__name__, function.__name__ == "<lambda>"
    given = f"lambda {', '.join(taken)}:" if is_lambda else f"{name}({', '.join(taken)})"
    arguments = "p, comm" if in_team else "p"
    wanted = f"lambda {arguments}: …" if is_lambda else f"def {name}({arguments}): …"
    wants_team = taken[1:] == ["comm"]
    read = "" if wants_team else f" {parameter.format((taken or ['x'])[0])} …"
    plural = "" if len(taken) == 1 else "s"
    takes = f"{given} takes {len(taken) or 'no'} argument{plural}, but culmen passes"
    if in_team:
        return f"{takes} two, the parameters and a communicator; write {wanted}"
    return f"{takes} one; write {wanted}{read}" + ("; for a communicator, set team_size" if wants_team else "")
