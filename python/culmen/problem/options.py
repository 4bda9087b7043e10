"""The options of an optimizer, as users write them."""

from collections.abc import Mapping, Sequence
from typing import Any

from .. import _core
from .._core import InputError

_NAMED = 3  # owners of an option


def chained(names: Any) -> Any:
    """Converts a list such as ["evolution", "cmaes"] to the name of a chain; leaves anything else unchanged."""
    is_chain = isinstance(names, (list, tuple)) and names and all(isinstance(name, str) for name in names)
    return ",".join(names) if is_chain else names


def spelt_out(options: Mapping[Any, Any]) -> dict[Any, Any]:
    """Converts {"cmaes": {"sigma": 0.1}}, options of one optimizer in a chain, to {"cmaes.sigma": 0.1}."""
    out: dict[Any, Any] = {}
    for key, value in options.items():
        out |= {f"{key}.{option}": own for option, own in value.items()} if isinstance(value, Mapping) else {key: value}
    return out


_POPULATION = 'write options={"population": …} and an optimizer with this option, such as "cmaes"'
_SIGMA = 'write optimizer="cmaes" and options={"sigma": …}, as a fraction of the range between the bounds'
#: arguments of other libraries, and what to write for an option of an optimizer
OPTIONS_OF_OTHERS = {
    **dict.fromkeys(("popsize", "pop_size", "population_size", "n_particles"), _POPULATION),
    **dict.fromkeys(("sigma0", "initial_sigma", "step_size"), _SIGMA),
}
OF_DIRECTION = ("direction", "directions", "sense", "maximise", "maximize", "goal")


def as_option(word: str) -> str:
    """The right form of an optimizer's option that was given as an argument; empty if no optimizer has it."""
    owners = [e["name"] for e in _core.optimizer_catalogue() if any(option["name"] == word for option in e["options"])]
    if not owners:
        return ""
    named = ", ".join(owners[:_NAMED]) + (" and others" if len(owners) > _NAMED else "")
    return f'it is an option of {named}: write options={{"{word}": …}}'


def check(options: Mapping[Any, Any]) -> None:
    """Raises InputError if no option can have such a name or value."""
    for option, value in options.items():
        if not isinstance(option, str):
            raise InputError(f"option names must be strings, got {option!r}")
        if not isinstance(value, (bool, int, float, str)):
            raise InputError(f"option '{option}' must be a number, a string, true or false, got {value!r}")


def name_of(optimizer: str | Sequence[str] | None, source: str) -> str:
    """The name of one optimizer or of a chain; empty if none is given."""
    name = "" if optimizer is None else chained(optimizer)
    if not isinstance(name, str):
        raise InputError(
            f'{source} must be a name, or a list of names such as ["evolution", "cmaes"], got {optimizer!r}'
        )
    return name


def mode_of(generational: bool | None, reason: str = "") -> str:
    """The mode and its effect on candidates. ``generational``: None if unknown. ``reason``: why the study has this
    mode; left out if empty."""
    mode, effect = "generational", "the number of workers does not change the candidates"
    if generational is False:
        mode, effect = "asynchronous", "candidates depend on timing"
    return f"{mode}{_because(reason)}: {effect}"


def choice_and_mode(why: str, generational: bool | None, reason: str = "") -> str:
    """The words after the name of an optimizer: why culmen chose it, the mode, and why the study has this mode. Empty
    reasons are left out."""
    return f"{_because(why)}, {mode_of(generational, reason)}"


def _because(reason: str) -> str:
    return f" (reason: {reason})" if reason else ""
