"""Reads the output of LSF's commands, as its manual shows it (IBM Spectrum LSF 10.1, command reference)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..._core import InputError
from .job import Partition, Phase, Place

BJOBS = "stat exit_code exit_reason run_time exec_host pend_reason delimiter='|'"
_PENDING = ("PEND", "PSUSP", "WAIT", "PROV")
_RUNNING = ("RUN", "USUSP", "SSUSP", "UNKWN")  # UNKWN: the host does not answer; the job may still run
_UNUSABLE = ("unavail", "unreach", "unlicensed", "closed_adm", "closed_lim")
_ENDS = {  # reasons for the end of a job, in the words of the other schedulers
    "TERM_RUNLIMIT": "TIMEOUT",
    "TERM_OWNER": "CANCELLED",
    "TERM_FORCE_OWNER": "CANCELLED",
    "TERM_ADMIN": "CANCELLED",
    "TERM_FORCE_ADMIN": "CANCELLED",
    "TERM_MEMLIMIT": "OUT_OF_MEMORY",
    "TERM_SWAP": "OUT_OF_MEMORY",
    "TERM_PREEMPT": "PREEMPTED",
    "TERM_DEADLINE": "DEADLINE",
    "TERM_WINDOW": "DEADLINE",
    "TERM_ZOMBIE": "NODE_FAIL",
}
_DEFAULT = "This is the default queue."


@dataclass(frozen=True)
class Queue:
    """``hosts``: the words of the queue's line HOSTS."""

    name: str
    is_open: bool
    is_default: bool
    most_s: float | None
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class Host:
    name: str
    is_usable: bool
    slots: int


def queues_in(text: str) -> list[Queue]:
    """Of `bqueues -l`. Raises InputError for another text."""
    parts = re.split(r"^QUEUE: *", text, flags=re.MULTILINE)[1:]
    try:
        return [_queue(part) for part in parts]
    except (IndexError, ValueError):
        raise InputError("bqueues -l printed a text that culmen cannot read") from None


def _queue(part: str) -> Queue:
    lines = part.splitlines()
    status = re.search(r"^PRIO .*\bSTATUS\b.*\n\s*\S+\s+\S+\s+(\S+)", part, re.MULTILINE)
    hosts = re.search(r"^HOSTS: *(.*)$", part, re.MULTILINE)
    if not status:
        raise ValueError(part)
    return Queue(
        lines[0].strip(),
        status[1] == "Open:Active",
        _DEFAULT in part,
        _run_limit_s(lines),
        tuple(hosts[1].split()) if hosts else ("all",),
    )


def _run_limit_s(lines: Sequence[str]) -> float | None:
    """Of the maximum limits. A limit stands below its name. None: there is no limit."""
    maximum = next((i for i, line in enumerate(lines) if line.strip() == "MAXIMUM LIMITS:"), len(lines))
    for name, value in zip(lines[maximum + 1 :], lines[maximum + 2 :], strict=False):
        if not name.strip():
            return None
        if "RUNLIMIT" in name:
            first = name.split()[0] == "RUNLIMIT"
            found = re.match(r"\s*([\d.]+) min", value if first else value[name.index("RUNLIMIT") :])
            return 60 * float(found[1]) if found else None
    return None


def hosts_in(bhosts: str, lshosts: str) -> dict[str, Host]:
    """Of `bhosts -w` and `lshosts -w`. A host without a limit of slots has one for each CPU."""
    cpus = {row["HOST_NAME"]: row.get("ncpus", "-") for row in _rows(lshosts)}
    found = {}
    for row in _rows(bhosts):
        name, most = row["HOST_NAME"], row.get("MAX", "-")
        slots = most if most.isdigit() else cpus.get(name, "-")
        usable = not row.get("STATUS", "").lower().startswith(_UNUSABLE)
        found[name] = Host(name, usable, int(slots) if slots.isdigit() else 1)
    return found


def _rows(table: str) -> list[dict[str, str]]:
    lines = [line.split() for line in table.splitlines() if line.strip()]
    return [dict(zip(lines[0], line, strict=False)) for line in lines[1:] if "HOST_NAME" in lines[0]]


def members_in(text: str) -> dict[str, list[str]]:
    """The hosts of each group, of `bmgroup -r -w`."""
    lines = [line.split() for line in text.splitlines()[1:] if line.strip()]
    return {words[0].rstrip("/"): words[1:] for words in lines}


def partition_of(queue: Queue, hosts: Mapping[str, Host], groups: Mapping[str, Sequence[str]]) -> Partition:
    names = _named(queue.hosts, hosts, groups)
    there = [hosts[name] for name in hosts if name in names]
    slots = min((host.slots for host in there), default=0)
    return Partition(
        queue.name, queue.is_open, queue.is_default, len(there), sum(host.is_usable for host in there), slots, slots,
        most_s=queue.most_s,
    )  # fmt: skip


def _named(words: Iterable[str], hosts: Iterable[str], groups: Mapping[str, Sequence[str]]) -> set[str]:
    """``words``: hosts, groups with a slash at the end, `all`, `others`; `+2` is a preference, `~` leaves out."""
    found: set[str] = set()
    left_out: set[str] = set()
    for word in words:
        name = re.sub(r"\+\d*$", "", word.lstrip("~").rstrip("!"))
        some = set(groups.get(name.rstrip("/"), ())) if name.endswith("/") else {name}
        (left_out if word.startswith("~") else found).update(some)
    everything = {"all", "others", "allremote"} & found
    return (set(hosts) if everything else found) - left_out


def place_in_jobs(text: str) -> Place | None:
    """Of `bjobs -noheader -o BJOBS ID`. None: it does not know the job."""
    lines = [line for line in text.splitlines() if line.count("|") >= 5]
    if not lines:
        return None
    word, code, reason, ran, hosts, why = lines[-1].split("|", 5)
    if word in _PENDING:
        return Place(Phase.PENDING, "PENDING", _said(why).rstrip(";."))
    seconds = re.match(r"\d+", ran)
    ran_s, nodes = float(seconds[0]) if seconds else 0.0, ",".join(_hosts(hosts))
    if word in _RUNNING:
        return Place(Phase.RUNNING, "RUNNING" if word == "RUN" else word, "", ran_s, nodes)
    if word == "DONE":
        return Place(Phase.ENDED, "COMPLETED", "", ran_s, nodes, 0)
    ended = _ENDS.get(reason.partition(":")[0].strip(), "FAILED")
    return Place(Phase.ENDED, ended, _said(reason), ran_s, nodes, int(code) if code.isdigit() else None)


def _said(text: str) -> str:
    return "" if text.strip() == "-" else text.strip()


def _hosts(text: str) -> list[str]:
    """Of `4*hostA:4*hostB`."""
    return [word.rpartition("*")[2] for word in _said(text).split(":") if word]
