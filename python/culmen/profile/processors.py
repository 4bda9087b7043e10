"""The use of the machine's processors by the ranks."""

from ..base.text import plural
from .recorded import Rank

_THREADS = 1.2  # processors of a rank: above this, it runs threads
_CROWDED = 20  # preemptions per second and rank: above this, other work takes the processors
_LEAST_S = 1.0  # time of all ranks: a shorter run says little


def shown_cpus(rank: Rank) -> str:
    """The mean number of processors of this rank."""
    if not rank.seconds or rank.cpu_s is None:
        return "–"
    return f"{rank.cpu_s / rank.seconds:.2f}"


def processors_of(ranks: list[Rank]) -> list[str]:
    """Sentences about the processors; none if no rank reached MPI_Finalize."""
    ended = [(rank, rank.seconds, rank.cpu_s) for rank in ranks if rank.seconds and rank.cpu_s is not None]
    if not ended:
        return []
    all_s = sum(seconds for _, seconds, _ in ended)
    used = sorted(cpu_s / seconds for _, seconds, cpu_s in ended)
    mean = sum(cpu_s for *_, cpu_s in ended) / all_s
    said = [f"On average, a rank used {mean:.2f} CPUs (from {used[0]:.2f} to {used[-1]:.2f})."]
    if mean > _THREADS:
        said[0] += " So the program runs threads."
    rate = sum(rank.preempted for rank, *_ in ended) / all_s
    if rate > _CROWDED and all_s >= _LEAST_S:
        said.append(
            f"A rank lost its CPU to other work {rate:.0f} times a second: other programs, or further ranks and "
            "threads, use the same CPUs. So the times in MPI contain waits for a CPU."
        )
    return [*said, *_counted([rank for rank, *_ in ended]), *_regions([rank for rank, *_ in ended], all_s)]


def remark_on_clock(ranks: list[Rank]) -> str:
    """A sentence if CPUs do not count time at a constant rate; otherwise empty."""
    hosts = sorted({rank.host for rank in ranks if not rank.has_invariant_tsc})
    if not hosts:
        return ""
    where = hosts[0] if len(hosts) == 1 else f"{hosts[0]} and {plural(len(hosts) - 1, 'other node')}"
    return (
        f"The CPUs of {where} have no invariant TSC, a counter with a constant rate. culmen measured times with the "
        "slower clock of the system there."
    )


def _counted(ranks: list[Rank]) -> list[str]:
    """Sentences about the counters of the CPUs."""
    cycles, instructions = sum(rank.cycles for rank in ranks), sum(rank.instructions for rank in ranks)
    if not cycles or not instructions:
        return [
            "This machine does not let users count instructions, so the instructions per cycle, the share of vector "
            "instructions and the waits for memory are not known."
        ]
    said = [f"The program ran {instructions / cycles:.2f} instructions per cycle, in MPI and outside of it."]
    if not (memory := sum(rank.memory_cycles for rank in ranks)):
        return said
    said.append(f"In {min(1.0, memory / cycles):.0%} of the cycles, it waited for data from memory or caches.")
    vectors = sum(rank.vectors for rank in ranks)
    if computed := vectors + sum(rank.scalars for rank in ranks):
        said.append(f"Of its floating-point instructions, {vectors / computed:.0%} worked on vectors.")
    return said


def _regions(ranks: list[Rank], all_s: float) -> list[str]:
    """Sentences about parallel regions of OpenMP. all_s: the time of all ranks."""
    seconds = sum(rank.region_s for rank in ranks)
    if not any(rank.regions for rank in ranks):
        return []
    worked = sum(rank.region_s * rank.region_work for rank in ranks) / seconds if seconds else 0.0
    return [
        f"OpenMP regions take {min(1.0, seconds / all_s):.1%} of the time of the ranks. In them, the threads worked "
        f"for {worked:.0%} of the time, and waited for other threads for the rest."
    ]
