"""What an optimizer is told, as users write it."""

from collections.abc import Mapping, Sequence
from typing import Any

from .._core import InputError


def chained(names: Any) -> Any:
    """["evolution", "cmaes"] as the one name of a chain; anything else as it is."""
    is_chain = isinstance(names, (list, tuple)) and names and all(isinstance(name, str) for name in names)
    return ",".join(names) if is_chain else names


def spelt_out(options: Mapping[Any, Any]) -> dict[Any, Any]:
    """{"cmaes": {"sigma": 0.1}}, options of one link of a chain, as {"cmaes.sigma": 0.1}."""
    out: dict[Any, Any] = {}
    for key, value in options.items():
        out |= {f"{key}.{option}": own for option, own in value.items()} if isinstance(value, Mapping) else {key: value}
    return out


def check(options: Mapping[Any, Any]) -> None:
    """Raises InputError for what no optimizer's option can be."""
    for option, value in options.items():
        if not isinstance(option, str):
            raise InputError(f"option {option!r}: its name is wanted, a text")
        if not isinstance(value, (bool, int, float, str)):
            raise InputError(f"option '{option}' is {value!r}; a number, a word, or true or false is wanted")


def name_of(optimizer: str | Sequence[str] | None, source: str) -> str:
    """Of one, or of a chain; empty where none is named."""
    name = "" if optimizer is None else chained(optimizer)
    if not isinstance(name, str):
        raise InputError(
            f'{source} = {optimizer!r}: a name or a list of names such as ["evolution", "cmaes"] is wanted'
        )
    return name


def mode_of(generational: bool | None) -> str:
    """What it means for the user; None: nothing is said."""
    if generational is False:
        return "asynchronous: candidates depend on timing"
    return "generational: the workers do not change the candidates"
