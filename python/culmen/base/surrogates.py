"""Surrogates in strings of a program, which cannot be written to a file."""

from collections.abc import Iterator, Mapping
from typing import Any

from .._core import InputError


def refuse_surrogates(where: str, *given: Any) -> None:
    """Looks at strings, and into dicts, lists and tuples. Raises InputError, which begins with ``where``."""
    for text in _texts(given):
        if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            raise InputError(f"{where}: {half_of_a_character(text)}")


def half_of_a_character(text: str) -> str:
    return f"{text!a} contains half of a character (a lone surrogate); remove it"


def _texts(given: Any) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for key, value in given.items():
            yield from _texts(key)
            yield from _texts(value)
    elif isinstance(given, (list, tuple)):
        for value in given:
            yield from _texts(value)
