"""The ranks of a profiled program, as they are in the files that they leave."""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import InputError
from ..base.text import plural
from .layout import ENTRIES, FILE, KINDS, MAGIC, MESSAGES
from .marks import of_other_mpi, without_room

FURTHER = "further calls"


@dataclass(frozen=True)
class Calls:
    """Calls of one function by one rank, with one communicator, size class and peer; or all calls of the function for
    which the profile had no room."""

    function: str
    kind: str
    """One of KINDS."""
    communicator: str
    """How the communicator was made; empty for functions without one; FURTHER for calls without room."""
    ranks: int
    """Number of ranks of the communicator."""
    size_class: int | None
    """0 for no bytes; k for 2**(k - 1) to 2**k - 1 bytes in a call; None for calls without room."""
    peer: int
    """The root, or the rank of the other side; -1 for none; -2 for any source."""
    calls: int
    bytes: int
    seconds: float
    """Time in these calls, without waits for their requests."""
    least_s: float
    most_s: float
    charged_s: float
    """Time of waits for requests of these calls. For a wait, it is negative: the time that counts for other
    functions."""
    completed: int
    """Requests of these calls that have ended."""
    sampled: int = 0
    """Calls that first waited for the other ranks, so that this time is known."""
    sampled_s: float = 0
    waited_s: float = 0
    """The part of sampled_s that was the wait."""
    waited_for: tuple[tuple[int, float], ...] = ()
    """For sampled messages: late ranks of MPI_COMM_WORLD, and the part of waited_s for each of them."""

    @property
    def communicators(self) -> str:
        """``communicator``, or the common name of all parts of its split and of all groups."""
        return re.sub(r" colour \d+| ranks [\d?][\d?,|.#a-f-]*", "", self.communicator)

    @property
    def total_s(self) -> float:
        """Time in these calls, and in waits for their requests."""
        return self.seconds + self.charged_s


@dataclass(frozen=True)
class Message:
    """A sampled message, as its sender or its receiver saw it. Times are seconds since 1970 by the node's clock. For a
    nonblocking collective, each rank is a sender and a receiver."""

    is_sent: bool
    communicator: str
    peer: int
    """The other rank, in the communicator. For a collective: its root, or -1."""
    tag: int
    """For a collective, a negative number: which ranks' data it needs."""
    number: int
    """Among the messages of this communicator, peer and tag, from 0."""
    begin_s: float
    """When the sender began to send, or the receiver to wait for its request."""
    end_s: float
    """When the request of the receiver had ended."""
    charged_s: float
    """Time of waits for this request."""
    calls: int
    """The index in Rank.calls of the receives."""


@dataclass(frozen=True)
class Timeline:
    """The times at which a rank was in MPI. The timeline begins at the end of MPI_Init. It ends at MPI_Finalize, or
    with the last call if the rank did not reach MPI_Finalize."""

    bin_s: float
    seconds: NDArray[np.float64]
    """Time in the functions of each kind, of shape (bins, len(KINDS)). The time of a wait counts for the kind of the
    wait."""
    thread_s: NDArray[np.float64] | None = None
    """For each bin, the time of the threads that call MPI, but at least that of one thread; None if there is only
    one."""


