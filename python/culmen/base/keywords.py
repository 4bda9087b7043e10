"""A call with wrong arguments raises an InputError that explains the mistake, instead of Python's TypeError."""

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from .._core import InputError

P = ParamSpec("P")
R = TypeVar("R")

_DEEPEST = 50
_NESTING = (list, tuple, dict)


def explained(
    name: str,
    example: str,
    words: Mapping[str, str],
    answers: Mapping[str, str],
    belongs: Callable[[str], str] = lambda _argument: "",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Calls of ``name`` with wrong arguments raise InputError.

    ``words``: names of arguments in other tools, and their names here. ``answers``: the advice for arguments that do
    not exist here. ``belongs``: a function that gives the advice for any other argument, or an empty text.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for argument, value in (*zip(signature.parameters, args, strict=False), *kwargs.items()):
                if _nests_too_deeply(value):
                    raise InputError(
                        f"{name}: the argument '{argument}' nests lists or mappings in more than {_DEEPEST} levels"
                    )
            try:
                return function(*args, **kwargs)
            except TypeError:
                if not _fits(signature, args, kwargs):
                    why = _misfit(name, signature, args, kwargs, words, answers, belongs)
                    raise InputError(f"{name}: {why or f'call it as {example}'}") from None
                raise

        return call

    return decorate


def _nests_too_deeply(value: object) -> bool:
    """Whether the value is nested too deeply; also true if a list contains itself."""
    level = {id(value): value}
    for _ in range(_DEEPEST + 1):
        inner: dict[int, object] = {}
        for outer in level.values():
            if isinstance(outer, dict):
                inner |= {id(one): one for one in outer.values() if isinstance(one, _NESTING)}
            elif isinstance(outer, (list, tuple)):
                inner |= {id(one): one for one in outer if isinstance(one, _NESTING)}
        if not inner:
            return False
        level = inner
    return True


def _fits(signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _misfit(
    name: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    words: Mapping[str, str],
    answers: Mapping[str, str],
    belongs: Callable[[str], str],
) -> str:
    known = list(signature.parameters)
    for given in (name for name in kwargs if name not in known):
        if instead := answers.get(given) or (given not in words and belongs(given)):
            return f"there is no argument '{given}'; {instead}"
        near = get_close_matches(given, {**words, **dict(zip(known, known, strict=True))}, n=1)
        ours = f"did you mean '{words.get(near[0], near[0])}'?" if near else f"help({name}) lists the arguments"
        return f"there is no argument '{given}'; {ours}"
    kinds = {name: p.kind for name, p in signature.parameters.items()}
    places = [name for name in known if kinds[name] is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    if len(args) > len(places):
        last = " and ".join(name for name in places if name != "self")
        by_name = next(name for name in known if kinds[name] is inspect.Parameter.KEYWORD_ONLY)
        after = f" after {last}" if last else ""
        return f"arguments{after} must be given by name, such as {by_name}={args[len(places)]!r:.40}"
    return ""


def check_whole(what: str, number: object, lowest: int, highest: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not lowest <= number <= highest:
        raise InputError(f"{what} must be a whole number from {lowest} to {highest}, got {number!r}")
