"""Turns settings into a command line. measured.py loads this file by its path. The file uses only the standard library.

A plan is a dict that JSON can hold; ``space.py`` makes it. Settings are strings, as in the words of a command.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

TYPED = "as typed"  # value of a setting: the command line stays as it was typed
RANKS, PLACEMENT, PER_NODE, HYPER, VARIABLE = "ranks", "placement", "per node", "hyper-threads", "variable "  # roles
_TUNABLES, _HUGE = "GLIBC_TUNABLES", "glibc.malloc.hugetlb"  # of glibc 2.35 and later
_PAGES = {"transparent": "1", "explicit": "2"}
_MEMORY = {"interleave": "--interleave=all", "local": "--localalloc"}


def run_of(plan: dict[str, Any], settings: dict[str, str], _path: Path) -> tuple[dict[str, str], list[str]]:
    """For measured.py."""
    return command_of(plan, settings)


def command_of(plan: dict[str, Any], settings: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Variables, and the words of the command. Settings that are missing or empty are as typed."""
    chosen = {name: value for name, value in settings.items() if value not in ("", TYPED)}
    variables = plan["variables"] | (own := _pages(plan, chosen) | _threads(plan, chosen))
    program = [*_memory(chosen), *plan["program"]]
    if not plan["launcher"]:
        return variables, [*plan["before"], *_cores(plan, chosen), *program]
    words = plan["words"]
    groups = list(_groups(plan, chosen, own))
    for name, value in own.items():  # the launcher also sets them on other nodes
        groups.append([word.format(name=name, value=value) for word in words["variable"]])
        variables.pop(name)
    return variables, [*plan["before"], plan["launcher"], *chain.from_iterable(groups), *program]


def words_for(plan: dict[str, Any], settings: dict[str, str]) -> list[str]:
    """The options of the launcher alone."""
    return list(chain.from_iterable(_groups(plan, settings, {})))


def _groups(plan: dict[str, Any], chosen: dict[str, str], variables: dict[str, str]) -> Iterable[list[str]]:
    """The launcher's options, each as a list of words."""
    words, (nodes, ranks) = plan["words"], _layout(plan, chosen)
    hyper, binding = _is_on(chosen), chosen.get("binding")
    several = max(plan.get("most_nodes", 1), plan["nodes"]) > 1
    spreads = several and not binding and ranks != plan["ranks"]
    dropped = {f"{VARIABLE}{name}" for name in variables}
    if binding:
        dropped |= {PLACEMENT, PER_NODE, HYPER}
    elif ranks != plan["ranks"]:
        dropped.add(PER_NODE)
    if "hyper_threads" in chosen and not hyper:
        dropped.add(HYPER)
    for role, group in plan["options"]:
        replaced = role == PLACEMENT and (binding or (spreads and _is_option(group, words["per_node"])))
        if replaced:
            yield _kept(words["modifiers"], group)
        if role == RANKS:
            yield [*group[:-1], str(ranks * nodes)] if ranks != plan["ranks"] else group
        elif role not in dropped and not replaced:
            yield group
    is_typed = HYPER not in dropped and HYPER in (role for role, _ in plan["options"])
    if hyper and not is_typed and not (binding and words["hyper_modifier"]):
        yield words["hyper_threads"]
    if binding:
        yield list(_filled(words["bindings"][binding], _figures(plan, chosen, ranks, binding)))
    elif spreads:
        yield list(_filled(words["per_node"], {"per_node": str(ranks)}))
    if binding and several:
        yield list(_filled(words["bound_per_node"], {"per_node": str(ranks)}))


