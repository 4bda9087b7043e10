"""``culmen optimizers``."""

import json
from typing import Any

from rich.table import Table

from ... import _core, adapters
from ...base.text import did_you_mean
from .summary import console

_NEEDS = {
    "needs_residuals": "residuals",
    "needs_reals": "real parameters",
    "needs_order": "parameters with an order",
    "needs_bounds": "bounds",
    "one_objective": "one objective",
    "two_objectives": "at most two objectives",
}


def show_optimizers(name: str | None, as_json: bool) -> None:
    """One row for each optimizer and for each option, from their declarations. ``name``: only this optimizer.

    Raises InputError if there is no optimizer of that name.
    """
    if name is not None and name.partition(":")[0] in adapters.FAMILIES:
        _show_of_library(name, as_json)
        return
    own = [{**entry, "library": ""} for entry in _core.optimizer_catalogue()]
    catalogue = [entry for entry in own if name in (None, entry["name"])]
    if not catalogue:
        raise _core.InputError(_core.unknown_optimizer(name or ""))
    if as_json:
        others = adapters.catalogue() if name is None else []
        print(json.dumps(sorted([*catalogue, *others], key=lambda entry: str(entry["name"]))))
        return
    table = Table("optimizer", "purpose", "needs")
    options = Table("optimizer", "option", "meaning", "allowed", "default")
    for entry in catalogue:
        table.add_row(entry["name"], entry["about"], ", ".join(word for key, word in _NEEDS.items() if entry[key]))
        for option in entry["options"]:
            options.add_row(entry["name"], option["name"], option["about"], allowed(option), shown(option["default"]))
    console().print(table)
    console().print(options)
    if name is None:
        _print_others()
        _print_choice()


def _show_of_library(name: str, as_json: bool) -> None:
    """All optimizers of a library, or the named one. Raises InputError if there is none."""
    library, _, what = name.partition(":")
    found = adapters.catalogue(library)
    if what:
        names = [entry["name"] for entry in found]
        found = [entry for entry in found if entry["name"] == name]
        if not found:
            raise _core.InputError(f"there is no optimizer '{name}'{did_you_mean(name, names)}")
    if as_json:
        print(json.dumps(found))
        return
    print(f"Optimizers of {found[0]['library']}; the library documents their options:")
    print("\n".join(entry["name"] for entry in found))


def _print_others() -> None:
    table = Table("other libraries", "optimizers", "installed")
    for name, version in adapters.installed().items():
        library = adapters.LIBRARIES[name]
        table.add_row(library.example, library.about, version or f"no: pip install {library.distribution}")
    console().print(table)


def _print_choice() -> None:
    table = Table("if a study has", "culmen chooses")
    for name, why in _core.optimizer_choices():
        table.add_row(why, "auto" if name == "auto" else name)
    console().print(table)
    print('A list such as ["evolution", "cmaes"] is a chain: each optimizer starts at the best of the previous one.')
    print("Every optimizer can run asynchronously (generational = false): no worker then waits for another.")
    print(
        "Without a name, or with auto, culmen chooses the mode; the first line of a run shows the mode and its reason."
    )


def allowed(option: dict[str, Any]) -> str:
    if option["type"] == "word":
        return ", ".join(option["words"])
    if option["type"] == "flag":
        return "true, false"
    return f"{option['type']} {option['lowest']:g} to {option['highest']:g}"


def shown(default: object) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else str(default)