@dataclass(frozen=True)
class Rank:
    rank: int
    size: int
    host: str
    library: str
    program: str
    seconds: float | None
    """Time from the end of MPI_Init to the beginning of MPI_Finalize; None if the rank did not reach it."""
    init_s: float
    further_calls: int
    """Calls without room: the profile does not know their communicators, sizes and peers."""
    uncharged: int
    """Requests that ended in a wait, but the function that started them is not known."""
    memory_kib: int
    calls: list[Calls]
    hints: dict[str, str]
    """For each file, the hints that the program gave when it opened the file, or later: "key=value; key=value"."""
    timeline: Timeline
    cpu_s: float | None = None
    """Time of processors from the end of MPI_Init to the beginning of MPI_Finalize, over all threads."""
    preempted: int = 0
    """How often a thread of the rank lost its processor to another one."""
    instructions: int = 0
    cycles: int = 0
    """0 if the machine does not let users count them."""
    scalars: int = 0
    vectors: int = 0
    """Floating-point instructions on one number, and on vectors."""
    memory_cycles: int = 0
    """Cycles that waited for loads from memory or caches; 0 as above."""
    regions: int = 0
    """Parallel regions of OpenMP."""
    region_s: float = 0
    """Time in these."""
    region_work: float = 0
    """The share of the time of the regions' threads in which they worked."""
    has_invariant_tsc: bool = True
    """Whether the CPU counts time at a constant rate. Otherwise the profile reads the slower clock of the system."""
    threads: int = 1
    """Greatest number of threads that call MPI and existed at the same time; 1 if only one at a time may call it."""
    more_threads_s: float = 0
    """``seconds`` is the time of one thread. This is the time of the further threads that call MPI, while they exist. A
    thread has no time while it waits for the end of another one."""
    numbers: dict[str, int] = field(default_factory=dict)
    """The rank's number in each communicator of one group, by how the communicator was made."""
    firsts: dict[str, int] = field(default_factory=dict)
    """The rank 0 of each of these communicators, as a rank of MPI_COMM_WORLD; -1 if it is not known."""

    world: int = 0
    """A number that only ranks with the same MPI_COMM_WORLD share; 0 if the launcher does not tell. See worlds.py."""
    begin_s: float = 0
    """When MPI_Init began, in seconds since 1970."""
    messages: list[Message] = field(default_factory=list)
    by_session: bool = False
    """MPI began with MPI_Session_init, which stands for MPI_Init here. The last MPI_Session_finalize stands for
    MPI_Finalize. If the program does not call it, the end of the program does."""

    @property
    def begin(self) -> str:
        """The function after which the time of the rank begins."""
        return "MPI_Session_init" if self.by_session else "MPI_Init"

    @property
    def end(self) -> str:
        """The function before which the time of the rank ends."""
        return "MPI_Session_finalize" if self.by_session else "MPI_Finalize"

    @property
    def known_s(self) -> float:
        """The time that the profile knows of: ``seconds``, or the time until the last call."""
        return self.seconds or len(self.timeline.seconds) * self.timeline.bin_s

    @property
    def in_mpi(self) -> float:
        """Seconds in MPI, added up for all threads."""
        return sum(calls.total_s for calls in self.calls)

    @property
    def thread_s(self) -> float:
        """``seconds``, added up for all threads that call MPI while they exist; 0 if it is not known."""
        return self.seconds + self.more_threads_s if self.seconds else 0


def read_folder(folder: Path) -> list[Rank]:
    """The ranks of all worlds, in order of their ranks; ``worlds_of`` tells the worlds apart. Raises InputError if
    there is no rank, or if a file is no profile."""
    files = sorted(folder.glob("*.profile"))
    if not files and (said := " ".join(filter(None, (without_room(folder), of_other_mpi(folder))))):
        raise InputError(said)
    if not files:
        raise InputError(f"{folder} has no profile; `culmen profile -- mpiexec -n 4 ./app` writes one")
    ranks = sorted((rank for rank in map(read_rank, files) if rank is not None), key=lambda rank: rank.rank)
    if not ranks:
        raise InputError(f"{folder} has no calls: no rank came to the end of MPI_Init; look at the program's messages")
    return ranks


def programs_of(ranks: list[Rank]) -> str:
    """The command line of the first rank, and how many others there are in the same world."""
    others = len({rank.program for rank in ranks} - {ranks[0].program})
    return f"{ranks[0].program} and {plural(others, 'other program')}" if others else ranks[0].program


