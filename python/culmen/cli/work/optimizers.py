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
    "one_objective": "one objective",
    "two_objectives": "at most two objectives",
}


def show_optimizers(name: str | None, as_json: bool) -> None:
    """One row an optimizer, one an option: both as their declarations say. ``name``: of that optimizer only.

    Raises InputError where there is none of that name.
    """
    if name is not None and name.partition(":")[0] in adapters.FAMILIES:
        _show_of_library(name, as_json)
        return
    own = [{**entry, "library": ""} for entry in _core.optimizer_catalogue()]
    catalogue = [entry for entry in own if name in (None, entry["name"])]
    if not catalogue:
        known = _core.optimizer_names()
        near = did_you_mean(name or "", known) or f"; known are {', '.join(known)}"
        raise _core.InputError(f"there is no optimizer '{name}'{near}")
    if as_json:
        others = adapters.catalogue() if name is None else []
        print(json.dumps(sorted([*catalogue, *others], key=lambda entry: str(entry["name"]))))
        return
    table = Table("optimizer", "what it is for", "needs")
    options = Table("optimizer", "option", "what it is", "allowed", "default")
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
    """All of it, or the one of that name. Raises InputError where there is none."""
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
    print(f"Of {found[0]['library']}, with options of its own:")
    print("\n".join(entry["name"] for entry in found))


def _print_others() -> None:
    table = Table("of other libraries", "what", "installed")
    for name, version in adapters.installed().items():
        library = adapters.LIBRARIES[name]
        table.add_row(library.example, library.about, version or f"no: pip install {library.distribution}")
    console().print(table)


def _print_choice() -> None:
    table = Table("where a study has", "auto, and what runs if none is named")
    for name, why in _core.optimizer_choices():
        table.add_row(why, "auto itself" if name == "auto" else name)
    console().print(table)
    print('A list, ["evolution", "cmaes"], is a chain: each begins at the best of the one before.')
    able = [entry["name"] for entry in _core.optimizer_catalogue() if entry["asynchronous"]]
    print(f"Without waiting for each other's results (generational = false): {', '.join(able)}.")
    print("That is the default where culmen chooses, and workers, and the evaluations for each, are many.")


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
