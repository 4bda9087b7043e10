"""How much of the machine's processors the ranks used."""

from .recorded import Rank

_THREADS = 1.2  # processors of a rank: above, it runs threads
_CROWDED = 20  # a second and rank: above, others take the processors away
_LEAST_S = 1.0  # of all ranks: a shorter run says little


def shown_cpus(rank: Rank) -> str:
    """The mean number of processors of this rank."""
    if not rank.seconds or rank.cpu_s is None:
        return "–"
    return f"{rank.cpu_s / rank.seconds:.2f}"


def processors_of(ranks: list[Rank]) -> list[str]:
    """Sentences; none if no rank reached MPI_Finalize."""
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
            f"A rank lost its CPU to other work {rate:.0f} times a second. Probably there are more ranks and threads "
            "than CPUs. Then the times in MPI contain waits for a CPU."
        )
    cycles = sum(rank.cycles for rank, *_ in ended)
    if cycles and (instructions := sum(rank.instructions for rank, *_ in ended)):
        said.append(f"The program ran {instructions / cycles:.2f} instructions per cycle, in MPI and outside of it.")
    return said