def read_rank(path: Path) -> Rank | None:
    """None if MPI did not start in this process."""
    data = path.read_bytes()
    if not data:
        return None  # the process ended before the file had its size
    if len(data) != FILE.itemsize:
        if len(data) < FILE.itemsize and MAGIC.to_bytes(8, sys.byteorder).startswith(data[:8]):
            raise InputError(
                f"{path} is damaged: it has only {len(data)} of {FILE.itemsize} bytes; remove it to see the other ranks"
            )
        raise InputError(f"{path} is not a profile of this version of culmen: it has {len(data)} bytes")
    file = np.frombuffer(data, FILE)[0]
    header = file["header"]
    if header["magic"] == 0:
        return None
    if header["magic"] != MAGIC:
        raise InputError(f"{path} is not a profile of this version of culmen")
    try:
        return _rank(file)
    except (IndexError, ValueError, OverflowError):
        raise InputError(f"{path} is damaged; remove it to see the other ranks") from None


def _rank(file: np.void) -> Rank:
    header = file["header"]
    seconds_a_tick = _seconds_a_tick(header)
    calls = [_calls(file, int(k), seconds_a_tick) for k in np.flatnonzero(file["entries"]["calls"])]
    ended = header["end_ns"] > 0
    timeline = _timeline(file, seconds_a_tick)
    seconds = int(header["end_ns"] - header["start_ns"]) * 1e-9 if ended else None
    of_one_group = [one for one in file["communicators"][: header["communicators"]] if one["remote"] == 0]
    return Rank(
        rank=int(header["rank"]),
        size=int(header["size"]),
        host=_text(header["host"]),
        library=_library(_text(header["library"])),
        program=_text(header["program"]),
        seconds=seconds,
        init_s=int(header["start_ns"] - header["begin_ns"]) * 1e-9,
        further_calls=int(file["entries"]["calls"][ENTRIES:].sum()),
        uncharged=int(header["uncharged"]),
        memory_kib=int(header["memory_kib"]),
        calls=calls,
        hints={
            _text(file["communicators"][one["file"]]["origin"]): _text(one["text"])
            for one in file["hints"][: header["hints"]]
        },
        timeline=timeline,
        cpu_s=int(header["cpu_ns"]) * 1e-9 if ended else None,
        preempted=int(header["preempted"]),
        instructions=int(header["instructions"]),
        cycles=int(header["cycles"]),
        scalars=int(header["scalars"]),
        vectors=int(header["vectors"]),
        memory_cycles=int(header["memory_cycles"]),
        regions=int(header["regions"]),
        region_s=int(header["region_ticks"]) * seconds_a_tick,
        region_work=min(1.0, int(header["region_work"]) / max(1, int(header["region_room"]))),
        has_invariant_tsc=bool(header["invariant"]),
        threads=max(1, int(header["threads"])),
        by_session=bool(header["by_session"]),
        more_threads_s=_more_threads_s(timeline, seconds),
        world=int(header["world"]),
        begin_s=int(header["begin_unix_ns"]) * 1e-9,
        messages=_messages(file, seconds_a_tick),
        numbers={_text(one["origin"]): int(one["rank"]) for one in of_one_group},
        firsts={_text(one["origin"]): int(one["first"]) for one in of_one_group},
    )


def _messages(file: np.void, seconds_a_tick: float) -> list[Message]:
    header = file["header"]
    places = np.cumsum(file["entries"]["calls"] != 0) - 1
    zero_s, zero = int(header["begin_unix_ns"]) * 1e-9, int(header["begin_ticks"])
    return [
        Message(
            is_sent=bool(one["sends"]),
            communicator=_text(file["communicators"][one["communicator"]]["origin"]),
            peer=int(one["peer"]),
            tag=int(one["tag"]),
            number=int(one["number"]),
            begin_s=zero_s + (int(one["first"]) - zero) * seconds_a_tick,
            end_s=zero_s + (int(one["last"]) - zero) * seconds_a_tick,
            charged_s=int(one["charged"]) * seconds_a_tick,
            calls=int(places[one["entry"]]),
        )
        for one in file["messages"][: min(MESSAGES, int(header["messages"]))]
        if one["last"] != 0
    ]


def _more_threads_s(timeline: Timeline, seconds: float | None) -> float:
    return 0 if timeline.thread_s is None or seconds is None else max(0.0, float(timeline.thread_s.sum()) - seconds)


