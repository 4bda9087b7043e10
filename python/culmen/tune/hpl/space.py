"""The settings of HPL that ``culmen tune hpl`` searches, and the settings that others recommend."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..._core import InputError
from ...base.text import did_you_mean
from ...launch.kernel import LIMITS, socket_limit, sysctl_line
from ...problem.given import Value
from .dat import Dat, least_of
from .program import DEFAULT, Program, nodes, ranks_per_node
from .programs import NAMES, Programs

Settings = dict[str, Any]
_FACTORS = ("left", "crout", "right")
_BCASTS = ("1ring", "1ringM", "2ring", "2ringM", "long", "longM")
_SWAPS = ("binary", "long", "mix")
_FORMS = ("transposed", "plain")
_BLOCKS = (32, 48, 64, 80, 96, 128, 160, 192, 224, 256, 320, 384)
_MOST_ELONGATED = 16  # P / Q or Q / P of grids with many ranks
_CODES = {  # the words for parameters whose numbers in the file are codes
    "pfact": _FACTORS,
    "rfact": _FACTORS,
    "bcast": _BCASTS,
    "swap": _SWAPS,
    "l1": _FORMS,
    "u": _FORMS,
}
_ORDINALS = {"nb": _BLOCKS, "nbmin": (1, 2, 4, 8, 16), "ndiv": (2, 3, 4), "depth": (0, 1, 2)}
BINDINGS = (DEFAULT, "none", "core", "socket")
MACHINE = (*NAMES, "binding", "tcp_buffers")
TCP_BYTES = (0, 65_536, 262_144, 1_048_576, 4_194_304)  # of a socket's buffer; 0: the MPI's own choice
_THRESHOLDS = (16, 32, 64, 96, 128)


def tcp_sizes() -> list[int]:
    """Those that the kernel allows. It cuts larger ones without an error."""
    most = socket_limit()
    return [size for size in TCP_BYTES if size <= most]


def check_tcp(fixed: Mapping[str, Value]) -> None:
    """Raises InputError if the kernel does not allow a fixed size. It would cut this size without an error."""
    size, most = int(str(fixed.get("tcp_buffers", 0))), socket_limit()
    if most and size > most:
        raise InputError(
            f"--fix tcp_buffers={size}: the kernel allows at most {most} bytes ({', '.join(LIMITS)}); write at most "
            f"{most}, or let an administrator run: {sysctl_line(size)}"
        )


def grids_for(cores: int, ranks: int | None) -> list[str]:
    """The grids P x Q. Without ``ranks``, there are also grids with fewer ranks and more threads. All nodes have
    ranks."""
    counts = [ranks] if ranks else [n for n in range(1, cores + 1) if cores % n == 0 and n % nodes() == 0]
    return [f"{p}x{n // p}" for n in counts for p in range(1, n + 1) if n % p == 0 and _is_sensible(p, n // p)]


def _is_sensible(p: int, q: int) -> bool:
    return p * q <= _MOST_ELONGATED or max(p / q, q / p) <= _MOST_ELONGATED


def squarest(ranks: int) -> str:
    """The most square grid with P ≤ Q."""
    p = next(p for p in range(math.isqrt(ranks), 0, -1) if ranks % p == 0)
    return f"{p}x{ranks // p}"


def ranks_of(settings: Mapping[str, Value]) -> int:
    p, _, q = str(settings["grid"]).partition("x")
    return int(p) * int(q)


def threads_of(settings: Mapping[str, Value], cores: int) -> int:
    """The threads of each rank, so that ranks × threads use all cores of a node."""
    return max(1, cores // nodes() // ranks_per_node(ranks_of(settings)))


def command_for(program: Program, settings: Mapping[str, Value], cores: int) -> tuple[list[str], dict[str, str]]:
    """The words of a run, and environment variables for the launcher."""
    binding, tcp_bytes = str(settings.get("binding", DEFAULT)), int(str(settings.get("tcp_buffers", 0)))
    return program.command(ranks_of(settings), threads_of(settings, cores), str(settings["blas"]), binding, tcp_bytes)


def calculator(ranks: int, blas: str) -> Settings:
    """The choice of the usual calculators on the web: NB = 192, and the most square grid with P ≤ Q."""
    return {**shipped(ranks, blas), "nb": 192}


def shipped(ranks: int, blas: str) -> Settings:
    """The settings of the file that comes with HPC Challenge, for these ranks."""
    return {**settings_of(Dat()), "grid": squarest(ranks), "blas": blas}


def settings_of(dat: Dat) -> Settings:
    """The settings of a file: the first entry of each list. The BLAS is missing, because it is not in the file."""
    found: Settings = {"nb": dat.nb[0], "grid": f"{dat.p[0]}x{dat.q[0]}"}
    for name in ("pfact", "nbmin", "ndiv", "rfact", "bcast", "depth", "swap", "swap_threshold", "l1", "u"):
        value = getattr(dat, name)
        number = value[0] if isinstance(value, tuple) else value
        found[name] = _CODES[name][number] if name in _CODES else number
    return {**found, "equilibration": bool(dat.equilibration)}


def dat_of(settings: Mapping[str, Any], n: int, base: Dat | None = None) -> Dat:
    """The input file. ``base``: for values that are no settings. Its threshold is ignored if HPL would then not check
    the residual as usual."""
    base = base or Dat()
    threshold = base.threshold if 0 < base.threshold <= Dat.threshold else Dat.threshold
    p, _, q = str(settings["grid"]).partition("x")
    fields: dict[str, Any] = {
        "n": (n,),
        "p": (int(p),),
        "q": (int(q),),
        "equilibration": int(settings["equilibration"]),
    }
    for name in ("nb", "pfact", "nbmin", "ndiv", "rfact", "bcast", "depth", "swap", "swap_threshold", "l1", "u"):
        value = settings.get(name, base.swap_threshold)  # settings lack swap_threshold if it has no effect
        number = _CODES[name].index(str(value)) if name in _CODES else int(value)
        fields[name] = (number,) if isinstance(getattr(base, name), tuple) else number
    return Dat(**{**vars(base), **fields, "threshold": threshold})


def bindings_of(programs: Programs) -> list[str]:
    """The bindings that all programs have."""
    found = [{key.partition(" ")[0] for key in each.bound} for each in programs.by_choice.values()]
    return [DEFAULT, *sorted(set.intersection(*found))]


def space_for(
    programs: Programs, cores: int, ranks: int | None, starts: Sequence[Settings], only: Iterable[str] | None,
    fixed: Mapping[str, Value],
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """The tables of a study file. ``starts``: the first one has the values of parameters that are not searched.
    ``only``: the names of the parameters that are searched; None for all. Raises InputError for a name that does not
    exist."""
    known = _parameters(programs, cores, ranks, starts)
    check_names([*(only or ()), *fixed], list(known))
    present = starts[0]
    searched = set(known) - set(fixed) if only is None else set(only) - set(fixed)
    out = {}
    for name, table in known.items():
        if name in searched and len(table.get("choices", "both")) > 1:
            out[name] = {**table, "initial": present[name]}
        else:
            out[name] = {"value": fixed.get(name, present[name])}
    if "value" in out["swap"]:  # a condition on a fixed parameter has no effect
        if out["swap"]["value"] != "mix":
            out["swap_threshold"] = {"value": present["swap_threshold"]}
        out["swap_threshold"].pop("active_when", None)
    return out


def check_names(names: Iterable[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(f"there is no parameter '{name}' of HPL{hint}; there are {', '.join(known)}")


def _parameters(
    programs: Programs, cores: int, ranks: int | None, starts: Sequence[Settings]
) -> dict[str, dict[str, Any]]:
    """All parameters. Each start is a point of their space."""

    def with_starts(name: str, values: Iterable[Value]) -> list[Any]:
        return [*dict.fromkeys([*values, *(start[name] for start in starts if name in start)])]

    out: dict[str, dict[str, Any]] = {
        "nb": {"type": "ordinal", "choices": sorted(with_starts("nb", _BLOCKS))},
        "grid": {"type": "categorical", "choices": with_starts("grid", grids_for(cores, ranks))},
        "blas": {"type": "categorical", "choices": with_starts("blas", programs.present.blas)},
    }
    out |= {name: {"type": "categorical", "choices": programs.values(name)} for name in programs.names}
    if "binding" in starts[0]:
        out["binding"] = {"type": "categorical", "choices": with_starts("binding", bindings_of(programs))}
    if "tcp_buffers" in starts[0]:
        out["tcp_buffers"] = {"type": "ordinal", "choices": sorted(with_starts("tcp_buffers", tcp_sizes()))}
    for name in ("pfact", "nbmin", "ndiv", "rfact", "bcast", "depth", "swap"):
        if name in _ORDINALS:
            out[name] = {"type": "ordinal", "choices": sorted(with_starts(name, _ORDINALS[name]))}
        else:
            out[name] = {"type": "categorical", "choices": list(_CODES[name])}
    threshold = sorted(with_starts("swap_threshold", _THRESHOLDS))
    out["swap_threshold"] = {"type": "ordinal", "choices": threshold, "active_when": "swap == 'mix'"}
    out |= {name: {"type": "categorical", "choices": list(_FORMS)} for name in ("l1", "u")}
    return {**out, "equilibration": {"type": "boolean"}}


def fixed_by(words: Sequence[str], cores: int) -> Settings:
    """The values of ``--fix NAME=VALUE``. Raises InputError for a value that HPL does not have."""
    out: Settings = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise InputError(f"--fix {word}: write NAME=VALUE, such as nb=192")
        out[name] = _value(name, value, cores)
    return out


def _value(name: str, text: str, cores: int) -> Value:
    if name in ("blas", "binding", *NAMES):
        return text
    if name == "tcp_buffers" and text.isdecimal():
        return int(text)
    if name == "grid":
        return _grid(text, cores)
    if name == "equilibration":
        if text not in ("true", "false"):
            raise InputError(f"--fix equilibration={text}: write true or false")
        return text == "true"
    if name in _CODES:
        if text not in _CODES[name]:
            raise InputError(f"--fix {name}={text}: write one of {', '.join(_CODES[name])}")
        return text
    least = least_of(name)
    if not text.isdecimal() or int(text) < least:
        check_names([name], ["grid", "blas", "equilibration", "swap_threshold", *MACHINE, *_CODES, *_ORDINALS])
        raise InputError(f"--fix {name}={text}: write an integer of at least {least}")
    return int(text)


def _grid(text: str, cores: int) -> str:
    p, _, q = text.partition("x")
    if not (p.isdecimal() and q.isdecimal() and int(p) * int(q) > 0):
        raise InputError(f"--fix grid={text}: write P and Q, such as 2x3")
    if int(p) * int(q) > cores:
        raise InputError(f"--fix grid={text}: this needs {int(p) * int(q)} ranks, but there are {cores} cores")
    return f"{int(p)}x{int(q)}"
