"""Reads the output of Slurm's commands."""

from dataclasses import replace

from ..._core import InputError
from .job import Partition, Phase, Place
from .times import seconds_of

SINFO = "%P|%a|%l|%s|%D|%X|%Y|%c|%T"  # one line for each group of equal nodes of a partition
SQUEUE = "%i|%T|%r|%M|%N"
SACCT = "JobID,State,ExitCode,ElapsedRaw,NodeList"
_RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING")
_PENDING = (
    "PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD", "REVOKED",
)  # fmt: skip
_UNUSABLE = ("down", "drain", "fail", "maint", "unk", "future", "inval", "no_respond", "powered", "power_down")


def partitions_in(text: str) -> list[Partition]:
    """Of `sinfo --noheader --exact --format=SINFO`. Raises InputError for another text."""
    found: dict[str, Partition] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        try:
            each = _partition(line)
        except ValueError:
            raise InputError(f"sinfo printed a line that culmen cannot read: '{line}'") from None
        other = found.get(each.name)
        found[each.name] = _together(other, each) if other else each
    return list(found.values())


def _partition(line: str) -> Partition:
    name, up, most, sizes, nodes, sockets, cores, cpus, state = line.split("|")
    least, _, largest = sizes.partition("-")
    count = int(nodes)
    usable = not state.rstrip("*~#!%$@^-+").lower().startswith(_UNUSABLE) and not state.endswith("*")
    return Partition(
        name=name.rstrip("*"),
        is_up=up == "up",
        is_default=name.endswith("*"),
        nodes=count,
        usable=count if usable else 0,
        cores=int(sockets.rstrip("+")) * int(cores.rstrip("+")),
        cpus=int(cpus.rstrip("+")),
        least_nodes=int(least),
        most_nodes=None if largest == "infinite" else int(largest or least),  # sinfo prints 1 for 1-1
        most_s=seconds_of(most),
    )


def _together(a: Partition, b: Partition) -> Partition:
    """Two groups of nodes of one partition."""
    smallest = min((each for each in (a, b) if each.nodes), key=lambda each: each.cores, default=a)
    return replace(a, nodes=a.nodes + b.nodes, usable=a.usable + b.usable, cores=smallest.cores, cpus=smallest.cpus)


def place_in_queue(text: str) -> Place | None:
    """Of `squeue --noheader --format=SQUEUE --states=all --jobs=ID`. None: the job is not in the queue any more."""
    lines = [line for line in text.splitlines() if line.count("|") == 4]
    if not lines:
        return None
    _, word, why, ran, nodes = lines[0].split("|")
    phase = phase_of(word)
    if phase is Phase.ENDED:
        return None  # scontrol knows its exit code, too
    try:
        ran_s = seconds_of(ran) or 0.0
    except ValueError:
        ran_s = 0.0
    return Place(phase, word, "" if why == "None" else why, ran_s, nodes)


def place_in_record(text: str) -> Place | None:
    """Of `scontrol show job ID --oneliner`. None: it does not know the job."""
    record = dict(word.split("=", 1) for word in text.split() if "=" in word)
    word = record.get("JobState", "")
    if not word:
        return None
    code = record.get("ExitCode", "0:0")
    ran = record.get("RunTime", "0")
    why = record.get("Reason", "None")
    return Place(
        phase_of(word),
        word,
        "" if why == "None" else why,
        seconds_of(ran) or 0.0,
        record.get("NodeList", "").removeprefix("(null)"),
        _exit_code(code) if phase_of(word) is Phase.ENDED else None,
    )


def place_in_accounting(text: str) -> Place | None:
    """Of `sacct --jobs=ID --allocations --noheader --parsable2 --format=SACCT`. None: it does not know the job."""
    lines = [line for line in text.splitlines() if line.count("|") == 4]
    if not lines:
        return None
    _, state, code, ran, nodes = lines[-1].split("|")
    word, _, by = state.partition(" ")
    phase = phase_of(word)
    return Place(phase, word, by, float(ran or 0), nodes, _exit_code(code) if phase is Phase.ENDED else None)


def phase_of(word: str) -> Phase:
    """``word``: Slurm's state of a job."""
    if word in _PENDING:
        return Phase.PENDING
    return Phase.RUNNING if word in _RUNNING else Phase.ENDED


def _exit_code(text: str) -> int:
    """Of `CODE:SIGNAL`."""
    code, _, number = text.partition(":")
    return int(code) or (128 + int(number) if number and int(number) else 0)