def _layout(plan: dict[str, Any], chosen: dict[str, str]) -> tuple[int, int]:
    """The number of nodes, and of ranks on each."""
    nodes = int(chosen.get("nodes", plan["nodes"]))
    return nodes, int(chosen.get("ranks_per_node", plan["ranks"] * plan["nodes"] // nodes))


def _is_option(group: list[str], words: list[str]) -> bool:
    """Whether the group has the option of these words."""
    return bool(words) and group[0].lstrip("-").partition("=")[0] == words[0].lstrip("-")


def _kept(modifiers: dict[str, list[str]], group: list[str]) -> list[str]:
    """The words that keep a modifier, such as OVERSUBSCRIBE of the option ``--map-by slot:OVERSUBSCRIBE``."""
    typed = re.split("[:,=]", group[-1].upper())
    return [word for name, words in modifiers.items() if name in typed for word in words]


def _filled(words: Iterable[str], figures: dict[str, str]) -> Iterable[str]:
    return (word.format(**figures) for word in words)


def _figures(plan: dict[str, Any], chosen: dict[str, str], ranks: int, binding: str) -> dict[str, str]:
    """The values that are filled into the launcher's words, and that bind the ranks of a node."""
    hyper, order = _is_on(chosen), chosen.get("order", "core")
    units = units_of(plan, hyper)
    most = -(-ranks // len(units))  # ranks of a socket
    each = _units_of_rank(plan, chosen, most, min(map(len, units)))
    cpus = rank_cpus(plan, ranks, each, hyper, order, binding)
    return {
        "per_node": str(ranks),
        "per_socket": str(most),
        "units": str(each),
        "unit": "hwthread" if hyper else "core",
        "modifier": plan["words"]["hyper_modifier"] if hyper else "",
        "order": plan["words"]["orders"].get(order, ""),
        "cpus": ",".join("+".join(map(str, there)) for there in cpus),
    }


def _units_of_rank(plan: dict[str, Any], chosen: dict[str, str], most: int, room: int) -> int:
    """The number of cores or hardware threads of a rank. If its number of threads is unknown, it gets an equal
    share."""
    threads = int(chosen.get("threads") or plan["threads"])
    if threads or not plan["openmp"]:
        return max(1, threads)
    return max(1, room // most)


def units_of(plan: dict[str, Any], hyper: bool) -> list[list[list[int]]]:
    """For each socket the CPUs of its cores, or with ``hyper`` its hardware threads one by one."""
    sockets: list[list[list[int]]] = plan["sockets"]
    return [[[cpu] for core in cores for cpu in core] for cores in sockets] if hyper else sockets


def rank_cpus(
    plan: dict[str, Any], ranks: int, each: int, hyper: bool, order: str = "core", binding: str = "core"
) -> list[list[int]]:
    """For each rank of a node the CPUs that it is bound to. Each socket has an equal number of ranks, if possible."""
    units = units_of(plan, hyper)
    by_socket = []
    for socket, cores in enumerate(units):
        count = ranks // len(units) + (socket < ranks % len(units))
        starts = (k * each % len(cores) for k in range(count))  # with more ranks than cores, start again
        by_socket.append([list(chain.from_iterable(cores[start : start + each])) for start in starts])
    turns = zip_longest(*by_socket) if order == "socket" else by_socket
    own = [cpus for turn in turns for cpus in turn if cpus is not None]
    sockets = [list(chain.from_iterable(cores)) for cores in plan["sockets"]]
    domains = {"socket": sockets, "numa": plan["numa"]}.get(binding)
    return own if domains is None else [next(d for d in domains if cpus[0] in d) for cpus in own]


def _memory(chosen: dict[str, str]) -> list[str]:
    if "memory" not in chosen:
        return []
    kind, _, node = chosen["memory"].partition(" ")  # as in "node 2"
    return ["numactl", f"--membind={node}" if node else _MEMORY[kind]]


def _is_on(chosen: dict[str, str]) -> bool:
    return chosen.get("hyper_threads", "").lower() in ("true", "1")


def _pages(plan: dict[str, Any], chosen: dict[str, str]) -> dict[str, str]:
    """Huge pages for malloc: https://sourceware.org/glibc/manual/latest/html_node/Memory-Allocation-Tunables.html"""
    if "pages" not in chosen:
        return {}
    others = [part for part in plan["tunables"].split(":") if part and not part.startswith(_HUGE)]
    return {_TUNABLES: ":".join([*others, f"{_HUGE}={_PAGES[chosen['pages']]}"])}


def _threads(plan: dict[str, Any], chosen: dict[str, str]) -> dict[str, str]:
    threads, binding, hyper = int(chosen.get("threads") or plan["threads"]), chosen.get("binding"), _is_on(chosen)
    variables = {"OMP_NUM_THREADS": str(threads)} if threads != plan["threads"] else {}
    if not plan["openmp"] or not binding:
        return variables
    if not plan["launcher"]:
        return variables | _places(plan, chosen, threads)
    if binding == "core" and threads != 1:
        variables |= {"OMP_PLACES": "threads" if hyper else "cores", "OMP_PROC_BIND": "close"}
    return variables


def _places(plan: dict[str, Any], chosen: dict[str, str], threads: int) -> dict[str, str]:
    """The variables that place the OpenMP threads of a program without ranks."""
    if chosen["binding"] == "none":
        return {"OMP_PROC_BIND": "false"}
    if chosen["binding"] == "socket":
        return {"OMP_PLACES": "sockets", "OMP_PROC_BIND": "close"}
    hyper = _is_on(chosen)
    number = threads or sum(map(len, units_of(plan, hyper)))
    places = rank_cpus(plan, number, 1, hyper, chosen.get("order", "core"))
    return {"OMP_PLACES": _listed(places), "OMP_PROC_BIND": "close"}


def _listed(places: Sequence[list[int]]) -> str:
    return ",".join(f"{{{','.join(map(str, place))}}}" for place in places)


def _cores(plan: dict[str, Any], chosen: dict[str, str]) -> list[str]:
    """The words that limit the cores of a program whose threads culmen does not set."""
    number = int(chosen.get("cores") or 0)
    if number in (0, plan["cores"]):
        return []
    cpus = sorted(chain.from_iterable(rank_cpus(plan, number, 1, hyper=False)))
    return ["taskset", "--cpu-list", ",".join(map(str, cpus))]
