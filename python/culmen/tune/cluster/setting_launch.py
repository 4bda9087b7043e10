"""The evaluators of ``culmen tune cluster --variables``. Each makes one launch with one setting of variables. The first
one measures all collectives, and messages between two ranks. The second one measures the memory of the ranks."""

import json
import random
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...bench.collectives.measured import measure_points, points_of
from ...bench.collectives.points import BARRIERS, Protocol
from ...bench.conversation import LostError, RefusedError
from ...bench.parts import part_named, rows_in, write_part
from ...bench.session import Ranks, Session
from ...launch.mpi import Launcher, find_launcher
from ...launch.mpi.collectives import Collectives
from ...launch.mpi.variables import Setting, environment_of
from .measured import MOST_CALLS
from .pairs import VISITS, next_pairs

MESSAGES = "messages"  # between the ranks 0 and 1
COLUMNS = ("collective", "size", "time_s")
_PEER_BYTES = (1024, 1 << 18)  # an MPI sends the first at once (eager), and the second after a request (rendezvous)


class Spot(NamedTuple):
    """``size``: bytes, as in ``culmen bench collectives``."""

    collective: str
    size: int


def file_of_launch(name: str, folder: Path | None = None) -> Path:
    """The file with the times of a launch."""
    return part_named(f"variables-{name}", folder)


def measure(p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    """The value is the geometric mean of the times of all collectives and sizes, in seconds."""
    launcher, setting = _launcher(p), _setting(p)
    written = [] if "choice" in p else [file_of_launch(f"{p['name']}-{p['number']}")]  # a race needs the value only
    for path in written:
        path.unlink(missing_ok=True)  # from an earlier measurement with other options
    protocol = Protocol(0.1, 1.0, 0, float(p["timeout_s"]), most_calls=MOST_CALLS)
    sizes = [int(word) for word in p["sizes"].split(",")]
    environment = _environment(launcher, setting)
    ranks = Ranks(launcher, int(p["ranks"]), protocol.timeout_s, p.get("mapping", ""), environment)
    times: dict[Spot, float] = {}
    with ranks:
        check_use(ranks.session, launcher, setting)
        for collective in p["collectives"].split(","):
            times |= _collective(ranks, collective, sizes if collective not in BARRIERS else [0], protocol)
        times |= {Spot(MESSAGES, size): _messages(ranks.session, size) for size in sizes}
        _end(ranks, setting)
    for path in written:
        write_part(path, COLUMNS, [(*spot, f"{time_s:.6g}") for spot, time_s in times.items()])
    return mean_of(times), {"points": len(times)}


def measure_memory(p: Mapping[str, Any]) -> tuple[float, dict[str, float]]:
    """The value is the largest memory of a rank, in bytes, while all pairs of ranks exchange messages. The other
    figures are the largest memory during MPI_Init, and the memory after it."""
    launcher, setting = _launcher(p), _setting(p)
    timeout_s, environment = float(p["timeout_s"]), _environment(launcher, setting)
    ranks = Ranks(launcher, int(p["number_of_ranks"]), timeout_s, environment=environment)
    with ranks:
        check_use(ranks.session, launcher, setting)
        most_of_init, after_init = ranks.session.memory()
        for size in _PEER_BYTES:
            ranks.session.exchange_with_all(size)
        most, _ = ranks.session.memory()
        _end(ranks, setting)
    return float(most), {"most_of_init": float(most_of_init), "after_init": float(after_init)}


def mean_of(times: Mapping[Spot, float]) -> float:
    """The geometric mean over all collectives and sizes."""
    return float(np.exp(np.mean(np.log(list(times.values())))))


def times_of(path: Path) -> dict[Spot, float]:
    """The times in seconds; empty if the launch failed."""
    if not path.exists():
        return {}
    rows = rows_in([path], COLUMNS, "culmen tune cluster --variables")
    return {Spot(row["collective"], int(row["size"])): float(row["time_s"]) for row in rows}


def _launcher(p: Mapping[str, Any]) -> Launcher:
    return find_launcher(None if p["mpi"] == "default" else p["mpi"])


def _setting(p: Mapping[str, Any]) -> dict[str, str]:
    """In a race, the setting of the earlier races and one more value."""
    setting: dict[str, str] = json.loads(p["setting"])
    return setting | ({p["variable"]: p["choice"]} if "choice" in p else {})


def _environment(launcher: Launcher, setting: Setting) -> dict[str, str]:
    assert launcher.mpi.collectives is not None
    return launcher.mpi.collectives.without_rules | environment_of(setting, launcher.mpi.variables)


def check_use(session: Session, launcher: Launcher, setting: Setting) -> None:
    """Raises LostError if the MPI of these ranks uses another value of a variable."""
    known = launcher.mpi.collectives
    assert known is not None
    for name, wanted in environment_of(setting, launcher.mpi.variables).items():
        try:
            found = session.value_of(control_variable(name, known))
        except RefusedError:
            continue  # MPI_T does not have it, or it belongs to a component that the ranks do not use
        if wanted not in found:
            raise LostError(f"with {name}={wanted}, the MPI uses {found[0] or 'no value'}")


def control_variable(name: str, known: Collectives) -> str:
    """The name in MPI_T of an environment variable."""
    return name.removeprefix(known.prefix)


def _collective(ranks: Ranks, collective: str, sizes: list[int], protocol: Protocol) -> dict[Spot, float]:
    assert ranks.known is not None
    points = points_of(collective, ranks.known.algorithms(collective, ranks.number)[:1], sizes)
    seed = random.SystemRandom().getrandbits(32)
    measure_points(ranks, collective, points, protocol, seed, partial(next_pairs, visits=VISITS))
    if lost := next((point for point in points if point.unavailable or point.ended or not point.in_time), None):
        raise LostError(f"{collective} of {lost.size} bytes: {lost.unavailable or 'the ranks ended'}")
    # The first visit is warm-up.
    return {
        Spot(collective, point.size): float(
            np.median([np.median(times) for times in point.in_time[1:] or point.in_time])
        )
        for point in points
    }


def _messages(session: Session, size: int) -> float:
    visits = [session.time_messages(size, MOST_CALLS) for _ in range(VISITS)]
    return float(np.median([np.median(times) for times in visits[1:]]))


def _end(ranks: Ranks, setting: Setting) -> None:
    """Raises LostError if MPI_Finalize hangs or fails with this setting. The MPI's own setting is used anyway."""
    why = ranks.end()
    if why and setting:
        raise LostError(why)