def _library(version: str) -> str:
    """ "Open MPI v4.1.4" or "MPICH 4.0.2"."""
    first = re.split(r"[,\n]", version)[0]
    return re.sub(r"\s*Version:\s*", " ", first)


def _seconds_a_tick(header: np.void) -> float:
    """The seconds of a tick, measured over the whole run if it ended, otherwise over MPI_Init."""
    last = "end" if header["end_ns"] > 0 else "start"
    ticks = int(header[f"{last}_ticks"]) - int(header["begin_ticks"])
    return (int(header[f"{last}_ns"]) - int(header["begin_ns"])) * 1e-9 / max(1, ticks)


def _timeline(file: np.void, seconds_a_tick: float) -> Timeline:
    header, bins = file["header"], file["timeline"]
    width = 1 << int(header["bin_shift"])
    used = np.flatnonzero(bins.any(axis=1))
    number = int(used[-1]) + 1 if used.size else 0
    if header["end_ns"] > 0:
        number = max(number, -(-_run_ticks(header) // width))
    several = file["thread_changes"].any()
    threads = np.asarray(_thread_ticks(file, number, width) * seconds_a_tick, np.float64) if several else None
    return Timeline(width * seconds_a_tick, bins[:number] * seconds_a_tick, threads)


def _run_ticks(header: np.void) -> int:
    return int(header["end_ticks"] - header["start_ticks"])


def _thread_ticks(file: np.void, bins: int, width: int) -> NDArray[np.int64]:
    """Ticks of the threads that call MPI, in each bin; at least those of one thread."""
    changes = file["thread_changes"][:bins].astype(np.int64)
    alive = np.cumsum(changes)
    ticks = file["thread_ticks"][:bins] + width * (alive - changes)
    one = np.full(bins, width)
    if bins and file["header"]["end_ns"] > 0:  # the last bin ends with the run
        rest = max(0, bins * width - _run_ticks(file["header"]))
        ticks[-1] -= rest * alive[-1]
        one[-1] -= rest
    return np.maximum(ticks, one)


def _kind_of(file: np.void, place: int, key: int) -> dict[str, Any]:
    """Communicator, ranks, size class and peer of the entry at this place."""
    if place >= ENTRIES:
        return {"communicator": FURTHER, "ranks": 0, "size_class": None, "peer": -1}
    communicator = file["communicators"][key >> 16 & 0xFFFF]
    return {
        "communicator": _text(communicator["origin"]),
        "ranks": int(communicator["size"]),
        "size_class": key >> 32 & 0xFF,
        "peer": (key >> 40) - 2,
    }


def _is_alone(file: np.void, place: int, key: int) -> bool:
    """Whether the communicator has one rank, which waits for no other one."""
    communicator = file["communicators"][key >> 16 & 0xFFFF]
    return place < ENTRIES and communicator["size"] == 1 and communicator["remote"] == 0


def _calls(file: np.void, place: int, seconds_a_tick: float) -> Calls:
    entry = file["entries"][place]
    key = int(entry["key"])
    sampled = not _is_alone(file, place, key)
    return Calls(
        function=_text(file["names"][(key & 0xFFFF) - 1]),
        kind=KINDS[file["kinds"][(key & 0xFFFF) - 1]],
        **_kind_of(file, place, key),
        calls=int(entry["calls"]),
        bytes=int(entry["bytes"]),
        seconds=int(entry["ticks"]) * seconds_a_tick,
        least_s=(~int(entry["least_ticks"]) & (2**64 - 1)) * seconds_a_tick if entry["least_ticks"] else 0.0,
        most_s=int(entry["most_ticks"]) * seconds_a_tick,
        charged_s=int(entry["charged"]) * seconds_a_tick,
        completed=int(entry["completed"]),
        sampled=sampled * int(entry["sampled"]),
        sampled_s=sampled * int(entry["sampled_ticks"]) * seconds_a_tick,
        waited_s=sampled * int(entry["waited_ticks"]) * seconds_a_tick,
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
